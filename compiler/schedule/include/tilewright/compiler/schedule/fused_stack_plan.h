// Tiles of a chain: two or three layers of which each is the only reader of the one before, so that
// what lies between them never leaves the chip. A pure problem, without IR types.
//
// A chain is a convolution (head), a depthwise convolution or a pool (window) and another
// convolution (tail), in this order; one of them may be absent. The sum over the pixels of the
// window's result may come last instead of a tail, or that of the tail's behind all three: it is
// made from rows that are on chip. The result is cut into stripes of whole rows. A stripe's tensors
// between the layers are made channels by channels: the head makes a chunk of them, the window
// reduces it, the tail adds its products to the accumulators of the stripe. Or the tail comes last,
// when all channels of the stripe are on chip: its accumulators hold some channels of some rows,
// and its products are made while the window has the next stripe. Rows that two stripes share are
// made twice, or kept: the stripes of a segment go on with the rows between the first two layers
// that those before them have made, as long as the segment has room for more rows.
//
// Windows of a depthwise convolution are the vector unit's work, or the array's: by an instruction
// that slides them over activations (window_passes.h), else with weights on the diagonal
// (conv_stage.h). Of the units of work (a stripe's chunk each) some go to the array, or of each
// unit some rows.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/window_problem.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// Of the pixels that the tail makes, or without one the window.
struct ImageSum {
  bool isImageStored;                                             // others read them, too
  int64_t residentBytes, spadBytesPerElement, accBytesPerElement; // of its operations
};

struct FusedStackProblem {
  std::optional<ConvProblem> head, tail;
  std::optional<WindowProblem> window;
  std::optional<ImageSum> sum;
  bool headIsStored = false; // others read its result, too
  bool headIsAdded = false;  // the tail's operations read it, too: all its channels are on chip
  bool windowIsDepthwise = false, mayReduceOnArray = false;
  std::optional<WindowPasses> sliding; // on the array, by an instruction; else by diagonals
  bool windowHasSums = false;          // the vector unit's windows are sums in accumulators
  int64_t headOperations = 1;          // element-wise operations on the head's result
  int64_t windowOperations = 0;        // element-wise operations on the window's result
  int64_t headSelectedBytes = 0, windowSelectedBytes = 0; // for each tile
  int64_t windowResidentBytes = 0, windowSpadBytesPerElement = 0, windowAccBytesPerElement = 0;
};

struct Rows {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Buffers of a chain that serve by turns, by what they hold.
enum class Copies : size_t {
  Inputs,
  Windows, // that were gathered for merged taps
  Between, // head and window
  WindowResults,
  HeadSums,
  WindowSums,
  TailSums,
  Results,
  Weights, // that do not stay
  Count
};
constexpr int64_t mostCopies = 4;

// Which windows the array has, where it has some.
enum class ArrayPart { Units, FirstRows, LastRows };

struct FusedStackPlan {
  int64_t tileRows;               // rows of the chain's result
  int64_t chunkChannels;          // channels between the layers that are made at once
  TapMerge headMerge;             // of the head's taps
  int64_t headRows;               // rows of an accumulator tile of the head
  int64_t tailRows, tailChannels; // of an accumulator tile of the tail
  bool keepsWeights;              // loaded once, not for each stripe
  bool tailComesLast;             // when all chunks of a stripe are there: it adds nothing up
  int64_t spadBytes, accBytes;    // needed
  double estimatedCycles;
  int64_t firstRows = 0;    // of the result in an image's first stripe; 0: as in the others
  int64_t arrayUnits = 0;   // of `arrayShares` units so many have their windows on the array
  int64_t cachedTiles = 1;  // of a segment
  int64_t slidingParts = 0; // a tile of sliding windows has one in so many of the accumulators
  // What planFusedStack does not choose; 0: as usual.
  ArrayPart arrayPart = ArrayPart::Units; // or so many parts of each unit's rows
  int64_t headChannels = 0;               // of an accumulator tile of the head
  int64_t windowRows = 0;                 // of one of windows on the array, by diagonals
  int64_t laneRows = 0;                   // whose windows the vector unit makes at once
  std::array<int64_t, static_cast<size_t>(Copies::Count)> copies{};
  // Which streams of pieces (chain_run.h) come first where several may: a permutation's number.
  int64_t matrixOrder = 0, vectorOrder = 0;
};

constexpr int64_t arrayShares = 16;
bool isOnArray(const FusedStackPlan &plan, int64_t unit);
// Rows of a unit's windows that are made on the array.
Rows arrayRows(const FusedStackPlan &plan, int64_t unit, Rows window);
int64_t copiesOf(const FusedStackProblem &problem, const FusedStackPlan &plan, Copies which);
// Whether a plan has buffers of a kind that may be one or several.
bool hasCopies(const FusedStackProblem &problem, const FusedStackPlan &plan, Copies which);
// The `number`-th order of `count` things; 0 leaves them as they are.
std::vector<size_t> permutation(int64_t number, size_t count);

// The channels between the layers.
int64_t chunkedChannels(const FusedStackProblem &problem);
// Whether the tail may come last: behind a window.
bool mayComeLast(const FusedStackProblem &problem);
// Whether the tail's accumulators hold a stripe while chunk by chunk is added.
bool addsChunks(const FusedStackProblem &problem, const FusedStackPlan &plan);
// Rows of the chain's result, rows of the tail's input and rows of the window's input, given those
// of the result: each clipped to its tensor.
struct TileRows {
  Rows result, window, head; // rows that the last layer, the window and the head make
};
TileRows tileRows(const FusedStackProblem &problem, Rows result);

struct Stripe {
  TileRows needed;
  Rows made;     // rows of the head that no stripe of the segment has made
  int64_t first; // row of the head that is on chip
};
// The stripes of an image of the result, from the top.
std::vector<Stripe> stripesOf(const FusedStackProblem &problem, const FusedStackPlan &plan);
// Rows of the head that are on chip at once, at most.
int64_t keptRows(const std::vector<Stripe> &stripes);
// Whether each row of the head is made, and in the stripe of the result's row beside it, if there
// are as many.
bool makesAllRows(const FusedStackProblem &problem);
// Whether stripes share rows between the first two layers.
bool sharesRows(const FusedStackProblem &problem);

// Channels of the input of a window that comes first, and of the result of one that comes last,
// that are on chip, and are moved, at once: some chunks, where no other layer but a sum is there,
// or else all.
int64_t inputPart(const FusedStackProblem &problem, const FusedStackPlan &plan);
int64_t resultPart(const FusedStackProblem &problem, const FusedStackPlan &plan);

// Sums of all channels that are in accumulators: of an image's parts, of which so many are added at
// once, and of all of them. Where there are more parts, slots before and behind them take the sum
// of what came so far by turns.
struct SumSlots {
  int64_t parts = 1;
  bool comeAgain = false;
  int64_t count() const { return parts == 1 ? 1 : parts + (comeAgain ? 2 : 1); }
};
SumSlots sumSlots(int64_t parts);
// Of a chain. A tail leaves few accumulators: its parts come again.
SumSlots sumSlots(const FusedStackProblem &problem, const ConvMachine &machine,
                  const FusedStackPlan &plan);

// Whether it may leave its result on chip for the next chain, under a plan that makes it whole.
bool mayHandOn(const FusedStackProblem &problem);
// Whether a chain has one image, in one stripe.
bool isWhole(const FusedStackProblem &problem, const FusedStackPlan &plan);
// Rows of the window's result in one of its accumulator tiles.
int64_t arrayTileRows(const FusedStackProblem &problem, int64_t channels);
// The same, and columns, where an instruction slides the windows of a column tile over activations.
struct SlidingTile {
  int64_t rows, columns;
};
SlidingTile slidingTile(const FusedStackProblem &problem, const ConvMachine &machine,
                        const FusedStackPlan &plan, int64_t rows);
// How it does; nothing where the machine has no such instruction, or it cannot.
std::optional<WindowPasses> slidingPasses(const WindowProblem &window, const ConvMachine &machine);
// Rows that the vector unit reduces at once, of a stripe's.
int64_t lanesTileRows(const FusedStackProblem &problem, int64_t rows, int64_t channels);
// The same under a plan that may say otherwise; `channels` of a block.
int64_t arrayTileRows(const FusedStackProblem &problem, const FusedStackPlan &plan,
                      int64_t channels);
int64_t lanesTileRows(const FusedStackProblem &problem, const FusedStackPlan &plan, int64_t rows,
                      int64_t channels);
// Channels of an accumulator tile of the head.
int64_t headTileChannels(const ConvMachine &machine, const FusedStackPlan &plan);

// Rows of the chain's result; those of a stripe to try, the most first: all, a half, a third, ...
int64_t resultHeight(const FusedStackProblem &problem);
std::vector<int64_t> stripeSizes(int64_t height);

// Fills in what a plan needs and takes: bytes, estimated cycles.
void assess(const FusedStackProblem &problem, const ConvMachine &machine, FusedStackPlan &plan);
// Whether its program is of bearable length.
bool isBearable(const FusedStackProblem &problem, const FusedStackPlan &plan);

// In words: "fused stack of 3 layers: 8 tiles of 7 rows, 32 of 96 channels at a time".
std::string describe(const FusedStackProblem &problem, const FusedStackPlan &plan);

// At most `most` plans to try out, the cheapest by estimate first. Empty when none can fit.
std::vector<FusedStackPlan> planFusedStack(const FusedStackProblem &problem,
                                           const ConvMachine &machine, size_t most);

// What a plan's neighbors have otherwise: first those that help often.
enum class Choice {
  HeadSums, // copies, as those below
  ArrayUnits,
  TileRows,
  TailChannels,
  WindowSums,
  TailSums,
  Results,
  LaneRows,
  Inputs,
  WindowResults,
  Weights,
  FirstRows,
  Segments, // from here on, those that help now and then
  KeepsWeights,
  TailComesLast,
  ChunkChannels,
  TailRows,
  HeadRows,
  Count
};

// Plans that differ from a plan in one choice by one step, and fit.
std::vector<FusedStackPlan> neighborsOf(const FusedStackProblem &problem,
                                        const ConvMachine &machine, const FusedStackPlan &plan,
                                        Choice choice);

} // namespace tilewright

// Tile sizes of a convolution on the matrix unit: a pure problem, without IR types.
//
// The output is cut into step tiles (pixels x output channels): what a step's input tile and weight
// chunk produce. Inside a step, accumulator tiles (pixels x a few array columns) are computed one
// after the other, so that the vector unit empties one while the array fills the next.
#pragma once

#include "tilewright/compiler/patterns/column_broadcast_pattern.h"
#include "tilewright/compiler/patterns/stationary_pattern.h"
#include "tilewright/compiler/schedule/window_passes.h"
#include "tilewright/isa/isa.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// Which taps of the kernel one row of the reduction spans. Merged, few input channels fill the
// array all the same. `Columns`: the taps along x, which lie one behind the other in an image
// [y][x][c]. `All`: the vector unit gathers [output y][x][ky][c] from the input tile, in which a
// window is contiguous and neighbors along x overlap.
enum class TapMerge { None, Columns, All };

// What stands in the array while the rest streams through it: weights, or sums (standing_plan.h).
enum class Stands { Weights, Sums };

struct ConvProblem {
  int64_t batch, height, width, inputChannels;
  int64_t outputHeight, outputWidth, outputChannels;
  int64_t kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, padTop, padLeft;
  bool weightsAreActivations =
      false;         // a matrix product: weights come anew for each batch, in rows as they stand
  double filled = 1; // of the array's squares of weights, the share that are not all zero: as much
                     // is computed
  bool inputScattered = false; // its channels stand apart in DRAM: an element a cycle
  int64_t resultBytes = 1;     // of an element in DRAM
  bool resultIsApart = false;  // a pixel of it does not lie right behind the one before in DRAM
  bool resultInAccumulators =
      false; // stored from the accumulators: no tile of the result in the scratchpad
  int64_t spadBytesPerElement =
      0; // of other operands and intermediate values, for each element of a result tile
  int64_t accBytesPerElement = 0;
  int64_t residentBytes = 0; // parameters and tables
};

// Greatest counts of an instruction whose sums stand in the array; pairs along y, along x.
struct StandingLimits {
  std::array<int64_t, 2> outputs, taps;
  int64_t depth;
};

// What the planner asks of the machine.
struct ConvMachine {
  static ConvMachine of(const isa::Isa &isa);

  int64_t rows, cols, lanes, channels;
  int64_t spadBytes, accBytes, accBanks;
  double spadPort;                // bytes a cycle
  int64_t rowLimit;               // largest count of the instructions' iterators
  double dramBytesPerCycle;       // sustained
  double peakBytesPerCycle;       // what DRAM and the port stream at most
  int64_t matrixOverhead;         // cycles of a fold beyond its rows when weights load under it
  int64_t vectorOverhead;         // cycles of a vector instruction beyond its beats
  double accessBytes, burstBytes; // of DRAM accesses and AXI bursts
  double accessShare = 1;         // of the time in which an access's bytes stream that
                                  // DRAM is busy with it: less where the port limits
  double writeOverhead;           // cycles a write burst costs beyond its data
  int64_t instructionBytes;
  int64_t dramLatency; // cycles from a load's start to its first byte on chip
  bool mayGather;      // the vector unit can copy
  // Of an instruction that slides windows over activations; neither where there is none.
  std::optional<WindowLimits> window;
  std::optional<patterns::ColumnBroadcastPattern> windowPattern;
  bool weightsStand = true; // there are instructions for that
  // As of windows, of an instruction whose sums stand in the array.
  std::optional<StandingLimits> standing;
  std::optional<patterns::StationaryPattern> standingPattern;

  // Bytes that stream in the time that a run of so many takes: its own, or its accesses', of which
  // a run that does not start at one takes one more.
  double streamedFor(double runBytes) const {
    const double accesses = (runBytes - 1) / accessBytes + 1;
    return std::max(accesses * accessBytes * accessShare, runBytes);
  }
};

struct ConvPlan {
  int64_t stepHeight, stepWidth; // output pixels of a step
  int64_t tileHeight, tileWidth; // output pixels of an accumulator tile
  int64_t stepChannels;          // output channels of a step
  int64_t tileChannels;          // output channels of an accumulator tile
  int64_t weightParts;   // a chunk of weights comes in so many parts, by folds; more than one
                         // only where a step is one accumulator tile
  int64_t residentSteps; // steps of channels whose weights stay on chip while all pixels go by; 0:
                         // the loop over channels is inside the loop over pixels
  TapMerge merge;
  int64_t firstHeight; // output rows of an image's first step, so that its input comes sooner; 0:
                       // as of the others
  int64_t inputParts;  // an input tile comes in so many parts, by channels, so that the first folds
                       // need not wait for the last ones; 0: as many as usualInputParts
  int64_t depthParts = 1; // the input comes in so many parts, by channels, again for each chunk of
                          // output channels: where a whole input tile does not fit. More than one
                          // only where a step is one accumulator tile; divides weightParts
  int64_t firstTiles = 1; // accumulator tiles that are filled by turns while the first input comes
                          // in by parts. More than one only where a step is one accumulator tile
                          // whose weights come in as many parts or more
  int64_t tilesTogether = 0; // accumulator tiles of neighboring channels whose results are stored
                             // together; 0: as many as mostTilesTogether
  bool turns; // the inner loop runs forth and back by turns: what its end has on chip stays there
  bool inputDoubled, weightsDoubled; // room for the next tile's input and the next chunk's weights
  int64_t spadBytes, accBytes;       // needed
  int64_t gapBytes;                // of spadBytes: room for gaps between buffers of different sizes
  int64_t inputLoads, weightLoads; // of tiles and chunks, over the whole layer
  double estimatedCycles;
  int64_t streamFolds = 0; // a product of one pixel whose weights stream through the array: folds
                           // of a step; 0: the weights stand in the array
  Stands stands = Stands::Weights;
};

// ", all taps merged", or nothing.
const char *describe(TapMerge merge);
// As many as a bank holds, where results stay in accumulators. The array has the next ones in
// another bank.
int64_t mostTilesTogether(const ConvProblem &problem, const ConvMachine &machine,
                          const ConvPlan &plan);
int64_t tilesTogether(const ConvProblem &problem, const ConvMachine &machine, const ConvPlan &plan);

// In words: "2x1 steps of 28x56x64 (y, x, channels), accumulator tiles of 4x56x16; input
// double-buffered, weights loaded once".
std::string describe(const ConvProblem &problem, const ConvPlan &plan);

// At most `most` plans to choose from: first the cheapest by estimate that surely fits, then the
// cheapest ones that differ from each other in kind (loop order, residency, tile channels), among
// them such as fit only if the allocator leaves no gaps. Empty when none fits; `smallest` then
// tells the least scratchpad that would do.
std::vector<ConvPlan> planConvolution(const ConvProblem &problem, const ConvMachine &machine,
                                      size_t most, int64_t *smallest,
                                      Stands stands = Stands::Weights);

// How often all pixels go by.
int64_t passesOf(const ConvProblem &problem, const ConvPlan &plan);

// Whether a plan fits however its buffers come to lie.
bool isSafe(const ConvPlan &plan, const ConvMachine &machine);

// Fills in what a plan needs and takes: bytes, loads, estimated cycles.
void assess(const ConvProblem &problem, const ConvMachine &machine, ConvPlan &plan);

// Channels of each part, whole folds.
int64_t depthOfPart(const ConvProblem &problem, const ConvMachine &machine, const ConvPlan &plan);

// The merges that a problem allows, each with fewer folds than the one before; the first is None.
std::vector<TapMerge> mergesOf(const ConvProblem &problem, const ConvMachine &machine);
// Channels whose weights of a tap fill a square on the array's diagonal
// (tilewright/isa/diagonal.h).
int64_t groupChannels(const ConvMachine &machine);
// Squares of `group` rows lie group * (group + 1) bytes apart: all their diagonals are one run.
int64_t squareBytes(const ConvMachine &machine, int64_t taps, int64_t channels);
// Parts are whole folds, and long enough for DRAM.
int64_t usualInputParts(const ConvProblem &problem, const ConvMachine &machine, TapMerge merge);
int64_t inputPartsOf(const ConvProblem &problem, const ConvMachine &machine, const ConvPlan &plan);
// Whether parts of the channels of the first input have buffers of their own, so that the array
// begins with the first one of them.
bool firstInputIsApart(const ConvProblem &problem, const ConvMachine &machine,
                       const ConvPlan &plan);
// Folds of one accumulator tile column: mload + mmul pairs.
int64_t foldCount(const ConvProblem &problem, const ConvMachine &machine, TapMerge merge);
// Whether the input tile is [x][y][c], so that the taps of a column lie one behind the other:
// elements that come one by one may as well go there.
bool hasColumnsOfTaps(const ConvProblem &problem);
// Cycles that the load unit takes for so many elements of the input.
double inputCycles(const ConvProblem &problem, const ConvMachine &machine, int64_t elements);
// What is gathered for so many output pixels: elements, and the vector unit's beats.
struct Gathered {
  int64_t elements, beats;
};
Gathered gathered(const ConvProblem &problem, const ConvMachine &machine, TapMerge merge,
                  int64_t outputRows, int64_t outputColumns);
// Input pixels along one axis that `outputs` output pixels need, padding included.
int64_t inputExtent(int64_t outputs, int64_t stride, int64_t kernel, int64_t dilation);

} // namespace tilewright

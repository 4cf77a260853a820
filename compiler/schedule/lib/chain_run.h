// The pieces of chains that follow each other, what they share on chip, and their order.
//
// 1. What stays on chip stands in a few buffers that serve by turns. A piece comes after those
// whose results it reads, and after those that read what it replaces.
// 2. From the pieces' times follows an order in which every unit of the machine finds work
// (piece_order.h). Their tasks are listed in the order of their times.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/fused_stack_plan.h"
#include "tilewright/compiler/schedule/piece_order.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tilewright::chains {

// Pieces of a stream are done one after the other. Where two may start at once, the one that gives
// memory back comes first.
enum class Stream {
  TailProducts,
  WindowProducts,
  HeadProducts,
  TailFinish,
  WindowFinish,
  HeadFinish,
  Gather,
  Lanes,
  ImageSums,
  Inputs,
  HeadWeights,
  WindowWeights,
  TailWeights,
  Parameters,
  HeadOperands,
  TailOperands,
  Stores
};

// The array's streams, and those of the vector unit, in the order in which they come first as a
// rule. Sums of images come last of all.
constexpr size_t matrixStreams = 3, vectorStreams = 5;
constexpr int matrix = 0, vector = 1, load = 2, none = -1;
inline const std::vector<int> actors{matrix, matrix, matrix, vector, vector, vector,
                                     vector, vector, vector, load,   load,   load,
                                     load,   load,   none,   none,   none};

constexpr size_t nothing = SIZE_MAX; // no piece

struct Piece {
  std::vector<Task> tasks;
};

using After = llvm::SmallVector<size_t, 6>;

// A buffer that serves again and again, and the pieces that read what it holds.
struct Turn {
  int buffer = -1;
  After readers;
};

// The pieces that a new content comes after.
inline After replaced(Turn &turn) { return std::exchange(turn.readers, {}); }

// A buffer of rows that stay for a segment's stripes. Of each row the last pieces of each stream
// that read it.
struct KeptRows {
  Turn turn;
  std::map<Stream, std::vector<size_t>> readers; // by row of the buffer
  void read(Stream stream, int64_t begin, int64_t end, size_t piece);
  // The pieces that new rows come after.
  After replaced(int64_t begin, int64_t end) const;
};

// Buffers that serve by turns.
struct Turns {
  size_t count = 2, next = 0;
  Turn turns[mostCopies];
  Turn &take() { return turns[next++ % count]; }
};

// When pieces start.
struct Order {
  std::vector<int64_t> starts;
  int64_t end; // of the last piece
};

// What the chains of a run share: their pieces, and what is on chip.
struct Run {
  explicit Run(Steps &steps) : steps(steps) {}
  // The best order, with places for buffers by the rules of layOut and layOutSums. Nothing where
  // none ends before `enough`.
  std::optional<Order> orderByRules(const isa::Isa &isa, int64_t enough = INT64_MAX);
  // The same with the places that the steps' layout has.
  Order orderAsPlaced(const isa::Isa &isa);
  // Moves buffers that are at work at the same time into different banks. False if none moves.
  bool movesApart(const LoweringContext &context, const Order &order);
  void list(const isa::Isa &isa, const Order &order); // the steps
  void layOut(const isa::Isa &isa);
  bool layOutSums(const isa::Isa &isa, bool isApart);
  void findSources(const isa::Isa &isa);
  bool findBanks(const isa::Isa &isa);
  int bankOf(const isa::Isa &isa, const Piece &piece) const;
  int sourceOf(const isa::Isa &isa, const std::vector<int> &operands, const Piece &piece) const;
  void holdParameters(const std::vector<Task> &loads);

  Steps &steps;
  int64_t matrixOrder = 0, vectorOrder = 0; // which of their streams come first
  std::vector<Task> constants;              // that come first
  std::vector<Task> computed;               // that come with the first input
  std::vector<Piece> pieces;
  std::vector<PieceToOrder> order;
  std::vector<size_t> firstPieces; // of each unit
  Turns inputs, headSums, windowSums, tailSums, results, windows, between, windowResults,
      stripeResults;
  Turns images;                       // that one chain hands to the next
  std::map<int64_t, KeptRows> kept;   // by chunk
  Turn imageSums, imageSumResult;     // of all channels
  std::map<int64_t, Turn> stripeSums; // of the tail, by tile, where chunks add up
  std::map<Stream, Turns> weightTurns;
  std::set<int> weights;    // buffers
  std::set<int> parameters; // buffers, of the first chain
};

// A tensor that the chain before leaves on chip.
struct Handed {
  Tile tile;
  Turn *turn = nullptr;
  After writers;
  size_t stored = nothing; // the last piece that stored a result which later chains may load
};

} // namespace tilewright::chains

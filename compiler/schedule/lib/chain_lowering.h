// A chain's work: units (a stripe's chunk of channels) pass through head, window and tail one after
// the other. The work of a unit is cut into pieces, each for one unit of the machine: the products
// of a tile of accumulators, the element-wise operations on it, the windows of some rows, a load.
// The tail's accumulators of a stripe stay until the last chunk has been added.
#pragma once

#include "array_windows.h"
#include "chain.h"
#include "chain_run.h"
#include "conv_stage.h"
#include "image_sum.h"
#include "window_stage.h"

#include "tilewright/compiler/schedule/task_times.h"

#include <optional>

namespace tilewright::chains {

// Work of one layer.
struct LayerWork {
  kernel::GroupOp group;
  int layer = -1;
  mlir::Operation *anchor = nullptr;
  std::optional<ElementChain> operations;
};

// One chunk of channels of one stripe.
struct Unit {
  size_t index;
  int64_t n;
  Stripe rows;
  Span channels;
  int64_t chunk, stripe; // stripes of all images count
  bool isFirst, isLast;  // of the stripe
  Rows onArray;          // of its windows
};

inline Span spanOf(const Rows &rows) { return {rows.begin, rows.end}; }

// A piece that makes rows from `row` on.
struct MadeRows {
  int64_t row;
  size_t piece;
};

// What other pieces come after, of a unit.
struct UnitPieces {
  std::vector<MadeRows> head, lanes, array; // results, in the order of their stream; of windows, by
                                            // the unit of the machine that made them
  size_t firstProducts = nothing;
  size_t tailWeights = nothing; // what loads them
};

class Chain {
public:
  Chain(LoweringContext &context, const ChainedGroups &chained, Run &run);
  const FusedStackProblem &problem() const { return p_; }
  bool isServed() const { return isServed_; }
  // Adds its pieces to the run's. Its input is what was handed to it, if something was; with
  // `handsOn`, its result stays on chip and is returned.
  Handed lower(const FusedStackPlan &plan, bool isTrial, const Handed &handed, bool handsOn);
  // Whether its head can read an image that another chain leaves on chip, under a plan that leaves
  // it whole and merges no taps.
  bool mayTake() const;

private:
  struct Weights {
    ConvStage::Weights weights;
    size_t piece = nothing; // that loads them
    Turn *turn = nullptr;   // null: they stay
  };
  void probe(ConvProblem &problem, LayerWork &work);
  ElementChain operationsOf(LayerWork &work, int64_t block);
  std::vector<Unit> unitsOf() const;
  size_t add(Stream stream, const LayerWork &work, std::vector<Task> tasks, const After &after);
  template <typename Load>
  Weights &weightsOf(Stream stream, const LayerWork &work, const Unit &unit, int64_t part,
                     const Load &load);
  void padBetween(const Unit &unit, Turn &between);
  void readHead(Stream stream, Rows rows, size_t piece, const Unit &unit);
  void storeHead(const Unit &unit, Rows rows, Span channels, Tile value, size_t finished);
  void takeInput(const Unit &unit);
  Tile sumsIn(Turn &turn, const Extent &extent, After &before);
  void head(const Unit &unit);
  void window(const Unit &unit);
  void reduceOnArray(const Unit &unit, const WindowStage::Input &input, int64_t inputChannel,
                     const Tile &result, const After &after);
  Weights &arrayWeights(const Unit &unit);
  void reduceOnLanes(const Unit &unit, Span rows, const WindowStage::Input &input,
                     int64_t inputChannel, const Tile &result, const After &after);
  void finishStripe(const Unit &unit);
  void storeStripe(const Unit &unit);
  // A part of an image: some rows, some channels. Returns the last piece.
  size_t addUp(const Unit &unit, const Tile &image, Span rows, Span channels, int64_t part,
               bool isLast, After before);
  size_t finishSum(const Unit &unit, const Tile &slots, int64_t parts, const Tile &sum,
                   size_t added);
  void tail(const Unit &unit);
  static void mark(std::vector<Task> &tasks, const LayerWork &work) {
    for (Task &task : tasks)
      task.layer = work.layer;
  }
  // Those that no other layer has.
  static void mark(ChannelParts &parts, const LayerWork &work) {
    for (std::vector<Task> &tasks : parts.loads)
      for (Task &task : tasks)
        task.layer = task.layer < 0 ? work.layer : task.layer;
  }
  ChannelParts prepare(bool isTrial);
  std::vector<Task> computedWeights();
  void takeParameters(ChannelParts parts);
  void loadParameters(const Unit &unit);
  size_t parametersOf(const Unit &unit) const;
  void store(std::vector<Task> &out, LayerWork &work, const Box &box, const Tile &value);

  LoweringContext &context_;
  Run &run_;
  Steps &steps_;
  FusedStackProblem p_;
  FusedStackPlan plan_{};
  bool isServed_ = true;
  LayerWork head_, window_, tail_, sum_;
  std::optional<ConvStage> headStage_, tailStage_;
  // Of the window, for units of the array: one of these, with its operations.
  std::optional<ConvStage> diagonals_;
  std::optional<ArrayWindows> sliding_;
  std::optional<ElementChain> slidingOperations_;
  std::optional<WindowStage> windowStage_;
  TaskTimes times_;
  int64_t matrixLatency_; // until others find its results
  int64_t block_ = 0;     // channels of a block of per-channel parameters
  int64_t headBlock() const { return headTileChannels(context_.machine, plan_); }
  size_t copies(Copies which) const { return static_cast<size_t>(copiesOf(p_, plan_, which)); }
  // Rows of a layer's input before which all lie that output rows before `end` need.
  int64_t inputEnd(int64_t end) const {
    return p_.window->strideY * (end - 1) - p_.window->padTop +
           (p_.window->kernelHeight - 1) * p_.window->dilationY + 1;
  }
  int64_t tailInputEnd(int64_t end) const {
    return p_.tail->strideY * (end - 1) - p_.tail->padTop +
           (p_.tail->kernelHeight - 1) * p_.tail->dilationY + 1;
  }
  // Of the head, as far as they are inside the tensor.
  Rows inputRows(Span windows) const {
    return {std::max<int64_t>(0, p_.window->strideY * windows.begin - p_.window->padTop),
            std::min(p_.window->height, inputEnd(windows.end))};
  }
  Rows tailInputRows(Span results) const {
    return {std::max<int64_t>(0, p_.tail->strideY * results.begin - p_.tail->padTop),
            std::min(p_.tail->height, tailInputEnd(results.end))};
  }
  int64_t chunks() const {
    return (chunkedChannels(p_) + plan_.chunkChannels - 1) / plan_.chunkChannels;
  }
  isa::Role windowRole() const {
    if (!p_.windowIsDepthwise)
      return windowStage_->isSum() ? isa::Role::SumPool : isa::Role::MaxPool;
    return p_.windowHasSums ? isa::Role::Depthwise : isa::Role::DepthwiseI8;
  }
  bool weightsStay_ = false;
  int64_t keptRows_ = 0; // of the head, that are on chip at once
  bool keeps() const { return plan_.cachedTiles > 1; }

  std::vector<UnitPieces> made_;                          // by unit
  std::map<std::pair<int64_t, int64_t>, int64_t> stored_; // rows of the head, by image and chunk
  size_t headStored_ = nothing;                           // by the latest of these pieces
  std::map<std::pair<Stream, int64_t>, Weights> weights_; // by part: a chunk, as a rule
  std::set<int> padded_;                                  // buffers between head and window
  std::set<int> cleared_;                                 // squares with nothing but diagonals
  ChannelParts parts_;                                    // of parameters
  std::vector<size_t> parameters_; // pieces that load them; `nothing`: they come first
  bool handsOn_ = false;
  Handed handed_, handing_;
  ConvStage::Input headInput_;     // of a stripe
  WindowStage::Input windowInput_; // of a part of a stripe, where the window comes first
  Span inputPart_{0, 0};           // its channels
  Turn *input_ = nullptr;
  int64_t inputImage_ = -1; // of the batch
  After inputPieces_;       // that make it
  Tile headResult_;         // of the unit made last, beginning in the first column of padding
  Turn *headTurn_ = nullptr, *windowTurn_ = nullptr;
  KeptRows *kept_ = nullptr; // of the unit made last, where stripes keep rows
  Tile windowResult_;
  After windowFree_; // what the rows that the tail reads come after
  // Of a window that comes last: the part of its channels at hand, as if all of them were there.
  Span part_{0, 0};
  Tile stripeResult_;
  Turn *stripeTurn_ = nullptr;
  After stripeWriters_; // of what is not stored yet
  After stripeStores_;
  // Of the tail: the finish before the last one, the last one.
  int64_t summed_ = 0; // parts of the tail's image at hand that are added up
  After tailFinishes_;
  size_t lastTailFinish_ = nothing;
};

// All steps of chains that follow each other. Where `layout` has a place for each buffer, the order
// follows from these.
void lowerAll(LoweringContext &context, const ChainRun &run, bool isTrial, Steps &steps,
              const std::vector<int64_t> &layout = {});
// The same for a trial. Returns the cycles that they take at least, roughly; nothing, without
// steps, where these are `enough` or more.
std::optional<int64_t> lowerTrial(LoweringContext &context, const ChainRun &run, Steps &steps,
                                  int64_t enough);
// The same with buffers moved apart from where they stand; nothing when none moves.
std::optional<int64_t> lowerApart(LoweringContext &context, const ChainRun &run, Steps &steps,
                                  const std::vector<int64_t> &layout);

} // namespace tilewright::chains

// Chains: units of work (a stripe's chunk of channels) pass through head, window and tail one after
// the other, each a step behind the one before, so that the matrix unit works on one unit while the
// vector unit works on another.
//
// 1. A step holds the head's work on one unit, the window's on the unit before and the tail's on
// the unit before that, interleaved piece by piece: both units of the machine find work all the
// time.
// 2. An accumulator tile's products are listed one piece ahead of the element-wise operations on
// it.
// 3. The tail's accumulators of a stripe stay until the last chunk has been added.
#include "chain.h"

#include "alone.h"
#include "conv_stage.h"
#include "trial.h"
#include "window_stage.h"

#include "tilewright/compiler/chain_space.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <map>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

ElementChain::Shapes shapesOf(kernel::GroupOp group) {
  ElementChain::Shapes shapes;
  for (mlir::Operation &op : group.getBody().front())
    for (mlir::Value value : op.getOperands())
      shapes[value] = llvm::SmallVector<int64_t>(shapeOf(value).begin(), shapeOf(value).end());
  return shapes;
}

// A part of a unit's work, and when in its step it is listed.
struct Piece {
  double at;
  std::vector<Task> tasks;
};

// Work of one layer.
struct LayerWork {
  kernel::GroupOp group;
  int layer = -1;
  mlir::Operation *anchor = nullptr;
  std::optional<ElementChain> operations;
};

// One chunk of channels of one stripe.
struct Unit {
  int64_t n;
  StripeRows rows;
  Span channels;
  int64_t chunk;
  bool isFirst, isLast; // of the stripe
};

Span spanOf(const Rows &rows) { return {rows.begin, rows.end}; }

class Chain {
public:
  Chain(LoweringContext &context, const ChainedGroups &chained, Steps &steps);
  const ChainProblem &problem() const { return p_; }
  bool isServed() const { return isServed_; }
  void lower(const ChainPlan &plan, bool isTrial);

private:
  void probe(ConvProblem &problem, LayerWork &work);
  ElementChain operationsOf(LayerWork &work, int64_t block);
  std::vector<Unit> unitsOf() const;
  ConvStage::Weights weightsOf(ConvStage &stage, const LayerWork &work, Step &step,
                               const Unit &unit, Span channels, Span folds,
                               std::map<int64_t, ConvStage::Weights> &kept);
  void head(Step &step, std::vector<Piece> &pieces, const Unit &unit);
  void window(Step &step, std::vector<Piece> &pieces, const Unit &unit);
  void tail(Step &step, std::vector<Piece> &pieces, const Unit &unit);
  static void mark(std::vector<Task> &tasks, const LayerWork &work) {
    for (Task &task : tasks)
      task.layer = work.layer;
  }
  void interleave(std::vector<Piece> &pieces, std::vector<Task> &out);
  void store(std::vector<Task> &out, LayerWork &work, const Box &box, const Tile &value);

  LoweringContext &context_;
  Steps &steps_;
  ChainProblem p_;
  ChainPlan plan_{};
  bool isServed_ = true;
  LayerWork head_, window_, tail_;
  std::optional<ConvStage> headStage_, tailStage_;
  std::optional<WindowStage> windowStage_;
  int64_t block_ = 0; // channels of a block of per-channel parameters
  // The head's: weights are packed by column tiles.
  int64_t headBlock() const {
    return std::max(context_.cols, block_ / context_.cols * context_.cols);
  }

  // What is on chip, by unit or stripe.
  ConvStage::Input headInput_;
  std::map<int64_t, ConvStage::Weights> headWeights_, tailWeights_; // by chunk
  struct Between {
    int buffer = -1;
    int64_t rowPitch = 0, columnPitch = 0;
  };
  Between headResult_, windowResult_; // of the unit made last
  WindowStage::Input windowInput_;    // of a stripe, where the window comes first
  Tile stripeResult_;                 // of a window that comes last
  std::vector<Tile> tailSums_;        // of a stripe
  std::optional<Task> selectedBlock_, selectedTable_;
};

Chain::Chain(LoweringContext &context, const ChainedGroups &chained, Steps &steps)
    : context_(context), steps_(steps) {
  for (size_t i = 0; i < chained.groups.size(); ++i) {
    mlir::Operation *anchor = chainAnchorOf(chained.groups[i]);
    LayerWork &work = !llvm::isa<kernel::Conv2DOp>(anchor) ? window_ : i == 0 ? head_ : tail_;
    work.group = chained.groups[i];
    work.layer = chained.layers[i];
    work.anchor = anchor;
  }
  using From = ConvStage::InputFrom;
  auto fitsRows = [&](int64_t width) { return width <= context.machine.rowLimit; };
  if (head_.anchor) {
    headStage_.emplace(context, head_.anchor, steps, From::Dram);
    p_.head = headStage_->problem();
    probe(*p_.head, head_);
    isServed_ &= !p_.head->resultInAccumulators && fitsRows(p_.head->outputWidth) &&
                 context.channels >= context.cols;
  }
  if (window_.anchor) {
    windowStage_.emplace(context, window_.anchor, steps);
    p_.window = windowStage_->problem();
    p_.windowIsDepthwise = windowStage_->isDepthwise();
    ElementChain operations = operationsOf(window_, context.cols);
    p_.windowOperations = operations.instructionCount() -
                          (p_.windowIsDepthwise && operations.leadingRescale() ? 1 : 0);
    p_.windowResidentBytes = windowStage_->weightBytes() + operations.residentBytes();
    p_.windowSpadBytesPerElement = operations.spadBytesPerElement();
    isServed_ &= p_.window->outputWidth <=
                     context.limit(p_.windowIsDepthwise ? "vdw.i8" : "vmaxpool", "n0") &&
                 p_.window->multiplier == 1 && !operations.resultInAccumulators() &&
                 (!p_.windowIsDepthwise || operations.leadingRescale());
  }
  if (tail_.anchor) {
    tailStage_.emplace(context, tail_.anchor, steps, From::Chip);
    p_.tail = tailStage_->problem();
    probe(*p_.tail, tail_);
    isServed_ &= fitsRows(p_.tail->outputWidth);
  }
}

ElementChain Chain::operationsOf(LayerWork &work, int64_t block) {
  return {context_, steps_, work.group, work.anchor, shapesOf(work.group), block};
}

void Chain::probe(ConvProblem &problem, LayerWork &work) {
  ElementChain operations = operationsOf(work, context_.cols);
  takeOperations(problem, operations);
}

std::vector<Unit> Chain::unitsOf() const {
  std::vector<Unit> units;
  const int64_t batch = p_.tail ? p_.tail->batch : p_.window->batch, channels = chunkedChannels(p_),
                chunks = ceilDiv(channels, plan_.chunkChannels);
  for (int64_t n = 0; n < batch; ++n)
    for (const Rows &rows : stripesOf(p_, plan_))
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t first = chunk * plan_.chunkChannels;
        units.push_back({n,
                         stripeRows(p_, rows),
                         {first, std::min(channels, first + plan_.chunkChannels)},
                         chunk,
                         chunk == 0,
                         chunk + 1 == chunks});
      }
  return units;
}

// Weights that stay on chip are loaded in the first stripe.
ConvStage::Weights Chain::weightsOf(ConvStage &stage, const LayerWork &work, Step &step,
                                    const Unit &unit, Span channels, Span folds,
                                    std::map<int64_t, ConvStage::Weights> &kept) {
  auto known = kept.find(unit.chunk);
  if (known != kept.end() && plan_.keepsWeights)
    return known->second;
  Step loads;
  kept[unit.chunk] = stage.loadWeights(loads, unit.n, channels, folds);
  mark(loads.constants, work);
  append(step.constants, loads.constants);
  return kept[unit.chunk];
}

void Chain::head(Step &step, std::vector<Piece> &pieces, const Unit &unit) {
  const Span rows = spanOf(unit.rows.head), columns{0, p_.head->outputWidth};
  if (unit.isFirst)
    headInput_ = headStage_->loadInput(step.loads, unit.n, rows, columns);
  const ConvStage::Weights weights = weightsOf(*headStage_, head_, step, unit, unit.channels,
                                               headStage_->allFolds(), headWeights_);
  const int64_t chunk = unit.channels.size();
  Between between{-1, 0, chunk};
  int64_t left = 0;
  if (p_.window) {
    left = p_.window->padLeft;
    const int64_t end = left + p_.window->width,
                  width = std::max(end, windowStage_->inputColumns(p_.window->outputWidth));
    between.rowPitch = width * chunk;
    between.buffer =
        steps_.add(isa::Space::Spad, rows.size() * between.rowPitch, "rows between layers");
    const WindowStage::Input padded{between.buffer, rows.begin, between.rowPitch, chunk};
    std::vector<Task> fills;
    windowStage_->padColumns(fills, padded, rows.size(), 0, left);
    windowStage_->padColumns(fills, padded, rows.size(), end, width - end);
    mark(fills, window_);
    append(step.loads, fills);
  } else {
    between.rowPitch = columns.size() * chunk;
    between.buffer = steps_.add(isa::Space::Spad, rows.size() * between.rowPitch,
                                "rows between layers", Traffic::Matrix);
  }
  headResult_ = between;
  const int64_t channels = headBlock();
  const int64_t tiles = ceilDiv(rows.size(), plan_.headRows) * ceilDiv(chunk, channels);
  int64_t tile = 0;
  for (int64_t y = rows.begin; y < rows.end; y += plan_.headRows) {
    const Span ySpan{y, std::min(rows.end, y + plan_.headRows)};
    // Windows are gathered while the tile before is made.
    Piece gathers{
        static_cast<double>(tile - ceilDiv(chunk, channels)) / static_cast<double>(tiles) - 1e-6,
        {}};
    const ConvStage::Input windows = headStage_->gather(gathers.tasks, headInput_, ySpan, columns);
    mark(gathers.tasks, head_);
    if (!gathers.tasks.empty())
      pieces.push_back(std::move(gathers));
    std::vector<Task> loads;
    head_.operations->loadOperands(
        loads, {{unit.n, y, 0, unit.channels.begin}, {1, ySpan.size(), columns.size(), chunk}});
    for (int64_t c = unit.channels.begin; c < unit.channels.end; c += channels, ++tile) {
      const Span part{c, std::min(unit.channels.end, c + channels)};
      const Extent extent{ySpan.size(), columns.size(), part.size()};
      const Tile acc =
          denseTile(isa::Space::Acc,
                    steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
      // A column tile at a time: the tail's products come between them.
      for (int64_t column = part.begin; column < part.end; column += context_.cols) {
        const double at = static_cast<double>(tile) + static_cast<double>(column - part.begin) /
                                                          static_cast<double>(part.size());
        Piece products{at / static_cast<double>(tiles), std::move(loads)};
        loads.clear();
        Tile sums = acc;
        sums.offset += column - part.begin;
        headStage_->fill(products.tasks, windows, weights, ySpan, columns,
                         {column, std::min(part.end, column + context_.cols)}, sums, false);
        mark(products.tasks, head_);
        pieces.push_back(std::move(products));
      }
      Piece finish{static_cast<double>(tile + 1) / static_cast<double>(tiles), {}};
      const Tile result{isa::Space::Spad,
                        between.buffer,
                        (y - rows.begin) * between.rowPitch + left * chunk +
                            (c - unit.channels.begin),
                        between.rowPitch,
                        chunk,
                        1};
      head_.operations->ops().forget();
      head_.operations->run(finish.tasks, acc, extent, c - unit.channels.begin, result);
      mark(finish.tasks, head_);
      pieces.push_back(std::move(finish));
    }
  }
}

void Chain::window(Step &step, std::vector<Piece> &pieces, const Unit &unit) {
  const WindowProblem &w = *p_.window;
  const Span rows = spanOf(unit.rows.window);
  const int64_t chunk = unit.channels.size();
  WindowStage::Input input;
  int64_t inputChannel = 0; // of the unit's first channel, in the input tile
  if (p_.head) {
    const Between &between = headResult_;
    input = {between.buffer, unit.rows.head.begin, between.rowPitch, between.columnPitch};
  } else {
    if (unit.isFirst)
      windowInput_ = windowStage_->loadInput(
          step.loads, {{unit.n, rows.begin, 0, 0}, {1, rows.size(), w.outputWidth, w.channels}});
    input = windowInput_;
    inputChannel = unit.channels.begin;
  }
  Tile result;
  if (p_.tail) {
    const Extent extent{rows.size(), w.outputWidth, chunk};
    result = denseTile(
        isa::Space::Spad,
        steps_.add(isa::Space::Spad, extent.elements(), "rows between layers", Traffic::Matrix),
        extent);
    windowResult_ = {result.buffer, result.s1, chunk};
  } else {
    if (unit.isFirst) {
      const Extent extent{rows.size(), w.outputWidth, w.channels};
      stripeResult_ = denseTile(
          isa::Space::Spad, steps_.add(isa::Space::Spad, extent.elements(), "result tile"), extent);
    }
    result = stripeResult_;
    result.offset += unit.channels.begin;
  }
  kernel::RescaleOp leading =
      windowStage_->isDepthwise() ? window_.operations->leadingRescale() : nullptr;
  const bool isWhole =
      leading ? window_.operations->isLeadingLast() : window_.operations->isEmpty();
  // A few pieces: the head's element-wise work comes between them.
  const int64_t parts = std::min<int64_t>(rows.size(), 4), height = ceilDiv(rows.size(), parts);
  const int64_t count = ceilDiv(rows.size(), height) * ceilDiv(chunk, block_);
  int64_t index = 0;
  for (int64_t y = rows.begin; y < rows.end; y += height) {
    const int64_t size = std::min(height, rows.end - y);
    for (int64_t c = 0; c < chunk; c += block_, ++index) {
      Piece piece{(static_cast<double>(index) + 0.25) / static_cast<double>(count), {}};
      const Extent extent{size, w.outputWidth, std::min(block_, chunk - c)};
      const Box box{{unit.n, y, 0, unit.channels.begin + c}, {1, size, w.outputWidth, extent.nc}};
      window_.operations->loadOperands(piece.tasks, box);
      window_.operations->ops().forget();
      Tile slice = result;
      slice.offset += (y - rows.begin) * result.s1 + c;
      const Tile value =
          isWhole
              ? slice
              : denseTile(isa::Space::Spad,
                          steps_.add(isa::Space::Spad, extent.elements(), "window tile"), extent);
      if (leading)
        window_.operations->ops().selectBlock(piece.tasks, window_.operations->leadingBlocks(),
                                              box.start[3]);
      windowStage_->reduce(piece.tasks, leading ? "vdw.i8" : "vmaxpool", box, extent, value, input,
                           inputChannel + c, box.start[3], leading);
      window_.operations->run(piece.tasks, value, extent, 0, slice, static_cast<bool>(leading));
      if (!p_.tail && unit.isLast && y + height >= rows.end && c + block_ >= chunk)
        store(piece.tasks, window_,
              {{unit.n, rows.begin, 0, 0}, {1, rows.size(), w.outputWidth, w.channels}},
              stripeResult_);
      mark(piece.tasks, window_);
      pieces.push_back(std::move(piece));
    }
  }
}

void Chain::tail(Step &step, std::vector<Piece> &pieces, const Unit &unit) {
  const ConvProblem &t = *p_.tail;
  const Span rows = spanOf(unit.rows.result), columns{0, t.outputWidth};
  const Between &between = p_.window ? windowResult_ : headResult_;
  const ConvStage::Input input{between.buffer,   spanOf(unit.rows.window), {0, t.width},
                               between.rowPitch, between.columnPitch,      unit.channels.begin};
  const Span every{0, t.outputChannels};
  const ConvStage::Weights weights = weightsOf(*tailStage_, tail_, step, unit, every,
                                               tailStage_->foldsOfChunk(unit.chunk), tailWeights_);
  const int64_t tiles =
      ceilDiv(rows.size(), plan_.tailRows) * ceilDiv(t.outputChannels, plan_.tailChannels);
  auto at = [&](int64_t tile) { return static_cast<double>(tile) / static_cast<double>(tiles); };
  if (unit.isFirst)
    tailSums_.clear();
  int64_t tile = 0;
  for (int64_t y = rows.begin; y < rows.end; y += plan_.tailRows) {
    const Span ySpan{y, std::min(rows.end, y + plan_.tailRows)};
    const Box box{{unit.n, y, 0, 0}, {1, ySpan.size(), t.outputWidth, t.outputChannels}};
    const Extent whole{ySpan.size(), t.outputWidth, t.outputChannels};
    Tile result = denseTile(isa::Space::Spad, -1, whole);
    const bool inAccumulators = t.resultInAccumulators;
    if (unit.isLast) {
      // Operands come in while the tile before is made.
      std::vector<Task> loads;
      tail_.operations->loadOperands(loads, box);
      mark(loads, tail_);
      if (tile == 0)
        append(step.loads, loads);
      else
        pieces.push_back({at(tile - 1) - 1e-6, std::move(loads)});
      if (!inAccumulators)
        result.buffer = steps_.add(isa::Space::Spad, whole.elements(), "result tile");
    }
    for (int64_t c = 0; c < t.outputChannels; c += plan_.tailChannels, ++tile) {
      const Span part{c, std::min(t.outputChannels, c + plan_.tailChannels)};
      const Extent extent{ySpan.size(), t.outputWidth, part.size()};
      if (unit.isFirst)
        tailSums_.push_back(denseTile(
            isa::Space::Acc, steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"),
            extent));
      const Tile acc = tailSums_[static_cast<size_t>(tile)];
      Piece products{at(tile), {}};
      tailStage_->fill(products.tasks, input, weights, ySpan, columns, part, acc, !unit.isFirst);
      mark(products.tasks, tail_);
      pieces.push_back(std::move(products));
      if (!unit.isLast)
        continue;
      Piece finish{at(tile + 1), {}};
      tail_.operations->ops().forget();
      Tile slice = result;
      slice.offset += c;
      const Tile value = tail_.operations->run(finish.tasks, acc, extent, c, slice);
      if (inAccumulators)
        store(finish.tasks, tail_,
              {{unit.n, y, 0, c}, {1, ySpan.size(), t.outputWidth, part.size()}}, value);
      else if (part.end == t.outputChannels)
        store(finish.tasks, tail_, box, result);
      mark(finish.tasks, tail_);
      pieces.push_back(std::move(finish));
    }
  }
}

void Chain::store(std::vector<Task> &out, LayerWork &work, const Box &box, const Tile &value) {
  storeBox(context_, out, context_.address(work.group.getResult()),
           shapeOf(work.anchor->getResult(0)), box, work.operations->resultBytes(), value);
}

// Pieces in the order of their times. What is selected already (a block of parameters, a table) is
// not selected again: pieces were made without knowing what comes before them.
void Chain::interleave(std::vector<Piece> &pieces, std::vector<Task> &out) {
  std::vector<std::pair<double, size_t>> order;
  size_t count = 0;
  for (const Piece &piece : pieces) {
    order.emplace_back(piece.at, order.size());
    count += piece.tasks.size();
  }
  out.reserve(count);
  std::sort(order.begin(), order.end());
  auto indexOf = [&](const char *name) {
    const isa::Instruction *instruction = context_.isa.find(name);
    return instruction ? instruction->index : -1;
  };
  const int block = indexOf("vchannel"),
            tables[] = {indexOf("vtable.load"), indexOf("vtable16.load")};
  auto repeats = [](std::optional<Task> &selected, const Task &task) {
    if (selected && selected->instruction == task.instruction && selected->values == task.values &&
        selected->buffers == task.buffers)
      return true;
    selected = task;
    return false;
  };
  for (const auto &[at, index] : order)
    for (Task &task : pieces[index].tasks) {
      const bool isTable = task.instruction == tables[0] || task.instruction == tables[1];
      if ((task.instruction == block && repeats(selectedBlock_, task)) ||
          (isTable && repeats(selectedTable_, task)))
        continue;
      out.push_back(std::move(task));
    }
}

void Chain::lower(const ChainPlan &plan, bool isTrial) {
  plan_ = plan;
  steps_.plan = describe(p_, plan);
  block_ = std::min(plan.chunkChannels, context_.channels);
  if (head_.anchor) {
    headStage_->listFolds(plan.headMerge, p_.head->inputChannels);
    headStage_->placeWeights(isTrial);
    head_.operations.emplace(operationsOf(head_, headBlock()));
  }
  if (window_.anchor)
    window_.operations.emplace(operationsOf(window_, block_));
  if (tail_.anchor) {
    tailStage_->listFolds(TapMerge::None, plan.chunkChannels);
    tailStage_->placeWeights(isTrial);
    tail_.operations.emplace(operationsOf(tail_, std::min(plan.tailChannels, context_.channels)));
  }
  const std::vector<Unit> units = unitsOf();
  const size_t windowLag = head_.anchor ? 1 : 0, tailLag = windowLag + (window_.anchor ? 1 : 0);
  const size_t lag = tail_.anchor ? tailLag : windowLag;
  for (size_t slot = 0; slot < units.size() + lag; ++slot) {
    steps_.steps.emplace_back();
    Step &step = steps_.steps.back();
    auto prepare = [&](LayerWork &work) {
      std::vector<Task> constants;
      work.operations->prepare(constants);
      mark(constants, work);
      append(step.constants, constants);
    };
    if (slot == 0) {
      if (head_.anchor)
        prepare(head_);
      if (window_.anchor) {
        std::vector<Task> loads;
        windowStage_->loadWeights(loads);
        mark(loads, window_);
        append(step.constants, loads);
        prepare(window_);
      }
      if (tail_.anchor)
        prepare(tail_);
    }
    auto unitAt = [&](size_t behind) -> const Unit * {
      return slot >= behind && slot - behind < units.size() ? &units[slot - behind] : nullptr;
    };
    std::vector<Piece> pieces;
    // What came before is read before it is replaced.
    if (tail_.anchor)
      if (const Unit *unit = unitAt(tailLag))
        tail(step, pieces, *unit);
    if (window_.anchor)
      if (const Unit *unit = unitAt(windowLag))
        window(step, pieces, *unit);
    if (head_.anchor)
      if (const Unit *unit = unitAt(0))
        head(step, pieces, *unit);
    interleave(pieces, step.compute);
  }
}

} // namespace

mlir::Operation *chainAnchorOf(kernel::GroupOp group) {
  for (mlir::Operation &op : group.getBody().front())
    if (llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp, kernel::MaxPoolOp>(op))
      return &op;
  return nullptr;
}

bool mayFollow(kernel::GroupOp group, kernel::GroupOp next) {
  mlir::Operation *from = chainAnchorOf(group), *to = chainAnchorOf(next);
  if (!from || !to)
    return false;
  mlir::Value result = group.getResult();
  const bool isConvolution[] = {llvm::isa<kernel::Conv2DOp>(from), llvm::isa<kernel::Conv2DOp>(to)};
  return (isConvolution[0] || isConvolution[1]) && result.hasOneUse() &&
         to->getOperand(0) == result && bitsOf(result) == 8;
}

bool isChain(const ChainedGroups &chained) {
  const size_t count = chained.groups.size();
  auto isWindow = [&](size_t i) {
    return !llvm::isa<kernel::Conv2DOp>(chainAnchorOf(chained.groups[i]));
  };
  return count == 2 || (count == 3 && !isWindow(0) && isWindow(1) && !isWindow(2));
}

// Plans that are tried out, at most.
static constexpr size_t trials = 4;

std::optional<ChosenChain> chooseChain(LoweringContext &context, const ChainedGroups &chained,
                                       int64_t apart) {
  Steps probe;
  Chain chain(context, chained, probe);
  if (!chain.isServed())
    return std::nullopt;
  std::optional<ChosenChain> best;
  for (const ChainPlan &plan : planChain(chain.problem(), context.machine, trials)) {
    if (plan.estimatedCycles > 1.1 * static_cast<double>(apart)) // the plan's idea is a rough one
      break;
    std::optional<Trial> trial =
        tryOut(context, [&](Steps &steps) { Chain(context, chained, steps).lower(plan, true); });
    if (trial)
      keepBest(best, {plan, std::move(trial->layout), trial->cycles, std::nullopt},
               [&](const ChainPlan &each) { return describe(chain.problem(), each); });
  }
  if (!best || best->cycles >= apart)
    return std::nullopt;
  if (!best->runnerUp || best->runnerUp->cycles > apart)
    best->runnerUp = RunnerUp{"each layer by itself", apart, best->cycles};
  return best;
}

// The tuner's plan; where it has none, the one that was chosen.
static ChosenChain tunedFor(LoweringContext &context, const ChainedGroups &chained,
                            const ChosenChain &chosen) {
  if (!context.tuner)
    return chosen;
  std::string signature;
  for (kernel::GroupOp group : chained.groups)
    signature += signatureOf(group) + ";";
  Steps probe;
  const ChainProblem problem = Chain(context, chained, probe).problem();
  const ChainSpace space(problem, context.machine);
  auto others = [&] {
    std::vector<PlanPoint> points;
    for (const ChainPlan &plan : planChain(problem, context.machine, trials))
      points.push_back(ChainSpace::point(plan));
    return points;
  };
  Alone alone(context, chained.groups);
  auto emit = [&](const PlanPoint &point) {
    return alone.emit([&](Steps &steps) {
      Chain(alone.context(), chained, steps).lower(space.plan(point), true);
    });
  };
  const std::string layers = layerOf(chained.groups.front()->getLoc()).name + " to " +
                             layerOf(chained.groups.back()->getLoc()).name;
  const PlanPoint planned = ChainSpace::point(chosen.plan);
  const std::optional<PlanPoint> point =
      context.tuner->choose({std::move(signature), layers, space, planned, others, emit});
  if (!point || *point == planned)
    return chosen;
  const ChainPlan plan = space.plan(*point);
  std::optional<Trial> trial =
      tryOut(context, [&](Steps &steps) { Chain(context, chained, steps).lower(plan, true); });
  if (!trial) // gaps come to lie otherwise
    return chosen;
  return {plan, std::move(trial->layout), trial->cycles,
          RunnerUp{describe(problem, chosen.plan), chosen.cycles, trial->cycles}};
}

void lowerChain(LoweringContext &context, const ChainedGroups &chained, const ChosenChain &planned,
                Steps &steps) {
  const ChosenChain chosen = tunedFor(context, chained, planned);
  Chain(context, chained, steps).lower(chosen.plan, false);
  if (chosen.layout.size() == steps.buffers.size())
    steps.layout = chosen.layout;
  steps.runnerUp = chosen.runnerUp;
}

} // namespace tilewright

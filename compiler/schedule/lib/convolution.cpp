// Convolutions and matrix products on the matrix unit.
//
// 1. The planner picks step tiles and accumulator tiles (conv_plan.h).
// 2. A step loads its input tile (clipped to the tensor; with merged taps, padded along x) and its
// chunk of weights, unless they are there already.
// 3. An accumulator tile is filled fold by fold: mload of a weight tile, mmul over the pixels whose
// tap lies inside the input. Padding taps cost
//    nothing. The first fold overwrites; when no tap covers the whole tile, the tile is zeroed
//    first. Where sums stand in the array, a column tile is one instruction, and padding is on
//    chip.
// 4. The group's element-wise operations run on the tile; the result tile is stored when all its
// channels are there.
#include "alone.h"
#include "conv_stage.h"
#include "expansion.h"
#include "trial.h"
#include "weight_stream.h"

#include "tilewright/compiler/schedule/conv_bound.h"
#include "tilewright/compiler/schedule/conv_space.h"
#include "tilewright/compiler/schedule/standing_plan.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/isa/roles.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

mlir::Operation *anchorOf(kernel::GroupOp group) {
  mlir::Operation *anchor = &group.getBody().front().front();
  while (!llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor))
    anchor = anchor->getNextNode();
  return anchor;
}

class Convolution {
public:
  Convolution(LoweringContext &context, kernel::GroupOp group, Steps &steps)
      : context_(context), group_(group), steps_(steps), anchor_(anchorOf(group)),
        stage_(context, anchor_, steps, ConvStage::InputFrom::Dram), p_(stage_.problem()) {
    probe();
  }

  const ConvProblem &problem() const { return p_; }
  // The same if each operation behind it took an instruction; nothing where that is no difference.
  const std::optional<ConvProblem> &unfused() const { return unfused_; }
  // Appends the steps of `plan`. For a trial, weights get an address and are not put into DRAM.
  // `isAlone`: nothing else runs between its steps.
  void lower(const ConvPlan &plan, bool isTrial, bool isAlone = true);

private:
  void probe();
  bool isFirstApart(int64_t parts) const;
  void takeTurns(size_t buffers);
  void computeTile(std::vector<Task> &out, ElementChain &chain, const ConvStage::Input &input,
                   int64_t n, Span y, Span x, Span channels, Tile result);
  void finishTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x, Span part,
                  int64_t firstChannel, const Tile &acc, const Tile &result);
  void storeResult(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x,
                   Span channels, const Tile &value);

  LoweringContext &context_;
  kernel::GroupOp group_;
  Steps &steps_;
  mlir::Operation *anchor_;
  ConvStage stage_;
  ConvProblem p_;
  std::optional<ConvProblem> unfused_;
  bool hasWideOperands_ = false; // in accumulators, from outside
  int64_t turn_ = 0;             // of a tile's accumulators
  ConvPlan plan_{};
  ElementChain::Shapes shapes_;
  // What is on chip now.
  ConvStage::Input input_;
  ConvStage::Weights weights_;
};

// Buffers from this one on are a tile's: its accumulators are in one bank, and those of the next
// tile in another one, so that its operands come in while the array fills this one's.
void Convolution::takeTurns(size_t buffers) {
  if (!hasWideOperands_)
    return;
  ++turn_;
  for (Buffer &buffer : llvm::MutableArrayRef(steps_.buffers).drop_front(buffers))
    if (buffer.space == isa::Space::Acc)
      buffer.bank = turn_;
}

// The result tile [y][x][channels] of a step, in accumulator tiles of at most tileChannels
// channels.
void Convolution::computeTile(std::vector<Task> &out, ElementChain &chain,
                              const ConvStage::Input &input, int64_t n, Span y, Span x,
                              Span channels, Tile result) {
  for (int64_t c = channels.begin; c < channels.end; c += plan_.tileChannels) {
    Span part{c, std::min(channels.end, c + plan_.tileChannels)};
    Extent extent{y.size(), x.size(), part.size()};
    Tile acc =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
    stage_.fill(out, input, weights_, y, x, part, acc, false);
    finishTile(out, chain, n, y, x, part, channels.begin, acc, result);
  }
  if (!chain.resultInAccumulators())
    storeResult(out, chain, n, y, x, channels, result);
}

// The element-wise operations on a finished accumulator tile; `result` begins at `firstChannel`.
void Convolution::finishTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x,
                             Span part, int64_t firstChannel, const Tile &acc, const Tile &result) {
  Tile slice = result;
  slice.offset += part.begin - firstChannel;
  Tile value =
      chain.run(out, acc, {y.size(), x.size(), part.size()}, part.begin - firstChannel, slice);
  if (chain.resultInAccumulators())
    storeResult(out, chain, n, y, x, part, value);
}

void Convolution::storeResult(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y,
                              Span x, Span channels, const Tile &value) {
  int64_t shape[] = {p_.batch, p_.outputHeight, p_.outputWidth, p_.outputChannels};
  storeBox(context_, out, context_.tensor(group_.getResult()), shape,
           {{n, y.begin, x.begin, channels.begin}, {1, y.size(), x.size(), channels.size()}},
           chain.resultBytes(), value);
}

// What the operations that follow need on chip.
void Convolution::probe() {
  for (mlir::Operation &op : group_.getBody().front())
    for (mlir::Value value : op.getOperands()) {
      llvm::SmallVector<int64_t> shape(shapeOf(value).begin(), shapeOf(value).end());
      if (shape.size() == 3) // a matrix product's [N,H,W] is [N,1,H,W] here
        shape.insert(shape.begin() + 1, 1);
      shapes_[value] = shape;
    }
  ElementChain chain(context_, steps_, group_, anchor_, shapes_, context_.cols);
  takeOperations(p_, chain);
  hasWideOperands_ = chain.wideOperandBytes() > 0;
  p_.resultIsApart = context_.tensors.lookup(group_.getResult()).pitch > 0;
  if (std::optional<ElementChain> unfused = chain.unfused())
    takeOperations(unfused_.emplace(p_), *unfused);
}

// Whether parts of the channels of the first input have buffers of their own, so that the array
// begins with the first one of them.
bool Convolution::isFirstApart(int64_t parts) const {
  return parts > 1 && p_.kernelHeight == 1 && p_.kernelWidth == 1 && p_.padTop == 0 &&
         p_.padLeft == 0 && !p_.inputScattered && !p_.weightsAreActivations &&
         plan_.stands == Stands::Weights && plan_.merge == TapMerge::None &&
         p_.inputChannels % (parts * context_.rows) == 0; // a fold reads one of them
}

void Convolution::lower(const ConvPlan &plan, bool isTrial, bool isAlone) {
  plan_ = plan;
  steps_.plan = tilewright::describe(p_, plan_);
  if (plan.streamFolds > 0) {
    ElementChain chain(context_, steps_, group_, anchor_, shapes_,
                       std::min(plan.tileChannels, context_.channels));
    return lowerWeightStream(context_, {group_, llvm::cast<kernel::Conv2DOp>(anchor_), p_}, plan,
                             chain, isTrial, steps_);
  }
  const int64_t parts =
      plan_.inputParts > 0 ? plan_.inputParts : usualInputParts(p_, context_.machine, plan_.merge);
  const bool isApart = isFirstApart(parts);
  const int64_t depth = depthOfPart(p_, context_.machine, plan_);
  stage_.listFolds(plan_.merge, plan_.depthParts > 1 ? depth : ceilDiv(p_.inputChannels, parts),
                   plan_.stands);
  stage_.placeWeights(isTrial);
  ElementChain chain(context_, steps_, group_, anchor_, shapes_,
                     std::min(plan_.tileChannels, context_.channels));

  struct Place {
    int64_t n;
    Span y, x;
  };
  std::vector<Place> places;
  for (int64_t n = 0; n < p_.batch; ++n)
    for (int64_t y = 0, end = 0; y < p_.outputHeight; y = end) {
      end = y + (y == 0 && plan_.firstHeight > 0 ? plan_.firstHeight : plan_.stepHeight);
      end = std::min(p_.outputHeight, end);
      for (int64_t x = 0; x < p_.outputWidth; x += plan_.stepWidth)
        places.push_back({n, {y, end}, {x, std::min(p_.outputWidth, x + plan_.stepWidth)}});
    }
  std::vector<Span> chunks;
  for (int64_t c = 0; c < p_.outputChannels; c += plan_.stepChannels)
    chunks.push_back({c, std::min(p_.outputChannels, c + plan_.stepChannels)});

  auto loadInput = [&](std::vector<Task> &loads, const Place &place) {
    return isApart && &place == places.data()
               ? stage_.loadInputApart(loads, place.n, place.y, place.x, parts)
               : stage_.loadInput(loads, place.n, place.y, place.x, parts);
  };
  const Place *loadedPlace = nullptr;
  const Span *loadedChunk = nullptr;
  int64_t loadedBatch = -1;
  // Of parts of the depth: the one that is on chip.
  Span loadedDepth{0, 0};
  // One accumulator tile in several steps: each brings the weights of some folds. Where it brings a
  // part of the input, too, the last part of a tile is the first one of the next.
  auto addParts = [&](const Place &place, const Span &chunk) {
    Extent extent{place.y.size(), place.x.size(), chunk.size()};
    const Box box{{place.n, place.y.begin, place.x.begin, chunk.begin},
                  {1, place.y.size(), place.x.size(), chunk.size()}};
    const size_t known = steps_.buffers.size();
    Tile acc =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
    const int64_t folds = stage_.allFolds().size();
    const bool byDepth = plan_.depthParts > 1,
               isBackward = byDepth && loadedPlace == &place && loadedDepth.begin > 0;
    // Folds of a part of the depth, and of a step.
    const int64_t ofPart =
                      byDepth ? p_.kernelHeight * p_.kernelWidth * depth / context_.rows : folds,
                  each = ceilDiv(ofPart, plan_.weightParts / plan_.depthParts);
    std::vector<std::pair<int64_t, Span>> pieces; // parts of the depth, and folds
    for (int64_t i = 0; i < plan_.depthParts; ++i) {
      const int64_t part = isBackward ? plan_.depthParts - 1 - i : i,
                    end = std::min(folds, (part + 1) * ofPart);
      for (int64_t first = part * ofPart; first < end; first += each)
        pieces.push_back({part, {first, std::min(end, first + each)}});
    }
    ConvStage::Input windows;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto &[part, someFolds] = pieces[i];
      steps_.steps.emplace_back();
      Step &step = steps_.steps.back();
      if (!isAlone)
        chain.ops().forget();
      if (steps_.steps.size() == 1)
        chain.prepare(step.constants);
      weights_ = stage_.loadWeights(step, place.n, chunk, someFolds);
      const Span channels{part * depth, std::min(p_.inputChannels, (part + 1) * depth)};
      const bool isThere =
          loadedPlace == &place && (!byDepth || loadedDepth.begin == channels.begin);
      if (!isThere)
        input_ = byDepth ? stage_.loadInput(step.loads, place.n, place.y, place.x, channels, 1, -1)
                         : loadInput(step.loads, place);
      loadedPlace = &place;
      loadedDepth = channels;
      if (i == 0 && hasWideOperands_) // while the array is in another bank
        chain.loadOperands(step.loads, box);
      if (i == 0 || byDepth)
        windows = stage_.gather(step.compute, input_, place.y, place.x);
      stage_.fill(step.compute, windows, weights_, place.y, place.x, chunk, acc, i > 0);
      if (i + 1 < pieces.size())
        continue;
      Tile result = denseTile(isa::Space::Spad, -1, extent);
      if (!chain.resultInAccumulators())
        result.buffer = steps_.add(isa::Space::Spad, extent.elements(), "result tile");
      if (!hasWideOperands_)
        chain.loadOperands(step.loads, box);
      finishTile(step.compute, chain, place.n, place.y, place.x, chunk, chunk.begin, acc, result);
      if (!chain.resultInAccumulators())
        storeResult(step.compute, chain, place.n, place.y, place.x, chunk, result);
    }
    takeTurns(known);
  };
  std::vector<Task> computed;
  auto addStep = [&](const Place &place, const Span &chunk) {
    if (plan_.weightParts > 1)
      return addParts(place, chunk);
    steps_.steps.emplace_back();
    Step &step = steps_.steps.back();
    if (!isAlone)
      chain.ops().forget(); // others have selected theirs
    if (steps_.steps.size() == 1)
      chain.prepare(step.constants);
    if (loadedChunk != &chunk || (p_.weightsAreActivations && loadedBatch != place.n))
      weights_ = stage_.loadWeights(step, place.n, chunk, stage_.allFolds());
    if (loadedPlace != &place)
      input_ = loadInput(step.loads, place);
    loadedPlace = &place;
    loadedChunk = &chunk;
    loadedBatch = place.n;
    // Operands of the next accumulator tile come in under this one, and so do its windows. Those
    // that come into accumulators are as many as its sums.
    const int64_t most = hasWideOperands_ ? plan_.tileChannels : chunk.size();
    for (int64_t y = place.y.begin; y < place.y.end; y += plan_.tileHeight)
      for (int64_t x = place.x.begin; x < place.x.end; x += plan_.tileWidth) {
        const Span ySpan{y, std::min(place.y.end, y + plan_.tileHeight)},
            xSpan{x, std::min(place.x.end, x + plan_.tileWidth)};
        ConvStage::Input windows;
        for (int64_t c = chunk.begin; c < chunk.end; c += most) {
          const Span part{c, std::min(chunk.end, c + most)};
          const Extent extent{ySpan.size(), xSpan.size(), part.size()};
          const size_t known = steps_.buffers.size();
          Tile result = denseTile(isa::Space::Spad, -1, extent);
          if (!chain.resultInAccumulators())
            result.buffer = steps_.add(isa::Space::Spad, extent.elements(), "result tile");
          const bool isFirst = y == place.y.begin && x == place.x.begin && c == chunk.begin;
          chain.loadOperands(isFirst ? step.loads : step.compute,
                             {{place.n, y, x, c}, {1, ySpan.size(), xSpan.size(), part.size()}});
          if (c == chunk.begin)
            windows = stage_.gather(step.compute, input_, ySpan, xSpan);
          append(step.compute, computed);
          computeTile(computed, chain, windows, place.n, ySpan, xSpan, part, result);
          takeTurns(known);
        }
      }
    // Those of the next step's first tile go before what is still to be done here.
    if (plan_.merge != TapMerge::All)
      append(step.compute, computed);
  };
  const size_t outer = plan_.weightsOuter ? chunks.size() : places.size(),
               inner = plan_.weightsOuter ? places.size() : chunks.size();
  for (size_t i = 0; i < outer; ++i)
    for (size_t each = 0; each < inner; ++each) {
      const size_t j = plan_.turns && i % 2 == 1 ? inner - 1 - each : each;
      addStep(places[plan_.weightsOuter ? j : i], chunks[plan_.weightsOuter ? i : j]);
    }
  append(steps_.steps.back().compute, computed);
}

} // namespace

// Plans that are tried out, at most.
static constexpr size_t trials = 10;
// A plan is hopeless that takes so many times as long as another one by their own estimates. In
// seven networks, of 115 plans with 1.3 times none was the best; of layers of one pixel, and of
// small ones, some are.
static constexpr double hopeless = 1.35;
static constexpr int64_t small = 20'000; // cycles: that is tried out soon enough

// By its own estimate.
static const ConvPlan *firstOf(const std::vector<ConvPlan> &plans) {
  const auto first =
      std::min_element(plans.begin(), plans.end(), [](const ConvPlan &a, const ConvPlan &b) {
        return a.estimatedCycles < b.estimatedCycles;
      });
  return first == plans.end() ? nullptr : &*first;
}

static std::optional<LoweringContext::Chosen>
tryPlan(LoweringContext &context, kernel::GroupOp group, const ConvPlan &plan, int64_t enough) {
  std::optional<Trial> trial = tryOut(
      context, [&](Steps &steps) { Convolution(context, group, steps).lower(plan, true); }, enough);
  if (!trial)
    return std::nullopt;
  return LoweringContext::Chosen{plan, std::move(trial->layout), trial->cycles, std::nullopt,
                                 trial->transfer};
}

// Tries plans out. The best one that fits. `known`: what the first one takes, if that is known.
static std::optional<LoweringContext::Chosen>
bestOf(LoweringContext &context, kernel::GroupOp group, const ConvProblem &problem,
       const std::vector<ConvPlan> &plans,
       const std::optional<LoweringContext::Chosen> &known = std::nullopt) {
  const ConvPlan *first = firstOf(plans);
  const bool mayBeHopeless = !isOnePixel(problem);
  // The bound counts weights as they are on chip.
  const bool isPacked = expansionOf(context.isa, anchorOf(group), GroupedBy::Outputs) != nullptr;
  std::optional<LoweringContext::Chosen> best;
  for (const ConvPlan &plan : plans) {
    const int64_t enough = enoughToLose(best);
    if (!isPacked && leastCycles(problem, context.machine, plan) >= enough)
      continue;
    if (mayBeHopeless && best && best->runnerUp && best->cycles > small &&
        plan.estimatedCycles > hopeless * first->estimatedCycles)
      continue;
    std::optional<LoweringContext::Chosen> trial =
        known && &plan == first ? known : tryPlan(context, group, plan, enough);
    if (trial)
      keepBest(best, std::move(*trial),
               [&](const ConvPlan &each) { return describe(problem, each); });
  }
  return best;
}

// Those of weights that stand in the array, and of sums that do. `smallest`: the least scratchpad
// that would do.
static std::vector<ConvPlan> plansFor(const ConvProblem &problem, const ConvMachine &machine,
                                      int64_t *smallest) {
  int64_t ofSums = 0;
  std::vector<ConvPlan> plans, others = planStanding(problem, machine, trials, &ofSums);
  *smallest = INT64_MAX;
  if (machine.weightsStand)
    plans = planConvolution(problem, machine, trials, smallest);
  plans.insert(plans.end(), others.begin(), others.end());
  *smallest = std::min(*smallest, ofSums);
  return plans;
}

// All that may be tried out. Where instructions are fused, the plans of those that they stand for
// as well: more bytes an element let other tiles come first, and what fits there fits here.
static std::vector<ConvPlan> candidates(const LoweringContext &context,
                                        const Convolution &convolution, int64_t *smallest) {
  const ConvProblem &problem = convolution.problem();
  std::vector<ConvPlan> plans = plansFor(problem, context.machine, smallest);
  if (convolution.unfused()) {
    std::set<std::string> known;
    for (const ConvPlan &plan : plans)
      known.insert(describe(problem, plan));
    int64_t ofUnfused = 0;
    for (ConvPlan &plan : plansFor(*convolution.unfused(), context.machine, &ofUnfused)) {
      assess(problem, context.machine, plan);
      if (known.insert(describe(problem, plan)).second)
        plans.push_back(plan);
    }
  }
  if (context.machine.weightsStand && isOnePixel(problem))
    for (const ConvPlan &plan : planWeightStream(problem, context.machine))
      plans.push_back(plan);
  return plans;
}

static const LoweringContext::Chosen &
chosenFor(LoweringContext &context, kernel::GroupOp group, const Convolution &convolution,
          const std::optional<LoweringContext::Chosen> &first = std::nullopt) {
  const ConvProblem &problem = convolution.problem();
  const std::string known = signatureOf(context, group);
  auto chosen = context.chosen.find(known);
  if (chosen != context.chosen.end())
    return chosen->second;
  int64_t smallest = 0;
  context.unfit.reset();
  std::optional<LoweringContext::Chosen> best =
      bestOf(context, group, problem, candidates(context, convolution, &smallest), first);
  // Buffers leave gaps: where no plan finds room, plans for smaller memories do.
  for (int64_t part = 2; !best && part <= 16; part *= 2) {
    ConvMachine smaller = context.machine;
    smaller.accBytes /= part;
    smaller.spadBytes -= smaller.spadBytes / 4 * (part > 2);
    int64_t ofSmaller = 0;
    best = bestOf(context, group, problem, plansFor(problem, smaller, &ofSmaller));
  }
  if (!best && !context.machine.weightsStand && !mayStand(problem, context.machine))
    throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group.getLoc()).name))},
                    fmt::format("its sums have more products than '{}' counts",
                                context.machine.standingPattern->instruction->name),
                    fmt::format("keep the instructions of roles '{}' and '{}' in the description",
                                isa::infoOf(isa::Role::LoadWeights).name,
                                isa::infoOf(isa::Role::MatrixProduct).name));
  if (!best && context.unfit) { // of a trial, which knows no layers
    const Layer layer = layerOf(group.getLoc());
    throw UnfitDescription(
        {"", 0, 0, fmt::format("layer '{}' ({})", escape(layer.name), escape(layer.op))},
        context.unfit->message(), context.unfit->fix());
  }
  const int64_t spadBytes = context.machine.spadBytes;
  if (!best && smallest <= spadBytes)
    throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group.getLoc()).name))},
                    fmt::format("no tile fits on chip: the smallest needs {} bytes of the "
                                "scratchpad and finds them in parts, target '{}' has {}",
                                smallest, context.isa.target(), spadBytes),
                    fmt::format("a scratchpad of {} bytes works", 2 * smallest));
  if (!best)
    throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group.getLoc()).name))},
                    fmt::format("no tile fits on chip: the smallest needs {} bytes of the "
                                "scratchpad, target '{}' has {}",
                                smallest, context.isa.target(), spadBytes),
                    fmt::format("a scratchpad of {} bytes works", smallest + smallest / 15 + 1));
  return context.chosen.emplace(known, std::move(*best)).first->second;
}

static std::vector<ConvPlan> candidates(LoweringContext &context, kernel::GroupOp group) {
  Steps steps;
  int64_t smallest = 0;
  return candidates(context, Convolution(context, group, steps), &smallest);
}

int64_t expectedConvolutionCycles(LoweringContext &context, kernel::GroupOp group) {
  const std::vector<ConvPlan> plans = candidates(context, group);
  const ConvPlan *first = firstOf(plans);
  return first ? static_cast<int64_t>(first->estimatedCycles) : bestPlan(context, group).cycles;
}

std::optional<LoweringContext::Chosen> firstConvolutionPlan(LoweringContext &context,
                                                            kernel::GroupOp group) {
  const std::vector<ConvPlan> plans = candidates(context, group);
  const ConvPlan *first = firstOf(plans);
  return first ? tryPlan(context, group, *first, INT64_MAX) : std::nullopt;
}

const LoweringContext::Chosen &bestPlan(LoweringContext &context, kernel::GroupOp group,
                                        const std::optional<LoweringContext::Chosen> &first) {
  Steps steps;
  return chosenFor(context, group, Convolution(context, group, steps), first);
}

// For the tuner: the same plan is another program under each.
static const char *bufferingName(Buffering buffering) {
  return buffering == Buffering::Double   ? " double"
         : buffering == Buffering::Single ? " single"
                                          : " none";
}

// The tuner's plan; where it has none, the planner's.
static const LoweringContext::Chosen &tunedFor(LoweringContext &context, kernel::GroupOp group,
                                               const Convolution &convolution) {
  const ConvProblem &problem = convolution.problem();
  const LoweringContext::Chosen &planned = chosenFor(context, group, convolution);
  // The tuner's plans have weights stand, and whole inputs.
  if (!context.tuner || planned.plan.stands == Stands::Sums || planned.plan.depthParts > 1)
    return planned;
  const std::string signature = signatureOf(context, group);
  const ConvSpace space(problem, context.machine);
  auto others = [&] {
    std::vector<PlanPoint> points;
    int64_t smallest = 0;
    for (const ConvPlan &plan : planConvolution(problem, context.machine, trials, &smallest))
      if (plan.depthParts == 1)
        points.push_back(space.point(plan));
    if (isOnePixel(problem))
      for (const ConvPlan &plan : planWeightStream(problem, context.machine))
        points.push_back(space.point(plan));
    return points;
  };
  const PlanPoint start = space.point(planned.plan);
  Alone alone(context, group);
  auto emit = [&](const PlanPoint &point) {
    const Lower lower = [&](Steps &steps) {
      Convolution(alone.context(), group, steps).lower(space.plan(point), true);
    };
    return alone.emit(lower);
  };
  const std::optional<PlanPoint> point =
      context.tuner->choose({signature + bufferingName(context.buffering),
                             layerOf(group.getLoc()).name, space, start, others, emit});
  if (!point || *point == start)
    return planned;
  auto known = context.tuned.find(signature);
  if (known != context.tuned.end())
    return known->second;
  const ConvPlan plan = space.plan(*point);
  std::optional<Trial> trial =
      tryOut(context, [&](Steps &steps) { Convolution(context, group, steps).lower(plan, true); });
  if (!trial) // gaps come to lie otherwise
    return planned;
  const RunnerUp untuned{describe(problem, planned.plan), planned.cycles, trial->cycles};
  return context.tuned
      .emplace(signature,
               LoweringContext::Chosen{plan, std::move(trial->layout), trial->cycles, untuned})
      .first->second;
}

// What is left of a step may go into the next one, and weights that stream have code of their own.
bool mayRunBeside(LoweringContext &context, kernel::GroupOp group) {
  Steps steps;
  const ConvPlan &plan = chosenFor(context, group, Convolution(context, group, steps)).plan;
  return plan.merge != TapMerge::All && plan.streamFolds == 0;
}

// With the plan that was tried out, whatever the tuner would take for it alone.
void lowerBeside(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Convolution convolution(context, group, steps);
  convolution.lower(chosenFor(context, group, convolution).plan, false, false);
}

void lowerConvolution(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Convolution convolution(context, group, steps);
  const LoweringContext::Chosen &chosen = tunedFor(context, group, convolution);
  convolution.lower(chosen.plan, false);
  steps.runnerUp = chosen.runnerUp;
  // The accumulators are empty whenever a group begins: what fitted in the trial fits there again.
  if (chosen.layout.size() != steps.buffers.size())
    return;
  steps.layout = chosen.layout;
  if (isSafe(chosen.plan, context.machine))
    for (size_t i = 0; i < steps.buffers.size(); ++i)
      if (steps.buffers[i].space == isa::Space::Spad)
        steps.layout[i] = -1;
}

} // namespace tilewright

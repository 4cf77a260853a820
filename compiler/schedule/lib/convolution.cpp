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
#include "tilewright/compiler/schedule/lay_out.h"
#include "tilewright/compiler/schedule/standing_plan.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/isa/roles.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <deque>
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
  void standInTurn(size_t buffers, int64_t turn);
  void computeTile(std::vector<Task> &out, ElementChain &chain, const ConvStage::Input &input,
                   int64_t n, Span y, Span x, Span channels, Tile result);
  Tile finishTile(std::vector<Task> &out, ElementChain &chain, Span y, Span x, Span part,
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
void Convolution::standInTurn(size_t buffers, int64_t turn) {
  if (!hasWideOperands_)
    return;
  for (Buffer &buffer : llvm::MutableArrayRef(steps_.buffers).drop_front(buffers))
    if (buffer.space == isa::Space::Acc)
      buffer.bank = turn;
}

// The result tile [y][x][channels] of a step, in accumulator tiles of at most tileChannels
// channels. What is stored from accumulators is stored several tiles at a time.
void Convolution::computeTile(std::vector<Task> &out, ElementChain &chain,
                              const ConvStage::Input &input, int64_t n, Span y, Span x,
                              Span channels, Tile result) {
  const int64_t together = tilesTogether(p_, context_.machine, plan_) * plan_.tileChannels;
  for (int64_t first = channels.begin; first < channels.end; first += together) {
    const Span joined{first, std::min(channels.end, first + together)};
    const Extent whole{y.size(), x.size(), joined.size()};
    const Tile sums =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, whole.elements() * 4, "accumulator tile"), whole);
    Span made{first, first}; // of what stands where its sums stood
    for (int64_t c = first; c < joined.end; c += plan_.tileChannels) {
      const Span part{c, std::min(joined.end, c + plan_.tileChannels)};
      Tile acc = sums;
      acc.offset += c - first;
      stage_.fill(out, input, weights_, y, x, part, acc, false);
      const Tile value = finishTile(out, chain, y, x, part, channels.begin, acc, result);
      if (!chain.resultInAccumulators())
        continue;
      if (value.buffer == sums.buffer)
        made.end = part.end;
      else
        storeResult(out, chain, n, y, x, part, value);
    }
    if (!made.empty())
      storeResult(out, chain, n, y, x, made, sums);
  }
  if (!chain.resultInAccumulators())
    storeResult(out, chain, n, y, x, channels, result);
}

// The element-wise operations on a finished accumulator tile; `result` begins at `firstChannel`.
Tile Convolution::finishTile(std::vector<Task> &out, ElementChain &chain, Span y, Span x, Span part,
                             int64_t firstChannel, const Tile &acc, const Tile &result) {
  Tile slice = result;
  slice.offset += part.begin - firstChannel;
  return chain.run(out, acc, {y.size(), x.size(), part.size()}, part.begin - firstChannel, slice);
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

void Convolution::lower(const ConvPlan &plan, bool isTrial, bool isAlone) {
  plan_ = plan;
  steps_.plan = tilewright::describe(p_, plan_);
  if (plan.streamFolds > 0) {
    ElementChain chain(context_, steps_, group_, anchor_, shapes_,
                       std::min(plan.tileChannels, context_.channels));
    return lowerWeightStream(context_, {group_, llvm::cast<kernel::Conv2DOp>(anchor_), p_}, plan,
                             chain, isTrial, steps_);
  }
  const int64_t parts = inputPartsOf(p_, context_.machine, plan_);
  const bool isApart = firstInputIsApart(p_, context_.machine, plan_);
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

  // Whether the place's input comes in buffers of its parts.
  auto isFirst = [&](const Place &place) { return isApart && &place == places.data(); };
  auto loadInput = [&](std::vector<Task> &loads, const Place &place) {
    if (!isFirst(place))
      return stage_.loadInput(loads, place.n, place.y, place.x, parts);
    std::vector<std::vector<Task>> apart;
    const ConvStage::Input input = stage_.loadInputApart(apart, place.n, place.y, place.x, parts);
    for (; !apart.empty(); apart.pop_back())
      append(loads, apart.back());
    return input;
  };
  const Place *loadedPlace = nullptr;
  // Weights that are on chip, the latest ones last.
  struct Loaded {
    const Span *chunk;
    int64_t batch;
    ConvStage::Weights weights;
  };
  std::deque<Loaded> resident;
  // Of parts of the depth: the one that is on chip.
  Span loadedDepth{0, 0};
  // Accumulator tiles in several steps: each brings the weights of some folds. Where it brings a
  // part of the input, too, the last part of a tile is the first one of the next. Several tiles are
  // filled by turns, so that parts of the first input that come in are multiplied with all of them.
  auto addParts = [&](const Place &place, llvm::ArrayRef<Span> some) {
    struct Sums {
      Span chunk;
      Box box;
      Tile acc;
      int64_t turn;
    };
    std::vector<Sums> tiles;
    for (const Span &chunk : some) {
      const Extent extent{place.y.size(), place.x.size(), chunk.size()};
      const size_t known = steps_.buffers.size();
      const int buffer = steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile");
      tiles.push_back({chunk,
                       {{place.n, place.y.begin, place.x.begin, chunk.begin},
                        {1, place.y.size(), place.x.size(), chunk.size()}},
                       denseTile(isa::Space::Acc, buffer, extent),
                       ++turn_});
      standInTurn(known, turn_);
    }
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
    std::vector<std::vector<Task>> apart; // loads of parts of the input, the next one last
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto &[part, someFolds] = pieces[i];
      steps_.steps.emplace_back();
      Step &step = steps_.steps.back();
      if (!isAlone)
        chain.ops().forget();
      if (steps_.steps.size() == 1)
        chain.prepare(step.constants);
      std::vector<ConvStage::Weights> weights;
      for (const Sums &tile : tiles)
        weights.push_back(stage_.loadWeights(step, place.n, tile.chunk, someFolds));
      const Span channels{part * depth, std::min(p_.inputChannels, (part + 1) * depth)};
      const bool isThere =
          loadedPlace == &place && (!byDepth || loadedDepth.begin == channels.begin);
      if (!isThere && byDepth)
        input_ = stage_.loadInput(step.loads, place.n, place.y, place.x, channels, 1, -1);
      else if (!isThere && isFirst(place))
        input_ = stage_.loadInputApart(apart, place.n, place.y, place.x, parts);
      else if (!isThere)
        input_ = stage_.loadInput(step.loads, place.n, place.y, place.x, parts);
      const size_t later = // parts of the input that these folds do not read
          apart.empty()
              ? 0
              : input_.parts.size() - ceilDiv(someFolds.end * context_.rows, input_.partChannels);
      for (; apart.size() > later; apart.pop_back())
        append(step.loads, apart.back());
      loadedPlace = &place;
      loadedDepth = channels;
      if (i == 0 && hasWideOperands_) // while the array is in another bank
        for (size_t of = 0; of < tiles.size(); ++of) {
          const size_t known = steps_.buffers.size();
          chain.useCopy(of);
          chain.loadOperands(step.loads, tiles[of].box);
          standInTurn(known, tiles[of].turn);
        }
      if (i == 0 || byDepth)
        windows = stage_.gather(step.compute, input_, place.y, place.x);
      for (auto [tile, ofTile] : llvm::zip(tiles, weights))
        stage_.fill(step.compute, windows, ofTile, place.y, place.x, tile.chunk, tile.acc, i > 0);
    }
    for (size_t of = 0; of < tiles.size(); ++of) {
      const Sums &tile = tiles[of];
      chain.useCopy(of);
      Step &step = steps_.steps.back();
      const size_t known = steps_.buffers.size();
      const Extent extent{place.y.size(), place.x.size(), tile.chunk.size()};
      Tile result = denseTile(isa::Space::Spad, -1, extent);
      if (!chain.resultInAccumulators())
        result.buffer = steps_.add(isa::Space::Spad, extent.elements(), "result tile");
      if (!hasWideOperands_)
        chain.loadOperands(step.loads, tile.box);
      const Tile value = finishTile(step.compute, chain, place.y, place.x, tile.chunk,
                                    tile.chunk.begin, tile.acc, result);
      storeResult(step.compute, chain, place.n, place.y, place.x, tile.chunk,
                  chain.resultInAccumulators() ? value : result);
      standInTurn(known, tile.turn);
    }
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
    const int64_t batch = p_.weightsAreActivations ? place.n : 0;
    const auto loaded = llvm::find_if(
        resident, [&](const Loaded &each) { return each.chunk == &chunk && each.batch == batch; });
    if (loaded != resident.end()) {
      weights_ = loaded->weights;
    } else {
      weights_ = stage_.loadWeights(step, place.n, chunk, stage_.allFolds());
      if (static_cast<int64_t>(resident.size()) >= std::max<int64_t>(plan_.residentSteps, 1))
        resident.pop_front();
      resident.push_back({&chunk, batch, weights_});
    }
    if (loadedPlace != &place)
      input_ = loadInput(step.loads, place);
    loadedPlace = &place;
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
          standInTurn(known, ++turn_);
        }
      }
    // Those of the next step's first tile go before what is still to be done here.
    if (plan_.merge != TapMerge::All)
      append(step.compute, computed);
  };
  // `inner` of the loop within the i-th turn of another one: forth, or back.
  auto at = [&](size_t i, size_t each, size_t inner) {
    return plan_.turns && i % 2 == 1 ? inner - 1 - each : each;
  };
  const auto together = static_cast<size_t>(plan_.firstTiles);
  if (together > 1)
    addParts(places[0], llvm::ArrayRef(chunks).take_front(together));
  if (plan_.residentSteps == 0)
    for (size_t i = 0; i < places.size(); ++i)
      for (size_t each = i == 0 && together > 1 ? together : 0; each < chunks.size(); ++each)
        addStep(places[i], chunks[at(i, each, chunks.size())]);
  const auto most = static_cast<size_t>(plan_.residentSteps);
  for (size_t pass = 0; most > 0 && pass * most < chunks.size(); ++pass)
    for (size_t each = 0; each < places.size(); ++each)
      for (size_t chunk = pass * most; chunk < std::min(chunks.size(), (pass + 1) * most); ++chunk)
        addStep(places[at(pass, each, places.size())], chunks[chunk]);
  append(steps_.steps.back().compute, computed);
  // Weights of the next pass take the space of those that leave, of the same size.
  if (plan_.residentSteps > 1 && isAlone)
    steps_.layout = layOut(steps_, context_.isa);
}

} // namespace

// Of the time that transfers take, one in so many counts: what a plan moves, its neighbors' loads
// wait for.
static constexpr int64_t partOfTransfer = 32;
// Plans that are tried out, at most.
static constexpr size_t trials = 14;
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

// Variants of a plan that begin sooner.
static std::vector<ConvPlan>
plansThatBeginSooner(const ConvProblem &problem, const ConvMachine &machine, const ConvPlan &plan) {
  std::vector<ConvPlan> plans;
  if (plan.streamFolds > 0 || plan.depthParts > 1 || problem.weightsAreActivations)
    return plans;
  auto add = [&](const ConvPlan &each) {
    plans.push_back(each);
    assess(problem, machine, plans.back());
  };
  const int64_t chunks = ceilDiv(problem.outputChannels, plan.stepChannels),
                tiles = ceilDiv(plan.stepChannels, plan.tileChannels);
  // Weights come an accumulator tile's channels at a time, and the input behind the first of them.
  if (tiles > 1 && plan.weightParts == 1 && (plan.residentSteps > 0 || chunks == 1)) {
    ConvPlan finer = plan;
    finer.stepChannels = plan.tileChannels;
    finer.residentSteps = std::max<int64_t>(plan.residentSteps, 1) * tiles;
    add(finer);
  }
  // Parts of the first input are multiplied with several tiles as they come in, so that the array
  // has as much to do as loads take.
  const bool isOneTile =
      plan.stepHeight == plan.tileHeight && plan.stepWidth == plan.tileWidth && tiles == 1;
  const int64_t parts = inputPartsOf(problem, machine, plan);
  if (isOneTile && plan.residentSteps == 0 && firstInputIsApart(problem, machine, plan))
    for (const int64_t together : {2, 3})
      for (const int64_t weightParts : {parts, 2 * parts})
        if (together <= chunks && weightParts <= foldCount(problem, machine, plan.merge)) {
          ConvPlan byTurns = plan;
          byTurns.firstTiles = together;
          byTurns.weightParts = weightParts;
          add(byTurns);
        }
  return plans;
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
  // The best one so far, and the next best.
  std::vector<LoweringContext::Chosen> best;
  auto costOf = [](const LoweringContext::Chosen &chosen) {
    return chosen.cycles + chosen.transfer / partOfTransfer;
  };
  auto consider = [&](const ConvPlan &plan) {
    const int64_t enough = best.size() > 1 ? costOf(best[1]) : INT64_MAX;
    if (!isPacked && leastCycles(problem, context.machine, plan) >= enough)
      return;
    if (mayBeHopeless && best.size() > 1 && best[0].cycles > small &&
        plan.estimatedCycles > hopeless * first->estimatedCycles)
      return;
    std::optional<LoweringContext::Chosen> trial =
        known && &plan == first ? known : tryPlan(context, group, plan, enough);
    if (!trial)
      return;
    const auto at =
        std::find_if(best.begin(), best.end(), [&](const LoweringContext::Chosen &each) {
          return costOf(*trial) < costOf(each);
        });
    best.insert(at, std::move(*trial));
    best.resize(std::min<size_t>(best.size(), 2));
  };
  for (const ConvPlan &plan : plans) {
    consider(plan);
    if (tilesTogether(problem, context.machine, plan) == 1)
      continue;
    ConvPlan apart = plan;
    apart.tilesTogether = 1;
    assess(problem, context.machine, apart);
    consider(apart);
  }
  if (!best.empty())
    for (const ConvPlan &plan : plansThatBeginSooner(problem, context.machine, best[0].plan))
      consider(plan);
  if (best.empty())
    return std::nullopt;
  if (best.size() > 1)
    best[0].runnerUp = RunnerUp{describe(problem, best[1].plan), best[1].cycles, best[0].cycles};
  return std::move(best[0]);
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
  if (!context.tuner || planned.plan.stands == Stands::Sums) // the tuner's plans have weights stand
    return planned;
  const std::string signature = signatureOf(context, group);
  const ConvSpace space(problem, context.machine);
  auto others = [&] {
    std::vector<PlanPoint> points;
    int64_t smallest = 0;
    for (const ConvPlan &plan : planConvolution(problem, context.machine, trials, &smallest))
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
  if (chosen.plan.residentSteps <= 1 && isSafe(chosen.plan, context.machine))
    for (size_t i = 0; i < steps.buffers.size(); ++i)
      if (steps.buffers[i].space == isa::Space::Spad)
        steps.layout[i] = -1;
}

} // namespace tilewright

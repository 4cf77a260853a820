// 1. The image is cut into stripes of rows. A stripe comes with the rows that the highest kernel
// needs; the others find theirs among them.
// 2. A step makes some channels of one convolution from a stripe; their weights come with the first
// stripe, each under the step before, and stay.
// 3. Steps of the convolutions take turns, so that each spreads over the whole stripe.
#include "side_by_side.h"

#include "conv_stage.h"
#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

using Plan = SideBySidePlan;

struct Member {
  kernel::GroupOp group;
  int layer;
  std::optional<ConvStage> stage;
  std::optional<ElementChain> operations;
  Tile result; // of a stripe, as many channels as are stored together
};

// Some channels of one member.
struct Chunk {
  size_t member;
  Span channels;
  double at; // of the member's channels, the middle
};

class SideBySide {
public:
  SideBySide(LoweringContext &context, const std::vector<kernel::GroupOp> &groups,
             const std::vector<int> &layers, Steps &steps);
  bool isServed() const;
  std::vector<Plan> plans() const;
  std::string describe(const Plan &plan) const;
  // Whether it fits however its buffers come to lie.
  bool isSafe(const Plan &plan) const;
  void lower(const Plan &plan, bool isTrial);

private:
  const ConvProblem &problem() const { return members_[widest_].stage->problem(); }
  ElementChain operationsOf(const Member &member, int64_t block);
  std::vector<Chunk> chunksOf(const Plan &plan) const;
  void compute(Step &step, Member &member, const ConvStage::Input &input,
               const ConvStage::Weights &weights, int64_t n, Span rows, Span channels,
               const Plan &plan);
  void store(std::vector<Task> &out, Member &member, const Box &box, const Tile &value);
  // Of a member's tiles, all of about one size.
  int64_t tileChannels(const ConvProblem &p, const Plan &plan) const {
    const int64_t tiles = ceilDiv(p.outputChannels, plan.tileChannels);
    return roundUp(ceilDiv(p.outputChannels, tiles), context_.cols);
  }
  int64_t inputRows(int64_t outputs) const {
    return std::min(problem().height,
                    inputExtent(outputs, 1, problem().kernelHeight, problem().dilationY));
  }

  LoweringContext &context_;
  Steps &steps_;
  std::vector<Member> members_;
  std::vector<ConvProblem> problems_; // with what their operations need
  size_t widest_ = 0;                 // the member that needs most rows
};

void mark(std::vector<Task> &tasks, const Member &member) {
  for (Task &task : tasks)
    task.layer = member.layer;
}

kernel::Conv2DOp convolutionOf(kernel::GroupOp group) {
  return llvm::dyn_cast<kernel::Conv2DOp>(&group.getBody().front().front());
}

SideBySide::SideBySide(LoweringContext &context, const std::vector<kernel::GroupOp> &groups,
                       const std::vector<int> &layers, Steps &steps)
    : context_(context), steps_(steps) {
  for (size_t i = 0; i < groups.size(); ++i) {
    members_.push_back({groups[i], layers[i], std::nullopt, std::nullopt, {}});
    Member &member = members_.back();
    member.stage.emplace(context, convolutionOf(groups[i]), steps, ConvStage::InputFrom::Dram);
    problems_.push_back(member.stage->problem());
    ElementChain operations = operationsOf(member, context.cols);
    takeOperations(problems_.back(), operations);
    if (inputExtent(1, 1, problems_[i].kernelHeight, problems_[i].dilationY) >
        inputExtent(1, 1, problem().kernelHeight, problem().dilationY))
      widest_ = i;
  }
}

ElementChain SideBySide::operationsOf(const Member &member, int64_t block) {
  kernel::GroupOp group = member.group;
  return {context_, steps_, group, convolutionOf(group), ElementChain::shapesOf(group), block};
}

// One geometry, whose rows the widest member needs all.
bool SideBySide::isServed() const {
  const ConvProblem &first = problem();
  return std::all_of(problems_.begin(), problems_.end(), [&](const ConvProblem &p) {
    auto keepsSize = [](int64_t kernel, int64_t dilation, int64_t before) {
      return before >= 0 && before <= (kernel - 1) * dilation;
    };
    return p.strideY == 1 && p.strideX == 1 && !p.inputScattered &&
           p.outputHeight == first.outputHeight && p.outputWidth == first.outputWidth &&
           p.outputHeight == p.height && p.outputWidth == p.width &&
           p.outputWidth <= context_.machine.rowLimit && p.padTop <= first.padTop &&
           (p.kernelHeight - 1) * p.dilationY - p.padTop <=
               (first.kernelHeight - 1) * first.dilationY - first.padTop &&
           keepsSize(p.kernelHeight, p.dilationY, p.padTop) &&
           keepsSize(p.kernelWidth, p.dilationX, p.padLeft);
  });
}

std::vector<Plan> SideBySide::plans() const {
  const ConvMachine &m = context_.machine;
  std::vector<Plan> plans;
  int64_t accBytes = 0, channels = 0;
  for (const ConvProblem &p : problems_) {
    accBytes = std::max(accBytes, 4 + p.accBytesPerElement);
    channels = std::max(channels, p.outputChannels);
  }
  const int64_t sums = m.accBytes / std::max<int64_t>(m.accBanks, 2) / accBytes,
                height = problem().outputHeight;
  for (int64_t columns : {4, 2, 1}) {
    const int64_t tileChannels = std::min(columns * m.cols, m.channels),
                  most = std::min(sums / tileChannels, m.rowLimit) / problem().outputWidth;
    if (most < 1 || (columns > 1 && tileChannels > channels))
      continue;
    const int64_t tiles = ceilDiv(height, most), tileHeight = ceilDiv(height, tiles);
    std::set<int64_t> heights;
    for (int64_t each : {int64_t(1), int64_t(2), tiles})
      heights.insert(std::min(height, each * tileHeight));
    for (int64_t stepHeight : heights)
      for (int64_t together : std::set<int64_t>{1, 4 / columns})
        plans.push_back({stepHeight, tileHeight, tileChannels, together});
  }
  return plans;
}

std::string SideBySide::describe(const Plan &plan) const {
  return fmt::format(
      "{} layers side by side: {} tiles of {} rows, accumulator tiles of {}x{}x{} (y, "
      "x, channels); input read once, weights loaded once",
      members_.size(), ceilDiv(problem().outputHeight, plan.stepHeight), plan.stepHeight,
      plan.tileHeight, problem().outputWidth, plan.tileChannels);
}

bool SideBySide::isSafe(const Plan &plan) const {
  const ConvProblem &widest = problem();
  const int64_t input = inputRows(plan.stepHeight) * widest.width * widest.inputChannels,
                tile =
                    plan.stepHeight * widest.outputWidth * plan.tileChannels * plan.tilesTogether;
  int64_t bytes = 2 * input, largest = std::max(input, tile);
  for (const ConvProblem &p : problems_) {
    const int64_t depth = p.kernelHeight * p.kernelWidth * p.inputChannels;
    bytes += depth * p.outputChannels + 2 * tile * (1 + p.spadBytesPerElement) + p.residentBytes;
    largest = std::max(largest, depth * plan.tileChannels);
  }
  const int64_t whole = context_.machine.spadBytes;
  return bytes + largest <= whole - whole / 16;
}

// Of all members, in the order of their places in them.
std::vector<Chunk> SideBySide::chunksOf(const Plan &plan) const {
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < members_.size(); ++i) {
    const int64_t channels = problems_[i].outputChannels, tile = tileChannels(problems_[i], plan);
    for (int64_t c = 0; c < channels; c += tile) {
      const Span part{c, std::min(channels, c + tile)};
      chunks.push_back(
          {i, part, static_cast<double>(part.begin + part.end) / static_cast<double>(channels)});
    }
  }
  std::sort(chunks.begin(), chunks.end(), [](const Chunk &a, const Chunk &b) {
    return std::make_pair(a.at, a.member) < std::make_pair(b.at, b.member);
  });
  return chunks;
}

void SideBySide::compute(Step &step, Member &member, const ConvStage::Input &input,
                         const ConvStage::Weights &weights, int64_t n, Span rows, Span channels,
                         const Plan &plan) {
  const ConvProblem &p = member.stage->problem();
  const Span columns{0, p.outputWidth};
  const int64_t stored = tileChannels(p, plan) * plan.tilesTogether,
                firstStored = channels.begin / stored * stored;
  const Span together{firstStored, std::min(p.outputChannels, firstStored + stored)};
  const bool inAccumulators = member.operations->resultInAccumulators();
  const Extent whole{rows.size(), columns.size(), together.size()};
  if (!inAccumulators && channels.begin == together.begin)
    member.result = denseTile(isa::Space::Spad,
                              steps_.add(isa::Space::Spad, whole.elements(), "result tile"), whole);
  std::vector<Task> tasks;
  for (int64_t y = rows.begin; y < rows.end; y += plan.tileHeight) {
    const Span part{y, std::min(rows.end, y + plan.tileHeight)};
    const Extent extent{part.size(), columns.size(), channels.size()};
    const Box box{{n, y, 0, channels.begin}, {1, part.size(), columns.size(), channels.size()}};
    member.operations->loadOperands(tasks, box);
    const Tile sums =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
    member.stage->fill(tasks, input, weights, part, columns, channels, sums, false);
    Tile result = member.result;
    result.offset += (y - rows.begin) * result.s1 + channels.begin - together.begin;
    // Another member's parameters may have been selected.
    member.operations->ops().forget();
    const Tile value = member.operations->run(tasks, sums, extent, 0, result);
    if (inAccumulators)
      store(tasks, member, box, value);
  }
  if (!inAccumulators && channels.end == together.end)
    store(tasks, member, {{n, rows.begin, 0, together.begin}, {1, whole.n1, whole.n0, whole.nc}},
          member.result);
  mark(tasks, member);
  append(step.compute, tasks);
}

void SideBySide::store(std::vector<Task> &out, Member &member, const Box &box, const Tile &value) {
  storeBox(context_, out, context_.tensor(member.group.getResult()),
           shapeOf(convolutionOf(member.group).getResult()), box, member.operations->resultBytes(),
           value);
}

void SideBySide::lower(const Plan &plan, bool isTrial) {
  steps_.plan = describe(plan);
  for (Member &member : members_) {
    member.stage->listFolds(TapMerge::None, member.stage->problem().inputChannels);
    member.stage->placeWeights(isTrial);
    member.operations.emplace(operationsOf(member, tileChannels(member.stage->problem(), plan)));
  }
  const std::vector<Chunk> chunks = chunksOf(plan);
  std::vector<ConvStage::Weights> weights(chunks.size());
  for (int64_t n = 0; n < problem().batch; ++n)
    for (int64_t y = 0; y < problem().outputHeight; y += plan.stepHeight) {
      const Span rows{y, std::min(problem().outputHeight, y + plan.stepHeight)};
      ConvStage::Input input;
      for (size_t i = 0; i < chunks.size(); ++i) {
        Member &member = members_[chunks[i].member];
        steps_.steps.emplace_back();
        Step &step = steps_.steps.back();
        if (n == 0 && y == 0) {
          if (chunks[i].channels.begin == 0)
            member.operations->prepare(step.constants);
          weights[i] =
              member.stage->loadWeights(step, n, chunks[i].channels, member.stage->allFolds());
          mark(step.constants, member);
        }
        if (i == 0) {
          input =
              members_[widest_].stage->loadInput(step.loads, n, rows, {0, problem().outputWidth});
          mark(step.loads, member); // the first one's
        }
        compute(step, member, input, weights[i], n, rows, chunks[i].channels, plan);
      }
    }
}

// One after the other, each with its first weights under the one before.
int64_t cyclesApart(LoweringContext &context, const std::vector<kernel::GroupOp> &groups) {
  const size_t constants = context.constants.bytes().size();
  int64_t cycles = INT64_MAX;
  try {
    Emitter emitter(context.isa, context.buffering);
    for (kernel::GroupOp group : groups) {
      Steps steps;
      lowerConvolution(context, group, steps);
      emitter.append(std::move(steps), "");
    }
    cycles = estimateCycles(emitter.finish(), context.isa, context.plans,
                            static_cast<uint64_t>(context.constants.end()));
  } catch (const UserError &) { // they do not fit: who needs them apart will be told
  }
  context.constants.rollBack(constants);
  return cycles;
}

std::optional<ChosenSideBySide> choose(LoweringContext &context,
                                       const std::vector<kernel::GroupOp> &groups,
                                       const std::vector<int> &layers) {
  Steps probe;
  const SideBySide members(context, groups, layers, probe);
  if (!members.isServed())
    return std::nullopt;
  const int64_t apart = cyclesApart(context, groups);
  std::optional<ChosenSideBySide> best;
  for (const Plan &plan : members.plans()) {
    std::optional<Trial> trial = tryOut(context, [&](Steps &steps) {
      SideBySide(context, groups, layers, steps).lower(plan, true);
    });
    if (trial)
      keepBest(best, {groups, layers, plan, std::move(trial->layout), trial->cycles, std::nullopt},
               [&](const Plan &each) { return members.describe(each); });
  }
  if (!best || best->cycles >= apart)
    return std::nullopt;
  if (!best->runnerUp || best->runnerUp->cycles > apart)
    best->runnerUp = RunnerUp{"one after the other", apart, best->cycles};
  return best;
}

} // namespace

std::map<size_t, ChosenSideBySide> findSideBySide(LoweringContext &context,
                                                  const std::vector<kernel::GroupOp> &groups,
                                                  const Chains &chains) {
  if (!context.machine.weightsStand)
    return {};
  llvm::DenseSet<mlir::Operation *> chained;
  for (const auto &[place, run] : chains.byFirst)
    for (const Chains::Chain &chain : run.chains)
      chained.insert(chain.chained.groups.begin(), chain.chained.groups.end());
  auto isFree = [&](size_t place) {
    kernel::GroupOp group = groups[place];
    return convolutionOf(group) && !chained.contains(group);
  };
  // Whether a group reads the same image as the one at `begin`, and nothing that one between makes.
  auto joins = [&](size_t begin, size_t place) {
    if (!isFree(place) ||
        convolutionOf(groups[place]).getX() != convolutionOf(groups[begin]).getX())
      return false;
    for (mlir::Operation &op : kernel::GroupOp(groups[place]).getBody().front())
      for (mlir::Value value : op.getOperands())
        for (size_t i = begin; i < place; ++i)
          if (kernel::memoryOf(value) == kernel::GroupOp(groups[i]).getResult())
            return false;
    return true;
  };
  std::map<size_t, ChosenSideBySide> found;
  std::map<std::string, std::optional<ChosenSideBySide>> known; // by signature
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (isFree(begin) && end < groups.size() && joins(begin, end))
      ++end;
    if (end - begin > 1) {
      std::vector<kernel::GroupOp> members(groups.begin() + static_cast<long>(begin),
                                           groups.begin() + static_cast<long>(end));
      std::vector<int> layers;
      std::string signature;
      for (size_t i = begin; i < end; ++i) {
        layers.push_back(static_cast<int>(i));
        signature += signatureOf(context, groups[i]) + ";";
      }
      auto [chosen, isNew] = known.try_emplace(signature);
      if (isNew)
        chosen->second = choose(context, members, layers);
      if (chosen->second) {
        ChosenSideBySide &here = found[begin] = *chosen->second;
        here.groups = std::move(members);
        here.layers = std::move(layers);
      }
    }
    begin = end;
  }
  return found;
}

void lowerSideBySide(LoweringContext &context, const ChosenSideBySide &chosen, Steps &steps) {
  SideBySide members(context, chosen.groups, chosen.layers, steps);
  members.lower(chosen.plan, false);
  steps.runnerUp = chosen.runnerUp;
  if (chosen.layout.size() != steps.buffers.size())
    return;
  steps.layout = chosen.layout;
  if (members.isSafe(chosen.plan))
    for (size_t i = 0; i < steps.buffers.size(); ++i)
      if (steps.buffers[i].space == isa::Space::Spad)
        steps.layout[i] = -1;
}

} // namespace tilewright

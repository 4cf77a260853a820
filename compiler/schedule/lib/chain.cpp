#include "chain.h"

#include "alone.h"
#include "chain_lowering.h"
#include "image_sum.h"

#include "tilewright/compiler/schedule/conv_bound.h"
#include "tilewright/compiler/schedule/fused_stack_space.h"
#include "tilewright/compiler/schedule/run_space.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

using chains::lowerAll;
using chains::lowerApart;
using chains::lowerTrial;

namespace {

// What a plan needs to know of a chain.
struct Probe {
  Probe(LoweringContext &context, const ChainedGroups &chained)
      : run(steps), chain(context, chained, run) {}
  Steps steps;
  chains::Run run;
  chains::Chain chain;
};

} // namespace

static std::string layersOf(const std::vector<kernel::GroupOp> &groups) {
  auto name = [](kernel::GroupOp group) { return layerOf(group->getLoc()).name; };
  return name(groups.front()) + " to " + name(groups.back());
}

mlir::Operation *chainAnchorOf(kernel::GroupOp group) {
  for (mlir::Operation &op : group.getBody().front())
    if (llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::SumPoolOp>(op))
      return &op;
  return nullptr;
}

bool mayFollow(kernel::GroupOp group, kernel::GroupOp next) {
  mlir::Operation *from = chainAnchorOf(group), *to = chainAnchorOf(next);
  if (!from || !to)
    return false;
  mlir::Value result = group.getResult();
  const bool isConvolution[] = {llvm::isa<kernel::Conv2DOp>(from), llvm::isa<kernel::Conv2DOp>(to)};
  const bool isSummed = !isConvolution[0] && sumsImage(to);
  return (isConvolution[0] || isConvolution[1] || isSummed) &&
         (result.hasOneUse() || (isConvolution[0] && !isConvolution[1]) || isSummed) &&
         to->getOperand(0) == result && bitsOf(result) == 8;
}

bool mayBeChain(kernel::GroupOp group) {
  return llvm::isa_and_nonnull<kernel::DepthwiseOp>(chainAnchorOf(group)) &&
         bitsOf(group.getResult()) == 8;
}

bool isChain(const ChainedGroups &chained) {
  const size_t count = chained.groups.size();
  auto isWindow = [&](size_t i) {
    return !llvm::isa<kernel::Conv2DOp>(chainAnchorOf(chained.groups[i]));
  };
  if (count == 1)
    return mayBeChain(chained.groups.front());
  if (count == 2)
    return !isWindow(0) || !isWindow(1);
  const bool areThree = count >= 3 && !isWindow(0) && isWindow(1); // or a window before a sum
  return areThree && (count == 3 ||
                      (count == 4 && !isWindow(2) && sumsImage(chainAnchorOf(chained.groups[3]))));
}

HeadReaders headReaders(const ChainedGroups &chained) {
  auto readers = HeadReaders::Window;
  if (chained.groups.size() == 1)
    return readers;
  kernel::GroupOp head = chained.groups.front(),
                  third = chained.groups[std::min<size_t>(2, chained.groups.size() - 1)];
  for (mlir::Operation *user : head.getResult().getUsers()) {
    if (user == chainAnchorOf(chained.groups[1]))
      continue;
    const bool isByTail =
        chained.groups.size() >= 3 && llvm::isa<kernel::Conv2DOp>(chainAnchorOf(third));
    if (!isByTail || user->getParentOp() != third.getOperation())
      return HeadReaders::Others;
    readers = HeadReaders::Tail;
  }
  return readers;
}

llvm::SmallVector<mlir::Value, 2> storedWithin(const ChainedGroups &chained) {
  llvm::SmallVector<mlir::Value, 2> stored;
  if (headReaders(chained) == HeadReaders::Others)
    stored.push_back(kernel::GroupOp(chained.groups.front()).getResult());
  for (size_t i = 1; i + 1 < chained.groups.size(); ++i)
    if (mlir::Value result = kernel::GroupOp(chained.groups[i]).getResult(); !result.hasOneUse())
      stored.push_back(result);
  return stored;
}

std::string readersOf(const ChainedGroups &chained) {
  return fmt::format("{}{}", static_cast<int>(headReaders(chained)),
                     std::string(storedWithin(chained).size(), '+'));
}

// Plans that are tried out, at most.
static constexpr size_t mostPlans = 10;
// They are tried out in steps. Before the first, chains take this part at least of their best
// plan's own estimate.
static constexpr double promised = 0.85;
// And after these, of the best plan's cycles so far: of 94 chains none took less, and one in twenty
// less than 0.78 and 0.87.
struct TrialStep {
  size_t plans; // that are tried out when it ends
  double promised;
};
static constexpr TrialStep trialSteps[] = {{1, 0.68}, {3, 0.75}};
// Of the chains that are chosen, at most; of these so many in any case, and so many more after one
// that helped. Those that end with their order count as halves.
static constexpr int64_t refinements = 28, atLeast = 24, afterSuccess = 12;
// Trials take time by what they emit: of long chains there are so many cycles' worth.
static constexpr int64_t refinedCycles = 9'000'000;
// A trial that spares less than one in so many cycles has not helped.
static constexpr int64_t helpful = 2000;
// A plan whose order takes longer than the best one's is hardly ever better: by one in so many
// cycles, or by this part of what the best one takes beyond its order; a few cycles do not count.
static constexpr int64_t hopeless = 50, hopelessOfRest = 5, few = 256;
// A chain is as good as it can be where all but one in so many cycles are the array's products.
static constexpr int64_t goodEnough = 30;

static int64_t leastProducts(const FusedStackProblem &problem, const ConvMachine &machine) {
  int64_t cycles = 0;
  for (const std::optional<ConvProblem> *conv : {&problem.head, &problem.tail})
    if (*conv)
      cycles += leastProducts(**conv, machine);
  return cycles;
}

std::vector<FusedStackPlan> plansOf(LoweringContext &context, const ChainedGroups &chained) {
  const Probe probe(context, chained);
  return probe.chain.isServed()
             ? planFusedStack(probe.chain.problem(), context.machine, 4 * mostPlans)
             : std::vector<FusedStackPlan>();
}

// The plans that are tried out at the end of the step at hand.
static size_t nextCount(size_t made) {
  for (const TrialStep &step : trialSteps)
    if (step.plans > made)
      return step.plans;
  return mostPlans;
}

void tryPlans(LoweringContext &context, const ChainedGroups &chained, Apart apart,
              ChainTrials &trials) {
  const Probe probe(context, chained);
  const FusedStackProblem &problem = probe.chain.problem();
  const std::vector<FusedStackPlan> &plans = trials.plans;
  std::optional<ChosenChain> &best = trials.best;
  const size_t most = std::min(mostPlans, plans.size()),
               end = std::min(most, nextCount(trials.made));
  for (; trials.made < end; ++trials.made) {
    const FusedStackPlan &plan = plans[trials.made];
    trials.isDone = plan.estimatedCycles >
                    1.1 * static_cast<double>(apart.cycles); // the plan's idea is a rough one
    if (trials.isDone)
      break;
    std::optional<RunTrial> trial =
        tryRun(context, {{chained, plan}}, enoughToLose(best), INT64_MAX, &trials.programs);
    if (trial)
      keepBest(best, {plan, std::move(trial->layout), trial->cycles, trial->ordered, std::nullopt},
               [&](const FusedStackPlan &each) { return describe(problem, each); });
  }
  trials.isDone |= trials.made == most;
  if (!trials.isDone || !best)
    return;
  if (apart.isTried && (!best->runnerUp || best->runnerUp->cycles > apart.cycles))
    best->runnerUp = RunnerUp{"each layer by itself", apart.cycles, best->cycles};
  best->words = describe(problem, best->plan);
  const auto whole = std::find_if(plans.begin(), plans.end(), [&](const FusedStackPlan &plan) {
    return isWhole(problem, plan);
  });
  if (whole != plans.end())
    best->whole = *whole, best->wholeWords = describe(problem, *whole);
}

std::optional<int64_t> promisedCycles(const ChainTrials &trials) {
  if (trials.plans.empty() || (trials.isDone && !trials.best))
    return std::nullopt;
  if (trials.isDone)
    return trials.best->cycles;
  double cycles = promised * trials.plans.front().estimatedCycles;
  for (const TrialStep &step : trialSteps)
    if (step.plans == trials.made && trials.best)
      cycles = std::max(cycles, step.promised * static_cast<double>(trials.best->cycles));
  return static_cast<int64_t>(cycles);
}

void refineChain(LoweringContext &context, const ChainedGroups &chained, ChainTrials &trials) {
  ChosenChain &chosen = *trials.best;
  const Probe probe(context, chained);
  const FusedStackProblem &problem = probe.chain.problem();
  if (chosen.cycles - leastProducts(problem, context.machine) < chosen.cycles / goodEnough)
    return;
  const FusedStackSpace space(problem, context.machine);
  std::set<PlanPoint> known{space.point(chosen.plan)};
  std::optional<ChosenChain> best = std::move(chosen);
  // In halves of trials.
  const int64_t most =
      2 * std::clamp<int64_t>(refinedCycles / best->cycles - 1, 1, refinements - 1);
  int64_t made = 0, last = std::min(most, 2 * atLeast);
  // Whether a plan with another choice is better: then it is the best one.
  auto improves = [&](Choice choice) {
    for (const FusedStackPlan &plan : neighborsOf(problem, context.machine, best->plan, choice)) {
      if (plan.estimatedCycles > 1.2 * static_cast<double>(best->cycles) ||
          !known.insert(space.point(plan)).second)
        continue;
      if (last - made < 2)
        break;
      const int64_t rest = std::max<int64_t>(0, best->cycles - best->ordered),
                    tooLate =
                        best->ordered +
                        std::min(best->ordered / hopeless, std::max(rest / hopelessOfRest, few)) +
                        1;
      std::optional<RunTrial> trial =
          tryRun(context, {{chained, plan}}, best->cycles, tooLate, &trials.programs);
      made += trial ? 2 : 1;
      if (!trial || trial->cycles >= best->cycles)
        continue;
      if (best->cycles - trial->cycles > best->cycles / helpful)
        last = std::clamp(made + 2 * afterSuccess, last, most);
      keepBest(best, {plan, std::move(trial->layout), trial->cycles, trial->ordered, std::nullopt},
               [&](const FusedStackPlan &each) { return describe(problem, each); });
      return true;
    }
    return false;
  };
  constexpr auto choices = static_cast<size_t>(Choice::Count),
                 frequent = static_cast<size_t>(Choice::Segments);
  for (size_t choice = 0, failed = 0; failed < choices && last - made > 1;)
    if (improves(static_cast<Choice>(choice))) {
      failed = 0;
      choice = choice < frequent ? choice : 0;
    } else {
      ++failed;
      choice = failed < frequent ? (choice + 1) % frequent : failed;
    }
  // The last trial is one of places.
  if (std::optional<RunTrial> apart =
          tryApart(context, {{chained, best->plan}}, best->layout, best->cycles))
    best->cycles = apart->cycles, best->layout = std::move(apart->layout);
  best->words = describe(problem, best->plan);
  chosen = std::move(*best);
}

// Places from which the order follows; empty: it does not.
static std::vector<int64_t> movedTo(const RunLayout &layout) {
  return layout.isMoved ? layout.addresses : std::vector<int64_t>();
}

static std::string signatureOf(const LoweringContext &context, const ChainedGroups &chained) {
  std::string signature = readersOf(chained) + ";";
  for (kernel::GroupOp group : chained.groups)
    signature += tilewright::signatureOf(context, group) + ";";
  return signature;
}

// Chains that hand on to each other, cut where a plan says that one does not.
static std::vector<ChainRun> cut(const ChainRun &run, const std::vector<RunSpace::Plan> &plans) {
  std::vector<ChainRun> parts(1);
  for (size_t i = 0; i < run.size(); ++i) {
    parts.back().push_back({run[i].chained, plans[i].chain});
    if (!plans[i].handsOn && i + 1 < run.size())
      parts.emplace_back();
  }
  return parts;
}

std::vector<TunedRun> tunedRun(LoweringContext &context, Tuner &tuner, const ChainRun &run,
                               const RunLayout &layout) {
  std::vector<RunMember> members;
  std::vector<RunSpace::Plan> chosen;
  std::vector<kernel::GroupOp> groups;
  std::string signature = "run ";
  for (const PlannedChain &each : run) {
    const Probe probe(context, each.chained);
    members.push_back({probe.chain.problem(), probe.chain.mayTake()});
    chosen.push_back({each.plan, &each != &run.back()});
    groups.insert(groups.end(), each.chained.groups.begin(), each.chained.groups.end());
    signature += signatureOf(context, each.chained) + "|";
  }
  const RunSpace space(members, context.machine);
  Alone alone(context, groups);
  const PlanPoint planned = space.point(chosen);
  auto emit = [&](const PlanPoint &point) {
    std::vector<Lower> lowers;
    for (const ChainRun &part : cut(run, space.plan(point)))
      lowers.push_back([&, part](Steps &steps) {
        lowerAll(alone.context(), part, true, steps,
                 point == planned ? movedTo(layout) : std::vector<int64_t>());
      });
    return alone.emit(lowers);
  };
  auto others = [] { return std::vector<PlanPoint>(); };
  const std::optional<PlanPoint> point =
      tuner.choose({signature, layersOf(groups), space, planned, others, emit});
  if (!point || *point == planned)
    return {};
  std::vector<TunedRun> tuned;
  for (ChainRun &part : cut(run, space.plan(*point))) {
    std::optional<RunTrial> trial = tryPlaces(context, part);
    if (!trial) // gaps come to lie otherwise
      return {};
    TunedRun &made = tuned.emplace_back();
    made.layout = std::move(trial->layout);
    for (const PlannedChain &each : part)
      made.words.push_back(describe(Probe(context, each.chained).chain.problem(), each.plan));
    made.chains = std::move(part);
  }
  return tuned;
}

ChosenChain tunedChain(LoweringContext &context, const ChainedGroups &chained,
                       const ChosenChain &chosen) {
  if (!context.tuner)
    return chosen;
  const Probe probe(context, chained);
  const FusedStackProblem &problem = probe.chain.problem();
  const FusedStackSpace space(problem, context.machine);
  auto others = [&] {
    std::vector<PlanPoint> points;
    for (const FusedStackPlan &plan : planFusedStack(problem, context.machine, mostPlans))
      points.push_back(space.point(plan));
    return points;
  };
  Alone alone(context, chained.groups);
  const PlanPoint planned = space.point(chosen.plan);
  auto emit = [&](const PlanPoint &point) {
    const Lower lower = [&](Steps &steps) {
      lowerAll(alone.context(), {{chained, space.plan(point)}}, true, steps,
               point == planned ? movedTo(chosen.layout) : std::vector<int64_t>());
    };
    return alone.emit(lower);
  };
  const std::optional<PlanPoint> point = context.tuner->choose(
      {signatureOf(context, chained), layersOf(chained.groups), space, planned, others, emit});
  if (!point || *point == planned)
    return chosen;
  const FusedStackPlan plan = space.plan(*point);
  std::optional<RunTrial> trial = tryPlaces(context, {{chained, plan}});
  if (!trial) // gaps come to lie otherwise
    return chosen;
  return {plan,
          std::move(trial->layout),
          trial->cycles,
          trial->ordered,
          RunnerUp{describe(problem, chosen.plan), chosen.cycles, trial->cycles},
          describe(problem, plan)};
}

bool mayHandOn(LoweringContext &context, const PlannedChain &chain, const PlannedChain &next) {
  const FusedStackProblem problem = Probe(context, chain.chained).chain.problem();
  if (!kernel::GroupOp(chain.chained.groups.back()).getResult().hasOneUse() ||
      !mayHandOn(problem) || !isWhole(problem, chain.plan))
    return false;
  const Probe reader(context, next.chained);
  return reader.chain.mayTake() && next.plan.headMerge == TapMerge::None &&
         isWhole(reader.chain.problem(), next.plan);
}

// Of orders, which hardly any chain takes a sixteenth less than.
static int64_t enoughOrdered(int64_t enough) {
  return enough < INT64_MAX / 2 ? enough + enough / 15 + 1 : INT64_MAX;
}

std::optional<RunTrial> tryRun(LoweringContext &context, const ChainRun &run, int64_t enough,
                               int64_t tooLate, Programs *tried) {
  tooLate = std::min(tooLate, enoughOrdered(enough));
  std::optional<int64_t> ordered; // nothing: it is not emitted
  std::optional<Trial> trial = tryOut(
      context,
      [&](Steps &steps) {
        ordered = lowerTrial(context, run, steps, tooLate);
        if (ordered && tried && !tried->insert(hashOf(steps)).second)
          ordered.reset();
        if (!ordered)
          steps = Steps();
      },
      enough);
  if (!ordered || !trial)
    return std::nullopt;
  return RunTrial{trial->cycles, {std::move(trial->layout)}, *ordered};
}

std::optional<RunTrial> tryApart(LoweringContext &context, const ChainRun &run,
                                 const RunLayout &layout, int64_t enough) {
  std::optional<int64_t> ordered;
  RunLayout moved{{}, true};
  std::optional<Trial> trial = tryOut(
      context,
      [&](Steps &steps) {
        ordered = lowerApart(context, run, steps, layout.addresses);
        moved.addresses = steps.layout;
        if (!ordered)
          steps = Steps();
      },
      enough);
  if (!ordered || !trial || trial->cycles >= enough)
    return std::nullopt;
  return RunTrial{trial->cycles, std::move(moved), *ordered};
}

std::optional<RunTrial> tryPlaces(LoweringContext &context, const ChainRun &run) {
  std::optional<RunTrial> trial = tryRun(context, run);
  if (trial)
    if (std::optional<RunTrial> apart = tryApart(context, run, trial->layout, trial->cycles))
      return apart;
  return trial;
}

void lowerRun(LoweringContext &context, const ChainRun &run, const RunLayout &layout,
              Steps &steps) {
  lowerAll(context, run, false, steps, movedTo(layout));
  if (layout.addresses.size() == steps.buffers.size())
    steps.layout = layout.addresses;
}

} // namespace tilewright

// Chains of layers that hand their tensors on without DRAM (fused_stack_plan.h).
#pragma once

#include "lowering.h"
#include "trial.h"

#include "tilewright/compiler/schedule/fused_stack_plan.h"

#include <optional>
#include <set>

namespace tilewright {

struct ChainedGroups {
  std::vector<kernel::GroupOp> groups; // in program order
  std::vector<int> layers;             // of each, for the instructions' records
};

// The convolution or window of a group that a chain may have; null without one.
mlir::Operation *chainAnchorOf(kernel::GroupOp group);

// Whether `next` may follow `group` in a chain: it reads its 8-bit result as the input of its
// convolution or window, and the two are of kinds that a chain has in this order. The result of a
// convolution before a window may have other readers, and that of a window before a sum of all its
// pixels: it is stored as well.
bool mayFollow(kernel::GroupOp group, kernel::GroupOp next);

// Steps that were tried out, by a hash of all that the emitter sees of them: plans that differ in
// what a chain has no use for give the same ones.
using Programs = std::set<uint64_t>;

// Where a run's buffers stand: many of many sizes may not fit otherwise.
struct RunLayout {
  std::vector<int64_t> addresses; // Steps::layout; may be empty
  bool isMoved = false;           // to where they were moved apart: the order follows from it
};

struct ChosenChain {
  FusedStackPlan plan;
  RunLayout layout;
  int64_t cycles;  // by the estimator, on an empty chip
  int64_t ordered; // by its order alone
  std::optional<RunnerUp> runnerUp;
  std::string words = {}; // the plan's
  // The cheapest plan by its own estimate that makes the result in one stripe: chains that follow
  // each other may hand it on.
  std::optional<FusedStackPlan> whole = {};
  std::string wholeWords = {};
};
// Whether a group by itself may be a chain's window, which array and lanes divide.
bool mayBeChain(kernel::GroupOp group);
// Whether groups, each of which may follow the one before, are a head, a window and a tail, or some
// of them; or a head, a window and a sum.
bool isChain(const ChainedGroups &chained);
// Who reads the first one's result beside the second one's anchor: nobody, operations of the last
// one of three, or others, for whom it is stored.
enum class HeadReaders { Window, Tail, Others };
HeadReaders headReaders(const ChainedGroups &chained);
// Results of groups before the last one that come to DRAM.
llvm::SmallVector<mlir::Value, 2> storedWithin(const ChainedGroups &chained);
// In signatures: what readers of results within a chain make of its plans.
std::string readersOf(const ChainedGroups &chained);

// The best plans by their own estimate; none when the groups have something that a chain has no
// place for.
std::vector<FusedStackPlan> plansOf(LoweringContext &context, const ChainedGroups &chained);

// Cycles of groups one by one.
struct Apart {
  int64_t cycles;
  bool isTried; // or else it is an estimate
};
// Plans of a chain, which are tried out by and by.
struct ChainTrials {
  std::vector<FusedStackPlan> plans; // plansOf
  size_t made = 0;                   // of these, the first ones
  bool isDone = false;
  std::optional<ChosenChain> best; // nothing when none fits or promises to be worth it
  Programs programs;
};
// Tries a few plans more. No plan is tried that promises to take longer than about the groups
// apart.
void tryPlans(LoweringContext &context, const ChainedGroups &chained, Apart apart,
              ChainTrials &trials);
// What the best plan takes at least, as a rule; exact when all is done. Nothing when it is no
// chain.
std::optional<int64_t> promisedCycles(const ChainTrials &trials);

// Goes from plan to plan, each differing from the best one so far in one choice: choice by choice,
// each as long as it helps.
void refineChain(LoweringContext &context, const ChainedGroups &chained, ChainTrials &trials);

// The tuner's plan; where it has none, the one that was chosen.
ChosenChain tunedChain(LoweringContext &context, const ChainedGroups &chained,
                       const ChosenChain &chosen);

// Chains that follow each other. All but the last leave their results on chip.
struct PlannedChain {
  ChainedGroups chained;
  FusedStackPlan plan;
};
using ChainRun = std::vector<PlannedChain>;
// Whether a chain may hand its result to the next one.
bool mayHandOn(LoweringContext &context, const PlannedChain &chain, const PlannedChain &next);
// On an empty chip.
struct RunTrial {
  int64_t cycles;
  RunLayout layout;
  int64_t ordered; // cycles by its order alone
};
// Nothing when it does not fit. What takes `tooLate` cycles or more by its order, or is among what
// was `tried`, is not emitted: nothing, either.
std::optional<RunTrial> tryRun(LoweringContext &context, const ChainRun &run,
                               int64_t enough = INT64_MAX, int64_t tooLate = INT64_MAX,
                               Programs *tried = nullptr);
// The same run, its buffers moved apart from where a trial left them. Nothing when it does not take
// less than `enough` cycles.
std::optional<RunTrial> tryApart(LoweringContext &context, const ChainRun &run,
                                 const RunLayout &layout, int64_t enough);
// The better of the two.
std::optional<RunTrial> tryPlaces(LoweringContext &context, const ChainRun &run);
// What the tuner makes of a run whose chains all hand on, and which has this layout: runs that
// follow each other, chains among them that do not. Empty: it stays as it is.
struct TunedRun {
  ChainRun chains;
  RunLayout layout;
  std::vector<std::string> words; // of each chain's plan
};
std::vector<TunedRun> tunedRun(LoweringContext &context, Tuner &tuner, const ChainRun &run,
                               const RunLayout &layout);
// `layout`: of the trial.
void lowerRun(LoweringContext &context, const ChainRun &run, const RunLayout &layout, Steps &steps);

} // namespace tilewright

// What each instruction has to say of the operations of a group.
#include "selection_runs.h"
#include "tilewright/compiler/patterns/column_broadcast_pattern.h"
#include "tilewright/compiler/patterns/stationary_pattern.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/isa/roles.h"

#include <algorithm>
#include <limits>

namespace tilewright {

namespace {

// Of an instruction and all runs of a group's operations: how far the best comparison came.
struct Closest {
  bool isMatched = false;
  int depth = -1;
  std::optional<Comparison> comparison; // none for a run of one operation, which is told anyway
};

std::string nameOf(const patterns::Pattern &pattern) { return pattern.instruction->name; }

} // namespace

std::vector<Comparison> Selection::compareReduction(llvm::ArrayRef<mlir::Operation *> run,
                                                    kernel::ReduceOp reduce) {
  std::vector<Comparison> found;
  const std::vector<RunFunction> functions = takenIn(run, reduce);
  const std::optional<ReductionCover> cover = chooseReduction(run, reduce);
  const std::string described = describeRun(run, reduce);
  for (const patterns::Pattern &pattern : patterns_.reductions()) {
    Comparison each{nameOf(pattern), described, Outcome::Differs, {}};
    for (const RunFunction &function : functions) {
      patterns::Mismatch mismatch;
      if (patterns::match(isa_, pattern, patterns::Candidate(function.function, &terms_),
                          combinerOf(reduce), &mismatch))
        each.outcome = Outcome::Computes;
      if (each.mismatch.reason.empty() || mismatch.depth > each.mismatch.depth)
        each.mismatch = std::move(mismatch);
    }
    if (functions.empty())
      each.mismatch.reason = "an operand is repeated along some of several axes";
    if (cover && cover->match.pattern == &pattern)
      each.outcome = Outcome::Taken;
    found.push_back(std::move(each));
  }
  return found;
}

Selection::Attempt Selection::attempt(llvm::ArrayRef<mlir::Operation *> run,
                                      mlir::Operation *anchor,
                                      llvm::ArrayRef<mlir::Operation *> operations,
                                      llvm::ArrayRef<int32_t> bias,
                                      const patterns::Pattern &pattern) {
  Attempt attempt;
  for (const RunContext &context : contextsOf(run, anchor, operations, bias))
    for (RunFunction &function : functionsOf(run, context)) {
      patterns::Mismatch mismatch;
      auto match = patterns::match(isa_, pattern, patterns::Candidate(function.function, &terms_),
                                   &mismatch);
      if (match)
        mismatch = {unserved(*match), std::numeric_limits<int>::max()};
      if (match && mismatch.reason.empty())
        return {true, {}};
      if (attempt.mismatch.reason.empty() || mismatch.depth > attempt.mismatch.depth)
        attempt.mismatch = std::move(mismatch);
    }
  return attempt;
}

std::vector<Comparison> Selection::compareRuns(llvm::ArrayRef<mlir::Operation *> operations,
                                               mlir::Operation *anchor,
                                               llvm::ArrayRef<int32_t> bias) {
  std::vector<Comparison> found;
  std::vector<Closest> closest(patterns_.maps().size());
  const std::optional<Chosen> chosen = chooseCovers(anchor, operations, bias, longestRun);
  for (size_t last = 0; last < operations.size(); ++last)
    for (llvm::ArrayRef<mlir::Operation *> run : runsEndingAt(operations, last)) {
      const std::string described = describeRun(run);
      for (size_t i = 0; i < closest.size(); ++i) {
        const patterns::Pattern &pattern = patterns_.maps()[i];
        const Attempt made = attempt(run, anchor, operations, bias, pattern);
        Comparison each{nameOf(pattern), described, Outcome::Differs, made.mismatch};
        const bool isTaken =
            chosen && llvm::any_of(chosen->covers, [&](const Cover &cover) {
              return cover.match.pattern == &pattern && run == llvm::ArrayRef(cover.run);
            });
        if (isTaken)
          each.outcome = Outcome::Taken;
        else if (made.isMatch)
          each.outcome = Outcome::Computes;
        closest[i].isMatched |= made.isMatch;
        if (made.mismatch.depth > closest[i].depth) {
          closest[i].depth = made.mismatch.depth;
          closest[i].comparison =
              run.size() == 1 ? std::optional<Comparison>() : std::optional<Comparison>(each);
        }
        if (run.size() == 1 || made.isMatch)
          found.push_back(std::move(each));
      }
    }
  for (Closest &each : closest)
    if (!each.isMatched && each.comparison)
      found.push_back(std::move(*each.comparison));
  return found;
}

std::vector<Comparison> Selection::compare(kernel::GroupOp group) {
  std::lock_guard<std::mutex> lock(mutex_);
  const llvm::SmallVector<mlir::Operation *> operations = scalarOperationsOf(group);
  if (kernel::ReduceOp reduce = reductionOf(group))
    return compareReduction(operations, reduce);
  mlir::Operation *first = &group.getBody().front().front();
  mlir::Operation *anchor = hasScalarFunction(first) ? nullptr : first;
  std::vector<Comparison> found;
  auto add = [&](const std::string &instruction, Outcome outcome) {
    found.push_back({instruction, anchor->getName().stripDialect().str(), outcome, {}});
  };
  if (anchor)
    for (isa::Role role : templateOf(anchor)) {
      const isa::Instruction *instruction = isa_.withRole(role);
      add(instruction ? instruction->name : isa::describe(isa_, role),
          instruction ? Outcome::InTemplate : Outcome::MissingInTemplate);
    }
  if (anchor && llvm::isa<kernel::DepthwiseOp>(anchor))
    if (auto window = patterns::findColumnBroadcast(isa_))
      add(window->instruction->name, Outcome::InColumnBroadcastPlans);
  if (anchor && llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor))
    if (auto sums = patterns::findStationary(isa_))
      add(sums->instruction->name, Outcome::InOutputStationaryPlans);
  llvm::append_range(found, compareRuns(operations, anchor, biasOf(anchor)));
  return found;
}

} // namespace tilewright

// What a plan costs: its steps, emitted on an empty chip and given to the estimator.
#pragma once

#include "lowering.h"

#include "tilewright/support/error.h"

#include <functional>
#include <optional>

namespace tilewright {

using Lower = std::function<void(Steps &)>;

// What `finish` makes of the emitter after steps on an empty chip, one group after the other;
// nothing when they do not fit or, as `context` then says, cannot be. Constants that a `lower` adds
// are forgotten again, after `finish`.
template <typename Finish>
auto emitAlone(LoweringContext &context, llvm::ArrayRef<Lower> lowers, const Finish &finish) {
  const size_t constants = context.constants.bytes().size();
  std::optional<decltype(finish(std::declval<Emitter &>()))> result;
  try {
    Emitter emitter(context.isa, context.buffering);
    for (const Lower &lower : lowers) {
      Steps steps;
      lower(steps);
      emitter.append(std::move(steps), "");
    }
    result = finish(emitter);
  } catch (const UnfitDescription &error) {
    context.unfit = error;
  } catch (const UserError &) { // it does not fit
  }
  context.constants.rollBack(constants);
  return result;
}

struct Trial {
  int64_t cycles, transfer;    // `transfer`: that loads and stores take, were the bus never idle
  std::vector<int64_t> layout; // Steps::layout
};

// Makes `better` the best so far, if it is; keeps the best of the others as its runner-up.
// `describe` gives a plan in words. A `Chosen` has plan, cycles and runnerUp.
template <typename Chosen, typename Describe>
void keepBest(std::optional<Chosen> &best, Chosen candidate, const Describe &describe) {
  if (!best) {
    best = std::move(candidate);
    return;
  }
  if (candidate.cycles < best->cycles) {
    std::swap(*best, candidate);
    best->runnerUp = std::nullopt;
  } else if (best->runnerUp && best->runnerUp->cycles <= candidate.cycles) {
    return;
  }
  best->runnerUp = RunnerUp{describe(candidate.plan), candidate.cycles, best->cycles};
}

// The cycles from which on keepBest would drop a candidate.
template <typename Chosen> int64_t enoughToLose(const std::optional<Chosen> &best) {
  return best && best->runnerUp ? best->runnerUp->cycles : INT64_MAX;
}

// Nothing when the steps do not fit on chip. Of steps that take `enough` cycles or more it is known
// that they do. What repeats is rolled (loops.h), as in the program.
std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower,
                            int64_t enough = INT64_MAX);

} // namespace tilewright

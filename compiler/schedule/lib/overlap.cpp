#include "overlap.h"

#include "timeline.h"
#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tilewright {

namespace {

constexpr int64_t tileParts = 5;       // of which a region's tile has some
constexpr int64_t leastGain = 100;     // a part of so many of the time of both
constexpr int64_t longest = 4'000'000; // cycles of both, beyond which trials take too long

bool isProduct(const Part &part) {
  return part.group && llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(
                           kernel::GroupOp(part.group).getBody().front().front());
}

class Planner {
public:
  explicit Planner(LoweringContext &context) : context_(context) {}

  // The best way in which `second` joins `first`, whose plan is known where that joins another one.
  // False where that takes as long.
  bool join(const Part &first, PartPlan &ofFirst, const Part &second, PartPlan &ofSecond) {
    if (!mayGain(first, ofFirst, second))
      return false;
    const std::optional<int64_t> apart =
        cycles({[&](Steps &steps) { lowerPart(context_, first, ofFirst, true, steps); },
                [&](Steps &steps) { lowerPart(context_, second, {}, true, steps); }},
               INT64_MAX);
    if (!apart || *apart > longest)
      return false;
    int64_t least = getenv("FORCE") ? *apart*2 : *apart - *apart / leastGain;
    bool isFound = false;
    PartPlan bestFirst, bestSecond;
    for (const PartPlan &a : ofFirst.joins ? std::vector<PartPlan>{ofFirst} : plansOf(first))
      for (const PartPlan &b : plansOf(second)) {
        const std::optional<int64_t> together = joined(first, a, second, b, least);
        if (getenv("DBG"))
          fprintf(stderr, "%zu %zu rows %ld %ld tile %ld %ld: %ld of %ld\n", first.place,
                  second.place, a.rowParts, b.rowParts, a.tileLess, b.tileLess,
                  together.value_or(-1), *apart);
        if (!together || *together >= least)
          continue;
        least = *together;
        isFound = true;
        bestFirst = a, bestSecond = b;
      }
    if (!isFound)
      return false;
    ofFirst.rowParts = bestFirst.rowParts, ofFirst.tileLess = bestFirst.tileLess;
    ofSecond = bestSecond;
    return true;
  }

private:
  static std::vector<PartPlan> plansOf(const Part &part) {
    std::vector<PartPlan> plans{{}};
    if (isProduct(part))
      for (int64_t parts : {2, 3, 4})
        plans.push_back({parts, 0, false});
    if (part.region)
      for (int64_t less : {1, 2, 3})
        plans.push_back({1, less, false});
    return plans;
  }

  std::optional<int64_t> cycles(llvm::ArrayRef<Lower> lowers, int64_t enough) {
    return emitAlone(context_, lowers, [&](Emitter &emitter) {
      return estimateCycles(emitter.finish(), context_.isa, context_.plans,
                            static_cast<uint64_t>(context_.constants.end()), enough);
    });
  }

  std::optional<int64_t> joined(const Part &first, const PartPlan &a, const Part &second,
                                const PartPlan &b, int64_t enough) {
    bool isJoined = true;
    const Lower lower = [&](Steps &steps) {
      Timeline timeline(context_);
      for (const auto &[part, plan] : {std::pair(&first, &a), std::pair(&second, &b)}) {
        Steps own;
        own.layer = static_cast<int>(part->place);
        isJoined &= lowerPart(context_, *part, *plan, true, own);
        if (!isJoined) {
          if (getenv("DBG"))
            fprintf(stderr, "  not lowered\n");
          return;
        }
        size_t n = own.steps.size();
        size_t beside = timeline.add(std::move(own));
        if (getenv("DBG"))
          fprintf(stderr, "  steps %zu beside %zu\n", n, beside);
        isJoined = isJoined && (beside > 0 || part == &first);
        if (!isJoined)
          return;
      }
      steps = timeline.take();
    };
    const std::optional<int64_t> found = cycles({lower}, enough);
    return isJoined ? found : std::nullopt;
  }

  // By unit.
  std::vector<int64_t> busyOf(const Part &part, const PartPlan &plan) {
    const size_t constants = context_.constants.bytes().size();
    TaskTimes times(context_.isa, context_.machine, context_.plans);
    std::vector<int64_t> busy(context_.isa.units().size(), 0);
    Steps steps;
    steps.layer = static_cast<int>(part.place);
    lowerPart(context_, part, plan, true, steps);
    for (const Step &step : steps.steps)
      for (const std::vector<Task> *tasks : {&step.compute, &step.stores})
        for (const Task &task : *tasks)
          busy[static_cast<size_t>(
              context_.isa.instructions()[static_cast<size_t>(task.instruction)].unit)] +=
              times.cyclesOf(task);
    context_.constants.rollBack(constants);
    return busy;
  }

  // Whether units that wait in one have work in the other, so that it counts.
  bool mayGain(const Part &first, const PartPlan &ofFirst, const Part &second) {
    std::vector<int64_t> a = busyOf(first, ofFirst), b = busyOf(second, {});
    const int64_t apart =
        *std::max_element(a.begin(), a.end()) + *std::max_element(b.begin(), b.end());
    int64_t together = 0;
    for (size_t unit = 0; unit < a.size(); ++unit)
      together = std::max(together, a[unit] + b[unit]);
    constexpr int64_t least = 24;
    return apart - together > apart / least;
  }

  LoweringContext &context_;
};

} // namespace

std::vector<PartPlan> planOverlaps(LoweringContext &context,
                                   llvm::ArrayRef<std::optional<Part>> parts,
                                   llvm::function_ref<bool(const Part &)> isApart) {
  std::vector<PartPlan> plans(parts.size());
  Planner planner(context);
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i - 1] && parts[i] && !isApart(*parts[i - 1]) && !isApart(*parts[i]))
      plans[i].joins = planner.join(*parts[i - 1], plans[i - 1], *parts[i], plans[i]);
  return plans;
}

bool lowerPart(LoweringContext &context, const Part &part, const PartPlan &plan, bool isTrial,
               Steps &steps) {
  if (part.beside) {
    lowerSideBySide(context, *part.beside, steps);
  } else if (part.region) {
    ChosenRegion region = *part.region;
    region.tile.elements =
        llvm::divideCeilSigned(region.tile.elements * (tileParts - plan.tileLess), tileParts);
    lowerRegion(context, region, steps);
  } else if (!isProduct(part)) {
    lowerAlone(context, part.group, steps);
  } else {
    return lowerConvolution(context, part.group, steps, plan.rowParts, isTrial);
  }
  return true;
}

} // namespace tilewright

#include "overlap.h"

#include "timeline.h"
#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <tuple>

namespace tilewright {

namespace {

constexpr int64_t tileParts = 5;   // of which a region's tile has some
constexpr int64_t leastGain = 100; // a part of so many of the time of both
constexpr int64_t leastIdle = 24;  // likewise, in which units wait that the other one has work for
constexpr int64_t longest = 4'000'000; // cycles of both, beyond which trials take too long: a
                                       // region's cost tells as much without one

class Planner {
public:
  explicit Planner(LoweringContext &context) : context_(context) {}

  // The best way in which `second` joins `first`, whose tile is known where that joins another one.
  // False where that takes as long.
  bool join(const Part &first, PartPlan &ofFirst, const Part &second, PartPlan &ofSecond) {
    const std::string key = fmt::format("{}|{}|{}|{}", signatureOf(first), ofFirst.joins,
                                        ofFirst.tileLess, signatureOf(second));
    const auto [found, isNew] = known_.try_emplace(key);
    if (isNew)
      found->second = best(first, ofFirst, second);
    if (!found->second)
      return false;
    std::tie(ofFirst.tileLess, ofSecond.tileLess, ofSecond.leads) = *found->second;
    return true;
  }

private:
  using Tiles = std::tuple<int64_t, int64_t, int64_t>; // PartPlan::tileLess of both, leads

  std::string signatureOf(const Part &part) {
    if (part.region)
      return fmt::format(
          "{} {} {}", part.region->tile.elements, part.region->tile.interval,
          Region::make(context_, part.region->groups, part.region->layers)->signature());
    if (!part.beside)
      return tilewright::signatureOf(context_, part.group);
    std::string text;
    for (kernel::GroupOp group : part.beside->groups)
      text += tilewright::signatureOf(context_, group) + ";";
    return text;
  }

  std::optional<Tiles> best(const Part &first, const PartPlan &ofFirst, const Part &second) {
    for (const Part *part : {&first, &second})
      if ((part->region && part->region->tile.cost > longest) ||
          (!part->region && !part->beside && !mayRunBeside(context_, part->group)))
        return std::nullopt;
    const bool hasRegion = first.region || second.region;
    if (!(hasRegion ? mayGain(first, ofFirst, second) : mayLead(first, ofFirst, second)))
      return std::nullopt;
    const std::vector<int64_t> ways = second.region ? std::vector<int64_t>{0}
                                      : hasRegion   ? std::vector<int64_t>{0, 8}
                                                    : std::vector<int64_t>{8, 6, 4};
    const std::optional<int64_t> apart =
        cycles({[&](Steps &steps) { lowerPart(context_, first, ofFirst, steps); },
                [&](Steps &steps) { lowerPart(context_, second, {}, steps); }},
               longest + 1);
    if (!apart || *apart > longest)
      return std::nullopt;
    int64_t least = *apart - *apart / leastGain;
    std::optional<Tiles> found;
    for (const int64_t a : ofFirst.joins ? std::vector<int64_t>{ofFirst.tileLess} : tilesOf(first))
      for (const int64_t b : tilesOf(second))
        for (const int64_t leads : ways) {
          bool overlaps = true;
          const std::optional<int64_t> together = cycles(
              {[&](Steps &steps) { overlaps = lowerBoth(first, a, second, b, leads, steps); }},
              least);
          if (!overlaps || !together || *together >= least)
            continue;
          least = *together;
          found = {a, b, leads};
        }
    return found;
  }

  static std::vector<int64_t> tilesOf(const Part &part) {
    return part.region ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0};
  }

  // False where none of the second one's steps finds its place beside the first one's.
  bool lowerBoth(const Part &first, int64_t a, const Part &second, int64_t b, int64_t leads,
                 Steps &steps) {
    Timeline timeline(context_);
    Steps early, late;
    early.layer = static_cast<int>(first.place);
    late.layer = static_cast<int>(second.place);
    lowerPart(context_, first, {a, false, true}, early);
    lowerPart(context_, second, {b, true, false, leads}, late);
    timeline.add(std::move(early));
    if (timeline.add(std::move(late), leads) == 0)
      return false;
    steps = timeline.take();
    return true;
  }

  std::optional<int64_t> cycles(llvm::ArrayRef<Lower> lowers, int64_t enough) {
    return emitAlone(context_, lowers, [&](Emitter &emitter) {
      return estimateCycles(emitter.finish(), context_.isa, context_.plans,
                            static_cast<uint64_t>(context_.constants.end()), enough);
    });
  }

  Steps stepsOf(const Part &part, const PartPlan &plan) {
    const size_t constants = context_.constants.bytes().size();
    Steps steps;
    steps.layer = static_cast<int>(part.place);
    lowerPart(context_, part, plan, steps);
    context_.constants.rollBack(constants);
    return steps;
  }

  std::vector<int64_t> busyOf(const Steps &steps) const {
    return TaskTimes(context_.isa, context_.machine, context_.plans)
        .byUnit(steps, &TaskTimes::cyclesOf);
  }

  // Whether units that wait in one have work in the other, so that it counts.
  bool mayGain(const Part &first, const PartPlan &ofFirst, const Part &second) {
    const std::vector<int64_t> a = busyOf(stepsOf(first, ofFirst)), b = busyOf(stepsOf(second, {}));
    const int64_t apart =
        *std::max_element(a.begin(), a.end()) + *std::max_element(b.begin(), b.end());
    int64_t together = 0;
    for (size_t unit = 0; unit < a.size(); ++unit)
      together = std::max(together, a[unit] + b[unit]);
    return apart - together > apart / leastIdle;
  }

  // Whether the second one waits for its first inputs so long that it counts.
  bool mayLead(const Part &first, const PartPlan &ofFirst, const Part &second) {
    TaskTimes times(context_.isa, context_.machine, context_.plans);
    const Steps steps = stepsOf(second, {});
    int64_t waits = 0, apart = 0;
    for (const Task &task : steps.steps.front().loads)
      waits += times.cyclesOf(task);
    for (const std::vector<int64_t> &busy : {busyOf(stepsOf(first, ofFirst)), busyOf(steps)})
      apart += *std::max_element(busy.begin(), busy.end());
    return waits > apart / leastGain;
  }

  LoweringContext &context_;
  std::map<std::string, std::optional<Tiles>> known_;
};

} // namespace

std::map<size_t, PartPlan> planOverlaps(LoweringContext &context,
                                        llvm::ArrayRef<std::optional<Part>> parts) {
  std::map<size_t, PartPlan> plans;
  Planner planner(context);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::optional<Part> &first = parts[i - 1], &second = parts[i];
    if (!first || !second)
      continue;
    const auto known = plans.find(first->place);
    PartPlan ofFirst = known == plans.end() ? PartPlan() : known->second, ofSecond;
    if (!planner.join(*first, ofFirst, *second, ofSecond))
      continue;
    ofFirst.isJoined = ofSecond.joins = true;
    plans[first->place] = ofFirst;
    plans[second->place] = ofSecond;
  }
  return plans;
}

void lowerPart(LoweringContext &context, const Part &part, const PartPlan &plan, Steps &steps) {
  if (part.beside)
    return lowerSideBySide(context, *part.beside, steps);
  if (!part.region && (plan.joins || plan.isJoined))
    return lowerBeside(context, part.group, steps);
  if (!part.region)
    return lowerConvolution(context, part.group, steps);
  ChosenRegion region = *part.region;
  region.tile.elements =
      llvm::divideCeilSigned(region.tile.elements * (tileParts - plan.tileLess), tileParts);
  lowerRegion(context, region, steps);
}

} // namespace tilewright

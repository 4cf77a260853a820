#include "tilewright/compiler/schedule/run_space.h"

namespace tilewright {

static constexpr size_t ofMember = 1 + FusedStackSpace::DimensionCount;

RunSpace::RunSpace(const std::vector<RunMember> &members, const ConvMachine &machine)
    : members_(members) {
  for (const RunMember &member : members)
    spaces_.emplace_back(member.problem, machine);
}

size_t RunSpace::dimensions() const { return members_.size() * ofMember; }

bool RunSpace::handsOn(const PlanPoint &point, size_t member) const {
  return point[member * ofMember] != 0;
}

PlanPoint RunSpace::own(const PlanPoint &point, size_t member) const {
  const auto begin = point.begin() + static_cast<int64_t>(member * ofMember + 1);
  return PlanPoint(begin, begin + FusedStackSpace::DimensionCount);
}

// What stays on chip is a whole image, which its reader takes as it is.
std::vector<int64_t> RunSpace::choices(const PlanPoint &point, size_t d) const {
  const size_t member = d / ofMember;
  const FusedStackProblem &p = members_[member].problem;
  if (d % ofMember == 0) {
    const bool may = member + 1 < members_.size() && mayHandOn(p) && members_[member + 1].mayTake;
    return may ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0};
  }
  const size_t dimension = d % ofMember - 1;
  const bool takes = member > 0 && handsOn(point, member - 1),
             isWhole = takes || handsOn(point, member);
  if (isWhole &&
      (dimension == FusedStackSpace::TileRows || dimension == FusedStackSpace::FirstRows))
    return {resultHeight(p)};
  if (takes && dimension == FusedStackSpace::HeadMerge)
    return {static_cast<int64_t>(TapMerge::None)};
  return spaces_[member].choices(own(point, member), dimension);
}

bool RunSpace::fits(const PlanPoint &point) const {
  for (size_t i = 0; i < members_.size(); ++i)
    if (!spaces_[i].fits(own(point, i)))
      return false;
  return true;
}

std::vector<float> RunSpace::features(const PlanPoint &point) const {
  std::vector<float> all;
  for (size_t i = 0; i < members_.size(); ++i) {
    all.push_back(handsOn(point, i) ? 1 : 0);
    const std::vector<float> features = spaces_[i].features(own(point, i));
    all.insert(all.end(), features.begin(), features.end());
  }
  return all;
}

double RunSpace::analyticCycles(const PlanPoint &point) const {
  double cycles = 0;
  for (size_t i = 0; i < members_.size(); ++i)
    cycles += spaces_[i].analyticCycles(own(point, i));
  return cycles;
}

std::vector<RunSpace::Plan> RunSpace::plan(const PlanPoint &point) const {
  std::vector<Plan> plans;
  for (size_t i = 0; i < members_.size(); ++i)
    plans.push_back({spaces_[i].plan(own(point, i)), handsOn(point, i)});
  return plans;
}

PlanPoint RunSpace::point(const std::vector<Plan> &plans) const {
  PlanPoint point;
  for (size_t i = 0; i < members_.size(); ++i) {
    point.push_back(plans[i].handsOn);
    const PlanPoint own = spaces_[i].point(plans[i].chain);
    point.insert(point.end(), own.begin(), own.end());
  }
  return point;
}

} // namespace tilewright

#include "tilewright/compiler/schedule/plan_space.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

static constexpr int mostDraws = 2000;

bool isLegal(const PlanSpace &space, const PlanPoint &point) {
  if (point.size() != space.dimensions())
    return false;
  for (size_t d = 0; d < point.size(); ++d) {
    const std::vector<int64_t> choices = space.choices(point, d);
    if (!std::binary_search(choices.begin(), choices.end(), point[d]))
      return false;
  }
  return space.fits(point);
}

std::optional<PlanPoint> randomPoint(const PlanSpace &space, Random &random) {
  for (int draw = 0; draw < mostDraws; ++draw) {
    PlanPoint point(space.dimensions(), 0);
    bool isWhole = true;
    for (size_t d = 0; d < point.size() && isWhole; ++d) {
      const std::vector<int64_t> choices = space.choices(point, d);
      isWhole = !choices.empty();
      if (isWhole)
        point[d] = choices[random.below(choices.size())];
    }
    if (isWhole && space.fits(point))
      return point;
  }
  return std::nullopt;
}

// The index of the value nearest to `wanted` by ratio.
static size_t nearestIndex(const std::vector<int64_t> &values, int64_t wanted) {
  auto distance = [&](int64_t value) {
    return std::abs(std::log2(static_cast<double>(value + 1)) -
                    std::log2(static_cast<double>(std::max<int64_t>(0, wanted) + 1)));
  };
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (distance(values[i]) < distance(values[best]))
      best = i;
  return best;
}

// Values from `from` on that their choices do not hold give way to the nearest ones.
static bool snapFrom(const PlanSpace &space, PlanPoint &point, size_t from) {
  for (size_t d = from; d < point.size(); ++d) {
    const std::vector<int64_t> choices = space.choices(point, d);
    if (choices.empty())
      return false;
    point[d] = choices[nearestIndex(choices, point[d])];
  }
  return space.fits(point);
}

std::optional<PlanPoint> snapped(const PlanSpace &space, const PlanPoint &point) {
  PlanPoint found = point;
  if (point.size() != space.dimensions() || !snapFrom(space, found, 0))
    return std::nullopt;
  return found;
}

std::optional<PlanPoint> mutated(const PlanSpace &space, const PlanPoint &point, Random &random) {
  constexpr size_t twice = 30, next = 60; // percent
  for (int draw = 0; draw < mostDraws; ++draw) {
    PlanPoint found = point;
    size_t first = found.size();
    for (int changes = random.chance(twice) ? 2 : 1; changes > 0; --changes) {
      const size_t d = random.below(found.size());
      const std::vector<int64_t> choices = space.choices(found, d);
      if (choices.size() < 2)
        continue;
      const size_t at = nearestIndex(choices, found[d]);
      size_t to = random.below(choices.size());
      if (random.chance(next))
        to = at == 0 || (at + 1 < choices.size() && random.chance(50)) ? at + 1 : at - 1;
      found[d] = choices[to];
      first = std::min(first, d + 1);
    }
    if (snapFrom(space, found, first) && found != point)
      return found;
  }
  return std::nullopt;
}

std::optional<PlanPoint> crossed(const PlanSpace &space, const PlanPoint &a, const PlanPoint &b,
                                 Random &random) {
  PlanPoint found = a;
  for (size_t d = 0; d < found.size(); ++d)
    if (random.chance(50))
      found[d] = b[d];
  return snapped(space, found);
}

} // namespace tilewright

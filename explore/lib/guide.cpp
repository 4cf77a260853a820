#include "guide.h"

#include "tilewright/compiler/tune/ranking_model.h"

#include "tilewright/explore/statistics.h"

#include <algorithm>

namespace tilewright::explore {

namespace {

constexpr size_t candidatesByChance = 256, neighborsOfEach = 16;

Features featuresOf(const std::vector<size_t> &digits) { return {digits.begin(), digits.end()}; }

} // namespace

void Guide::drawInto(std::set<uint64_t> &into, size_t count) {
  const size_t wanted = into.size() + count;
  const size_t most = 200 * count + 2000; // where conditions leave next to nothing
  for (size_t draw = 0; draw < most && into.size() < wanted; ++draw)
    if (const uint64_t number = chance_.below(settings_.size());
        given_.count(number) == 0 && settings_.at(number))
      into.insert(number);
}

void Guide::addNeighbors(uint64_t of, std::set<uint64_t> &into) {
  for (size_t i = 0; i < neighborsOfEach; ++i) {
    std::vector<size_t> digits = settings_.digits(of);
    for (uint64_t changes = 1 + chance_.below(2); changes > 0; --changes) {
      const size_t at = static_cast<size_t>(chance_.below(digits.size()));
      digits[at] = static_cast<size_t>(chance_.below(settings_.sizes()[at]));
    }
    if (const uint64_t number = settings_.number(digits);
        given_.count(number) == 0 && settings_.at(number))
      into.insert(number);
  }
}

std::vector<size_t> Guide::ranks() const {
  // What failed lies behind all others.
  std::vector<std::vector<double>> costs;
  for (const std::vector<double> &each : costs_)
    if (!each.empty())
      costs.push_back(each);
  const std::vector<size_t> ranked = paretoRanks(costs);
  std::vector<size_t> ranks;
  size_t next = 0;
  for (const std::vector<double> &each : costs_)
    ranks.push_back(each.empty() ? costs.size() : ranked[next++]);
  return ranks;
}

std::vector<uint64_t> Guide::next(size_t count) {
  std::set<uint64_t> candidates;
  if (known_.size() < 2) {
    drawInto(candidates, count);
    given_.insert(candidates.begin(), candidates.end());
    return {candidates.begin(), candidates.end()};
  }
  const std::vector<size_t> ranked = ranks();
  RankingModel model;
  std::vector<Features> rows;
  for (const uint64_t number : known_)
    rows.push_back(featuresOf(settings_.digits(number)));
  model.train(rows, {ranked.begin(), ranked.end()});
  for (size_t i = 0; i < known_.size(); ++i)
    if (ranked[i] == 0)
      addNeighbors(known_[i], candidates);
  drawInto(candidates, candidatesByChance);
  std::vector<uint64_t> order(candidates.begin(), candidates.end());
  std::vector<Features> features;
  for (const uint64_t number : order)
    features.push_back(featuresOf(settings_.digits(number)));
  const std::vector<float> scores = model.score(features);
  std::vector<size_t> best(order.size());
  for (size_t i = 0; i < best.size(); ++i)
    best[i] = i;
  std::sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return std::make_pair(-scores[a], a) < std::make_pair(-scores[b], b);
  });
  std::set<uint64_t> chosen;
  for (size_t i = 0; i < best.size() && chosen.size() + 1 < count; ++i)
    chosen.insert(order[best[i]]);
  given_.insert(chosen.begin(), chosen.end());
  drawInto(chosen, count - std::min(count, chosen.size()));
  given_.insert(chosen.begin(), chosen.end());
  return {chosen.begin(), chosen.end()};
}

void Guide::learn(uint64_t setting, const std::vector<double> &costs) {
  known_.push_back(setting);
  costs_.push_back(costs);
}

} // namespace tilewright::explore

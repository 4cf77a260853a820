#include "tilewright/explore/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tilewright::explore {

namespace {

bool dominates(const std::vector<double> &a, const std::vector<double> &b) {
  bool isSmaller = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i])
      return false;
    isSmaller |= a[i] < b[i];
  }
  return isSmaller;
}

// Ranks from 1; equal values have the mean of theirs.
std::vector<double> ranksOf(const std::vector<double> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]])
      ++end;
    for (size_t i = begin; i < end; ++i)
      ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

} // namespace

std::vector<size_t> paretoRanks(const std::vector<std::vector<double>> &costs) {
  // In lexical order a row is dominated by earlier ones alone.
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::tie(costs[a], a) < std::tie(costs[b], b); });
  std::vector<size_t> ranks(costs.size(), 0);
  std::vector<std::vector<size_t>> fronts;
  for (const size_t row : order) {
    auto isBehind = [&](const std::vector<size_t> &front) {
      return std::any_of(front.begin(), front.end(),
                         [&](size_t other) { return dominates(costs[other], costs[row]); });
    };
    const auto front = std::find_if_not(fronts.begin(), fronts.end(), isBehind);
    ranks[row] = static_cast<size_t>(front - fronts.begin());
    if (front == fronts.end())
      fronts.push_back({row});
    else
      front->push_back(row);
  }
  return ranks;
}

std::optional<double> rankCorrelation(const std::vector<double> &a, const std::vector<double> &b) {
  const std::vector<double> x = ranksOf(a), y = ranksOf(b);
  const double mean = (static_cast<double>(a.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0)
    return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

} // namespace tilewright::explore

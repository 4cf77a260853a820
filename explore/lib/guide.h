// The guided search: which settings to look at next, by a model that learns from those that were.
//
// 1. The first batch is drawn by chance.
// 2. A ranking model (boosted trees) learns the order of the Pareto ranks of all points so far,
// from
//    the numbers of their values.
// 3. Candidates are neighbors of the settings on the front, in one or two values, and some by
//    chance. The best by the model are the next batch, with one by chance.
#pragma once

#include "settings.h"

#include <set>
#include <vector>

namespace tilewright::explore {

class Guide {
public:
  // `settings` must outlive it.
  Guide(const Settings &settings, uint64_t seed) : settings_(settings), chance_(seed) {}

  // Settings that were not given before; fewer than `count` where there are no more to be found.
  std::vector<uint64_t> next(size_t count);
  // What became of a setting, by objective; empty: it failed.
  void learn(uint64_t setting, const std::vector<double> &costs);

private:
  void drawInto(std::set<uint64_t> &into, size_t count);
  void addNeighbors(uint64_t of, std::set<uint64_t> &into);
  std::vector<size_t> ranks() const;

  const Settings &settings_;
  Chance chance_;
  std::set<uint64_t> given_;
  std::vector<uint64_t> known_;
  std::vector<std::vector<double>> costs_;
};

} // namespace tilewright::explore

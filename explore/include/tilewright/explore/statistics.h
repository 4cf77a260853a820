// What is computed of many points at once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tilewright::explore {

// For each row of costs how many fronts lie before it: 0 on the Pareto front, where no other row is
// at most as large in each column and smaller in one; 1 on the front of what is left, and so on.
std::vector<size_t> paretoRanks(const std::vector<std::vector<double>> &costs);

// Spearman's rank correlation, ties at their mean rank; nothing for fewer than two pairs, or where
// one side is constant.
std::optional<double> rankCorrelation(const std::vector<double> &a, const std::vector<double> &b);

} // namespace tilewright::explore

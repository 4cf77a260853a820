#include "weight_grid.h"

#include <algorithm>
#include <cmath>

namespace tilewright::quantization {

namespace {

constexpr int most = 255; // steps, of 8 bits and a zero point at either end
constexpr long long least8 = -128, greatest8 = 127;

// Products and sums of float32 leave this of a step between a number and the multiple that it is.
constexpr double exact = 1.0 / 1024;

bool isWhole(double value) { return std::fabs(value - std::nearbyint(value)) <= exact; }

// How many steps the greatest of `weights` is; 0: it is no whole number of any that serve all.
int stepsOf(const std::vector<double> &weights, double greatest) {
  for (int n = 1; n <= most; ++n)
    if (std::all_of(weights.begin(), weights.end(),
                    [&](double weight) { return isWhole(weight / greatest * n); }))
      return n;
  return 0;
}

} // namespace

std::optional<WeightGrid> weightGridOf(const Filter &filter) {
  WeightGrid grid;
  std::vector<double> row;
  std::vector<int> counts;                        // of steps, of each output
  long long lowest = least8, highest = greatest8; // zero points that serve all
  for (size_t c = 0; c < filter.outputs(); ++c) {
    filter.scaledWeights(c, row);
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    const double greatest = std::max(-*low, *high);
    counts.push_back(greatest > 0 ? stepsOf(row, greatest) : 1);
    if (counts.back() == 0)
      return std::nullopt;
    const double step = grid.steps.emplace_back(greatest / counts.back());
    if (step > 0) {
      lowest = std::max(lowest, least8 - std::llround(*low / step));
      highest = std::min(highest, greatest8 - std::llround(*high / step));
    }
  }
  if (lowest > highest)
    return std::nullopt;
  grid.zeroPoint = std::clamp(0LL, lowest, highest);
  for (size_t c = 0; grid.zeroPoint == 0 && c < counts.size(); ++c)
    grid.steps[c] /= std::max(1.0, std::floor(double(greatest8) / counts[c]));
  return grid;
}

} // namespace tilewright::quantization

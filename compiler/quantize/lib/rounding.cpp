#include "rounding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tilewright::quantization {

Rounding::Rounding(std::vector<double> moments, int64_t samples)
    : order_(static_cast<size_t>(std::llround(std::sqrt(double(moments.size()))))) {
  size_t size = order_.size();
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    return std::pair(moments[a * size + a], a) < std::pair(moments[b * size + b], b);
  });
  if (samples < static_cast<int64_t>(size))
    for (size_t each : order_)
      uses_.push_back(moments[each * size + each]);
  // A few samples say little of what hardly varies: this much of the mean is added to all.
  constexpr double damping = 0.01;
  double mean = 0;
  for (size_t i = 0; i < size; ++i)
    mean += moments[i * size + i] / double(size);
  factor_.resize(size * size);
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j) {
      size_t a = std::max(order_[i], order_[j]), b = std::min(order_[i], order_[j]);
      factor_[i * size + j] = moments[a * size + b] + (i == j ? damping * mean : 0);
    }
  // Column by column: what each takes from those behind it is a loop in which no sum waits for
  // another.
  std::vector<double> column(size);
  for (size_t k = 0; k < size; ++k) {
    double diagonal = std::max(factor_[k * size + k], 0.0);
    for (size_t i = k + 1; i < size; ++i)
      column[i] = factor_[i * size + k] = diagonal > 0 ? factor_[i * size + k] / diagonal : 0;
    for (size_t i = k + 1; i < size; ++i) {
      double own = column[i], *__restrict row = &factor_[i * size];
      const double *__restrict each = column.data();
      for (size_t j = k + 1; j <= i; ++j)
        row[j] -= own * each[j] * diagonal;
    }
  }
}

void Rounding::apply(double *weights, double greatest) const {
  size_t size = order_.size();
  std::vector<double> whole(size); // what each weight is to be, with the errors of those before
  for (size_t i = 0; i < size; ++i)
    whole[i] = weights[order_[i]];
  std::vector<double> original(weights, weights + size);
  // Many are pruned, or stand between the groups of a convolution; a single one is a weight as any.
  const auto zeros = static_cast<size_t>(std::count(original.begin(), original.end(), 0.0));
  const bool keepsZeros = 4 * zeros >= size;
  for (size_t i = size; i-- > 0;) {
    double exact = weights[order_[i]];
    double rounded =
               exact == 0 && keepsZeros ? 0 : roundEven(std::clamp(whole[i], -greatest, greatest)),
           rest = exact - rounded;
    weights[order_[i]] = rounded;
    double *__restrict others = whole.data();
    const double *__restrict row = &factor_[i * size];
    for (size_t k = 0; k < i; ++k)
      others[k] += row[k] * rest;
  }
  if (isWorthless(original, weights))
    for (size_t i = 0; i < size; ++i)
      weights[i] = roundEven(std::clamp(original[i], -greatest, greatest));
}

bool Rounding::isWorthless(const std::vector<double> &exact, const double *rounded) const {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < uses_.size(); ++i) {
    const double weight = exact[order_[i]], error = rounded[order_[i]] - weight;
    signal += uses_[i] * weight * weight;
    noise += uses_[i] * error * error;
  }
  return noise > signal;
}

} // namespace tilewright::quantization

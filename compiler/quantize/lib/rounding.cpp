#include "rounding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tilewright::quantization {

Rounding::Rounding(std::vector<double> moments)
    : order_(static_cast<size_t>(std::llround(std::sqrt(double(moments.size()))))) {
  size_t size = order_.size();
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    return std::pair(moments[a * size + a], a) < std::pair(moments[b * size + b], b);
  });
  // A few samples say little of what hardly varies: this much of the mean is added to all.
  constexpr double damping = 0.01;
  double mean = 0;
  for (size_t i = 0; i < size; ++i)
    mean += moments[i * size + i] / double(size);
  factor_.resize(size * size);
  std::vector<double> diagonal(size);
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j) {
      size_t a = std::max(order_[i], order_[j]), b = std::min(order_[i], order_[j]);
      double sum = moments[a * size + b] + (i == j ? damping * mean : 0);
      const double *x = &factor_[i * size], *y = &factor_[j * size];
      for (size_t k = 0; k < j; ++k)
        sum -= x[k] * y[k] * diagonal[k];
      (i == j ? diagonal[i] : factor_[i * size + j]) = i == j            ? std::max(sum, 0.0)
                                                       : diagonal[j] > 0 ? sum / diagonal[j]
                                                                         : 0;
    }
}

void Rounding::apply(double *weights, double greatest) const {
  size_t size = order_.size();
  std::vector<double> whole(size); // what each weight is to be, with the errors of those before
  for (size_t i = 0; i < size; ++i)
    whole[i] = weights[order_[i]];
  for (size_t i = size; i-- > 0;) {
    double exact = weights[order_[i]];
    double rounded = std::clamp(std::nearbyint(whole[i]), -greatest, greatest);
    weights[order_[i]] = rounded;
    for (size_t k = 0; k < i; ++k)
      whole[k] += factor_[i * size + k] * (exact - rounded);
  }
}

} // namespace tilewright::quantization

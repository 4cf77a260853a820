// One row of a softmax, in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tilewright::host {

// A row of minus infinity alone gives what is no number.
template <typename T> void softmaxRow(T *row, int64_t length) {
  T largest = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t i = 0; i < length; ++i)
    largest = std::max(largest, row[i]);
  for (int64_t i = 0; i < length; ++i)
    sum += row[i] = std::exp(row[i] - largest);
  const T scale = 1 / sum;
  for (int64_t i = 0; i < length; ++i)
    row[i] *= scale;
}

template <typename T> void logSoftmaxRow(T *row, int64_t length) {
  T largest = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t i = 0; i < length; ++i)
    largest = std::max(largest, row[i]);
  for (int64_t i = 0; i < length; ++i)
    sum += std::exp(row[i] - largest);
  const T log = std::log(sum);
  for (int64_t i = 0; i < length; ++i)
    row[i] = row[i] - largest - log;
}

} // namespace tilewright::host

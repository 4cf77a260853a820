// Sums over windows with weights, for every operator that has such a convolution inside.
#pragma once

#include "windows.h"

namespace tilewright::host {

// The sizes of a convolution, from the shapes of its image and its weights, checked.
struct Convolution {
  Windows windows;
  int64_t batch, groups;
  int64_t channels, filters; // of one group each
};

Convolution readConvolution(const Call &call, size_t image, size_t weights);

// y += the convolution of x with w. Of float, double, uint32_t and uint64_t; integers wrap.
template <typename T> void convolve(const Convolution &convolution, const T *x, const T *w, T *y);

// Adds columns, one for each of the windows [first, first + count) and a row for each of the
// kernel's elements, to the image that the windows lie in.
template <typename T>
void addColumns(const Windows &windows, const T *columns, int64_t stride, int64_t first,
                int64_t count, T *image);

} // namespace tilewright::host

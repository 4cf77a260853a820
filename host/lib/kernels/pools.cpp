// Pools: one number for each window of each channel.
#include "tilewright/host/kernels.h"
#include "tilewright/support/parallel.h"
#include "windows.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tilewright::host {

namespace {

// Calls use(x, at) for each element x of the image under the window, and where in the image it is.
template <typename T, typename Use>
void forEachUnder(const Windows &windows, const T *image, const Triple &window, Use use) {
  const Taps taps = tapsOf(windows, window);
  for (int64_t z = taps.begin[0]; z < taps.end[0]; ++z)
    for (int64_t y = taps.begin[1]; y < taps.end[1]; ++y) {
      const int64_t row =
          (windows.at(0, window[0], z) * windows.image[1] + windows.at(1, window[1], y)) *
          windows.image[2];
      for (int64_t x = taps.begin[2]; x < taps.end[2]; ++x) {
        const int64_t at = row + windows.at(2, window[2], x);
        use(image[at], at);
      }
    }
}

// Calls use(image, window, i) for each window of each channel, i being its element of the result.
template <typename T, typename Use>
void forEachWindow(const Windows &windows, int64_t planes, const T *images, Use use) {
  const Triple &outputs = windows.outputs;
  parallelFor(processorCount(), planes, [&](unsigned, size_t plane) {
    int64_t i = static_cast<int64_t>(plane) * windows.outputSize();
    Triple window;
    for (window[0] = 0; window[0] < outputs[0]; ++window[0])
      for (window[1] = 0; window[1] < outputs[1]; ++window[1])
        for (window[2] = 0; window[2] < outputs[2]; ++window[2])
          use(images + plane * windows.imageSize(), window, i++);
  });
}

// What a pool makes of the elements under a window: begin, add each, and end with `count` elements.
struct Average {
  double sum = 0;
  void add(double x) { sum += x; }
  double end(double count) const { return sum / count; }
};

struct Norm {
  double p, sum = 0;
  void add(double x) { sum += p == 2 ? x * x : p == 1 ? std::fabs(x) : std::pow(std::fabs(x), p); }
  double end(double) const { return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p); }
};

// Elements of the window within the image and its pads: of large kernels more than an int64 counts.
double paddedCount(const Windows &windows, const Triple &window) {
  double count = 1;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t left = windows.image[d] + windows.after[d] - windows.at(d, window[d], 0);
    const int64_t step = windows.dilations[d];
    count *=
        static_cast<double>(std::clamp<int64_t>((left + step - 1) / step, 0, windows.kernel[d]));
  }
  return count;
}

template <typename Pool>
void pool(Call &call, const Windows &windows, const Pool &empty, bool countsPads = false) {
  const Shape &shape = call.shape(0);
  withNumbers(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> x(call.input(0));
    Results<T> y(call, call.input(0).dtype, windows.outputShape(shape[0], shape[1]));
    T *target = y.data();
    forEachWindow(windows, shape[0] * shape[1], x.data(),
                  [&](const T *image, const Triple &window, int64_t i) {
                    Pool pool = empty;
                    int64_t count = 0;
                    forEachUnder(windows, image, window, [&](T each, int64_t) {
                      pool.add(static_cast<double>(each));
                      ++count;
                    });
                    target[i] = static_cast<T>(pool.end(countsPads ? paddedCount(windows, window)
                                                                   : static_cast<double>(count)));
                  });
    call.set(y.take());
  });
}

void averagePool(Call &call) {
  pool(call, slidingWindows(call, spatialPart(call, 0)), Average(),
       call.flag("count_include_pad", false));
}

double normOf(const Call &call) {
  const int64_t p = call.integer("p", 2);
  if (p < 1)
    call.fail(fmt::format("p is {}", p));
  return static_cast<double>(p);
}

void lpPool(Call &call) {
  pool(call, slidingWindows(call, spatialPart(call, 0)), Norm{normOf(call)});
}

void maxPool(Call &call, const Windows &windows) {
  const Shape &shape = call.shape(0);
  const bool columnsFirst = call.flag("storage_order", false);
  Tensor indices;
  if (call.wants(1))
    indices = call.make(DType::I64, windows.outputShape(shape[0], shape[1]));
  withNumbers(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const Numbers<T> x(call.input(0));
    Results<T> y(call, call.input(0).dtype, windows.outputShape(shape[0], shape[1]));
    T *target = y.data();
    const Triple &size = windows.image;
    forEachWindow(windows, shape[0] * shape[1], x.data(),
                  [&](const T *image, const Triple &window, int64_t i) {
                    T best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
                    int64_t from = -1;
                    forEachUnder(windows, image, window, [&](T each, int64_t at) {
                      if (each > best || (from < 0 && each == best)) {
                        best = each;
                        from = at;
                      }
                    });
                    target[i] = best;
                    if (!call.wants(1))
                      return;
                    if (columnsFirst && from >= 0) {
                      const int64_t column = from % size[2], row = from / size[2] % size[1];
                      const int64_t slice = from / size[2] / size[1];
                      from = windows.rank == 3 ? slice + size[0] * (row + size[1] * column)
                                               : row + size[1] * column;
                    }
                    indices.data<int64_t>()[i] = from < 0 ? -1 : image - x.data() + from;
                  });
    call.set(y.take());
  });
  if (call.wants(1))
    call.set(std::move(indices), 1);
}

void maxPool(Call &call) { maxPool(call, slidingWindows(call, spatialPart(call, 0))); }

// One window, of all spatial dimensions, seen as one.
Windows wholeImage(const Call &call) {
  checkRank(call, 0, 2);
  const size_t rank = call.shape(0).size();
  Windows windows;
  windows.rank = rank - 2;
  windows.image[2] = windows.kernel[2] = countBetween(call.shape(0), 2, rank);
  return windows;
}

void globalAveragePool(Call &call) { pool(call, wholeImage(call), Average()); }
void globalLpPool(Call &call) { pool(call, wholeImage(call), Norm{normOf(call)}); }
void globalMaxPool(Call &call) { maxPool(call, wholeImage(call)); }

void maxUnpool(Call &call) {
  const Shape &from = call.shape(0);
  const Windows windows = readWindows(call, spatialPart(call, 0));
  Shape inferred{from[0], from[1]};
  for (size_t d = 3 - windows.rank; d < 3; ++d)
    inferred.push_back((windows.image[d] - 1) * windows.strides[d] - windows.before[d] -
                       windows.after[d] + windows.kernel[d]);
  Tensor result = call.make(call.input(0).dtype, inferred);
  if (call.shape(1) != from)
    call.fail(
        fmt::format("indices of shape {} for {}", formatShape(call.shape(1)), formatShape(from)));
  const Numbers<int64_t> indices(call.input(1));
  const int64_t width = byteSize(result.dtype);
  for (int64_t i = 0; i < indices.size(); ++i)
    std::copy_n(call.input(0).bytes.data() + i * width, width,
                result.bytes.data() + checkedIndex(call, indices[i], result.elements()) * width);
  if (!call.has(2))
    return call.set(std::move(result));
  // A larger result holds the inferred one in its first corner.
  const Shape shape = call.integers(2, "output_shape");
  Tensor larger = call.make(result.dtype, shape);
  if (shape.size() != inferred.size())
    call.fail(fmt::format("output_shape has {} numbers", shape.size()));
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < inferred[d])
      call.fail(fmt::format("output_shape is smaller than {}", formatShape(inferred)));
  const Shape strides = rowMajorStrides(shape);
  int64_t i = 0;
  forEachIndex(inferred, [&](const Shape &index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[d];
    std::copy_n(result.bytes.data() + i++ * width, width, larger.bytes.data() + at * width);
  });
  call.set(std::move(larger));
}

} // namespace

KernelTable poolsKernels() {
  return {{"AveragePool", averagePool},
          {"GlobalAveragePool", globalAveragePool},
          {"GlobalLpPool", globalLpPool},
          {"GlobalMaxPool", globalMaxPool},
          {"LpPool", lpPool},
          {"MaxPool", maxPool},
          {"MaxUnpool", maxUnpool}};
}

} // namespace tilewright::host

// Conv, ConvTranspose and Col2Im.
#include "convolution.h"
#include "products.h"
#include "tilewright/host/kernels.h"
#include "tilewright/support/parallel.h"

#include <fmt/format.h>

namespace tilewright::host {

Convolution readConvolution(const Call &call, size_t image, size_t weights) {
  const Shape &x = call.shape(image), &w = call.shape(weights);
  const Shape spatial = spatialPart(call, image), kernel = spatialPart(call, weights);
  const int64_t groups = call.integer("group", 1);
  if (groups < 1 || w[0] % groups || w[1] > maxTensorBytes / groups || x[1] != w[1] * groups)
    call.fail(fmt::format("{} groups with an input of {} and weights of {}", groups, formatShape(x),
                          formatShape(w)));
  return {slidingWindows(call, spatial, &kernel), x[0], groups, w[1], w[0] / groups};
}

// The parts of the image under each window of [first, first + count), a column each, a row for each
// channel and element of the kernel.
template <typename T>
static void takeColumns(const Windows &windows, int64_t channels, const T *image, int64_t first,
                        int64_t count, T *columns) {
  const Triple &size = windows.image, &outputs = windows.outputs;
  for (int64_t channel = 0; channel < channels; ++channel, image += windows.imageSize())
    for (int64_t tap = 0; tap < windows.kernelSize(); ++tap, columns += count) {
      const int64_t tapX = tap % windows.kernel[2],
                    tapY = tap / windows.kernel[2] % windows.kernel[1];
      const int64_t tapZ = tap / windows.kernel[2] / windows.kernel[1];
      for (int64_t i = 0; i < count;) { // a row of windows at a time
        const int64_t window = first + i, start = window % outputs[2];
        const int64_t length = std::min(outputs[2] - start, count - i);
        const int64_t y = windows.at(1, window / outputs[2] % outputs[1], tapY);
        const int64_t z = windows.at(0, window / outputs[2] / outputs[1], tapZ);
        T *to = columns + i;
        i += length;
        if (y < 0 || y >= size[1] || z < 0 || z >= size[0]) {
          std::fill_n(to, length, T());
          continue;
        }
        const T *row = image + (z * size[1] + y) * size[2];
        const int64_t x = windows.at(2, start, tapX), step = windows.strides[2];
        // Windows [begin, end) meet the image.
        const int64_t begin = std::min(x < 0 ? (-x + step - 1) / step : 0, length);
        const int64_t end =
            std::clamp(x < size[2] ? (size[2] - x + step - 1) / step : 0, begin, length);
        std::fill_n(to, begin, T());
        if (step == 1)
          std::copy(row + x + begin, row + x + end, to + begin);
        else
          for (int64_t j = begin; j < end; ++j)
            to[j] = row[x + j * step];
        std::fill(to + end, to + length, T());
      }
    }
}

template <typename T>
void addColumns(const Windows &windows, const T *columns, int64_t stride, int64_t first,
                int64_t count, T *image) {
  const Triple &size = windows.image, &outputs = windows.outputs;
  for (int64_t tap = 0; tap < windows.kernelSize(); ++tap, columns += stride)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t window = first + i;
      const int64_t x = windows.at(2, window % outputs[2], tap % windows.kernel[2]);
      const int64_t y = windows.at(1, window / outputs[2] % outputs[1],
                                   tap / windows.kernel[2] % windows.kernel[1]);
      const int64_t z = windows.at(0, window / outputs[2] / outputs[1],
                                   tap / windows.kernel[2] / windows.kernel[1]);
      if (x >= 0 && x < size[2] && y >= 0 && y < size[1] && z >= 0 && z < size[0])
        image[(z * size[1] + y) * size[2] + x] += columns[i];
    }
}

template <typename T> void convolve(const Convolution &convolution, const T *x, const T *w, T *y) {
  const Windows &windows = convolution.windows;
  const int64_t inputs = windows.imageSize(), outputs = windows.outputSize();
  const int64_t depth = convolution.channels * windows.kernelSize();
  if (outputs == 0 || depth == 0)
    return;
  // Tiles of windows, whose columns stay in the cache; of enormous kernels they are memory to save.
  const int64_t least = depth < int64_t(1) << 22 ? 16 : 1;
  const int64_t tile = std::clamp<int64_t>((int64_t(1) << 17) / depth / 16 * 16, least, 1024);
  const int64_t tiles = (outputs + tile - 1) / tile;
  const bool direct = windows.kernelSize() == 1 && inputs == outputs &&
                      windows.strides == Triple{1, 1, 1} && windows.before == Triple{};
  const unsigned workers = processorCount();
  std::vector<std::vector<T>> columns(workers);
  const int64_t pieces = convolution.batch * convolution.groups * tiles;
  parallelFor(workers, pieces, [&](unsigned worker, size_t piece) {
    const int64_t image = static_cast<int64_t>(piece) / tiles; // of a batch and a group
    const int64_t group = image % convolution.groups;
    const int64_t first = static_cast<int64_t>(piece) % tiles * tile;
    const int64_t count = std::min(tile, outputs - first);
    const T *source = x + image * convolution.channels * inputs;
    const T *from = source + first;
    if (!direct) {
      columns[worker].resize(depth * tile);
      takeColumns(windows, convolution.channels, source, first, count, columns[worker].data());
      from = columns[worker].data();
    }
    multiplyAdd(convolution.filters, count, depth, w + group * convolution.filters * depth, depth,
                from, direct ? inputs : count, y + image * convolution.filters * outputs + first,
                outputs);
  });
}

template void convolve(const Convolution &, const float *, const float *, float *);
template void convolve(const Convolution &, const double *, const double *, double *);
template void convolve(const Convolution &, const uint32_t *, const uint32_t *, uint32_t *);
template void convolve(const Convolution &, const uint64_t *, const uint64_t *, uint64_t *);

namespace {

// Each plane of `size` elements of y starts as its channel's bias, input 2, if there is one.
template <typename T>
void fillBias(const Call &call, int64_t batch, int64_t channels, int64_t size, T *y) {
  if (!call.has(2))
    return;
  const Numbers<T> bias(call.input(2));
  if (bias.size() != channels)
    call.fail(fmt::format("{} numbers of bias for {} channels", bias.size(), channels));
  for (int64_t i = 0; i < batch * channels; ++i)
    std::fill_n(y + i * size, size, bias[i % channels]);
}

template <typename Run> void withFloats(const Call &call, Run run) {
  const DType type = call.input(0).dtype;
  if (!isFloat(type))
    call.fail(fmt::format("is not defined on {}", name(type)));
  type == DType::F64 ? run(double()) : run(float());
}

void conv(Call &call) {
  const Convolution convolution = readConvolution(call, 0, 1);
  const Windows &windows = convolution.windows;
  withFloats(call, [&](auto zero) {
    using T = decltype(zero);
    const int64_t channels = convolution.filters * convolution.groups;
    Results<T> y(call, call.input(0).dtype, windows.outputShape(convolution.batch, channels));
    fillBias(call, convolution.batch, channels, windows.outputSize(), y.data());
    convolve(convolution, Numbers<T>(call.input(0)).data(), Numbers<T>(call.input(1)).data(),
             y.data());
    call.set(y.take());
  });
}

// The windows that the input's elements open on the result.
Windows transposedWindows(const Call &call, const Shape &from, const Shape &kernel) {
  Windows windows = readWindows(call, from, &kernel);
  const size_t rank = windows.rank;
  const std::vector<int64_t> extra = call.integers("output_padding", Shape(rank, 0));
  const std::vector<int64_t> given = call.integers("output_shape", {});
  const std::string autoPad =
      call.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  if (extra.size() < rank || (!given.empty() && given.size() < rank))
    call.fail(fmt::format("output_padding or output_shape has no {} numbers", rank));
  std::swap(windows.image, windows.outputs);
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = 3 - rank + i;
    int64_t &before = windows.before[d], &after = windows.after[d];
    if (extra[i] < 0 || extra[i] > maxTensorBytes)
      call.fail(fmt::format("output_padding is {}", extra[i]));
    const int64_t full = windows.strides[d] * (windows.outputs[d] - 1) + extra[i] +
                         windows.dilations[d] * (windows.kernel[d] - 1) + 1;
    if (autoPad == "VALID")
      before = after = 0;
    windows.image[d] = full - before - after;
    if (!given.empty() || autoPad[0] == 'S') {
      // As much is cut off as leaves this size.
      windows.image[d] =
          given.empty() ? windows.outputs[d] * windows.strides[d] : given[given.size() - rank + i];
      if (windows.image[d] < 0 || windows.image[d] > maxTensorBytes)
        call.fail(fmt::format("a result of {} elements along a dimension", windows.image[d]));
      const int64_t cut = std::max<int64_t>(full - windows.image[d], 0);
      before = autoPad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    }
  }
  return windows;
}

void convTranspose(Call &call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  const int64_t groups = call.integer("group", 1);
  const Windows windows = transposedWindows(call, spatialPart(call, 0), spatialPart(call, 1));
  if (groups < 1 || w[0] != x[1] || x[1] % groups || w[1] > maxTensorBytes / groups)
    call.fail(fmt::format("{} groups with an input of {} and weights of {}", groups, formatShape(x),
                          formatShape(w)));
  const int64_t channels = x[1] / groups, filters = w[1], taps = windows.kernelSize();
  Shape shape{x[0], filters * groups};
  shape.insert(shape.end(), windows.image.end() - static_cast<int64_t>(windows.rank),
               windows.image.end());
  const int64_t tile = std::clamp<int64_t>((int64_t(1) << 18) / taps, 1, 1024);
  withFloats(call, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> images(call.input(0)), weights(call.input(1));
    Results<T> y(call, call.input(0).dtype, shape);
    const int64_t size = windows.imageSize(), inputs = windows.outputSize();
    fillBias(call, x[0], filters * groups, size, y.data());
    T *target = y.data();
    parallelFor(processorCount(), x[0] * groups * filters, [&](unsigned, size_t plane) {
      const int64_t image = static_cast<int64_t>(plane) / filters; // of a batch and a group
      const int64_t filter = static_cast<int64_t>(plane) % filters, group = image % groups;
      std::vector<T> turned(taps * channels), columns(taps * std::min(tile, inputs));
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t t = 0; t < taps; ++t)
          turned[t * channels + c] =
              weights[((group * channels + c) * filters + filter) * taps + t];
      for (int64_t first = 0; first < inputs; first += tile) {
        const int64_t count = std::min(tile, inputs - first);
        std::fill(columns.begin(), columns.end(), T());
        multiplyAdd(taps, count, channels, turned.data(), channels,
                    images.data() + image * channels * inputs + first, inputs, columns.data(),
                    count);
        addColumns(windows, columns.data(), count, first, count, target + plane * size);
      }
    });
    call.set(y.take());
  });
}

void col2Im(Call &call) {
  checkRank(call, 0, 3, 3);
  const Shape kernel = call.integers(2, "block_shape"), &from = call.shape(0);
  Windows windows = readWindows(call, call.integers(1, "image_shape"), &kernel);
  for (size_t d = 0; d < 3; ++d)
    windows.outputs[d] = windowsThatFit(windows, d);
  const int64_t taps = windows.kernel[0] * windows.kernel[1];
  const int64_t count = windows.outputs[0] * windows.outputs[1];
  if (taps > from[1] || windows.kernel[2] > from[1] || from[1] % (taps * windows.kernel[2]) ||
      count > from[2] || windows.outputs[2] > from[2] || count * windows.outputs[2] != from[2])
    call.fail(fmt::format("the shape {} is not that of the image's columns", formatShape(from)));
  Shape shape{from[0], from[1] / windows.kernelSize()};
  shape.insert(shape.end(), windows.image.end() - static_cast<int64_t>(windows.rank),
               windows.image.end());
  withNumbers(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> columns(call.input(0));
    Results<T> result(call, call.input(0).dtype, shape);
    T *image = result.data();
    for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
      addColumns(windows, columns.data() + i * windows.kernelSize() * from[2], from[2], 0, from[2],
                 image + i * windows.imageSize());
    call.set(result.take());
  });
}

} // namespace

KernelTable convolutionKernels() {
  return {{"Col2Im", col2Im}, {"Conv", conv}, {"ConvTranspose", convTranspose}};
}

} // namespace tilewright::host

// Operators that read images between their elements.
#include "convolution.h"
#include "products.h"
#include "tilewright/host/kernels.h"
#include "tilewright/support/parallel.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::host {

namespace {

// How an image of which the size along one dimension is `size` is read there.
struct Reading {
  int64_t size = 0;
  std::string mode, padding;
  bool alignsCorners = false;

  float low() const { return alignsCorners ? 0.0F : -0.5F; }
  float high() const { return static_cast<float>(size) - (alignsCorners ? 1.0F : 0.5F); }
};

// Reflected at the borders until it lies between them.
float reflect(const Reading &reading, float x) {
  const float low = reading.low(), high = reading.high(), range = high - low;
  if (range <= 0)
    return low;
  if (x >= low && x <= high)
    return x;
  const float beyond = x < low ? low - x : x - high;
  const int64_t turns = static_cast<int64_t>(beyond / range);
  const float rest = beyond - static_cast<float>(turns) * range;
  return (turns % 2 == 0) == (x < low) ? low + rest : high - rest;
}

// An element, -1 for none, and its weight.
struct Tap {
  int64_t at;
  double weight;
};

int64_t elementAt(const Reading &reading, int64_t at) {
  if (at >= 0 && at < reading.size)
    return at;
  if (reading.padding == "zeros")
    return -1;
  if (reading.padding == "reflection")
    at = static_cast<int64_t>(reflect(reading, static_cast<float>(at)));
  return std::clamp<int64_t>(at, 0, reading.size - 1);
}

// What is read at `x`, which counts elements.
std::vector<Tap> tapsAt(const Reading &reading, float x) {
  x = std::isnan(x) ? -1e6F : std::clamp(x, -1e6F, 1e9F);
  if (reading.mode == "nearest")
    x = std::nearbyint(x);
  if (x < reading.low() || x > reading.high()) {
    if (reading.padding == "border")
      x = std::clamp(x, 0.0F, static_cast<float>(reading.size - 1));
    else if (reading.padding == "reflection")
      x = reflect(reading, x);
  }
  const int64_t start = static_cast<int64_t>(std::floor(x));
  if (reading.mode == "nearest")
    return {{elementAt(reading, static_cast<int64_t>(x)), 1}};
  const double t = static_cast<double>(x) - static_cast<double>(start), u = 1 - t;
  if (reading.mode != "cubic")
    return {{elementAt(reading, start), u}, {elementAt(reading, start + 1), t}};
  constexpr double a = -0.75;
  auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {{elementAt(reading, start - 1), far(t + 1)},
          {elementAt(reading, start), near(t)},
          {elementAt(reading, start + 1), near(u)},
          {elementAt(reading, start + 2), far(u + 1)}};
}

// The elements that one point of the grid reads, and their weights.
std::vector<Tap> combined(const std::vector<Tap> &outer, const std::vector<Tap> &inner,
                          int64_t size) {
  std::vector<Tap> taps;
  for (const Tap &a : outer)
    for (const Tap &b : inner)
      if (a.at >= 0 && b.at >= 0)
        taps.push_back({a.at * size + b.at, a.weight * b.weight});
  return taps;
}

std::string gridMode(const Call &call) {
  const std::string mode =
      call.choice("mode", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  return mode[0] == 'b' ? mode.substr(2) : mode;
}

void gridSample(Call &call) {
  const Shape &from = call.shape(0), &grid = call.shape(1);
  checkRank(call, 0, 4, 5);
  const int64_t dims = call.rank(0) - 2;
  if (grid.size() != from.size() || grid[0] != from[0] || grid.back() != dims)
    call.fail(fmt::format("a grid of shape {} for {}", formatShape(grid), formatShape(from)));
  Reading reading;
  reading.mode = gridMode(call);
  reading.padding = call.choice("padding_mode", {"zeros", "border", "reflection"});
  reading.alignsCorners = call.flag("align_corners", false);
  Shape shape{from[0], from[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  const int64_t size = countBetween(from, 2, from.size());
  const int64_t points = countBetween(shape, 2, shape.size());
  if (size == 0 && points > 0)
    call.fail("an image without elements is read");
  withNumbers(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> x(call.input(0));
    const Numbers<float> at(call.input(1));
    Results<T> y(call, call.input(0).dtype, shape);
    T *target = y.data();
    parallelFor(processorCount(), from[0] * points, [&](unsigned, size_t point) {
      std::vector<Tap> taps{{0, 1}};
      for (int64_t d = 0; d < dims; ++d) { // the grid names the last dimension first
        Reading each = reading;
        each.size = from[2 + d];
        const float n = at[static_cast<int64_t>(point) * dims + dims - 1 - d];
        const float length = static_cast<float>(each.size);
        const float x =
            each.alignsCorners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
        taps = combined(taps, tapsAt(each, x), each.size);
      }
      const int64_t batch = static_cast<int64_t>(point) / points;
      for (int64_t c = batch * from[1]; c < (batch + 1) * from[1]; ++c) {
        double sum = 0;
        for (const Tap &tap : taps)
          sum += static_cast<double>(x[c * size + tap.at]) * tap.weight;
        target[c * points + static_cast<int64_t>(point) % points] = static_cast<T>(sum);
      }
    });
    call.set(y.take());
  });
}

void affineGrid(Call &call) {
  const std::vector<int64_t> size = call.integers(1, "size");
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  const bool alignsCorners = call.flag("align_corners", false);
  if (dims < 2 || dims > 3 || call.shape(0) != Shape{size[0], dims, dims + 1})
    call.fail(fmt::format("theta is of shape {} for a size of {}", formatShape(call.shape(0)),
                          formatShape(size)));
  Shape shape(size.begin() + 2, size.end());
  const Shape image = shape;
  shape.insert(shape.begin(), size[0]);
  shape.push_back(dims);
  Tensor result = call.make(call.input(0).dtype, shape);
  int64_t to = 0;
  for (int64_t n = 0; n < size[0]; ++n)
    forEachIndex(image, [&](const Shape &index) {
      for (int64_t row = 0; row < dims; ++row) {
        double sum = floatAt(call.input(0), (n * dims + row) * (dims + 1) + dims);
        for (int64_t d = 0; d < dims; ++d) { // x, y, z: the last dimension first
          const int64_t axis = dims - 1 - d;
          const double i = static_cast<double>(index[axis]);
          const double count = static_cast<double>(image[axis]);
          const double x = alignsCorners ? (count == 1 ? -1 : -1 + 2 * i / (count - 1))
                                         : (2 * i + 1) / count - 1;
          sum += x * floatAt(call.input(0), (n * dims + row) * (dims + 1) + d);
        }
        setFloat(result, to++, sum);
      }
    });
  call.set(std::move(result));
}

// The four elements around a point of an image, with weights; none where the point lies outside by
// more than one element.
std::array<Tap, 4> around(double y, double x, int64_t height, int64_t width) {
  std::array<Tap, 4> taps{};
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return taps;
  auto split = [](double &at, int64_t size) {
    at = std::clamp(at, 0.0, static_cast<double>(size - 1));
    return static_cast<int64_t>(at);
  };
  const int64_t top = split(y, height), left = split(x, width);
  const int64_t below = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double v = y - static_cast<double>(top), u = x - static_cast<double>(left);
  return {{{top * width + left, (1 - v) * (1 - u)},
           {top * width + right, (1 - v) * u},
           {below * width + left, v * (1 - u)},
           {below * width + right, v * u}}};
}

int64_t poolSize(const Call &call, int64_t size) {
  if (size < 1 || size > 1 << 20)
    call.fail(fmt::format("a result of {} elements along a dimension", size));
  return size;
}

void roiAlign(Call &call) {
  checkRank(call, 0, 4, 4);
  checkRank(call, 1, 2, 2);
  const Shape &from = call.shape(0);
  const int64_t count = call.shape(1)[0], height = from[2], width = from[3];
  const int64_t rows = poolSize(call, call.integer("output_height", 1));
  const int64_t columns = poolSize(call, call.integer("output_width", 1));
  const int64_t ratio = call.integer("sampling_ratio", 0);
  const double scale = call.number("spatial_scale", 1);
  const bool averages = call.choice("mode", {"avg", "max"}) == "avg";
  const bool half =
      call.opset() >= 16 && call.choice("coordinate_transformation_mode",
                                        {"half_pixel", "output_half_pixel"}) == "half_pixel";
  const std::vector<int64_t> batches = call.integers(2, "batch_indices");
  if (call.shape(1)[1] != 4 || static_cast<int64_t>(batches.size()) != count || height < 1 ||
      width < 1)
    call.fail(fmt::format("{} regions of shape {} in images of {}", batches.size(),
                          formatShape(call.shape(1)), formatShape(from)));
  const Numbers<double> x(call.input(0)), regions(call.input(1));
  Results<double> y(call, call.input(0).dtype, {count, from[1], rows, columns});
  for (int64_t n = 0; n < count && from[1] > 0; ++n) {
    const int64_t batch = checkedIndex(call, batches[n], from[0]);
    auto edge = [&](int64_t i) { return regions[n * 4 + i] * scale - (half ? 0.5 : 0); };
    double high = edge(3) - edge(1), wide = edge(2) - edge(0);
    if (!half) {
      high = std::max(high, 1.0);
      wide = std::max(wide, 1.0);
    }
    const double stepY = high / static_cast<double>(rows),
                 stepX = wide / static_cast<double>(columns);
    auto samples = [&](double step) {
      const double each = ratio > 0 ? static_cast<double>(ratio) : std::ceil(step);
      if (!(each <= 1024))
        call.fail(fmt::format("{} samples along a dimension", each));
      return std::max<int64_t>(static_cast<int64_t>(each), 0);
    };
    const int64_t down = samples(stepY), across = samples(stepX);
    for (int64_t i = 0; i < rows * columns; ++i) {
      std::vector<std::array<Tap, 4>> taps;
      for (int64_t sy = 0; sy < down; ++sy)
        for (int64_t sx = 0; sx < across; ++sx)
          taps.push_back(around(
              edge(1) + stepY * (static_cast<double>(i / columns) +
                                 (static_cast<double>(sy) + 0.5) / static_cast<double>(down)),
              edge(0) + stepX * (static_cast<double>(i % columns) +
                                 (static_cast<double>(sx) + 0.5) / static_cast<double>(across)),
              height, width));
      for (int64_t c = 0; c < from[1]; ++c) {
        const double *plane = x.data() + (batch * from[1] + c) * height * width;
        double sum = 0, best = taps.empty() ? 0 : -std::numeric_limits<double>::infinity();
        for (const std::array<Tap, 4> &four : taps)
          for (const Tap &tap : four) {
            sum += tap.weight * plane[tap.at];
            best = std::max(best, tap.weight * plane[tap.at]);
          }
        y[(n * from[1] + c) * rows * columns + i] =
            averages ? sum / static_cast<double>(std::max<size_t>(taps.size(), 1)) : best;
      }
    }
  }
  call.set(y.take());
}

void maxRoiPool(Call &call) {
  checkRank(call, 0, 4, 4);
  checkRank(call, 1, 2, 2);
  const Shape &from = call.shape(0);
  const std::vector<int64_t> size = call.integers("pooled_shape", {});
  if (size.size() != 2 || call.shape(1)[1] != 5)
    call.fail(
        fmt::format("{} sizes, and regions of shape {}", size.size(), formatShape(call.shape(1))));
  const int64_t rows = poolSize(call, size[0]), columns = poolSize(call, size[1]);
  const int64_t height = from[2], width = from[3], count = call.shape(1)[0];
  const double scale = call.number("spatial_scale", 1);
  const Numbers<double> x(call.input(0)), regions(call.input(1));
  Results<double> y(call, call.input(0).dtype, {count, from[1], rows, columns});
  for (int64_t n = 0; n < count; ++n) {
    const int64_t batch = checkedIndex(call, integerAt(call.input(1), n * 5), from[0]);
    auto edge = [&](int64_t i) {
      const double at = std::round(regions[n * 5 + i] * scale);
      return std::isnan(at) ? 0 : std::clamp(at, -1e9, 1e9);
    };
    // The elements of part `i` of `parts`.
    auto bounds = [](double start, double end, int64_t i, int64_t parts, int64_t size) {
      const double step = std::max(end - start + 1, 1.0) / static_cast<double>(parts);
      auto clip = [&](double at) {
        return static_cast<int64_t>(std::clamp(at + start, 0.0, static_cast<double>(size)));
      };
      return std::pair(clip(std::floor(static_cast<double>(i) * step)),
                       clip(std::ceil(static_cast<double>(i + 1) * step)));
    };
    for (int64_t i = 0; i < from[1] * rows * columns; ++i) {
      const auto [top, bottom] = bounds(edge(2), edge(4), i / columns % rows, rows, height);
      const auto [left, right] = bounds(edge(1), edge(3), i % columns, columns, width);
      const double *plane = x.data() + (batch * from[1] + i / columns / rows) * height * width;
      const bool empty = top >= bottom || left >= right;
      double best = empty ? 0 : -std::numeric_limits<double>::infinity();
      for (int64_t row = top; row < bottom; ++row)
        for (int64_t column = left; column < right; ++column)
          best = std::max(best, plane[row * width + column]);
      y[n * from[1] * rows * columns + i] = best;
    }
  }
  call.set(y.take());
}

// Convolutions whose kernels' elements are moved by `offset`, input 2, and weighted by a mask.
void deformConv(Call &call) {
  checkRank(call, 0, 4, 4);
  const Convolution convolution = readConvolution(call, 0, 1);
  const Windows &windows = convolution.windows;
  const int64_t taps = windows.kernelSize(), batch = convolution.batch;
  const int64_t channels = convolution.channels * convolution.groups;
  const int64_t filters = convolution.filters * convolution.groups;
  const int64_t height = windows.image[1], width = windows.image[2];
  const int64_t parts = call.integer("offset_group", 1); // each with its own offsets
  const Shape &offsets = call.shape(2);
  const Shape expected = windows.outputShape(batch, 0);
  if (parts < 1 || parts > std::max<int64_t>(channels, 1) || channels % parts ||
      offsets.size() != 4 || offsets[1] != parts * taps * 2 || offsets[0] != batch ||
      !std::equal(offsets.begin() + 2, offsets.end(), expected.begin() + 2))
    call.fail(fmt::format("offsets of shape {} for {} groups", formatShape(offsets), parts));
  const bool masked = call.has(4);
  Shape maskShape = offsets;
  maskShape[1] /= 2;
  if (masked && call.shape(4) != maskShape)
    call.fail(fmt::format("a mask of shape {}", formatShape(call.shape(4))));
  const int64_t outputs = windows.outputSize(), depth = convolution.channels * taps;
  const DType type = call.input(0).dtype;
  const Numbers<double> x(call.input(0)), w(call.input(1)), offset(call.input(2));
  std::optional<Numbers<double>> mask, bias;
  if (masked)
    mask.emplace(call.input(4));
  if (call.has(3))
    bias.emplace(call.input(3));
  if (bias && bias->size() != filters)
    call.fail(fmt::format("{} numbers of bias for {} channels", bias->size(), filters));
  Results<double> y(call, type, windows.outputShape(batch, filters));
  for (int64_t i = 0; bias && i < batch * filters; ++i)
    std::fill_n(y.data() + i * outputs, outputs, (*bias)[i % filters]);
  // One element of the image, moved and masked, for window `at`.
  auto sample = [&](int64_t n, int64_t channel, int64_t tap, int64_t at) {
    const int64_t part = n * parts + channel / (channels / parts);
    const double *move = offset.data() + (part * taps + tap) * 2 * outputs + at;
    const double top = move[0] + static_cast<double>(windows.at(1, at / windows.outputs[2],
                                                                tap / windows.kernel[2]));
    const double left = move[outputs] + static_cast<double>(windows.at(2, at % windows.outputs[2],
                                                                       tap % windows.kernel[2]));
    if (!(top > -1 && top < static_cast<double>(height) && left > -1 &&
          left < static_cast<double>(width)))
      return 0.0;
    const double *plane = x.data() + (n * channels + channel) * height * width;
    const int64_t row = static_cast<int64_t>(std::floor(top));
    const int64_t column = static_cast<int64_t>(std::floor(left));
    const double v = top - static_cast<double>(row), u = left - static_cast<double>(column);
    auto element = [&](int64_t i, int64_t j) {
      return i >= 0 && i < height && j >= 0 && j < width ? plane[i * width + j] : 0;
    };
    return ((1 - v) * ((1 - u) * element(row, column) + u * element(row, column + 1)) +
            v * ((1 - u) * element(row + 1, column) + u * element(row + 1, column + 1))) *
           (mask ? (*mask)[(part * taps + tap) * outputs + at] : 1);
  };
  const int64_t tile =
      std::clamp<int64_t>((int64_t(1) << 20) / std::max<int64_t>(depth, 1), 1, 256);
  std::vector<double> columns(depth * tile);
  for (int64_t image = 0; image < batch * convolution.groups; ++image)
    for (int64_t first = 0; first < outputs; first += tile) {
      const int64_t n = image / convolution.groups, group = image % convolution.groups;
      const int64_t count = std::min(tile, outputs - first);
      for (int64_t i = 0; i < depth; ++i)
        for (int64_t j = 0; j < count; ++j)
          columns[i * count + j] =
              sample(n, group * convolution.channels + i / taps, i % taps, first + j);
      multiplyAdd(convolution.filters, count, depth, w.data() + group * convolution.filters * depth,
                  depth, static_cast<const double *>(columns.data()), count,
                  y.data() + image * convolution.filters * outputs + first, outputs);
    }
  call.set(y.take());
}

} // namespace

KernelTable samplingKernels() {
  return {{"AffineGrid", affineGrid},
          {"DeformConv", deformConv},
          {"GridSample", gridSample},
          {"MaxRoiPool", maxRoiPool},
          {"RoiAlign", roiAlign}};
}

} // namespace tilewright::host

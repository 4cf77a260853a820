// Resize and Upsample: one dimension after another, each new element being a weighted sum of old
// ones along it.
#include "tilewright/host/kernels.h"
#include "tilewright/support/parallel.h"
#include "typed.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::host {

namespace {

struct Options {
  std::string mode, coordinates, nearest;
  bool antialias = false, excludesOutside = false;
  double cubic = -0.75, extrapolation = 0;
};

// One dimension that changes.
struct Axis {
  int64_t axis, from, to; // elements
  double scale, roiStart, roiEnd;
};

// Each element of a dimension that changes has weights of its own, which take more than it does.
constexpr int64_t longest = int64_t(1) << 24;

// Where along the dimension element `i` of the result lies.
double position(const Options &options, const Axis &axis, int64_t i) {
  const double x = static_cast<double>(i), from = static_cast<double>(axis.from);
  const double to = axis.scale * from; // not rounded
  const std::string &mode = options.coordinates;
  if (mode == "align_corners")
    return to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode == "asymmetric")
    return x / axis.scale;
  if (mode == "tf_half_pixel_for_nn") // of operator set 11
    return (x + 0.5) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double part = (axis.roiEnd - axis.roiStart) * (from - 1);
    return axis.roiStart * (from - 1) + (to == 1 ? part / 2 : x * part / (to - 1));
  }
  if (mode == "pytorch_half_pixel" && to == 1)
    return -0.5;
  const double center = (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric")
    return center + from / 2 * (1 - static_cast<double>(axis.to) / to);
  return center;
}

double cubicWeight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The weights of elements `first`, `first` + 1, ..., of which some may lie outside.
struct Weights {
  int64_t first = 0;
  std::vector<double> values;
  bool outside = false; // of what is to be read: the result is the extrapolation value
};

Weights weightsAt(const Options &options, const Axis &axis, int64_t i) {
  const double x = position(options, axis, i), last = static_cast<double>(axis.from - 1);
  Weights weights;
  if (options.coordinates == "tf_crop_and_resize" && !(x >= 0 && x <= last)) {
    weights.outside = true;
    return weights;
  }
  // The element before x, which lies behind it by more than 0 and at most 1.
  const double before = std::ceil(std::clamp(x, -1e9, 1e10)) - 1, ratio = x - before;
  weights.first = static_cast<int64_t>(before);
  if (options.mode == "nearest") {
    const std::string &nearest = options.nearest;
    const bool next = ratio == 1 || nearest == "ceil" || (nearest[0] == 'r' && ratio > 0.5) ||
                      (nearest == "round_prefer_ceil" && ratio == 0.5);
    weights.first += next ? 1 : 0;
    weights.values = {1};
    return weights;
  }
  const double scale = options.antialias ? std::min(axis.scale, 1.0) : 1;
  const bool cubic = options.mode == "cubic";
  const int64_t start = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / scale)) + 1;
  weights.first += start;
  double sum = 0;
  for (int64_t j = start; j < 2 - start; ++j) {
    const double distance = (static_cast<double>(j) - ratio) * scale;
    double weight =
        cubic ? cubicWeight(distance, options.cubic) : std::max(1 - std::fabs(distance), 0.0);
    const int64_t at = weights.first + j - start;
    if (options.excludesOutside && (at < 0 || at >= axis.from))
      weight = 0;
    weights.values.push_back(weight);
    sum += weight;
  }
  if (options.antialias || options.excludesOutside)
    for (double &weight : weights.values)
      weight /= sum;
  return weights;
}

// Of elements outside the nearest inside is taken.
int64_t inside(const Axis &axis, int64_t at) { return std::clamp<int64_t>(at, 0, axis.from - 1); }

Tensor nearestAlong(const Call &call, const Tensor &source, const Axis &axis,
                    const std::vector<Weights> &weights) {
  Shape shape = source.shape;
  shape[axis.axis] = axis.to;
  Tensor result = call.make(source.dtype, shape);
  const int64_t outer = countBetween(shape, 0, axis.axis);
  const int64_t inner = countBetween(shape, axis.axis + 1, shape.size());
  withWidth(source.dtype, [&](auto zero) {
    using T = decltype(zero);
    T *to = result.data<T>();
    for (int64_t i = 0; i < outer; ++i) {
      const T *from = source.data<T>() + i * axis.from * inner;
      for (const Weights &each : weights)
        to = std::copy_n(from + inside(axis, each.first) * inner, inner, to);
    }
  });
  return result;
}

template <typename T>
void sumAlong(const Axis &axis, const std::vector<Weights> &weights, int64_t outer, int64_t inner,
              const T *source, T *result) {
  parallelFor(processorCount(), outer, [&](unsigned, size_t i) {
    const T *from = source + static_cast<int64_t>(i) * axis.from * inner;
    T *to = result + static_cast<int64_t>(i) * axis.to * inner;
    for (const Weights &each : weights) {
      for (size_t k = 0; k < each.values.size(); ++k) {
        const T weight = static_cast<T>(each.values[k]);
        const T *row = from + inside(axis, each.first + static_cast<int64_t>(k)) * inner;
        for (int64_t j = 0; j < inner; ++j)
          to[j] += weight * row[j];
      }
      to += inner;
    }
  });
}

// Rounded half to even and, of integers, to the nearest that there is.
void setNearest(Tensor &tensor, int64_t index, double value) {
  if (isFloat(tensor.dtype))
    return setFloat(tensor, index, value);
  const int bits = 8 * static_cast<int>(byteSize(tensor.dtype));
  const double half = std::ldexp(1, bits - 1);
  const double low = isSigned(tensor.dtype) ? -half : 0;
  const double high = isSigned(tensor.dtype) ? half - 1 : 2 * half - 1;
  const double rounded = std::isnan(value) ? 0 : std::nearbyint(std::clamp(value, low, high));
  if (rounded >= std::ldexp(1, 63)) // uint64, and of int64 what rounds to 2^63
    return setInteger(tensor, index,
                      isSigned(tensor.dtype) ? INT64_MAX
                      : rounded >= std::ldexp(1, 64)
                          ? -1
                          : static_cast<int64_t>(static_cast<uint64_t>(rounded)));
  setInteger(tensor, index, static_cast<int64_t>(rounded));
}

// Weighted sums along all of `axes`.
template <typename T>
Tensor interpolated(const Call &call, const Tensor &source, const std::vector<Axis> &axes,
                    const std::vector<std::vector<Weights>> &weights) {
  const Numbers<T> start(source);
  std::vector<T> values(start.data(), start.data() + start.size());
  Shape shape = source.shape;
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t axis = axes[i].axis, outer = countBetween(shape, 0, axis);
    const int64_t inner = countBetween(shape, axis + 1, shape.size());
    shape[axis] = axes[i].to;
    call.make(sizeof(T) == 8 ? DType::F64 : DType::F32, shape);
    std::vector<T> next(elementCount(shape));
    sumAlong(axes[i], weights[i], outer, inner, values.data(), next.data());
    values = std::move(next);
  }
  Tensor result = call.make(source.dtype, shape);
  for (size_t i = 0; i < values.size(); ++i)
    setNearest(result, static_cast<int64_t>(i), static_cast<double>(values[i]));
  return result;
}

// What depends on an element outside is the extrapolation value.
void extrapolate(const Options &options, Tensor &result, const std::vector<Axis> &axes,
                 const std::vector<std::vector<Weights>> &weights) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t inner = countBetween(result.shape, axes[i].axis + 1, result.shape.size());
    for (int64_t at = 0; at < result.elements(); ++at)
      if (weights[i][at / inner % axes[i].to].outside)
        setNearest(result, at, options.extrapolation);
  }
}

Tensor resized(const Call &call, const Options &options, const std::vector<Axis> &all) {
  std::vector<Axis> axes;
  std::vector<std::vector<Weights>> weights;
  Tensor result = call.input(0);
  for (const Axis &axis : all) {
    if (axis.to > 0 && axis.from == 0)
      call.fail("a dimension without elements is resized");
    if (axis.scale == 1 && axis.to == axis.from && options.coordinates[0] != 't') // tf_...
      continue;
    if (axis.to > longest)
      call.fail(fmt::format("a dimension is resized to {} elements", axis.to));
    axes.push_back(axis);
    std::vector<Weights> &each = weights.emplace_back();
    for (int64_t i = 0; i < axis.to; ++i)
      each.push_back(weightsAt(options, axis, i));
  }
  if (options.mode == "nearest") {
    for (size_t i = axes.size(); i-- > 0;)
      result = nearestAlong(call, result, axes[i], weights[i]);
  } else if (!axes.empty()) {
    const DType type = result.dtype;
    const bool wide = type == DType::F64 || (!isFloat(type) && byteSize(type) > 2);
    result = wide ? interpolated<double>(call, result, axes, weights)
                  : interpolated<float>(call, result, axes, weights);
  }
  extrapolate(options, result, axes, weights);
  return result;
}

// The size that a scale gives.
int64_t scaledSize(const Call &call, int64_t from, double scale) {
  const double size = static_cast<double>(from) * scale;
  if (!(scale > 0) || !(size < static_cast<double>(maxTensorBytes)))
    call.fail(fmt::format("a dimension of {} is scaled by {}", from, scale));
  return static_cast<int64_t>(size);
}

std::vector<double> numbersAt(const Call &call, size_t input, size_t count, const char *what) {
  std::vector<double> values(call.input(input).elements());
  if (values.size() != count)
    call.fail(fmt::format("its {} has {} numbers in place of {}", what, values.size(), count));
  for (size_t i = 0; i < count; ++i)
    values[i] = floatAt(call.input(input), static_cast<int64_t>(i));
  return values;
}

std::vector<Axis> scaledAxes(const Call &call, const std::vector<double> &scales) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < scales.size(); ++i) {
    const int64_t from = call.shape(0)[i];
    axes.push_back(
        {static_cast<int64_t>(i), from, scaledSize(call, from, scales[i]), scales[i], 0, 1});
  }
  return axes;
}

// Upsample, and Resize of operator set 10: from the first element on, downwards.
void resizeSimply(Call &call, const std::vector<double> &scales) {
  Options options;
  options.mode = call.choice("mode", {"nearest", "linear", "bilinear"});
  options.coordinates = "asymmetric";
  options.nearest = "floor";
  call.set(resized(call, options, scaledAxes(call, scales)));
}

void upsample(Call &call) {
  std::vector<double> scales;
  if (call.has(1)) {
    scales = numbersAt(call, 1, call.shape(0).size(), "scales");
  } else {
    for (float scale : call.numbers("scales", {}))
      scales.push_back(scale);
    if (scales.size() != call.shape(0).size())
      call.fail(fmt::format("{} scales for {} dimensions", scales.size(), call.rank(0)));
  }
  resizeSimply(call, scales);
}

// The sizes that `sizes` asks for, or those with one scale for all that keep the proportions.
void setSizes(const Call &call, const std::vector<int64_t> &sizes, std::vector<Axis> &axes) {
  const std::string policy =
      call.choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  if (sizes.size() != axes.size())
    call.fail(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  std::vector<double> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].to = sizes[i];
    scales.push_back(static_cast<double>(sizes[i]) / static_cast<double>(axes[i].from));
  }
  if (policy != "stretch" && !axes.empty()) {
    const double scale = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                                : *std::max_element(scales.begin(), scales.end());
    scales.assign(axes.size(), scale);
    for (Axis &axis : axes) {
      scaledSize(call, axis.from, scale);
      axis.to = static_cast<int64_t>(static_cast<double>(axis.from) * scale + 0.5);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i].scale = scales[i];
}

void resize(Call &call) {
  if (call.opset() < 11)
    return resizeSimply(call, numbersAt(call, 1, call.shape(0).size(), "scales"));
  Options options;
  options.mode = call.choice("mode", {"nearest", "linear", "cubic"});
  options.coordinates =
      call.choice("coordinate_transformation_mode",
                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                   "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  options.nearest =
      call.choice("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  options.antialias = call.flag("antialias", false);
  options.excludesOutside = call.flag("exclude_outside", false);
  options.cubic = call.number("cubic_coeff_a", -0.75F);
  options.extrapolation = call.number("extrapolation_value", 0);
  std::vector<int64_t> which(call.rank(0));
  std::iota(which.begin(), which.end(), 0);
  which = call.integers("axes", which);
  call.axes(which, call.rank(0)); // each once
  std::vector<Axis> axes;
  for (int64_t axis : which) {
    axis = call.axis(axis, call.rank(0));
    axes.push_back({axis, call.shape(0)[axis], 0, 1, 0, 1});
  }
  if (call.has(1) && options.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = numbersAt(call, 1, 2 * axes.size(), "roi");
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].roiStart = roi[i];
      axes[i].roiEnd = roi[i + axes.size()];
    }
  }
  if (call.has(2) && call.input(2).elements() > 0) {
    const std::vector<double> scales = numbersAt(call, 2, axes.size(), "scales");
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].scale = scales[i];
      axes[i].to = scaledSize(call, axes[i].from, scales[i]);
    }
  } else if (call.has(3)) {
    setSizes(call, call.integers(3, "sizes"), axes);
  } else {
    call.fail("it has neither scales nor sizes");
  }
  Shape shape = call.shape(0);
  for (const Axis &axis : axes)
    shape[axis.axis] = axis.to;
  call.make(call.input(0).dtype, shape); // fails before the weights are made
  call.set(resized(call, options, axes));
}

} // namespace

KernelTable resizeKernels() { return {{"Resize", resize}, {"Upsample", upsample}}; }

} // namespace tilewright::host

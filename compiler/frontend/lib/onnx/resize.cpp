// Resize and Upsample.
#include "operators.h"
#include "window.h"

#include "tilewright/onnx/size_limits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::onnx_import {

namespace {

// How one axis is resized.
struct Axis {
  int64_t in;
  int64_t out;
  float scale;
};

// What TOSA's resize does along one axis: output position o lies at (o * denominator + offset) /
// numerator.
struct TosaAxis {
  int64_t numerator = 1;
  int64_t denominator = 1;
  int64_t offset = 0;
  int64_t border = 0;
};

// The rule of opset 10 and before is named so here; it is no attribute value of ONNX.
const std::string simpleRule = "simple";

// The input coordinate of output position `i`, in the arithmetic of float32 that onnxruntime uses.
float coordinate(NodeImporter &node, const std::string &mode, const Axis &axis, int64_t i) {
  auto at = static_cast<float>(i);
  if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && axis.out > 1))
    return (at + 0.5f) / axis.scale - 0.5f;
  if (mode == "pytorch_half_pixel")
    return 0;
  if (mode == "asymmetric")
    return at / axis.scale;
  if (mode == "align_corners")
    return axis.out == 1 ? 0
                         : at * static_cast<float>(axis.in - 1) / static_cast<float>(axis.out - 1);
  if (mode == "half_pixel_symmetric") {
    const float length = axis.scale * static_cast<float>(axis.in);
    const float offset =
        static_cast<float>(axis.in) / 2 * (1 - static_cast<float>(axis.out) / length);
    return offset + (at + 0.5f) / axis.scale - 0.5f;
  }
  if (mode == "tf_half_pixel_for_nn")
    return (at + 0.5f) / axis.scale;
  node.refuse(fmt::format("coordinate transformation '{}' is not supported", mode));
}

int64_t nearestIndex(NodeImporter &node, const std::string &rule, const Axis &axis, float x) {
  float rounded;
  if (rule == "round_prefer_floor")
    rounded = x == std::floor(x) + 0.5f ? std::floor(x) : std::round(x);
  else if (rule == "round_prefer_ceil")
    rounded = std::round(x);
  else if (rule == "floor")
    rounded = std::floor(x);
  else if (rule == "ceil")
    rounded = std::ceil(x);
  else // the rule of opset 10 and before
    rounded = axis.scale < 1 ? std::ceil(x) : std::trunc(x);
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, axis.in - 1);
}

bool withinTosaLimits(const TosaAxis &t) {
  return t.numerator <= 2048 && t.denominator < 16 * t.numerator && t.offset >= -t.numerator &&
         t.offset < 16 * t.numerator && t.border >= -16 * t.numerator && t.border < t.numerator &&
         t.numerator < 256 * t.denominator;
}

// The border that makes TOSA's formula give `axis.out` positions.
void completeBorder(TosaAxis &t, const Axis &axis) {
  t.border = (axis.out - 1) * t.denominator - (axis.in - 1) * t.numerator + t.offset;
}

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// TOSA parameters whose nearest neighbors are `map`, when there are such. TOSA rounds halves up.
std::optional<TosaAxis> nearestAsTosa(const Axis &axis, const std::vector<int32_t> &map) {
  int64_t divisor = std::gcd(axis.in, axis.out);
  TosaAxis t;
  t.numerator = 2 * axis.out / divisor;
  t.denominator = 2 * axis.in / divisor;
  if (axis.in == axis.out)
    t.numerator = t.denominator = 1;
  if (t.numerator > 256 || t.denominator >= 16 * t.numerator)
    return std::nullopt;
  for (t.offset = -t.numerator; t.offset <= t.denominator; ++t.offset) {
    bool fits = true;
    for (int64_t o = 0; o < axis.out && fits; ++o) {
      int64_t y = 2 * (o * t.denominator + t.offset) + t.numerator;
      int64_t nearest = floorDivide(y, 2 * t.numerator);
      fits = std::clamp<int64_t>(nearest, 0, axis.in - 1) == map[o];
    }
    completeBorder(t, axis);
    if (fits && withinTosaLimits(t))
      return t;
  }
  return std::nullopt;
}

std::vector<Axis> axesFromScales(NodeImporter &node, const Shape &shape,
                                 const std::vector<float> &scales) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    float length = static_cast<float>(shape[i]) * scales[i];
    if (!(scales[i] > 0) || !(length < static_cast<float>(maxTensorBytes)))
      node.fail(fmt::format("a scale of {} is not possible", scales[i]));
    axes.push_back({shape[i], static_cast<int64_t>(std::floor(length)), scales[i]});
  }
  return axes;
}

std::vector<Axis> axesFromSizes(NodeImporter &node, const Shape &shape,
                                const std::vector<int64_t> &sizes) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > maxTensorBytes)
      node.fail(fmt::format("a size of {} is not possible", sizes[i]));
    axes.push_back(
        {shape[i], sizes[i], static_cast<float>(sizes[i]) / static_cast<float>(shape[i])});
  }
  return axes;
}

// Values of the node's `axes` spread over all dimensions.
template <typename T>
std::vector<T> spread(NodeImporter &node, const std::vector<T> &values, std::vector<T> all) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < all.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  axes = node.integers("axes", axes);
  node.axes(axes, static_cast<int64_t>(all.size())); // each axis once
  if (values.size() != axes.size())
    node.fail(fmt::format("there are {} sizes for {} dimensions", values.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i)
    all[node.axis(axes[i], static_cast<int64_t>(all.size()))] = values[i];
  return all;
}

// Only rows and columns of an NCHW image change.
bool isImageResize(const std::vector<Axis> &axes) {
  return axes.size() == 4 && axes[0].in == axes[0].out && axes[1].in == axes[1].out;
}

mlir::Value resizeImage(NodeImporter &node, mlir::Value input, const std::vector<Axis> &axes,
                        const TosaAxis &rows, const TosaAxis &columns) {
  mlir::Value image = toChannelsLast(node, input);
  image =
      node.tosa().resize(image, {axes[2].out, axes[3].out},
                         {rows.numerator, rows.denominator, columns.numerator, columns.denominator},
                         {rows.offset, columns.offset}, {rows.border, columns.border}, false);
  return fromChannelsLast(node, image, 4);
}

mlir::Value gatherUnlessSame(NodeImporter &node, mlir::Value value, int64_t axis,
                             const std::vector<int32_t> &map) {
  bool same = static_cast<int64_t>(map.size()) == sizesOf(value)[axis];
  for (size_t i = 0; i < map.size() && same; ++i)
    same = map[i] == static_cast<int32_t>(i);
  return same ? value : node.tosa().gatherAxis(value, axis, map);
}

mlir::Value resizeNearest(NodeImporter &node, mlir::Value input, const std::vector<Axis> &axes,
                          const std::string &coordinates, const std::string &rule) {
  std::vector<std::vector<int32_t>> maps;
  for (const Axis &axis : axes) {
    std::vector<int32_t> &map = maps.emplace_back();
    for (int64_t i = 0; i < axis.out; ++i)
      map.push_back(static_cast<int32_t>(
          axis.scale == 1
              ? i
              : nearestIndex(node, rule, axis, coordinate(node, coordinates, axis, i))));
  }
  if (isImageResize(axes)) {
    std::optional<TosaAxis> rows = nearestAsTosa(axes[2], maps[2]);
    std::optional<TosaAxis> columns = nearestAsTosa(axes[3], maps[3]);
    if (rows && columns)
      return resizeImage(node, input, axes, *rows, *columns);
    // Whole pixels are gathered: with the channels last, fewer indices name more data.
    mlir::Value image = gatherUnlessSame(node, toChannelsLast(node, input), 1, maps[2]);
    return fromChannelsLast(node, gatherUnlessSame(node, image, 2, maps[3]), 4);
  }
  for (size_t i = 0; i < axes.size(); ++i)
    input = gatherUnlessSame(node, input, static_cast<int64_t>(i), maps[i]);
  return input;
}

// What a neighbor at a distance weighs.
struct Filter {
  bool isCubic;
  float a;         // of the cubic one
  bool antialias;  // widened where the axis gets shorter
  bool isExcluded; // what lies outside weighs nothing; else the border does it in its place

  float support() const { return isCubic ? 2 : 1; }
  float weight(float distance) const {
    const float x = std::fabs(distance);
    if (!isCubic)
      return std::max(0.0f, 1 - x);
    if (x <= 1)
      return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
};

// Input positions by output positions.
std::vector<float> resizeMatrix(NodeImporter &node, const Axis &axis,
                                const std::string &coordinates, const Filter &filter) {
  std::vector<float> matrix(axis.in * axis.out, 0);
  const float narrower = filter.antialias ? std::min(axis.scale, 1.0f) : 1;
  for (int64_t o = 0; o < axis.out; ++o) {
    const float x = coordinate(node, coordinates, axis, o);
    const auto first = static_cast<int64_t>(std::floor(x - filter.support() / narrower)),
               last = static_cast<int64_t>(std::ceil(x + filter.support() / narrower));
    float sum = 0;
    for (int pass : {0, 1})
      for (int64_t i = first; i <= last; ++i) {
        const bool isOutside = i < 0 || i >= axis.in;
        if (isOutside && filter.isExcluded)
          continue;
        const float weight = filter.weight(narrower * (static_cast<float>(i) - x));
        if (pass == 0)
          sum += weight;
        else
          matrix[std::clamp<int64_t>(i, 0, axis.in - 1) * axis.out + o] += weight / sum;
      }
  }
  return matrix;
}

// A product with a constant matrix along each axis that changes.
mlir::Value resizeByProducts(NodeImporter &node, mlir::Value input, const std::vector<Axis> &axes,
                             const std::string &coordinates, const Filter &filter) {
  constexpr int64_t largest = int64_t(4) << 20; // elements of a matrix
  FloatBuilder &tosa = node.tosa();
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis &axis = axes[i];
    if (axis.in == axis.out && axis.scale == 1)
      continue;
    if (axis.in > largest / axis.out)
      node.refuse(
          fmt::format("interpolation from {} to {} positions is not supported", axis.in, axis.out));
    const std::vector<float> matrix = resizeMatrix(node, axis, coordinates, filter);
    Shape shape = sizesOf(input);
    auto dims = llvm::ArrayRef<int64_t>(shape);
    const int64_t outer = elementCount(dims.take_front(i)),
                  inner = elementCount(dims.drop_front(i + 1));
    mlir::Value rows = tosa.transpose(tosa.reshape(input, {outer, axis.in, inner}), {0, 2, 1});
    rows = tosa.matmul(tosa.reshape(rows, {1, outer * inner, axis.in}),
                       tosa.constant({1, axis.in, axis.out}, matrix));
    rows = tosa.transpose(tosa.reshape(rows, {outer, inner, axis.out}), {0, 2, 1});
    shape[i] = axis.out;
    input = tosa.reshape(rows, shape);
  }
  return input;
}

std::string modeOf(NodeImporter &node) {
  std::vector<std::string> modes = {"nearest", "linear"};
  if (node.opset() >= 11)
    modes.emplace_back("cubic");
  return node.choice("mode", modes);
}

void buildResized(NodeImporter &node, const std::vector<Axis> &axes, const std::string &coordinates,
                  const std::string &rule) {
  mlir::Value input = node.floatValue(0);
  Shape result;
  for (const Axis &axis : axes)
    result.push_back(axis.out);
  node.tosa().floatType(result); // checks the size before maps of that size are made
  bool unchanged = true;
  for (const Axis &axis : axes)
    unchanged &= axis.in == axis.out && axis.scale == 1;
  std::string mode = modeOf(node);
  if (unchanged)
    node.setResult(input);
  else if (mode == "nearest")
    node.setResult(resizeNearest(node, input, axes, coordinates, rule));
  else {
    const Filter filter{mode == "cubic", node.number("cubic_coeff_a", -0.75f),
                        node.opset() >= 18 && node.flag("antialias", false),
                        node.opset() >= 11 && node.flag("exclude_outside", false)};
    node.setResult(resizeByProducts(node, input, axes, coordinates, filter));
  }
}

// Of one scale for all axes that are resized, the sizes nearest to those that are wanted.
std::vector<Axis> keepAspectRatio(NodeImporter &node, const Shape &shape,
                                  const std::vector<int64_t> &sizes, bool isLarger) {
  std::vector<Axis> resized = axesFromSizes(node, shape, sizes);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  axes = node.integers("axes", axes);
  std::vector<float> scales;
  for (int64_t &axis : axes) {
    axis = node.axis(axis, static_cast<int64_t>(shape.size()));
    scales.push_back(static_cast<float>(sizes[axis]) / static_cast<float>(shape[axis]));
  }
  const float scale = isLarger ? *std::max_element(scales.begin(), scales.end())
                               : *std::min_element(scales.begin(), scales.end());
  for (int64_t axis : axes)
    resized[axis] = {
        shape[axis],
        static_cast<int64_t>(std::floor(scale * static_cast<float>(shape[axis]) + 0.5f)), scale};
  return resized;
}

} // namespace

static void buildResize(NodeImporter &node) {
  Shape shape = node.shape(0);
  if (shape.empty())
    node.refuse("a scalar cannot be resized");
  if (node.opset() < 11) {
    std::vector<float> scales = node.floats(1, "scales");
    return buildResized(
        node,
        axesFromScales(node, shape, spread(node, scales, std::vector<float>(shape.size(), 1))),
        "asymmetric", simpleRule);
  }
  const std::string policy =
      node.choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  std::string coordinates =
      node.choice("coordinate_transformation_mode",
                  {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                   "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"});
  std::string rule =
      node.choice("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  std::vector<float> scales = node.has(2) ? node.floats(2, "scales") : std::vector<float>();
  // Before opset 13 no input can be left out: an empty list stands for none.
  std::vector<int64_t> sizes = node.has(3) ? node.integers(3, "sizes") : std::vector<int64_t>();
  if (scales.empty() == sizes.empty())
    node.fail(fmt::format("it has {} scales and {} sizes", scales.size(), sizes.size()),
              "give one of them");
  std::vector<Axis> axes;
  if (!scales.empty())
    axes = axesFromScales(node, shape, spread(node, scales, std::vector<float>(shape.size(), 1)));
  else
    axes = policy == "stretch"
               ? axesFromSizes(node, shape, spread(node, sizes, shape))
               : keepAspectRatio(node, shape, spread(node, sizes, shape), policy == "not_smaller");
  buildResized(node, axes, coordinates, rule);
}

static void buildUpsample(NodeImporter &node) {
  Shape shape = node.shape(0);
  std::vector<float> scales =
      node.opset() < 9 ? node.numbers("scales", {}) : node.floats(1, "scales");
  buildResized(
      node, axesFromScales(node, shape, spread(node, scales, std::vector<float>(shape.size(), 1))),
      "asymmetric", simpleRule);
}

llvm::ArrayRef<Operator> resizeOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Resize", buildResize},
      {"Upsample", buildUpsample},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

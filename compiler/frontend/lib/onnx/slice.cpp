// Parts of tensors: cut out, put together, padded and interleaved.
#include "index.h"
#include "operators.h"

#include "tilewright/onnx/size_limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

// `count` positions of a dimension, from `start` in steps of `step`.
struct Range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

Range resolveRange(NodeImporter &node, int64_t start, int64_t end, int64_t step, int64_t length) {
  if (step == 0 || step == INT64_MIN)
    node.fail(fmt::format("a step of {} is not possible", step));
  if (length == 0)
    return {};
  // Bounds count from the end when negative, and are then clamped to the dimension.
  auto place = [&](int64_t bound, int64_t low, int64_t high) {
    if (bound < 0)
      bound = bound < -length ? low : bound + length;
    return std::clamp(bound, low, high);
  };
  start = step > 0 ? place(start, 0, length) : place(start, 0, length - 1);
  end = step > 0 ? place(end, 0, length) : place(end, -1, length - 1);
  int64_t span = step > 0 ? end - start : start - end;
  int64_t stride = step > 0 ? step : -step;
  int64_t count = span <= 0 ? 0 : (span - 1) / stride + 1;
  return {start, count > 1 ? step : 1, count};
}

std::vector<Range> rangesOf(NodeImporter &node) {
  Shape shape = node.shape(0);
  bool attributes = node.opset() < 10;
  auto read = [&](size_t input, const char *name, const std::vector<int64_t> &fallback) {
    if (attributes)
      return node.integers(std::string(name), fallback);
    return node.has(input) ? node.integers(input, name) : fallback;
  };
  std::vector<int64_t> starts = read(1, "starts", {}), ends = read(2, "ends", {});
  std::vector<int64_t> axes;
  for (size_t i = 0; i < starts.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  axes = read(3, "axes", axes);
  std::vector<int64_t> steps = attributes
                                   ? std::vector<int64_t>(starts.size(), 1)
                                   : read(4, "steps", std::vector<int64_t>(starts.size(), 1));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size() || starts.empty())
    node.fail(fmt::format("there are {} starts, {} ends, {} axes and {} steps", starts.size(),
                          ends.size(), axes.size(), steps.size()));
  std::vector<Range> ranges;
  for (int64_t length : shape)
    ranges.push_back({0, 1, length});
  node.axes(axes, node.rank(0)); // each axis once
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = node.axis(axes[i], node.rank(0));
    ranges[axis] = resolveRange(node, starts[i], ends[i], steps[i], shape[axis]);
  }
  return ranges;
}

// Every `step`-th position of `axis`, `count` of them: the axis is split into [count, step], and
// the first column kept.
mlir::Value stridedAxis(FloatBuilder &tosa, mlir::Value value, int64_t axis, int64_t step,
                        int64_t count) {
  Shape shape = sizesOf(value), before(shape.size(), 0), after(shape.size(), 0);
  if (count * step > shape[axis]) {
    after[axis] = count * step - shape[axis];
    value = tosa.pad(value, before, after, 0);
  }
  value = tosa.sliceAxis(value, axis, 0, count * step);
  Shape split = sizesOf(value);
  split[axis] = count;
  Shape kept = split;
  split.insert(split.begin() + axis + 1, step);
  value = tosa.sliceAxis(tosa.reshape(value, split), axis + 1, 0, 1);
  return tosa.reshape(value, kept);
}

mlir::Value applyRange(FloatBuilder &tosa, mlir::Value value, int64_t axis, Range range) {
  int64_t step = std::abs(range.step);
  int64_t reach = (range.count - 1) * step + 1; // positions from the first to the last
  int64_t first = range.step > 0 ? range.start : range.start - reach + 1;
  value = tosa.sliceAxis(value, axis, first, reach);
  if (range.step < 0)
    value = tosa.reverse(value, axis);
  return step > 1 ? stridedAxis(tosa, value, axis, step, range.count) : value;
}

struct Parts {
  int64_t axis;
  std::vector<int64_t> sizes;
};

Parts partsOf(NodeImporter &node) {
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  int64_t length = node.shape(0)[axis];
  std::vector<int64_t> sizes = node.has(1) ? node.integers(1, "split") : node.integers("split", {});
  auto count = static_cast<int64_t>(node.node().outputs.size());
  int64_t parts = node.integer("num_outputs", count);
  if (node.hasAttribute("num_outputs") && node.has(1))
    node.fail("it has both sizes and a number of parts", "leave one of them out");
  if (node.opset() >= 18 && !node.hasAttribute("num_outputs") && !node.has(1))
    node.fail("it has neither sizes nor a number of parts", "give one of them");
  if (parts != count)
    node.fail(fmt::format("attribute 'num_outputs' is {}, and there are {} outputs", parts, count));
  if (sizes.empty()) {
    if (node.opset() < 18 && length % count != 0)
      node.fail(
          fmt::format("a dimension of {} cannot be split into {} equal parts", length, count));
    int64_t each = (length + count - 1) / count; // the last part may be smaller
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::min(each, length - i * each));
  }
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 1 || size > length)
      node.refuse(fmt::format("a part of {} of a dimension of {} is not possible", size, length));
    sum += size;
  }
  if (sum != length || static_cast<int64_t>(sizes.size()) != count)
    node.fail(fmt::format("{} parts of {} in all do not make {} outputs of a dimension of {}",
                          sizes.size(), sum, count, length));
  return {axis, sizes};
}

Shape gatheredShape(NodeImporter &node, int64_t axis) {
  Shape shape = node.shape(0), indices = node.shape(1);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.begin(), indices.end());
  return shape;
}

// One side of an axis as the `edge`, `reflect` and `wrap` modes fill it.
mlir::Value border(NodeImporter &node, mlir::Value value, int64_t axis, int64_t size, bool atEnd,
                   const std::string &mode) {
  FloatBuilder &tosa = node.tosa();
  int64_t length = sizesOf(value)[axis];
  if (mode == "edge") {
    Shape multiples(sizesOf(value).size(), 1);
    multiples[axis] = size;
    return tosa.tile(tosa.sliceAxis(value, axis, atEnd ? length - 1 : 0, 1), multiples);
  }
  bool reflect = mode == "reflect";
  if (size > (reflect ? length - 1 : length))
    node.fail(fmt::format("padding {} is too much for a dimension of {}", size, length));
  if (!reflect) // wrap
    return tosa.sliceAxis(value, axis, atEnd ? 0 : length - size, size);
  return tosa.reverse(tosa.sliceAxis(value, axis, atEnd ? length - 1 - size : 1, size), axis);
}

} // namespace

static void buildSlice(NodeImporter &node) {
  mlir::Value value = node.value(0);
  std::vector<Range> ranges = rangesOf(node);
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    if (ranges[axis].count == 0)
      node.refuse(fmt::format("the slice is empty along axis {}", axis));
    value = applyRange(node.tosa(), value, static_cast<int64_t>(axis), ranges[axis]);
  }
  node.setResult(value);
}

static void buildSplit(NodeImporter &node) {
  mlir::Value value = node.value(0);
  Parts parts = partsOf(node);
  int64_t start = 0;
  for (size_t i = 0; i < parts.sizes.size(); ++i) {
    node.setResult(node.tosa().sliceAxis(value, parts.axis, start, parts.sizes[i]), i);
    start += parts.sizes[i];
  }
}

static void buildConcat(NodeImporter &node) {
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  std::vector<mlir::Value> parts;
  for (size_t i = 0; i < node.inputCount(); ++i)
    parts.push_back(node.value(i));
  node.setResult(node.tosa().concat(parts, axis));
}

static void buildGather(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (!node.constant(1))
    return node.setResult(tosa.reshape(gatherByComparison(node, axis), gatheredShape(node, axis)));
  mlir::Value value = node.value(0);
  std::vector<int64_t> indices = indicesOf(node, 1, "indices", sizesOf(value)[axis]);
  if (indices.empty())
    node.refuse("nothing is gathered");
  bool adjacent = true;
  for (size_t i = 1; i < indices.size(); ++i)
    adjacent &= indices[i] == indices[i - 1] + 1;
  mlir::Value gathered =
      adjacent ? tosa.sliceAxis(value, axis, indices[0], static_cast<int64_t>(indices.size()))
               : tosa.gatherAxis(value, axis, std::vector<int32_t>(indices.begin(), indices.end()));
  node.setResult(tosa.reshape(gathered, gatheredShape(node, axis)));
}

static void buildPad(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.value(0);
  int64_t rank = node.rank(0);
  bool attributes = node.opset() < 11;
  std::vector<int64_t> pads = attributes ? node.integers("pads", {}) : node.integers(1, "pads");
  float fill = attributes ? node.number("value", 0) : 0;
  if (!attributes && node.has(2))
    fill = node.scalar(2, "padding value");
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    axes.push_back(axis);
  if (node.has(3))
    axes = node.integers(3, "axes");
  if (pads.size() != 2 * axes.size())
    node.fail(fmt::format("there are {} pads for {} dimensions", pads.size(), axes.size()));
  node.axes(axes, rank); // each axis once
  std::vector<std::string> modes = {"constant", "reflect", "edge"};
  if (node.opset() >= 19)
    modes.emplace_back("wrap");
  std::string mode = node.choice("mode", modes);

  Shape before(rank, 0), after(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = node.axis(axes[i], rank), begin = pads[i], end = pads[axes.size() + i];
    if (std::max(std::abs(std::max(begin, -maxTensorBytes - 1)),
                 std::abs(std::max(end, -maxTensorBytes - 1))) > maxTensorBytes)
      node.fail(fmt::format("padding {}, {} is too large", begin, end));
    // A negative pad cuts off.
    int64_t length = sizesOf(value)[axis];
    int64_t cutBegin = std::max<int64_t>(-begin, 0), cutEnd = std::max<int64_t>(-end, 0);
    if (cutBegin + cutEnd >= length)
      node.fail(
          fmt::format("padding {}, {} leaves nothing of a dimension of {}", begin, end, length));
    value = tosa.sliceAxis(value, axis, cutBegin, length - cutBegin - cutEnd);
    begin = std::max<int64_t>(begin, 0);
    end = std::max<int64_t>(end, 0);
    if (mode == "constant") {
      before[axis] = begin;
      after[axis] = end;
      continue;
    }
    std::vector<mlir::Value> parts;
    if (begin > 0)
      parts.push_back(border(node, value, axis, begin, false, mode));
    parts.push_back(value);
    if (end > 0)
      parts.push_back(border(node, value, axis, end, true, mode));
    value = tosa.concat(parts, axis);
  }
  node.setResult(tosa.pad(value, before, after, fill));
}

llvm::ArrayRef<Operator> sliceOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Concat", buildConcat},
      {"Gather", buildGather},
      {"Pad", buildPad},
      {"Slice", buildSlice},
      {"Split", buildSplit},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

// Pools.
#include "operators.h"
#include "window.h"

#include "tilewright/compiler/tosa/limits.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tilewright::onnx_import {

namespace {

// Pools of any rank and dilation: one slice of the input for each position in the window.
class SlicedPool {
public:
  SlicedPool(NodeImporter &node, std::vector<int64_t> kernel)
      : node_(node), kernel_(std::move(kernel)), spatial_(kernel_.size()), shape_(node.shape(0)) {
    stride_ = values("strides");
    dilation_ = values("dilations");
    kernel_ = values("kernel_shape");
    constexpr int64_t mostPositions = 512;
    int64_t positions = 1;
    for (size_t i = 0; i < spatial_; ++i) {
      if (kernel_[i] > maxTensorBytes / dilation_[i])
        node.fail("kernel times dilation is too large");
      positions = std::min(positions * kernel_[i], maxTensorBytes);
    }
    setPads();
    if (positions > mostPositions)
      node.refuse(fmt::format("a window of {} positions is not supported in this form", positions));
  }

  // The combination of all positions of the windows over `input`, padded with `fill`.
  template <typename Combine>
  mlir::Value over(mlir::Value input, double fill, Combine combine) const {
    FloatBuilder &tosa = node_.tosa();
    Shape before(2, 0), after(2, 0);
    before.insert(before.end(), begin_.begin(), begin_.end());
    after.insert(after.end(), end_.begin(), end_.end());
    input = tosa.pad(input, before, after, fill);
    mlir::Value result;
    forPositions([&](const Shape &position) {
      mlir::Value part = input;
      for (size_t i = 0; i < spatial_; ++i)
        part = everyStep(part, static_cast<int64_t>(i) + 2, position[i] * dilation_[i], stride_[i],
                         output_[i]);
      result = result ? combine(result, part) : part;
    });
    return result;
  }

  // How many positions of each window count, in the shape [1, 1, spatial...].
  std::vector<float> counts(bool withPads) const {
    std::vector<float> counts(elementCount(output_), 0);
    forPositions([&](const Shape &position) {
      for (int64_t at = 0; at < static_cast<int64_t>(counts.size()); ++at) {
        int64_t rest = at;
        bool counted = true;
        for (size_t i = spatial_; i-- > 0; rest /= output_[i]) {
          const int64_t place =
              rest % output_[i] * stride_[i] + position[i] * dilation_[i] - begin_[i];
          const int64_t reach = withPads ? given_[i] : 0;
          counted &= (withPads || place >= 0) && place < shape_[i + 2] + reach;
        }
        counts[at] += counted ? 1 : 0;
      }
    });
    return counts;
  }
  Shape countShape() const {
    Shape shape = {1, 1};
    shape.insert(shape.end(), output_.begin(), output_.end());
    return shape;
  }

private:
  std::vector<int64_t> values(const char *attribute) const {
    std::vector<int64_t> values = node_.integers(std::string(attribute), Shape(spatial_, 1));
    if (values.size() != spatial_ || std::any_of(values.begin(), values.end(), [](int64_t value) {
          return value < 1 || value > maxTensorBytes;
        }))
      node_.fail(fmt::format("attribute '{}' does not fit the window", attribute));
    return values;
  }

  void setPads() {
    const std::string autoPad = autoPadOf(node_);
    const std::vector<int64_t> pads = node_.integers("pads", Shape(2 * spatial_, 0));
    if (pads.size() != 2 * spatial_ || shape_.size() != spatial_ + 2)
      node_.fail("the window does not fit the input");
    const bool ceil = node_.flag("ceil_mode", false);
    for (size_t i = 0; i < spatial_; ++i) {
      const int64_t in = shape_[i + 2], stride = stride_[i];
      const int64_t reach = (kernel_[i] - 1) * dilation_[i] + 1;
      int64_t begin = autoPad == "NOTSET" ? pads[i] : 0;
      int64_t end = autoPad == "NOTSET" ? pads[spatial_ + i] : 0;
      if (std::min(begin, end) < 0 || std::max(begin, end) > maxTensorBytes)
        node_.refuse(fmt::format("pads of {} and {} are not supported", begin, end));
      if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
        const int64_t total =
            std::max<int64_t>(((in + stride - 1) / stride - 1) * stride + reach - in, 0);
        begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
        end = total - begin;
      }
      const int64_t span = in + begin + end - reach;
      if (span < 0)
        node_.fail("the window is larger than the padded input");
      int64_t count = span / stride + 1;
      if (ceil && span % stride != 0 && count * stride < in + begin)
        ++count;
      begin_.push_back(begin);
      given_.push_back(end);
      end_.push_back(std::max(end, (count - 1) * stride + reach - in - begin));
      output_.push_back(count);
    }
  }

  template <typename Visit> void forPositions(Visit visit) const {
    Shape position(spatial_, 0);
    for (int64_t i = 0, count = elementCount(kernel_); i < count; ++i) {
      visit(position);
      for (size_t d = spatial_; d-- > 0;) {
        if (++position[d] < kernel_[d])
          break;
        position[d] = 0;
      }
    }
  }

  // `count` positions of an axis from `start` on in steps.
  mlir::Value everyStep(mlir::Value value, int64_t axis, int64_t start, int64_t step,
                        int64_t count) const {
    FloatBuilder &tosa = node_.tosa();
    if (step == 1 || count == 1)
      return tosa.sliceAxis(value, axis, start, count);
    std::vector<int32_t> indices(count);
    for (int64_t i = 0; i < count; ++i)
      indices[i] = static_cast<int32_t>(start + i * step);
    return tosa.gatherAxis(value, axis, indices);
  }

  NodeImporter &node_;
  std::vector<int64_t> kernel_;
  size_t spatial_;
  Shape shape_, stride_, dilation_, begin_, end_, given_, output_;
};

// Whether TOSA's own pools do not take it.
bool isSliced(NodeImporter &node) {
  const std::vector<int64_t> dilations = node.integers("dilations", {});
  return node.rank(0) > 4 ||
         std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; });
}

mlir::Value maximum(FloatBuilder &tosa, mlir::Value a, mlir::Value b) {
  return tosa.binary<mlir::tosa::MaximumOp>(a, b);
}

constexpr float lowest = std::numeric_limits<float>::lowest();

// The sum of each window.
mlir::Value windowSums(NodeImporter &node, const SlicedPool &pool, mlir::Value input) {
  return pool.over(input, 0, [&](mlir::Value a, mlir::Value b) { return node.tosa().add(a, b); });
}

} // namespace

// (sum of |x|^p) ^ (1 / p) of each window
static void buildLpPool(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    node.refuse(fmt::format("a norm of order {} is not supported", p));
  const SlicedPool pool(node, node.integers("kernel_shape", {}));
  mlir::Value powers = p == 1 ? tosa.unary<mlir::tosa::AbsOp>(input) : tosa.multiply(input, input);
  mlir::Value sum = windowSums(node, pool, powers);
  node.setResult(
      p == 1 ? sum : tosa.unary<mlir::tosa::ReciprocalOp>(tosa.unary<mlir::tosa::RsqrtOp>(sum)));
}

static void buildMaxPool(NodeImporter &node) {
  node.flag("storage_order", false); // of the indices, which are not supported
  if (!node.isFloats(0) || isSliced(node)) {
    const SlicedPool pool(node, node.integers("kernel_shape", {}));
    const double fill = node.isFloats(0) ? lowest : INT32_MIN;
    return node.setResult(pool.over(node.value(0), fill, [&](mlir::Value a, mlir::Value b) {
      return maximum(node.tosa(), a, b);
    }));
  }
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  Window window = makeWindow(node, sizesOf(input), kernelShape(node, rank - 2), rank - 2);
  for (int i : {0, 1}) {
    if (window.padBegin[i] >= window.kernel[i] || window.padEnd[i] >= window.kernel[i])
      node.fail("pads are not smaller than the kernel");
  }
  node.setResult(fromChannelsLast(node, node.tosa().maxPool2d(input, window), rank));
}

static void buildAveragePool(NodeImporter &node) {
  if (isSliced(node)) {
    FloatBuilder &tosa = node.tosa();
    const SlicedPool pool(node, node.integers("kernel_shape", {}));
    std::vector<float> factors = pool.counts(node.flag("count_include_pad", false));
    for (float &each : factors)
      each = 1 / std::max(each, 1.0f);
    mlir::Value sum = windowSums(node, pool, node.floatValue(0));
    return node.setResult(tosa.multiply(sum, tosa.constant(pool.countShape(), factors)));
  }
  int64_t rank = node.rank(0);
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  Window window = makeWindow(node, sizesOf(input), kernelShape(node, rank - 2), rank - 2);
  bool padded = window.padBegin != std::array<int64_t, 2>{0, 0} ||
                window.padEnd != std::array<int64_t, 2>{0, 0};
  if (padded && node.flag("count_include_pad", false)) {
    // TOSA's pool counts no pads, so those that count become part of the input; what ceil_mode
    // added never counts.
    std::vector<int64_t> pads = node.integers("pads", {});
    Shape before = {0, window.padBegin[0], window.padBegin[1], 0}, after = {0, 0, 0, 0};
    for (int64_t i = 0; i < 2; ++i) {
      int64_t dimension = i - (4 - rank);
      int64_t own = window.padEnd[i];
      if (dimension >= 0 && !pads.empty())
        own = std::min(own, pads[rank - 2 + dimension]);
      after[1 + i] = own;
      window.padBegin[i] = 0;
      window.padEnd[i] -= own;
    }
    input = node.tosa().pad(input, before, after, 0);
  }
  for (int i : {0, 1})
    if (window.padBegin[i] >= window.kernel[i] || window.padEnd[i] >= window.kernel[i])
      node.fail("pads are not smaller than the kernel");
  node.setResult(fromChannelsLast(node, node.tosa().averagePool2d(input, window), rank));
}

static Window wholeImage(llvm::ArrayRef<int64_t> nhwc) {
  Window window;
  window.kernel = {nhwc[1], nhwc[2]};
  window.output = {1, 1};
  return window;
}

static std::vector<int64_t> spatialAxes(NodeImporter &node) {
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < node.rank(0); ++axis)
    axes.push_back(axis);
  return axes;
}

static void buildGlobalLpPool(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    node.refuse(fmt::format("a norm of order {} is not supported", p));
  mlir::Value sum = p == 1 ? tosa.unary<mlir::tosa::AbsOp>(input) : tosa.multiply(input, input);
  for (int64_t axis : spatialAxes(node))
    sum = tosa.reduce<mlir::tosa::ReduceSumOp>(sum, axis);
  node.setResult(
      p == 1 ? sum : tosa.unary<mlir::tosa::ReciprocalOp>(tosa.unary<mlir::tosa::RsqrtOp>(sum)));
}

static void buildGlobalAveragePool(NodeImporter &node) {
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  mlir::Value output = averageImage(node, input);
  node.setResult(fromChannelsLast(node, output, node.rank(0)));
}

static void buildGlobalMaxPool(NodeImporter &node) {
  mlir::Value input = toChannelsLast(node, node.floatValue(0));
  mlir::Value output = node.tosa().maxPool2d(input, wholeImage(sizesOf(input)));
  node.setResult(fromChannelsLast(node, output, node.rank(0)));
}

llvm::ArrayRef<Operator> poolOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"AveragePool", buildAveragePool},
      {"GlobalAveragePool", buildGlobalAveragePool},
      {"GlobalLpPool", buildGlobalLpPool},
      {"GlobalMaxPool", buildGlobalMaxPool},
      {"LpPool", buildLpPool},
      {"MaxPool", buildMaxPool},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

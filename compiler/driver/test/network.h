// Small networks as integer TOSA, for tests that compile them.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace tilewright {

struct Padding {
  int64_t rows = 0, columns = 0;
};

// A network of convolutions, written layer by layer. Weights repeat a short pattern.
class Network {
public:
  Network(int64_t height, int64_t width, int64_t channels)
      : height_(height), width_(width), channels_(channels), argument_(tensor(channels, "i8")) {
    made();
  }

  // `after`: rows and columns of padding behind the image, beyond those that keep its size.
  Network &conv(int64_t channels, int64_t kernel, int64_t stride, Padding after = {}) {
    const std::string weights = fmt::format("{}x{}x{}x{}xi8", channels, kernel, kernel, channels_);
    constant("w", weights, channels * kernel * kernel * channels_, [&](int64_t i) {
      const int64_t from = i % channels_ * groups_ / channels_,
                    to = i / (channels_ * kernel * kernel) * groups_ / channels;
      return groups_ == 0 || from != to;
    });
    constant("b", fmt::format("{}xi32", channels), channels);
    anchor("conv2d", weights, channels, kernel, stride, after);
    return *this;
  }
  // `absolute`: of its 32-bit result the absolute value is taken, before it becomes 8 bits wide.
  Network &depthwise(int64_t kernel, int64_t stride, bool absolute = false) {
    const std::string weights = fmt::format("{}x{}x{}x1xi8", kernel, kernel, channels_);
    constant("w", weights, channels_ * kernel * kernel);
    constant("b", fmt::format("{}xi32", channels_), channels_);
    anchor("depthwise_conv2d", weights, channels_, kernel, stride, {}, absolute);
    return *this;
  }
  // From here on weights of convolutions are zero but within each of so many groups; none: all.
  Network &groups(int64_t count) {
    groups_ = count;
    return *this;
  }
  // From here on sums of convolutions become 16 bits wide, and go through a table.
  Network &curved() {
    isCurved_ = true;
    std::string bytes;
    for (int64_t i = 0; i < 513; ++i) {
      const int64_t value = i < 256 ? i / 16 - 20 : i / 5 - 55;
      bytes += fmt::format("{:02X}{:02X}", value & 255, (value >> 8) & 255);
    }
    body_ += fmt::format(
        "%curve = \"tosa.const\"() {{values = dense<\"0x{}\"> : tensor<513xi16>}} : () -> "
        "tensor<513xi16>\n"
        "%z16 = \"tosa.const\"() {{values = dense<0> : tensor<1xi16>}} : () -> tensor<1xi16>\n",
        bytes);
    return *this;
  }
  Network &maxPool(int64_t kernel, int64_t stride) {
    const std::string before = tensor(channels_, "i8");
    shrink(kernel, stride, {});
    body_ += fmt::format("%v{} = tosa.max_pool2d %v{} {{kernel = array<i64: {}, {}>, pad = "
                         "array<i64: {}>, stride = array<i64: {}, {}>}} : ({}) -> {}\n",
                         value_ + 1, source_, kernel, kernel, pads(kernel, {}), stride, stride,
                         before, tensor(channels_, "i8"));
    ++value_;
    made();
    return *this;
  }
  // What follows reads an earlier value: 0 is the argument, each layer makes the next one.
  Network &from(int value) {
    source_ = value;
    const Shape &shape = shapes_[static_cast<size_t>(value)];
    height_ = shape.height, width_ = shape.width, channels_ = shape.channels;
    return *this;
  }
  // The sum of each channel's pixels; `imageZero` is taken off each.
  Network &sumOfImage() {
    std::string before = tensor(channels_, "i32"), sum = fmt::format("wide{}", value_);
    zero("zs", imageZero);
    widen("%" + sum, source_, fmt::format("%zs{}", value_), tensor(channels_, "i8"), before);
    for (int axis : {1, 2}) {
      (axis == 1 ? height_ : width_) = 1;
      const std::string next = fmt::format("sum{}_{}", axis, value_),
                        after = tensor(channels_, "i32");
      body_ += fmt::format("%{} = tosa.reduce_sum %{} {{axis = {} : i32}} : ({}) -> {}\n", next,
                           sum, axis, before, after);
      sum = next, before = after;
    }
    narrow("%" + sum, "%s36");
    return *this;
  }
  // Channels of values of one height and width, side by side.
  Network &concat(const std::vector<int> &values) {
    std::string names, types;
    channels_ = 0;
    for (int value : values) {
      const int64_t channels = shapes_[static_cast<size_t>(value)].channels;
      names += fmt::format("{}%v{}", names.empty() ? "" : ", ", value);
      types += fmt::format("{}{}", types.empty() ? "" : ", ", tensor(channels, "i8"));
      channels_ += channels;
    }
    ++value_;
    body_ += fmt::format("%v{} = tosa.concat {} {{axis = 3 : i32}} : ({}) -> {}\n", value_, names,
                         types, tensor(channels_, "i8"));
    made();
    return *this;
  }
  // Adds the argument, whose shape the value must have.
  Network &addArgument() { return add(0); }
  // The same with any earlier value.
  Network &add(int other) {
    const std::string type = tensor(channels_, "i8"), wide = tensor(channels_, "i32");
    widen(fmt::format("%vw{}", value_), source_, "%z", type, wide);
    widen(fmt::format("%xw{}", value_), other, "%z", type, wide);
    body_ += fmt::format("%sum{0} = tosa.add %vw{0}, %xw{0} : ({1}, {1}) -> {1}\n", value_, wide);
    narrow(fmt::format("%sum{}", value_), "%s31");
    return *this;
  }

  // Each pixel four times.
  Network &upsample() {
    const std::string before = tensor(channels_, "i8");
    height_ *= 2, width_ *= 2;
    body_ += fmt::format("%scale{0} = tosa.const_shape {{values = dense<[2, 1, 2, 1]> : "
                         "tensor<4xindex>}} : () -> !tosa.shape<4>\n"
                         "%offset{0} = tosa.const_shape {{values = dense<-1> : tensor<2xindex>}} : "
                         "() -> !tosa.shape<2>\n"
                         "%border{0} = tosa.const_shape {{values = dense<0> : tensor<2xindex>}} : "
                         "() -> !tosa.shape<2>\n"
                         "%v{1} = tosa.resize %v{2}, %scale{0}, %offset{0}, %border{0} {{mode = "
                         "NEAREST_NEIGHBOR}} : ({3}, !tosa.shape<4>, !tosa.shape<2>, "
                         "!tosa.shape<2>) -> {4}\n",
                         value_, value_ + 1, source_, before, tensor(channels_, "i8"));
    ++value_;
    made();
    return *this;
  }
  // Some of the channels.
  Network &slice(int64_t first, int64_t channels) {
    const std::string before = tensor(channels_, "i8");
    channels_ = channels;
    cut(fmt::format("[0, 0, 0, {}]", first), before);
    return *this;
  }
  // The first pixel.
  Network &pixel() {
    const std::string before = tensor(channels_, "i8");
    height_ = width_ = 1;
    cut("0", before);
    return *this;
  }
  // Of an image, each channel times its element of another value, which has one pixel; `imageZero`
  // and `factorZero` are taken off before.
  static constexpr int64_t imageZero = 5, factorZero = -3;
  Network &scale(int image, int factor) {
    const std::string one =
        fmt::format("tensor<1x1x1x{}x", shapes_[static_cast<size_t>(factor)].channels);
    from(image);
    zero("zi", imageZero);
    zero("zf", factorZero);
    widen(fmt::format("%i{}", value_), image, fmt::format("%zi{}", value_), tensor(channels_, "i8"),
          tensor(channels_, "i32"));
    widen(fmt::format("%f{}", value_), factor, fmt::format("%zf{}", value_), one + "i8>",
          one + "i32>");
    body_ +=
        fmt::format("%p{0} = tosa.mul %i{0}, %f{0}, %z : ({1}, {2}i32>, tensor<1xi8>) -> {1}\n",
                    value_, tensor(channels_, "i32"), one);
    narrow(fmt::format("%p{}", value_), "%s36");
    return *this;
  }

  // An earlier value becomes a result as well, behind the last one.
  Network &result(int value) {
    const Shape &shape = shapes_[static_cast<size_t>(value)];
    results_ += fmt::format(", %v{}", value);
    resultTypes_ +=
        fmt::format(", tensor<1x{}x{}x{}xi8>", shape.height, shape.width, shape.channels);
    return *this;
  }

  std::string text() const {
    return fmt::format(R"(func.func @main(%v0: {0}) -> ({1}{4}) {{
  %z = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
  %one = "tosa.const"() {{values = dense<1073741824> : tensor<1xi32>}} : () -> tensor<1xi32>
  %s30 = "tosa.const"() {{values = dense<30> : tensor<1xi8>}} : () -> tensor<1xi8>
  %s31 = "tosa.const"() {{values = dense<31> : tensor<1xi8>}} : () -> tensor<1xi8>
  %s36 = "tosa.const"() {{values = dense<36> : tensor<1xi8>}} : () -> tensor<1xi8>
{2}return %v{3}{5} : {1}{4}
}}
)",
                       argument_, tensor(channels_, "i8"), body_, value_, resultTypes_, results_);
  }

private:
  std::string tensor(int64_t channels, const char *element) const {
    return fmt::format("tensor<1x{}x{}x{}x{}>", height_, width_, channels, element);
  }
  static std::string pads(int64_t kernel, Padding after) {
    const int64_t before = kernel / 2, behind = (kernel - 1) / 2;
    return fmt::format("{}, {}, {}, {}", before, behind + after.rows, before,
                       behind + after.columns);
  }
  void shrink(int64_t kernel, int64_t stride, Padding after) {
    auto outputs = [&](int64_t inputs) { return (inputs - 1) / stride + 1; };
    height_ = outputs(height_ + after.rows), width_ = outputs(width_ + after.columns);
  }
  // A box of the source, of the shape at hand; `from`: where it begins.
  void cut(const std::string &from, const std::string &before) {
    body_ += fmt::format("%from{0} = tosa.const_shape {{values = dense<{1}> : tensor<4xindex>}} : "
                         "() -> !tosa.shape<4>\n"
                         "%size{0} = tosa.const_shape {{values = dense<[1, {2}, {3}, {4}]> : "
                         "tensor<4xindex>}} : () -> !tosa.shape<4>\n"
                         "%v{5} = tosa.slice %v{6}, %from{0}, %size{0} : ({7}, !tosa.shape<4>, "
                         "!tosa.shape<4>) -> {8}\n",
                         value_, from, height_, width_, channels_, value_ + 1, source_, before,
                         tensor(channels_, "i8"));
    ++value_;
    made();
  }
  // `name`: elements of an 8-bit value less a zero point, in 32 bits.
  void widen(const std::string &name, int value, const std::string &zero, const std::string &from,
             const std::string &to) {
    body_ += fmt::format(
        "{} = tosa.rescale %v{}, %one, %s30, {}, %z32 {{scale32 = true, rounding_mode = "
        "SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}} : "
        "({}, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> {}\n",
        name, value, zero, from, to);
  }
  void zero(const char *name, int64_t value) {
    body_ += fmt::format(
        "%{}{} = \"tosa.const\"() {{values = dense<{}> : tensor<1xi8>}} : () -> tensor<1xi8>\n",
        name, value_, value);
  }
  void constant(
      const char *name, const std::string &type, int64_t count,
      const std::function<bool(int64_t)> &isZero = [](int64_t) { return false; }) {
    std::string bytes;
    const bool wide = type.find("i32") != std::string::npos;
    for (int64_t i = 0; i < count; ++i, seed_ = seed_ * 1103515245 + 12345) {
      const auto value = isZero(i) ? int8_t(0) : static_cast<int8_t>(seed_ >> 16);
      bytes += fmt::format("{:02X}", static_cast<uint8_t>(value));
      for (int more = 0; wide && more < 3; ++more)
        bytes += value < 0 ? "FF" : "00";
    }
    body_ += fmt::format(
        "%{}{} = \"tosa.const\"() {{values = dense<\"0x{}\"> : tensor<{}>}} : () -> tensor<{}>\n",
        name, value_, bytes, type, type);
  }
  void anchor(const char *op, const std::string &weights, int64_t channels, int64_t kernel,
              int64_t stride, Padding after = {}, bool absolute = false) {
    const std::string before = tensor(channels_, "i8");
    shrink(kernel, stride, after);
    channels_ = channels;
    // TOSA wants the last tap of the last output on the last element: what is over is left off.
    body_ +=
        fmt::format("%a{0} = tosa.{1} %v{8}, %w{0}, %b{0}, %z, %z {{acc_type = i32, pad = "
                    "array<i64: {2}>, stride = array<i64: {3}, {3}>, dilation = array<i64: 1, "
                    "1>}} : ({4}, tensor<{5}>, tensor<{6}xi32>, tensor<1xi8>, tensor<1xi8>) -> "
                    "{7}\n",
                    value_, op, pads(kernel, after), stride, before, weights, channels,
                    tensor(channels_, "i32"), source_);
    if (absolute)
      body_ += fmt::format("%abs{0} = tosa.abs %a{0} : ({1}) -> {1}\n", value_,
                           tensor(channels_, "i32"));
    if (isCurved_)
      body_ += fmt::format(
          "%sixteen{0} = tosa.rescale %a{0}, %one, %s30, %z32, %z16 {{scale32 = true, "
          "rounding_mode "
          "= SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}} "
          ": ({1}, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> {2}\n"
          "%curved{0} = tosa.table %sixteen{0}, %curve : ({2}, tensor<513xi16>) -> {1}\n",
          value_, tensor(channels_, "i32"), tensor(channels_, "i16"));
    narrow(fmt::format("%{}{}", isCurved_ ? "curved" : absolute ? "abs" : "a", value_), "%s36");
  }
  void narrow(const std::string &wide, const char *shift) {
    body_ +=
        fmt::format("%v{} = tosa.rescale {}, %one, {}, %z32, %z {{scale32 = true, rounding_mode = "
                    "SINGLE_ROUND, "
                    "per_channel = false, input_unsigned = false, output_unsigned = false}} : ({}, "
                    "tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> {}\n",
                    value_ + 1, wide, shift, tensor(channels_, "i32"), tensor(channels_, "i8"));
    ++value_;
    made();
  }
  // What follows reads `value_`, of the shape at hand.
  void made() {
    shapes_.push_back({height_, width_, channels_});
    source_ = value_;
  }

  int64_t height_, width_, channels_;
  std::string argument_, body_, results_, resultTypes_;
  int64_t groups_ = 1;
  bool isCurved_ = false;
  struct Shape {
    int64_t height, width, channels;
  };
  std::vector<Shape> shapes_; // by value
  int value_ = 0, source_ = 0;
  uint32_t seed_ = 1;
};

} // namespace tilewright

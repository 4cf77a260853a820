// Runs conversions of element types at the edge of their ranges (host-kernels-test).
#include "run_node.h"

#include <cmath>
#include <gmock/gmock.h>

namespace tilewright::host {

using testing::ElementsAre;
using testing::HasSubstr;

static std::vector<double> cast(const ConstantTensor &x, DType type, Attributes attributes = {}) {
  attributes["to"] = onnx::dataTypeOf(type);
  return valuesOf(*runNode("Cast", {x}, std::move(attributes), 24)[0]);
}

TEST(Cast, IntegersKeepTheirLowBits) {
  EXPECT_THAT(cast(tensorOf(DType::I16, {2}, {200, -129}), DType::I8), ElementsAre(-56, 127));
  EXPECT_THAT(cast(tensorOf(DType::I32, {2}, {15, 16}), DType::U4), ElementsAre(15, 0));
  EXPECT_THAT(cast(tensorOf(DType::I32, {2}, {7, 8}), DType::I4), ElementsAre(7, -8));
}

TEST(Cast, FloatsAreCutTowardsZeroAndBoolIsNotZero) {
  EXPECT_THAT(cast(floats({3}, {-1.9, 1.9, 0}), DType::I32), ElementsAre(-1, 1, 0));
  EXPECT_THAT(cast(floats({3}, {0.1, -0.0, NAN}), DType::Bool), ElementsAre(1, 0, 1));
}

TEST(Cast, HalfOverflowsToInfinity) {
  EXPECT_THAT(cast(floats({2}, {65519, 65520}), DType::F16), ElementsAre(65504, INFINITY));
}

TEST(Cast, EightBitsSaturateUnlessTold) {
  const ConstantTensor x = floats({3}, {1e9, -INFINITY, 17});
  EXPECT_THAT(cast(x, DType::F8E4M3FN), ElementsAre(448, -448, 16));
  EXPECT_THAT(cast(x, DType::F8E5M2), ElementsAre(57344, -57344, 16));
  EXPECT_THAT(cast(x, DType::F8E5M2, {{"saturate", int64_t(0)}}),
              ElementsAre(INFINITY, -INFINITY, 16));
  EXPECT_TRUE(std::isnan(cast(x, DType::F8E4M3FN, {{"saturate", int64_t(0)}})[0]));
}

TEST(Cast, ExponentsRoundAsTold) {
  const ConstantTensor x = floats({4}, {1, 1.25, 1.5, 1.75});
  const auto rounded = [&](const char *mode) {
    return cast(x, DType::F8E8M0, {{"round_mode", std::string(mode)}});
  };
  EXPECT_THAT(rounded("up"), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(rounded("down"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(rounded("nearest"), ElementsAre(1, 1, 2, 2));
}

TEST(Cast, BitsNeedTheSameWidth) {
  const Attributes to = {{"to", onnx::dataTypeOf(DType::I32)}};
  EXPECT_THAT(valuesOf(*runNode("BitCast", {floats({1}, {1})}, to, 26)[0]),
              ElementsAre(0x3f800000));
  EXPECT_THAT(errorOf("BitCast", {tensorOf(DType::F16, {1}, {1})}, to, 26),
              HasSubstr("float16 and int32 differ in width"));
}

TEST(Cast, TypesThatAreNoNumbersAreRefused) {
  EXPECT_THAT(errorOf("Cast", {floats({1}, {1})}, {{"to", int64_t(8)}}),
              HasSubstr("attribute 'to' is no type of numbers"));
}

TEST(Cast, ManyHalvesAreTheSameAsOne) {
  Tensor codes = makeTensor(DType::F16, {65536});
  for (int code = 0; code < 65536; ++code)
    codes.data<uint16_t>()[code] = static_cast<uint16_t>(code);
  for (DType type : {DType::F16, DType::BF16}) {
    codes.dtype = type;
    const Tensor wide = castTensor(codes, DType::F32);
    Tensor between = wide; // numbers in the middle of two neighbors, and close to it
    for (int code = 0; code < 65536; ++code) {
      const float value = floatAt(codes, code), next = floatAt(codes, code ^ 1);
      ASSERT_TRUE(wide.data<float>()[code] == value || std::isnan(value)) << code;
      between.data<float>()[code] = value + (next - value) * (code % 3 ? 0.5f : 0.50001f);
    }
    const Tensor narrow = castTensor(between, type);
    Tensor single = makeTensor(type, {1});
    for (int code = 0; code < 65536; ++code) {
      setFloat(single, 0, between.data<float>()[code]);
      ASSERT_EQ(narrow.data<uint16_t>()[code], single.data<uint16_t>()[0]) << code;
    }
  }
}

} // namespace tilewright::host

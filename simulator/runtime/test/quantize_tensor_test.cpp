// Floats to integers and back at the border of a program.
#include "tilewright/simulator/runtime/session.h"

#include "tilewright/support/error.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

TensorInfo info(DType type, double scale, int64_t zeroPoint) {
  TensorInfo info;
  info.name = "x";
  info.dtype = type;
  info.scale = scale;
  info.zeroPoint = zeroPoint;
  return info;
}

Tensor floats(const std::vector<float> &values) {
  Tensor tensor = makeTensor(DType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

template <typename T> std::vector<T> values(const Tensor &tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

TEST(QuantizeTensor, RoundsHalfToEven) {
  Tensor result =
      quantizeTensor(floats({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.49f}), info(DType::I8, 1, 0));
  EXPECT_EQ(values<int8_t>(result), (std::vector<int8_t>{0, 2, 2, 0, -2, 0}));
}

TEST(QuantizeTensor, RoundsHalfToEvenInEveryRoundingMode) {
  std::fesetround(FE_UPWARD);
  Tensor result = quantizeTensor(floats({0.25f, 0.75f}), info(DType::I8, 0.5, 0));
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(values<int8_t>(result), (std::vector<int8_t>{0, 2}));
}

TEST(QuantizeTensor, AddsTheZeroPointAndClamps) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tensor result =
      quantizeTensor(floats({0, 1, 1000, -1000, infinity, -infinity}), info(DType::I8, 0.5, 3));
  EXPECT_EQ(values<int8_t>(result), (std::vector<int8_t>{3, 5, 127, -128, 127, -128}));
}

TEST(QuantizeTensor, ReadsHalfAndDouble) {
  Tensor half = makeTensor(DType::F16, {4});
  // 1.5, -2, the least subnormal, infinity
  const uint16_t bits[] = {0x3e00, 0xc000, 0x0001, 0x7c00};
  std::copy(bits, bits + 4, half.data<uint16_t>());
  EXPECT_EQ(values<int16_t>(quantizeTensor(half, info(DType::I16, 0.5, 0))),
            (std::vector<int16_t>{3, -4, 0, 32767}));
  Tensor real = makeTensor(DType::F64, {1});
  real.data<double>()[0] = 3e9;
  EXPECT_EQ(values<int32_t>(quantizeTensor(real, info(DType::I32, 1, 0))),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::max()}));
}

TEST(QuantizeTensor, RefusesNaN) {
  try {
    quantizeTensor(floats({1, std::nanf("")}), info(DType::I8, 1, 0));
    FAIL() << "NaN was quantized";
  } catch (const UserError &error) {
    EXPECT_EQ(error.diagnostic(), "input 'x': error: element 1 is not a number");
  }
}

TEST(QuantizeTensor, DequantizesToFloat) {
  Tensor integers = makeTensor(DType::U8, {3});
  const uint8_t bytes[] = {0, 128, 255};
  std::copy(bytes, bytes + 3, integers.data<uint8_t>());
  EXPECT_EQ(values<float>(dequantizeTensor(integers, info(DType::U8, 0.25, 128))),
            (std::vector<float>{-32, 0, 31.75}));
}

} // namespace
} // namespace tilewright

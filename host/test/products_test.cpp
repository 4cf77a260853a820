// Convolutions, products, pools and what reads between elements: older operator sets, errors, and
// sizes at which blocks end.
#include "run_node.h"

#include <cmath>

namespace tilewright::host {

using Ints = std::vector<int64_t>;
using Values = std::vector<double>;

static Values counted(int64_t count) {
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i * 7 % 11 - 5));
  return values;
}

TEST(Products, MatMulIsTheSumOfProducts) {
  using Sizes = std::array<int64_t, 3>;
  // Blocks end within these sizes in all ways.
  for (auto [m, k, n] : {Sizes{1, 1, 1}, {5, 300, 17}, {4, 256, 16}, {150, 3, 2}, {3, 2, 150}}) {
    const Values a = counted(m * k), b = counted(k * n);
    for (DType type : {DType::F32, DType::F64, DType::I32}) {
      const Values y =
          valuesOf(*runNode("MatMul", {tensorOf(type, {m, k}, a), tensorOf(type, {k, n}, b)})[0]);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p)
            sum += a[i * k + p] * b[p * n + j];
          ASSERT_EQ(y[i * n + j], sum);
        }
    }
  }
}

TEST(Products, MatMulOverNothingIsZero) {
  EXPECT_EQ(valuesOf(*runNode("MatMul", {floats({1, 0}, {}), floats({0, 2}, {})})[0]),
            (Values{0, 0}));
}

TEST(Products, MatMulOfShapesThatDoNotFitFails) {
  EXPECT_NE(errorOf("MatMul", {floats({1, 2}, {}), floats({3, 2}, {})}).find("do not fit"),
            std::string::npos);
}

// Tiles of windows end within the image.
TEST(Products, ConvIsTheSumOverWindows) {
  const int64_t size = 37, channels = 3;
  const Values x = counted(channels * size * size), w = counted(2 * channels * 9);
  const auto y =
      runNode("Conv", {floats({1, channels, size, size}, x), floats({2, channels, 3, 3}, w)},
              {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}})[0];
  ASSERT_EQ(y->shape, (Shape{1, 2, 19, 35}));
  for (int64_t f = 0; f < 2; ++f)
    for (int64_t i = 0; i < 19; ++i)
      for (int64_t j = 0; j < 35; ++j) {
        double sum = 0;
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t t = 0; t < 9; ++t) {
            const int64_t row = i * 2 - 1 + t / 3, column = j - 1 + t % 3 * 2;
            if (row >= 0 && row < size && column >= 0 && column < size)
              sum += x[(c * size + row) * size + column] * w[(f * channels + c) * 9 + t];
          }
        ASSERT_EQ(floatAt(*y, (f * 19 + i) * 35 + j), sum);
      }
}

TEST(Products, ConvWithAKernelBeyondItsImageIsEmpty) {
  EXPECT_EQ(runNode("Conv", {floats({1, 1, 2}, {1, 2}), floats({1, 1, 3}, {1, 1, 1})})[0]->shape,
            (Shape{1, 1, 0}));
}

TEST(Products, ConvWithAStrideOfZeroFails) {
  EXPECT_NE(
      errorOf("Conv", {floats({1, 1, 2}, {1, 2}), floats({1, 1, 1}, {1})}, {{"strides", Ints{0}}})
          .find("strides has the number 0"),
      std::string::npos);
}

TEST(Products, ConvTransposeOfAHugeResultFails) {
  EXPECT_NE(errorOf("ConvTranspose", {floats({1, 1, 2, 2}, counted(4)), floats({1, 1, 1, 1}, {1})},
                    {{"strides", Ints{1 << 30, 1 << 30}}})
                .find("larger than"),
            std::string::npos);
}

TEST(Products, MaxPoolOfIntegersHasNoInfinity) {
  const auto y = runNode("MaxPool", {tensorOf(DType::I8, {1, 1, 2}, {-128, -127})},
                         {{"kernel_shape", Ints{2}}});
  EXPECT_EQ(valuesOf(*y[0]), (Values{-127}));
}

TEST(Products, UpsampleTakesItsScalesFromAnAttributeInOldOperatorSets) {
  const auto y =
      runNode("Upsample", {floats({2}, {1, 2})}, {{"scales", std::vector<float>{2}}}, 7)[0];
  EXPECT_EQ(valuesOf(*y), (Values{1, 1, 2, 2}));
}

TEST(Products, ResizeOfOperatorSet10InterpolatesFromTheFirstElement) {
  const auto y = runNode("Resize", {floats({2}, {0, 2}), floats({1}, {2})},
                         {{"mode", std::string("linear")}}, 10)[0];
  EXPECT_EQ(valuesOf(*y), (Values{0, 1, 2, 2}));
}

TEST(Products, ResizeSaturatesNarrowIntegers) {
  const auto y =
      runNode("Resize", {tensorOf(DType::U8, {4}, {0, 255, 255, 0}), nullptr, floats({1}, {2})},
              {{"mode", std::string("cubic")}})[0];
  EXPECT_EQ(floatAt(*y, 4), 255);
  EXPECT_EQ(floatAt(*y, 0), 0);
}

TEST(Products, ResizeByNoScaleFails) {
  EXPECT_NE(errorOf("Resize", {floats({2}, {0, 2}), nullptr, floats({1}, {std::nan("")})})
                .find("scaled by nan"),
            std::string::npos);
}

TEST(Products, GridSampleReadsWhereNoNumberPointsAsOutside) {
  const auto y = runNode("GridSample", {floats({1, 1, 2, 2}, {1, 2, 3, 4}),
                                        floats({1, 1, 1, 2}, {std::nan(""), 1e30})})[0];
  EXPECT_EQ(valuesOf(*y), (Values{0}));
}

TEST(Products, EinsumSumsOverDimensionsThatTheResultLacks) {
  const auto y =
      runNode("Einsum", {floats({2, 2}, {1, 2, 3, 4})}, {{"equation", std::string("ii")}})[0];
  EXPECT_EQ(valuesOf(*y), (Values{5}));
}

TEST(Products, LstmLeavesWhatFollowsAShortSequenceZero) {
  const auto y = runNode("LSTM",
                         {floats({2, 1, 1}, {1, 1}), floats({1, 4, 1}, {1, 1, 1, 1}),
                          floats({1, 4, 1}, {0, 0, 0, 0}), nullptr, tensorOf(DType::I32, {1}, {1})},
                         {{"hidden_size", int64_t(1)}}, 21, 3);
  EXPECT_GT(floatAt(*y[0], 0), 0);
  EXPECT_EQ(floatAt(*y[0], 1), 0);
  EXPECT_EQ(floatAt(*y[1], 0), floatAt(*y[0], 0));
}

TEST(Products, DftOfAPrimeLengthFindsItsFrequency) {
  Values wave;
  for (int i = 0; i < 7; ++i)
    wave.push_back(std::cos(2 * 3.14159265358979 * 2 * i / 7));
  const auto y = runNode("DFT", {tensorOf(DType::F64, {1, 7, 1}, wave)})[0];
  EXPECT_NEAR(floatAt(*y, 2 * 2), 3.5, 1e-9);
  EXPECT_NEAR(floatAt(*y, 3 * 2), 0, 1e-9);
}

} // namespace tilewright::host

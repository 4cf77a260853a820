// Element-wise operators, in runs of vectors.
#include "float_fixture.h"

#include <cmath>

namespace tilewright {

namespace {

// 2100 elements are two runs of 1024 and one that overlaps the second.
TEST_F(FloatExecution, RunsElementwiseOperatorsToTheLastElement) {
  constexpr int count = 2100;
  std::vector<float> x(count), y(count), expected(count);
  for (int i = 0; i < count; ++i) {
    x[i] = float(i);
    y[i] = float(i % 7);
    expected[i] = x[i] - y[i];
  }
  auto executable = compile(R"(
    func.func @main(%x: tensor<3x700xf32>, %y: tensor<3x700xf32>) -> tensor<3x700xf32> {
      %d = tosa.sub %x, %y : (tensor<3x700xf32>, tensor<3x700xf32>) -> tensor<3x700xf32>
      return %d : tensor<3x700xf32>
    })");
  EXPECT_EQ(floats(executable->run({tensor({3, 700}, x), tensor({3, 700}, y)})[0]), expected);
}

TEST_F(FloatExecution, RunsElementwiseOperatorsWithOneRowForAll) {
  constexpr int rows = 5, channels = 45;
  std::vector<float> x(rows * channels), factors(channels), expected(x.size());
  for (int c = 0; c < channels; ++c)
    factors[c] = float(c + 1);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = float(i) + 0.5f;
    expected[i] = factors[i % channels] - x[i];
  }
  auto executable = compile(R"(
    func.func @main(%x: tensor<1x5x45xf32>, %f: tensor<1x1x45xf32>) -> tensor<1x5x45xf32> {
      %d = tosa.sub %f, %x : (tensor<1x1x45xf32>, tensor<1x5x45xf32>) -> tensor<1x5x45xf32>
      return %d : tensor<1x5x45xf32>
    })");
  EXPECT_EQ(floats(executable->run({tensor({1, 5, 45}, x), tensor({1, 1, 45}, factors)})[0]),
            expected);
}

// Steps of 4, 1 and 2 bytes from one run to the next.
TEST_F(FloatExecution, RunsElementwiseOperatorsOnTypesOfSeveralWidths) {
  constexpr int count = 1500;
  std::vector<float> x(count);
  for (int i = 0; i < count; ++i)
    x[i] = float(i * 37 % 101 - 50);
  auto executable = compile(R"(
    func.func @main(%x: tensor<2x750xf32>) -> tensor<2x750xi16> {
      %zero = "tosa.const"() {values = dense<0.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
      %a = "tosa.const"() {values = dense<7> : tensor<1x1xi16>} : () -> tensor<1x1xi16>
      %p = tosa.greater %x, %zero : (tensor<2x750xf32>, tensor<1x1xf32>) -> tensor<2x750xi1>
      %i = tosa.cast %x : (tensor<2x750xf32>) -> tensor<2x750xi16>
      %y = tosa.select %p, %i, %a : (tensor<2x750xi1>, tensor<2x750xi16>, tensor<1x1xi16>) -> tensor<2x750xi16>
      return %y : tensor<2x750xi16>
    })");
  Tensor result = executable->run({tensor({2, 750}, x)})[0];
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(result.data<int16_t>()[i], x[i] > 0 ? int(x[i]) : 7) << i;
}

} // namespace

} // namespace tilewright

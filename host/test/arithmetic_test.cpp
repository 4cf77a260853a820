// Runs element-wise operators on numbers at the edge of their types (host-kernels-test).
#include "run_node.h"

#include <cmath>
#include <gmock/gmock.h>

namespace tilewright::host {

using testing::ElementsAre;
using testing::HasSubstr;

static std::vector<double> valuesFrom(const std::string &op, Inputs inputs,
                                      Attributes attributes = {}, int64_t opset = 21) {
  return valuesOf(*runNode(op, std::move(inputs), std::move(attributes), opset)[0]);
}

TEST(Arithmetic, IntegersWrap) {
  EXPECT_THAT(
      valuesFrom("Add", {tensorOf(DType::I8, {2}, {127, -128}), tensorOf(DType::I8, {}, {1})}),
      ElementsAre(-128, -127));
  EXPECT_THAT(
      valuesFrom("Mul", {tensorOf(DType::U16, {1}, {65535}), tensorOf(DType::U16, {1}, {2})}),
      ElementsAre(65534));
  EXPECT_THAT(valuesFrom("Abs", {tensorOf(DType::I32, {1}, {-2147483648.0})}),
              ElementsAre(-2147483648.0));
}

TEST(Arithmetic, QuotientsOfTheLeastIntegerWrap) {
  EXPECT_THAT(valuesFrom("Div", {tensorOf(DType::I32, {2}, {-2147483648.0, -7}),
                                 tensorOf(DType::I32, {2}, {-1, 2})}),
              ElementsAre(-2147483648.0, -3));
  EXPECT_THAT(valuesFrom("Mod", {tensorOf(DType::I64, {1}, {5}), tensorOf(DType::I64, {1}, {-1})}),
              ElementsAre(0));
}

TEST(Arithmetic, IntegersHaveNoQuotientByZero) {
  for (const std::string op : {"Div", "Mod"})
    EXPECT_THAT(errorOf(op, {tensorOf(DType::I32, {2}, {7, 7}), tensorOf(DType::I32, {2}, {1, 0})}),
                HasSubstr("division by zero"));
}

TEST(Arithmetic, ModHasTheSignOfTheDivisorOrAsCHasIt) {
  const Inputs inputs = {tensorOf(DType::I32, {2}, {-7, 7}), tensorOf(DType::I32, {2}, {3, -3})};
  EXPECT_THAT(valuesFrom("Mod", inputs), ElementsAre(2, -2));
  EXPECT_THAT(valuesFrom("Mod", inputs, {{"fmod", int64_t(1)}}), ElementsAre(-1, 1));
}

TEST(Arithmetic, PowerHasTheTypeOfItsBase) {
  const ConstantTensor base = tensorOf(DType::I32, {3}, {2, -1, 3});
  EXPECT_THAT(valuesFrom("Pow", {base, tensorOf(DType::I32, {3}, {-1, -3, 4})}),
              ElementsAre(0, -1, 81));
  const ConstantTensor power = runNode("Pow", {base, floats({}, {0.5})})[0];
  EXPECT_EQ(power->dtype, DType::I32);
  EXPECT_EQ(valuesOf(*power)[0], 1);
}

TEST(Arithmetic, ShiftsBeyondTheWidthGiveZero) {
  EXPECT_THAT(
      valuesFrom("BitShift",
                 {tensorOf(DType::U8, {3}, {1, 1, 255}), tensorOf(DType::U8, {3}, {7, 8, 200})},
                 {{"direction", std::string("LEFT")}}),
      ElementsAre(128, 0, 0));
}

TEST(Arithmetic, WhatIsNoNumberStaysSo) {
  for (const char *op : {"Min", "Max"}) {
    const auto values = valuesFrom(op, {floats({2}, {NAN, 1}), floats({2}, {1, NAN})});
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1])) << op;
  }
}

TEST(Arithmetic, HalfIsRoundedOnce) {
  // 2048 + 1 + 1 is 2050 in float16, in which 2048 + 1 is 2048.
  const ConstantTensor one = tensorOf(DType::F16, {}, {1});
  EXPECT_THAT(valuesFrom("Sum", {tensorOf(DType::F16, {}, {2048}), one, one}), ElementsAre(2050));
}

TEST(Arithmetic, EmptyTensorsStayEmpty) {
  EXPECT_EQ(runNode("Add", {floats({0, 3}, {}), floats({1}, {1})})[0]->shape, (Shape{0, 3}));
}

TEST(Arithmetic, ShapesThatDoNotFitAreRefused) {
  EXPECT_THAT(errorOf("Add", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}),
              HasSubstr("the shapes 2 and 3 do not fit each other"));
}

TEST(Clip, TakesBoundsAsAttributesAndAsInputs) {
  const ConstantTensor x = floats({3}, {-5, 0, 5});
  EXPECT_THAT(valuesFrom("Clip", {x}, {{"min", -1.0f}, {"max", 2.0f}}, 6), ElementsAre(-1, 0, 2));
  EXPECT_THAT(valuesFrom("Clip", {x, nullptr, floats({}, {2})}), ElementsAre(-5, 0, 2));
  EXPECT_THAT(errorOf("Clip", {x, floats({2}, {1, 2})}), HasSubstr("should be one number"));
}

TEST(Constant, RangeNeedsAStepAndFitsIntoMemory) {
  const auto range = [](double start, double limit, double step) {
    return errorOf("Range", {floats({}, {start}), floats({}, {limit}), floats({}, {step})});
  };
  EXPECT_THAT(range(0, 1, 0), HasSubstr("its step, 'delta', is 0"));
  EXPECT_THAT(range(0, 1e30, 1), HasSubstr("numbers arises"));
  EXPECT_THAT(range(0, 1, NAN), HasSubstr("numbers arises"));
}

TEST(Constant, ShapesOfConstantsAreBounded) {
  EXPECT_THAT(errorOf("ConstantOfShape", {list({1e9, 1e9})}), HasSubstr("is larger than"));
  EXPECT_THAT(errorOf("ConstantOfShape", {list({-1})}), HasSubstr("a dimension of -1 arises"));
}

} // namespace tilewright::host

// Runs operators on quantized numbers, those of com.microsoft too (host-kernels-test).
#include "run_node.h"

#include <cmath>
#include <gmock/gmock.h>

namespace tilewright::host {

using testing::ElementsAre;
using testing::HasSubstr;

static ConstantTensor bytes(Shape shape, const std::vector<double> &values) {
  return tensorOf(DType::U8, std::move(shape), values);
}

static std::vector<double> runMicrosoft(const std::string &op, Inputs inputs,
                                        Attributes attributes = {}) {
  onnx::Node node;
  node.name = "n";
  node.op = op;
  node.domain = "com.microsoft";
  for (const ConstantTensor &input : inputs)
    node.inputs.push_back(input ? "x" : "");
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  return valuesOf(*run(node, 21, SourceLocation{"m.onnx", 0, 0, ""}, std::move(inputs))[0]);
}

TEST(QuantizeLinear, RoundsHalfToEvenAndSaturates) {
  EXPECT_THAT(valuesOf(*runNode("QuantizeLinear",
                                {floats({5}, {0.5, 1.5, 300, -1, NAN}), floats({}, {1})})[0]),
              ElementsAre(0, 2, 255, 0, 0));
}

TEST(QuantizeLinear, BlocksHaveScalesOfTheirOwn) {
  const Attributes blocks = {{"axis", int64_t(0)}, {"block_size", int64_t(2)}};
  const Inputs inputs = {tensorOf(DType::I8, {3}, {2, 4, 6}), floats({2}, {1, 0.5})};
  EXPECT_THAT(valuesOf(*runNode("DequantizeLinear", inputs, blocks)[0]), ElementsAre(2, 4, 3));
  EXPECT_THAT(errorOf("DequantizeLinear", {inputs[0], floats({3}, {1, 1, 1})}, blocks),
              HasSubstr("its scale has the shape 3, and should have 2"));
}

TEST(QuantizeLinear, AxesAndTypesAreChecked) {
  const ConstantTensor x = floats({2}, {1, 2}), scale = floats({2}, {1, 1});
  EXPECT_THAT(errorOf("QuantizeLinear", {x, scale}, {{"axis", int64_t(1)}}),
              HasSubstr("axis 1 is outside"));
  EXPECT_THAT(errorOf("QuantizeLinear", {x, scale, bytes({2}, {0, 0})},
                      {{"axis", int64_t(0)}, {"output_dtype", int64_t(3)}}),
              HasSubstr("another type than its output"));
}

TEST(DynamicQuantizeLinear, AllZerosHaveAScale) {
  const auto results = runNode("DynamicQuantizeLinear", {floats({2}, {0, 0})}, {}, 11, 3);
  EXPECT_THAT(valuesOf(*results[0]), ElementsAre(0, 0));
  EXPECT_GT(valuesOf(*results[1])[0], 0);
}

TEST(MatMulInteger, ZeroPointsAreOfRowsAndColumns) {
  EXPECT_THAT(valuesOf(*runNode("MatMulInteger", {bytes({2, 1}, {3, 5}), bytes({1, 2}, {7, 9}),
                                                  bytes({2}, {1, 2}), bytes({2}, {0, 1})})[0]),
              ElementsAre(14, 16, 21, 24));
}

TEST(Microsoft, SumsOfQuantizedNumbersSaturate) {
  const ConstantTensor half = floats({}, {0.5}), zero = bytes({}, {0});
  EXPECT_THAT(runMicrosoft("QLinearAdd", {bytes({2}, {10, 255}), half, zero, bytes({1}, {4}), half,
                                          bytes({}, {2}), floats({}, {0.5}), zero}),
              ElementsAre(12, 255));
}

TEST(Microsoft, WeightsOfFourBitsStandLowFirst) {
  // Codes 9, 7, 8, 10 around the zero point 8: 1, -1, 0, 2.
  const Attributes attributes = {{"K", int64_t(4)}, {"N", int64_t(1)}, {"block_size", int64_t(4)}};
  EXPECT_THAT(runMicrosoft("MatMulNBits",
                           {floats({1, 4}, {1, 2, 3, 4}), bytes({1, 1, 2}, {0x79, 0xa8}),
                            floats({1}, {0.5})},
                           attributes),
              ElementsAre(3.5));
  EXPECT_THROW(runMicrosoft("MatMulNBits",
                            {floats({1, 4}, {1, 2, 3, 4}), bytes({1, 1, 1}, {1}), floats({1}, {1})},
                            attributes),
               UserError);
}

TEST(Microsoft, AttributesOfAnotherKindAreRefused) {
  EXPECT_THROW(runMicrosoft("MatMulNBits", {floats({1, 4}, {1, 2, 3, 4})}, {{"K", 4.0f}}),
               UserError);
}

} // namespace tilewright::host

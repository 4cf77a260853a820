// What a model from elsewhere may ask for: numbers and shapes at which arithmetic overflows, time
// and memory without bounds. Each ends in an error or a value.
#include "run_node.h"

#include <gmock/gmock.h>
#include <limits>

namespace tilewright::host {

using Ints = std::vector<int64_t>;
using testing::Each;
using testing::HasSubstr;

constexpr int64_t most = std::numeric_limits<int64_t>::max();

static ConstantTensor integers(const Ints &values) {
  Tensor tensor = makeTensor(DType::I64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<int64_t>());
  return std::make_shared<const Tensor>(std::move(tensor));
}

TEST(Untrusted, ShapesWithoutElementsAreLimited) {
  const std::string tooLarge = "larger than";
  EXPECT_THAT(errorOf("ConstantOfShape", {integers({0, most, most})}), HasSubstr(tooLarge));
  EXPECT_THAT(errorOf("Reshape", {floats({0, 3}, {}), integers({0, most, most})},
                      {{"allowzero", int64_t(1)}}),
              HasSubstr(tooLarge));
  EXPECT_THAT(errorOf("OneHot", {list({}), integers({most}), list({0, 1})}), HasSubstr(tooLarge));
}

TEST(Untrusted, RanksAreLimited) {
  const ConstantTensor ones = integers(Ints(100000, 1));
  for (const char *op : {"Reshape", "Expand", "Unsqueeze"})
    EXPECT_THAT(errorOf(op, {floats({1}, {1}), ones}), HasSubstr("dimensions")) << op;
}

TEST(Untrusted, AnEmptyOptionalIsNoList) {
  onnx::Model model;
  model.opset = 21;
  model.outputs = {{"y", "float32", DType::F32, std::nullopt}};
  model.initializers["x"] = floats({1}, {1});
  model.nodes = {{"none", "Optional", "", {}, {"list"}, {}}, {}};
  const std::vector<std::pair<const char *, std::vector<std::string>>> nodes = {
      {"Slice", {"x", "list", "list"}},
      {"Pad", {"x", "list"}},
      {"Reshape", {"x", "list"}},
      {"Unsqueeze", {"x", "list"}}};
  for (const auto &[op, inputs] : nodes) {
    model.nodes[1] = {"n", op, "", inputs, {"y"}, {}};
    EXPECT_THROW(runValues(model, "model.onnx", {}), UserError) << op;
  }
}

TEST(Untrusted, SumsOfAttributesDoNotOverflow) {
  EXPECT_NE(errorOf("ReverseSequence", {floats({2, 2}, {1, 2, 3, 4}), list({1, 1})},
                    {{"time_axis", most}, {"batch_axis", most}}),
            "none");
  EXPECT_NE(errorOf("ConvTranspose", {floats({1, 1, 2}, {1, 2}), floats({1, 1, 1}, {1})},
                    {{"output_shape", Ints{-most - 1}}}),
            "none");
  EXPECT_NE(errorOf("TfIdfVectorizer", {list({1})},
                    {{"mode", std::string("TF")},
                     {"pool_int64s", Ints{1}},
                     {"ngram_counts", Ints{0}},
                     {"ngram_indexes", Ints{most}}}),
            "none");
  EXPECT_NE(errorOf("DeformConv",
                    {floats({1, 0, 2, 2}, {}), floats({0, 0, 1, 1}, {}),
                     floats({1, 2, 2, 2}, std::vector<double>(8))},
                    {{"offset_group", most}}),
            "none");
}

TEST(Untrusted, LargePaddedWindowsAreCounted) {
  const int64_t large = int64_t(1) << 30, half = large / 2;
  const auto y = runNode("AveragePool", {floats({1, 1, 1, 1, 1}, {1})},
                         {{"kernel_shape", Ints{large, large, large}},
                          {"pads", Ints{half, half, half, half, half, half}},
                          {"count_include_pad", int64_t(1)}})[0];
  EXPECT_THAT(valuesOf(*y), Each(testing::Lt(1e-25)));
}

TEST(Untrusted, WhatIsNoNumberBecomesSomeInteger) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  runNode("DynamicQuantizeLinear", {floats({2}, {-infinity, infinity})}, {}, 21, 3);
  runNode("Gemm", {tensorOf(DType::I64, {1, 1}, {1e18}), tensorOf(DType::I64, {1, 1}, {1})},
          {{"alpha", 1e30F}});
  runNode("MaxRoiPool", {floats({1, 1, 2, 2}, {1, 2, 3, 4}), floats({1, 5}, {0, nan, nan, 1, 1})},
          {{"pooled_shape", Ints{1, 1}}});
  // All weights of the last element lie outside.
  runNode("Resize", {tensorOf(DType::I32, {4}, {1, 2, 3, 4}), nullptr, nullptr, list({2})},
          {{"mode", std::string("linear")},
           {"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")},
           {"exclude_outside", int64_t(1)}});
}

TEST(Untrusted, StepsAndPartsAreLimited) {
  EXPECT_THAT(errorOf("DFT", {floats({1, 1, 1}, {1}), integers({67108859}), nullptr}),
              HasSubstr("prime factor"));
  const ConstantTensor many = std::make_shared<const Tensor>(makeTensor(DType::U8, {1 << 25}));
  EXPECT_THAT(errorOf("SplitToSequence", {many}), HasSubstr("too many"));
  EXPECT_THAT(errorOf("Resize", {tensorOf(DType::U8, {1}, {1}), nullptr, nullptr,
                                 integers({int64_t(1) << 30})}),
              HasSubstr("is resized to"));
  EXPECT_THAT(errorOf("Pad", {tensorOf(DType::U8, {1}, {1}), integers({0, int64_t(1) << 29})}),
              HasSubstr("a dimension of"));
  EXPECT_NE(errorOf("RoiAlign", {floats({1, 0, 1, 1}, {}), floats({1, 4}, {0, 0, 1, 1}), list({0})},
                    {{"output_height", int64_t(1) << 20}, {"output_width", int64_t(1) << 20}}),
            "");
  EXPECT_THAT(errorOf("Einsum",
                      {floats({0}, {}), floats({1 << 16, 0}, {}), floats({1 << 16, 0}, {}),
                       floats({1 << 16, 0}, {}), floats({1 << 16, 0}, {})},
                      {{"equation", std::string("z,az,bz,cz,dz->")}}),
              HasSubstr("products"));
}

TEST(Untrusted, LoopsEnd) {
  onnx::Graph body;
  body.inputs = {{"i", "int64", DType::I64, std::nullopt},
                 {"on", "bool", DType::Bool, std::nullopt}};
  body.outputs = {{"on", "bool", DType::Bool, std::nullopt}};
  onnx::Model model;
  model.opset = 21;
  model.outputs = {{"n", "int64", DType::I64, std::nullopt}};
  model.initializers["n"] = integers({most});
  model.nodes = {
      {"loop", "Loop", "", {"n", ""}, {}, {{"body", std::make_shared<const onnx::Graph>(body)}}}};
  try {
    runValues(model, "model.onnx", {});
    FAIL();
  } catch (const UserError &error) {
    EXPECT_THAT(error.what(), HasSubstr("bodies ran"));
  }
}

TEST(Untrusted, TensorsWithoutElementsHaveNoMemory) {
  const ConstantTensor none = floats({1, 1, 0, 2}, {}), one = floats({1, 1, 1, 2}, {1, 2});
  const auto y = runNode("Attention", {one, one, one, nullptr, none, none}, {}, 23, 3);
  EXPECT_EQ(y[1]->shape, (Shape{1, 1, 1, 2}));
  EXPECT_EQ(
      runNode("Concat", {floats({0, 1}, {}), floats({0, 2}, {})}, {{"axis", int64_t(1)}})[0]->shape,
      (Shape{0, 3}));
  EXPECT_EQ(runNode("MatMul", {floats({2, 0}, {}), floats({0, 200}, {})})[0]->shape,
            (Shape{2, 200}));
  EXPECT_EQ(runNode("GRU", {floats({1, 0, 2}, {}), floats({1, 6, 2}, std::vector<double>(12)),
                            floats({1, 6, 2}, std::vector<double>(12))})[0]
                ->shape,
            (Shape{1, 1, 0, 2}));
}

} // namespace tilewright::host

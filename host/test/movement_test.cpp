// Operators that move elements: older operator sets, errors and empty tensors.
#include "run_node.h"

namespace tilewright::host {

using Ints = std::vector<int64_t>;
using Values = std::vector<double>;

static const ConstantTensor three = list({1, 2, 3});

TEST(Movement, SliceTakesItsBoundsFromAttributesInOldOperatorSets) {
  const auto y = runNode("Slice", {three}, {{"starts", Ints{-2}}, {"ends", Ints{100}}}, 9)[0];
  EXPECT_EQ(valuesOf(*y), (Values{2, 3}));
}

TEST(Movement, SliceRunsBackwardsOverTheWholeDimension) {
  const double end = -9e18;
  const auto y = runNode("Slice", {three, list({-1}), list({end}), list({0}), list({-2})})[0];
  EXPECT_EQ(valuesOf(*y), (Values{3, 1}));
}

TEST(Movement, SliceWithoutAStepFails) {
  EXPECT_NE(
      errorOf("Slice", {three, list({0}), list({1}), list({0}), list({0})}).find("a step is 0"),
      std::string::npos);
}

TEST(Movement, SplitLeavesTheLastPartSmaller) {
  const auto parts = runNode("Split", {three}, {{"num_outputs", int64_t(2)}}, 18, 2);
  EXPECT_EQ(valuesOf(*parts[0]), (Values{1, 2}));
  EXPECT_EQ(valuesOf(*parts[1]), (Values{3}));
}

TEST(Movement, PadCutsWhereItsPadsAreNegative) {
  const auto y = runNode("Pad", {three}, {{"pads", Ints{-1, 2}}, {"value", 7.0F}}, 7)[0];
  EXPECT_EQ(valuesOf(*y), (Values{2, 3, 7, 7}));
}

TEST(Movement, PadReflectsMoreThanOnce) {
  const auto y =
      runNode("Pad", {list({1, 2}), list({3, 0})}, {{"mode", std::string("reflect")}})[0];
  EXPECT_EQ(valuesOf(*y), (Values{2, 1, 2, 1, 2}));
}

TEST(Movement, PadOfNothingFails) {
  EXPECT_NE(errorOf("Pad", {list({}), list({1, 0})}, {{"mode", std::string("edge")}})
                .find("without elements"),
            std::string::npos);
}

TEST(Movement, ReshapeOfAnEmptyTensorKeepsAZero) {
  const auto y =
      runNode("Reshape", {floats({0, 3}, {}), list({3, 0})}, {{"allowzero", int64_t(1)}})[0];
  EXPECT_EQ(y->shape, (Shape{3, 0}));
}

TEST(Movement, ReshapeToAnotherCountFails) {
  EXPECT_NE(errorOf("Reshape", {three, list({2, 2})}).find("does not hold the 3 elements"),
            std::string::npos);
}

TEST(Movement, ExpandBeyondTheLimitFails) {
  EXPECT_NE(errorOf("Expand", {three, list({1e9, 1e9, 3})}).find("larger than"), std::string::npos);
}

TEST(Movement, TransposeOfAllOrdersIsThatOfIndices) {
  Values values;
  for (int i = 0; i < 20 * 3 * 40; ++i)
    values.push_back(i);
  const auto y = runNode("Transpose", {floats({20, 3, 40}, values)}, {{"perm", Ints{2, 0, 1}}})[0];
  const Values got = valuesOf(*y);
  for (int a = 0; a < 40; ++a)
    for (int b = 0; b < 20; ++b)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(got[(a * 20 + b) * 3 + c], (b * 3 + c) * 40 + a);
}

TEST(Movement, GatherCountsFromTheEnd) {
  EXPECT_EQ(valuesOf(*runNode("Gather", {three, list({-1, 0})})[0]), (Values{3, 1}));
}

TEST(Movement, GatherOutsideFails) {
  EXPECT_NE(errorOf("Gather", {three, list({3})}).find("the index 3 is outside 3 elements"),
            std::string::npos);
}

TEST(Movement, ScatterAddsInNarrowIntegersWithWrapping) {
  const auto y =
      runNode("ScatterElements",
              {tensorOf(DType::U8, {1}, {200}), list({0, 0}), tensorOf(DType::U8, {2}, {100, 1})},
              {{"reduction", std::string("add")}});
  EXPECT_EQ(valuesOf(*y[0]), (Values{45}));
}

TEST(Movement, OneHotLeavesIndicesOutsideOff) {
  const auto y = runNode("OneHot", {list({-1, 2}), list({2}), floats({2}, {0, 5})})[0];
  EXPECT_EQ(valuesOf(*y), (Values{0, 5, 0, 0}));
}

TEST(Movement, TopKPutsTheFirstOfEqualsFirst) {
  const auto y = runNode("TopK", {floats({4}, {1, 2, 2, 0}), list({2})}, {}, 21, 2);
  EXPECT_EQ(valuesOf(*y[1]), (Values{1, 2}));
}

TEST(Movement, UniqueTakesAllThatIsNoNumberAsOne) {
  const auto y = runNode("Unique", {floats({3}, {std::nan(""), 1, std::nan("")})})[0];
  EXPECT_EQ(y->elements(), 2);
}

} // namespace tilewright::host

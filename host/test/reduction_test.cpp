// Runs reductions, softmax and normalizations of older operator sets and of no elements
// (host-kernels-test).
#include "run_node.h"

#include <cmath>
#include <gmock/gmock.h>

namespace tilewright::host {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Axes = std::vector<int64_t>;

TEST(Reduction, AxesAreAnAttributeAndLaterAnInput) {
  const ConstantTensor x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(valuesOf(*runNode("ReduceMean", {x}, {{"axes", Axes{0}}}, 13)[0]), ElementsAre(2, 3));
  EXPECT_THAT(valuesOf(*runNode("ReduceMean", {x, list({-1})}, {}, 18)[0]), ElementsAre(1.5, 3.5));
}

TEST(Reduction, NoAxesAreAllOrNone) {
  const ConstantTensor x = floats({2, 2}, {1, -2, 3, -4});
  EXPECT_THAT(valuesOf(*runNode("ReduceL1", {x, list({})})[0]), ElementsAre(10));
  EXPECT_THAT(valuesOf(*runNode("ReduceL1", {x, list({})}, {{"noop_with_empty_axes", 1L}})[0]),
              ElementsAre(1, 2, 3, 4));
}

TEST(Reduction, ExtremesOfNothingAreThoseOfTheType) {
  const Inputs bytes = {tensorOf(DType::I8, {0, 2}, {}), list({0})};
  EXPECT_THAT(valuesOf(*runNode("ReduceMax", bytes)[0]), ElementsAre(-128, -128));
  EXPECT_THAT(valuesOf(*runNode("ReduceMin", bytes)[0]), ElementsAre(127, 127));
  EXPECT_THAT(valuesOf(*runNode("ReduceMax", {floats({0, 1}, {}), list({0})})[0]),
              ElementsAre(-INFINITY));
}

TEST(Reduction, ArgumentsOfNothingAreRefused) {
  EXPECT_THAT(errorOf("ArgMax", {floats({0, 2}, {})}), HasSubstr("one of no elements"));
  EXPECT_THAT(errorOf("ArgMax", {floats({1}, {1})}, {{"axis", int64_t(1)}}),
              HasSubstr("axis 1 is outside"));
}

TEST(Softmax, FlattensBeforeOperatorSet13) {
  const ConstantTensor zeros = floats({2, 2, 2}, std::vector<double>(8, 0));
  EXPECT_THAT(valuesOf(*runNode("Softmax", {zeros}, {}, 11)[0]), Each(0.25));
  EXPECT_THAT(valuesOf(*runNode("Softmax", {zeros}, {}, 13)[0]), Each(0.5));
}

TEST(Softmax, LargeNumbersDoNotOverflow) {
  EXPECT_THAT(valuesOf(*runNode("Softmax", {floats({2}, {1e4, 1e4})})[0]), Each(0.5));
  EXPECT_THAT(valuesOf(*runNode("ReduceLogSumExp", {floats({2}, {1e4, 1e4})})[0]),
              ElementsAre(DoubleNear(1e4 + std::log(2), 1e-2)));
}

TEST(Normalization, RowsOfNormZeroStay) {
  EXPECT_THAT(valuesOf(*runNode("LpNormalization", {floats({2, 2}, {0, 0, 3, 4})})[0]),
              ElementsAre(0, 0, DoubleNear(0.6, 1e-6), DoubleNear(0.8, 1e-6)));
}

TEST(Normalization, GroupsScaleByGroupsBeforeOperatorSet21) {
  const ConstantTensor x = floats({1, 4, 2}, {-1, 1, -1, 1, -1, 1, -1, 1});
  const Attributes groups = {{"num_groups", int64_t(2)}, {"epsilon", 0.0f}};
  EXPECT_THAT(valuesOf(*runNode("GroupNormalization",
                                {x, floats({2}, {1, 10}), floats({2}, {0, 0})}, groups, 18)[0]),
              ElementsAre(-1, 1, -1, 1, -10, 10, -10, 10));
  EXPECT_THAT(errorOf("GroupNormalization", {x, floats({2}, {1, 10}), floats({2}, {0, 0})}, groups),
              HasSubstr("there are 4 channels"));
}

TEST(Random, ASeedGivesTheSameNumbers) {
  const Attributes attributes = {{"shape", Axes{4}}, {"seed", 3.0f}};
  EXPECT_EQ(runNode("RandomNormal", {}, attributes)[0]->bytes,
            runNode("RandomNormal", {}, attributes)[0]->bytes);
}

TEST(Dropout, DropsInTrainingOnly) {
  const ConstantTensor x = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(runNode("Dropout", {x}, {{"ratio", 0.9f}}, 7)[0], x);
  EXPECT_THAT(errorOf("Dropout", {x, floats({}, {1}), tensorOf(DType::Bool, {}, {1})}),
              HasSubstr("its ratio is 1"));
}

TEST(Loss, ClassesAreChecked) {
  EXPECT_THAT(errorOf("SoftmaxCrossEntropyLoss", {floats({1, 2}, {1, 2}), list({2})}),
              HasSubstr("class 2 is none of 2"));
}

} // namespace tilewright::host

// Runs attention with groups, masks and a past, and embeddings of positions (host-kernels-test).
#include "run_node.h"

#include <gmock/gmock.h>

namespace tilewright::host {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Attention, GroupsOfQueriesShareAHead) {
  // Both queries see one key: they give its value.
  const ConstantTensor q = floats({1, 2, 1, 1}, {1, 5});
  EXPECT_THAT(
      valuesOf(*runNode("Attention", {q, floats({1, 1, 1, 1}, {3}), floats({1, 1, 1, 1}, {7})}, {},
                        23)[0]),
      ElementsAre(7, 7));
}

TEST(Attention, ThePastStandsBeforeTheKeys) {
  const auto one = [](double value) { return floats({1, 1, 1, 1}, {value}); };
  const auto results =
      runNode("Attention", {one(0), one(1), one(4), nullptr, one(2), one(8)}, {}, 23, 3);
  EXPECT_THAT(valuesOf(*results[0]), ElementsAre(6));
  EXPECT_THAT(valuesOf(*results[1]), ElementsAre(2, 1));
  EXPECT_THAT(valuesOf(*results[2]), ElementsAre(8, 4));
}

TEST(Attention, ACausalQuerySeesWhatIsBeforeIt) {
  const ConstantTensor zeros = floats({1, 1, 2, 1}, {0, 0});
  EXPECT_THAT(valuesOf(*runNode("Attention", {zeros, zeros, floats({1, 1, 2, 1}, {2, 4})},
                                {{"is_causal", int64_t(1)}}, 23)[0]),
              ElementsAre(2, 3));
}

TEST(Attention, ShapesAreChecked) {
  const ConstantTensor x = floats({1, 1, 1, 1}, {1}), wide = floats({1, 1, 1, 2}, {1, 1});
  EXPECT_THAT(errorOf("Attention", {wide, x, x}, {}, 23), HasSubstr("do not fit each other"));
  EXPECT_THAT(errorOf("Attention", {x, x, x, floats({2}, {0, 0})}, {}, 23),
              HasSubstr("its mask has the shape 2"));
  const ConstantTensor flat = floats({1, 1, 3}, {1, 2, 3});
  EXPECT_THAT(errorOf("Attention", {flat, flat, flat}, {{"q_num_heads", int64_t(2)}}, 23),
              HasSubstr("is not of 2 heads"));
}

TEST(RotaryEmbedding, PositionsAreChecked) {
  const ConstantTensor x = floats({1, 1, 1, 2}, {1, 2});
  const ConstantTensor cosine = floats({1, 1}, {0}), sine = floats({1, 1}, {1});
  const auto at = [](double position) { return tensorOf(DType::I64, {1, 1}, {position}); };
  EXPECT_THAT(valuesOf(*runNode("RotaryEmbedding", {x, cosine, sine, at(0)}, {}, 23)[0]),
              ElementsAre(-2, 1));
  EXPECT_THAT(errorOf("RotaryEmbedding", {x, cosine, sine, at(1)}, {}, 23),
              HasSubstr("position 1 is none of 1"));
}

} // namespace tilewright::host

// A list of names says how many it leaves out.
#include "tilewright/support/listed.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

TEST(Listed, NamesTheFirstAndCountsTheOthers) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(listed({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
  EXPECT_EQ(listed({"a", "b"}, 1), "a and 1 more");
}

} // namespace

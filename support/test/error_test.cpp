#include "tilewright/support/error.h"

#include <gtest/gtest.h>
#include <vector>

namespace tilewright {

TEST(UserError, PrintsPlaceMessageAndFix) {
  UserError error({"a.yaml", 3, 7, ""}, "unknown key 'rosw'", "did you mean 'rows'?");
  EXPECT_EQ(error.diagnostic(),
            "a.yaml:3:7: error: unknown key 'rosw'\n  fix: did you mean 'rows'?");
}

TEST(UserError, NamesTheNodeOfAModel) {
  UserError error({"m.onnx", 0, 0, "node 'x' (Conv)"}, "group is 0");
  EXPECT_EQ(error.diagnostic(), "m.onnx: node 'x' (Conv): error: group is 0");
}

TEST(Escape, KeepsTextAndReplacesControlCharactersAndInvalidUtf8) {
  EXPECT_EQ(escape("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(escape("a\n\x1b[0m\xff"), "a\\x0a\\x1b[0m\\xff");
}

TEST(Escape, CutsLongText) { EXPECT_EQ(escape(std::string(1000, 'a'), 5), "aaaaa..."); }

TEST(Nearest, FindsATypoAndRejectsAnUnrelatedWord) {
  std::vector<std::string> words{"rows", "cols", "lanes"};
  EXPECT_EQ(nearest("rosw", words), "rows");
  EXPECT_EQ(nearest("zzzzzz", words), "");
}

} // namespace tilewright

// What the files of outputs are called.
#include "tensor_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright;
using ::testing::ElementsAre;

namespace {

TEST(FileNames, areTheTensorsNames) {
  EXPECT_THAT(fileNames({"logits", "save_infer_model.0"}),
              ElementsAre("logits", "save_infer_model.0"));
}

TEST(FileNames, areNeverPaths) {
  EXPECT_THAT(fileNames({"../../x", "/etc/y", "a/b"}), ElementsAre("_.._.._x", "_etc_y", "a_b"));
}

TEST(FileNames, areNeverHidden) { EXPECT_THAT(fileNames({".x"}), ElementsAre("_.x")); }

TEST(FileNames, areDifferent) {
  EXPECT_THAT(fileNames({"a/b", "a_b", "a\\b"}), ElementsAre("a_b", "a_b-2", "a_b-3"));
}

TEST(FileNames, holdNoControlCharacters) {
  EXPECT_THAT(fileNames({"a\nb"}), ElementsAre("a_x0ab"));
}

TEST(FileNames, areShortEnough) { EXPECT_LT(fileNames({std::string(10000, 'n')})[0].size(), 250u); }

} // namespace

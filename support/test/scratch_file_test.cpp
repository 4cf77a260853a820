// A scratch file has a name of its own, whatever else is in the directory.
#include "tilewright/support/scratch_file.h"

#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace tilewright;

namespace {

TEST(ScratchFile, IsThereWhileItIsNeeded) {
  std::string path;
  {
    const ScratchFile file("content"), other("other");
    path = file.path();
    EXPECT_EQ(readFile(path), "content");
    EXPECT_EQ(readFile(other.path()), "other");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace

// A folder of its own for a test, and experiment files in it.
#pragma once

#include "tilewright/explore/experiment.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace tilewright::explore::test {

class FolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "explore-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &content) const {
    writeFile(folder_ + "/" + name, content);
    return folder_ + "/" + name;
  }

  // An experiment of these sections beside the ones that all have.
  std::string experiment(const std::string &sections) const {
    return write("e.yaml",
                 "schema: \"tilewright/experiment/1\"\nname: \"n\"\nsummary: \"s\"\n" + sections);
  }

  std::string folder_;
};

// "line:column: message" of what `run` throws.
template <typename Run> std::string mistakeOf(Run run) {
  try {
    run();
  } catch (const UserError &error) {
    const SourceLocation &location = error.location();
    return (location.line > 0
                ? std::to_string(location.line) + ":" + std::to_string(location.column) + ": "
                : "") +
           error.message() + (error.fix().empty() ? "" : " | " + error.fix());
  }
  return "no mistake";
}

} // namespace tilewright::explore::test

// A directory for outputs, and what is said of those that cannot be.
#pragma once

#include "tilewright/support/error.h"
#include "tilewright/support/outputs.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace tilewright {

namespace fs = std::filesystem;

// A directory of its own for each test.
class OutputsTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tilewright-outputs-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string &name) const { return (directory_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(directory_), {}));
  }

  // What is said of it, without the test's directory.
  std::string failureOf(const std::function<void()> &action) const {
    try {
      action();
      return "";
    } catch (const UserError &error) {
      std::string text = error.diagnostic();
      for (size_t at; (at = text.find(directory_.string() + "/")) != std::string::npos;)
        text.erase(at, directory_.string().size() + 1);
      return text;
    }
  }
  std::string refusalOf(const std::string &name) const {
    return failureOf([&] { Outputs().file("--json", path(name)); });
  }

  fs::path directory_;
};

} // namespace tilewright

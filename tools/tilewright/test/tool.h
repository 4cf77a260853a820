// Runs the tool as a user does: as a process, in a directory of its own.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tilewright::test {

struct Ended {
  int code = 0; // minus the signal's number for a process that a signal ended
  std::string output;
  std::string diagnostics;
};

class ToolTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  // `before` runs in the new process. Standard output and error go to files beside the directory.
  Ended run(const std::vector<std::string> &arguments,
            const std::function<void()> &before = {}) const;

  void write(const std::string &name, const std::string &content) const;
  std::string read(const std::string &name) const;
  std::vector<std::string> files() const; // names in the directory, sorted

  // copy.elf: reads int8[4] "x", writes int8[4] "y" the same.
  void makeCopyProgram() const;
  // m.mlir: an integer convolution of one pixel, a layer named "my layer".
  void writeConvolution() const;

  std::string directory_;
};

} // namespace tilewright::test

// The programs of tests/regressions/programs: each made two engines differ once. The first line
// names the target.
#pragma once

#include "tilewright/isa/assembler.h"
#include "tilewright/program/program.h"
#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tilewright::lockstep {

inline std::vector<std::string> regressionPrograms() {
  std::vector<std::string> paths;
  for (const auto &entry :
       std::filesystem::directory_iterator(sourcePath("tests/regressions/programs")))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct Regression {
  isa::Isa isa;
  Program program;

  explicit Regression(const std::string &path) : isa(load(readFile(path))) {
    program.file = path;
    for (const isa::DecodedInstruction &decoded : isa::assemble(isa, readFile(path), path)) {
      const isa::Bits bits = isa.encode(decoded);
      program.code.append(bits.begin(), bits.end());
    }
    program.codeAddress = 0x20000;
    program.dramBytes = program.codeAddress + program.code.size();
    Segment data;
    for (uint32_t i = 0; i < 0x10000; ++i)
      data.bytes.push_back(static_cast<char>(i * 2654435761u >> 24));
    program.data.push_back(data);
  }

private:
  static isa::Isa load(const std::string &text) {
    isa::LoadOptions options;
    const std::string first = text.substr(0, text.find('\n'));
    options.target = first.substr(first.rfind(' ') + 1);
    options.directory = sourcePath("isa");
    return isa::load(options);
  }
};

} // namespace tilewright::lockstep

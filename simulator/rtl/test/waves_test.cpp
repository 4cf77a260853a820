// The waves of a run: an FST file of all signals, a clock period a cycle.
#include "tilewright/testing/harness.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tilewright::cycle {
namespace {

RunRecord runWithWaves(const std::string &path) {
  const isa::Isa &isa = target("tiny4");
  Program program = assemble(isa, "load s=0, d=0, n1=1, n0=64\nfence\nhalt\n");
  program.codeAddress = 0x1000;
  program.dramBytes = 0x2000;
  DramImage image(program);
  RunOptions options;
  options.waves = path;
  return makeRtlEngine(isa)->run(program, image, options);
}

uint64_t bigEndian(const std::string &bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i)
    value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
  return value;
}

TEST(Waves, AreAnFstFileOfAllSignalsAndCycles) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + ".fst";
  const RunRecord record = runWithWaves(path);
  const std::string file = readFile(path);
  std::remove(path.c_str());
  // The header block: type 0, its length, first and last time, byte order, memory, scopes,
  // variables.
  ASSERT_EQ(file.at(0), 0);
  EXPECT_EQ(bigEndian(file, 1), 329u);
  // tiny4 has a clock of 1 GHz. What the host does before and after the program is there, too.
  const uint64_t end = bigEndian(file, 17);
  EXPECT_GT(end, static_cast<uint64_t>(record.cycles) * 1000);
  EXPECT_LT(end, static_cast<uint64_t>(record.cycles + 500) * 1000);
  EXPECT_EQ(end % 1000, 0u);
  EXPECT_GT(bigEndian(file, 41), 20u);
  EXPECT_GT(bigEndian(file, 49), 1000u);
}

TEST(Waves, NeedAFileThatCanBeWritten) {
  try {
    runWithWaves("no/waves.fst");
    FAIL() << "no error";
  } catch (const UserError &error) {
    EXPECT_STREQ(error.what(), "no/waves.fst: error: cannot write here: No such file or directory");
  }
}

} // namespace
} // namespace tilewright::cycle

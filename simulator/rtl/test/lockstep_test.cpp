// The RTL and the cycle engine give the same record, to the last stall of the last instruction.
// TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a target, TILEWRIGHT_RANDOM_SEED=S starts at seed S.
#include "harness.h"
#include "random_program.h"

#include "random_semantics.h"
#include "trace.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <unistd.h>

namespace tilewright::cycle {
namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

RunRecord runRtl(const Program &program, const isa::Isa &isa, const DramConfig &dram) {
  DramImage image(program);
  RunOptions options;
  options.maxCycles = 2000000;
  return rtl::run(isa, rtl::loadModel(isa), dram, program, image, options);
}

// A random program with a fence wherever the unit changes, so that no two race for the same bytes,
// and stores of the memories on chip at its end.
Program fencedProgram(const isa::Isa &isa, uint64_t seed) {
  isa::Word fence;
  fence.instruction = isa.find("fence")->index;
  const std::string dump =
      "store.set r0=s_s0, v0=1, r1=s_s1, v1=0\nstore.set r0=s_s2, v0=0, r1=n2, v1=1\nfence\n"
      "store s=0, d=0x80000, n1=1, n0=16384\nstore.i32 s=0, d=0x90000, n1=1, n0=1024\nhalt\n";
  std::vector<isa::Word> words;
  int unit = -1;
  for (const isa::Word &word : randomProgram(isa, seed, 40, RandomKind::Straight)) {
    if (word.instruction == isa.find("halt")->index)
      break;
    const int own = isa.instructions()[static_cast<size_t>(word.instruction)].unit;
    if (own != unit)
      words.push_back(fence);
    unit = own;
    words.push_back(word);
  }
  words.push_back(fence);
  for (const isa::Word &word : isa::assemble(isa, dump, "dump.s"))
    words.push_back(word);
  Program program = makeProgram(isa, words);
  program.codeAddress = 0x40000;
  program.dramBytes = 0xa0000;
  Segment data;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 0x20000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  program.data.push_back(data);
  return program;
}

class Lockstep : public testing::TestWithParam<const char *> {};

TEST_P(Lockstep, RecordsOfRandomProgramsAreEqual) {
  const isa::Isa &isa = target(GetParam());
  const uint64_t first = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1));
  const uint64_t programs = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_PROGRAMS", 100));
  const int length = static_cast<int>(setting("TILEWRIGHT_RANDOM_LENGTH", 60));
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = makeProgram(isa, randomProgram(isa, seed, length));
    RunSetup setup{isa, seed % 3 == 0 ? idealDram(isa) : DramConfig::of(isa), {}};
    setup.options.skip = false;
    const RunRecord cycle = run(program, setup);
    ASSERT_EQ(print(cycle, isa), print(runRtl(program, isa, setup.dram), isa)) << "seed " << seed;
  }
}

// Random instructions on random data, those of different units one after the other. Since timing
// depends on no element, the test above says nothing of values; here all of DRAM is compared.
TEST_P(Lockstep, MemoriesOfRandomProgramsAreEqual) {
  const isa::Isa &isa = target(GetParam());
  const auto reference = makeCycleEngine(isa), engine = makeRtlEngine(isa);
  const uint64_t first = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1));
  const uint64_t programs = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_PROGRAMS", 40));
  uint64_t different = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = fencedProgram(isa, seed);
    DramImage values(program), expected(program), before(program);
    const RunRecord wanted = reference->run(program, expected, {}),
                    given = engine->run(program, values, {});
    ASSERT_EQ(print(wanted, isa), print(given, isa)) << "seed " << seed;
    ASSERT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << "seed " << seed;
    different += std::memcmp(before.data(), expected.data(), expected.size()) != 0;
  }
  EXPECT_GT(2 * different, programs) << "most programs store something";
}

// Rows that accumulate where the row before them is just being written, shifted against it now and
// then.
TEST_P(Lockstep, RowsAccumulateOntoTheRowBefore) {
  const isa::Isa &isa = target(GetParam());
  std::string text =
      "load.set r0=s_s1, v0=0, r1=d_s1, v1=0\nload s=0, d=0, n1=1, n0=4096\n"
      "load.i32 s=0x2000, d=0, n1=1, n0=256\nmatrix.set r0=w_s0, v0=7, r1=a_s0, v1=0\nfence\n"
      "mload w=64, k=4, n=4\n";
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i)
    text += fmt::format("mmul a={}, d={}, n1=1, n0=1, k=4, n={}, accumulate={}, swap={}\n",
                        random() % 512, 8 + random() % 4, 1 + random() % 4, int(random() % 8 != 0),
                        int(i == 0));
  text += "fence\nstore.i32 s=0, d=0x4000, n1=1, n0=256\nhalt\n";
  Program program = assemble(isa, text);
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 0x4000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  program.data.push_back(data);
  DramImage values(program), expected(program);
  const RunRecord wanted = makeCycleEngine(isa)->run(program, expected, {});
  EXPECT_EQ(print(wanted, isa), print(makeRtlEngine(isa)->run(program, values, {}), isa));
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0);
}

// A random program in which operands were moved: to the end of their memory,
// or near another.
Program movedProgram(const isa::Isa &isa, uint64_t seed) {
  std::vector<isa::Word> words = randomProgram(isa, seed, 12, RandomKind::Straight);
  std::mt19937_64 random(seed);
  for (isa::Word &word : words) {
    const isa::Instruction &instruction = isa.instructions()[static_cast<size_t>(word.instruction)];
    for (const isa::Operand &operand : instruction.operands) {
      if (operand.kind != isa::Operand::Kind::Memory || operand.space == isa::Space::Dram ||
          random() % 2 == 0)
        continue;
      int64_t &address = word.values[static_cast<size_t>(operand.index)];
      const isa::Operand &other = instruction.operands[0];
      if (other.kind == isa::Operand::Kind::Memory && other.space == operand.space &&
          random() % 3 != 0)
        address = word.values[0] + static_cast<int64_t>(random() % 40) - 20;
      else
        address = static_cast<int64_t>(isa.memory(operand.space).addresses()) -
                  static_cast<int64_t>(random() % 60);
      address = std::clamp(address, operand.least, operand.greatest);
    }
  }
  return makeProgram(isa, words);
}

// Whether the RTL finds what may not execute; the words are the same, since both engines ask the
// description.
TEST_P(Lockstep, TrapsOfRandomProgramsAreEqual) {
  const isa::Isa &isa = target(GetParam());
  const uint64_t programs = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_PROGRAMS", 60));
  const DramConfig dram = idealDram(isa);
  auto outcome = [&](auto runs) -> std::string {
    try {
      return print(runs(), isa);
    } catch (const UserError &error) {
      return error.what();
    }
  };
  uint64_t traps = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const Program program = movedProgram(isa, seed);
    RunSetup setup{isa, dram, {}};
    const std::string wanted = outcome([&] { return run(program, setup); });
    ASSERT_EQ(wanted, outcome([&] { return runRtl(program, isa, dram); })) << "seed " << seed;
    traps += wanted.rfind("test.elf: ", 0) == 0;
  }
  EXPECT_GT(traps, programs / 5);
  EXPECT_LT(traps, programs * 9 / 10);
}

// Instructions that nobody wrote: what the lanes compute comes from the description alone.
TEST(LockstepOverlay, RandomSemanticsGiveTheSameValues) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + ".rtl_overlay.yaml";
  writeFile(path, randomOverlay(static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1)), 24));
  isa::LoadOptions options;
  options.target = "tiny4";
  options.directory = TILEWRIGHT_SOURCE_DIR "/isa";
  options.overlays = {path};
  const isa::Isa isa = isa::load(options);
  std::remove(path.c_str());
  const auto reference = makeCycleEngine(isa), engine = makeRtlEngine(isa);
  std::set<int> executed;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = fencedProgram(isa, seed);
    DramImage values(program), expected(program);
    const RunRecord wanted = reference->run(program, expected, {}),
                    given = engine->run(program, values, {});
    ASSERT_EQ(print(wanted, isa), print(given, isa)) << "seed " << seed;
    ASSERT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << "seed " << seed;
    for (size_t at = 0; at < program.code.size();
         at += static_cast<size_t>(isa.instructionBytes())) {
      isa::Word word;
      std::string reason;
      ASSERT_TRUE(
          isa.decode(reinterpret_cast<const uint8_t *>(program.code.data()) + at, word, reason));
      executed.insert(word.instruction);
    }
  }
  EXPECT_GT(executed.size(), isa.instructions().size() * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Targets, Lockstep, testing::Values("tiny4", "odd12x20", "edge16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tilewright::cycle

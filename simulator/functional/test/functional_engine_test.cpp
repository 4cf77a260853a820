// The functional engine on small programs: values, control flow, semaphores, traps, deadlocks.
#include "tilewright/simulator/engine/engine.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const isa::Isa &edge16() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

constexpr uint64_t codeAddress = 0x8000;

Program assembled(const std::string &text) {
  Program program;
  program.file = "test.elf";
  program.codeAddress = codeAddress;
  for (const auto &decoded : isa::assemble(edge16(), text, "test.s")) {
    auto bits = edge16().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = codeAddress + program.code.size();
  return program;
}

// DRAM after the program, in which bytes 0 to 255 held their own numbers before.
std::vector<uint8_t> run(Program program, uint64_t interleaving = 0, RunRecord *record = nullptr,
                         const RunOptions &options = {}) {
  std::string bytes(256, '\0');
  for (int i = 0; i < 256; ++i)
    bytes[static_cast<size_t>(i)] = static_cast<char>(i);
  program.data.push_back({0, bytes});
  DramImage dram(program);
  RunRecord result = makeFunctionalEngine(edge16(), interleaving)->run(program, dram, options);
  if (record)
    *record = result;
  return {dram.data(), dram.data() + dram.size()};
}

// The diagnostic of a program that cannot go on.
std::string failure(const Program &program, const RunOptions &options = {}) {
  try {
    run(program, 0, nullptr, options);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "the program ran to its end";
}

constexpr const char *copyFourRows = R"(
    load.set r0=d_s1, v0=16, r1=s_s1, v1=16
    store.set r0=s_s1, v0=16, r1=d_s1, v1=32
    load  s=16, d=0x40, n1=4, n0=16 !signal=0
    store s=0x40, d=0x400, n1=4, n0=16 !wait=0
    halt
)";

TEST(FunctionalEngine, MovesData) {
  auto dram = run(assembled(copyFourRows));
  for (size_t row = 0; row < 4; ++row)
    for (size_t i = 0; i < 16; ++i)
      ASSERT_EQ(dram[0x400 + 32 * row + i], 16 + 16 * row + i);
  EXPECT_EQ(dram[0x400 + 16], 0);
}

// Three rows of `elements` each, 21 apart, of bytes that wrap around within a row.
void expectJoined(int64_t elements) {
  const auto dram = run(assembled(fmt::format(R"(
    load.i8 s=100, d=0, n1=1, n0=120
    vector.set r0=a_s0, v0=21, r1=d_s0, v1=2
    fence
    vsum.lanes     a=3, d=0x1000, n0=3, nc={0}
    vmaximum.lanes a=3, d=0x1001, n0=3, nc={0}
    fence
    store.i32 s=0x1000, d=0x400, n1=1, n0=6
    halt)",
                                              elements)));
  for (int64_t row = 0; row < 3; ++row) {
    int32_t sum = 0, greatest = INT32_MIN, found[2];
    for (int64_t c = 0; c < elements; ++c) {
      const auto element = static_cast<int8_t>(103 + 21 * row + c);
      sum += element;
      greatest = std::max<int32_t>(greatest, element);
    }
    std::memcpy(found, &dram[static_cast<size_t>(0x400 + 8 * row)], sizeof found);
    EXPECT_EQ(found[0], sum) << elements;
    EXPECT_EQ(found[1], greatest) << elements;
  }
}

TEST(FunctionalEngine, JoinsLanes) {
  for (const int64_t elements : {0, 1, 2, 15, 16, 17, 31, 32, 33, 50, 64})
    expectJoined(elements);
}

TEST(FunctionalEngine, RecordsInstructionsAndUsefulBytes) {
  RunRecord record;
  run(assembled(copyFourRows), 0, &record);
  EXPECT_EQ(record.instructions, 5u);
  ASSERT_EQ(record.trace.size(), 5u);
  EXPECT_EQ(record.trace[2].pc, 2u);
  EXPECT_EQ(record.trace[2].dramReadBytes, 64u);
  EXPECT_EQ(record.dramReadBytes, 64u);
  EXPECT_EQ(record.dramWriteBytes, 64u);
}

TEST(FunctionalEngine, StartsEveryRunFromReset) {
  // Counts on the accumulators being zero: a second run over the same engine gives the same.
  Program program = assembled(R"(
    load.i8 s=1, d=0, n1=1, n0=1 !signal=0
    vadd a=0, b=1, d=1, n0=1, nc=1 !wait=0 !signal=1
    store.i32 s=1, d=0x100, n1=1, n0=1 !wait=1
    halt
)");
  program.data.push_back({1, std::string(1, '\7')});
  auto engine = makeFunctionalEngine(edge16());
  for (int i = 0; i < 2; ++i) {
    DramImage dram(program);
    engine->run(program, dram, {});
    EXPECT_EQ(dram.data()[0x100], 7);
  }
}

TEST(FunctionalEngine, RunsLoopsAndBaseRegisters) {
  // Copies 5 x 3 single bytes: 0..14 to 0x400.., the inner loop ending with the outer one.
  auto dram = run(assembled(R"(
    xset rd=x1, value=0
    loop count=5, length=5
    loop count=3, length=4
    load  s=0+x1, d=0x40, n1=1, n0=1 !signal=0
    store s=0x40, d=0x400+x1, n1=1, n0=1 !wait=0 !signal=1
    xadd rd=x1, rs=x1, value=1 !wait=1
    xset rd=x0, value=99
    halt
)"));
  for (size_t i = 0; i < 15; ++i)
    ASSERT_EQ(dram[0x400 + i], i);
  EXPECT_EQ(dram[0x400 + 15], 0);
}

// Base registers behind a program: bytes of a ramp that it reads through them.
static std::vector<int> readThrough(const std::string &text, std::initializer_list<int> registers) {
  std::vector<int> found;
  for (int at : registers) {
    auto dram = run(assembled(text + fmt::format("load s=0+x{}, d=0, n1=1, n0=1 !signal=0\n"
                                                 "store s=0, d=0x400, n1=1, n0=1 !wait=0\nhalt\n",
                                                 at)));
    found.push_back(dram[0x400]);
  }
  return found;
}

TEST(FunctionalEngine, EachRunOfALoopAddsItsSteps) {
  EXPECT_THAT(readThrough("loop.step count=3, length=2, r0=1, step0=5, r1=2, step1=9\n"
                          "fence\nxadd rd=x3, rs=x1, value=0\n",
                          {1, 2, 3}),
              ElementsAre(15, 27, 10));
}

TEST(FunctionalEngine, LoopsThatEndTogetherAddTheInnerOnesSteps) {
  EXPECT_THAT(readThrough("loop.step count=3, length=3, r0=1, step0=5, r1=0, step1=7\nfence\n"
                          "loop.step count=2, length=1, r0=2, step0=9, r1=0, step1=0\nfence\n",
                          {1, 2}),
              ElementsAre(0, 54));
}

TEST(FunctionalEngine, WhatTheLastInstructionOfABodySetsIsNotStepped) {
  EXPECT_THAT(readThrough("loop.step count=3, length=1, r0=1, step0=50, r1=2, step1=4\n"
                          "xadd rd=x1, rs=x1, value=1\n",
                          {1, 2}),
              ElementsAre(3, 12));
}

TEST(FunctionalEngine, OfTwoStepsOfOneRegisterTheLatterCounts) {
  EXPECT_THAT(
      readThrough("loop.step count=2, length=1, r0=1, step0=50, r1=1, step1=4\nfence\n", {1}),
      ElementsAre(8));
}

TEST(FunctionalEngine, ABranchOutOfALoopEndsNoRun) {
  EXPECT_THAT(readThrough("loop.step count=9, length=2, r0=1, step0=5, r1=0, step1=0\n"
                          "branch rs=x1, negate=1, offset=2\nfence\n",
                          {1}),
              ElementsAre(5));
}

TEST(FunctionalEngine, SkipsALoopOfNoRuns) {
  auto dram = run(assembled(R"(
    loop count=0, length=2
    load s=1, d=0, n1=1, n0=1 !signal=0
    store s=0, d=0x400, n1=1, n0=1 !wait=0
    load s=2, d=0, n1=1, n0=1 !signal=0
    store s=0, d=0x401, n1=1, n0=1 !wait=0
    halt
)"));
  EXPECT_EQ(dram[0x400], 0);
  EXPECT_EQ(dram[0x401], 2);
}

TEST(FunctionalEngine, BranchesOnARegister) {
  auto dram = run(assembled(R"(
    xset rd=x1, value=4
again:
    load  s=10+x1, d=0x40, n1=1, n0=1 !signal=0
    store s=0x40, d=0x400+x1, n1=1, n0=1 !wait=0 !signal=1
    xadd rd=x1, rs=x1, value=-1 !wait=1
    branch rs=x1, negate=1, offset=again
    halt
)"));
  EXPECT_EQ(dram[0x400], 0);
  for (size_t i = 1; i <= 4; ++i)
    EXPECT_EQ(dram[0x400 + i], 10 + i);
}

TEST(FunctionalEngine, BranchOutOfALoopLeavesIt) {
  RunRecord record;
  run(assembled(R"(
    loop count=100, length=2
    xadd rd=x1, rs=x1, value=1
    branch rs=x0, negate=0, offset=out
    halt
out:
    halt
)"),
      0, &record);
  EXPECT_EQ(record.instructions, 4u);
}

TEST(FunctionalEngine, FenceWaitsForAllUnits) {
  auto dram = run(assembled(R"(
    load  s=3, d=0x40, n1=1, n0=1
    fence
    store s=0x40, d=0x400, n1=1, n0=1
    halt
)"));
  EXPECT_EQ(dram[0x400], 3);
}

TEST(FunctionalEngine, ResultsDoNotDependOnTheOrderOfTurns) {
  // A double-buffered pipeline over three units: tokens alone order it.
  std::string text = "vector.set r0=lo, v0=-128, r1=hi, v1=127\n"
                     "vector.set r0=a_mult, v0=1073741824, r1=a_shift, v1=30\n"
                     "vector.set r0=b_mult, v0=1073741824, r1=b_shift, v1=30\n"
                     "vector.set r0=d_mult, v0=1073741824, r1=d_shift, v1=30\n";
  for (int i = 0; i < 24; ++i) {
    int buffer = 0x40 * (i % 2);
    text += "load s=" + std::to_string(8 * i) + ", d=" + std::to_string(buffer) +
            ", n1=1, n0=8 !signal=0" + (i >= 2 ? " !wait=2" : "") + "\n";
    text += "vadd.i8 a=" + std::to_string(buffer) + ", b=" + std::to_string(buffer) +
            ", d=" + std::to_string(0x1000 + buffer) + ", n0=1, nc=8 !signal=1,2 !wait=0" +
            (i >= 2 ? ",3" : "") + "\n";
    text += "store s=" + std::to_string(0x1000 + buffer) + ", d=" + std::to_string(0x400 + 8 * i) +
            ", n1=1, n0=8 !wait=1 !signal=3\n";
  }
  Program program = assembled(text + "halt\n");
  auto expected = run(program);
  EXPECT_EQ(expected[0x400 + 20], 40);
  for (uint64_t interleaving = 1; interleaving <= 20; ++interleaving)
    EXPECT_TRUE(run(program, interleaving) == expected) << "interleaving " << interleaving;
}

TEST(FunctionalEngine, QueuesLetUnitsRunOutOfProgramOrder) {
  // Without its token the store runs ahead of what the load waits for: the missing synchronization
  // shows.
  auto dram = run(assembled(R"(
    load  s=3, d=0x40, n1=1, n0=1 !wait=0
    store s=0x40, d=0x400, n1=1, n0=1 !signal=0
    halt
)"));
  EXPECT_EQ(dram[0x400], 0);
}

TEST(FunctionalEngine, ASignalBeyondTheLargestCountWaits) {
  // 64 signals fill the semaphore's 63 and the last one holds until a token is taken.
  auto dram = run(assembled(R"(
    loop count=64, length=1
    fill d=0x40, value=5, n1=1, n0=1 !signal=0
    loop count=64, length=1
    store s=0x40, d=0x400, n1=1, n0=1 !wait=0
    halt
)"));
  EXPECT_EQ(dram[0x400], 5);
}

TEST(FunctionalEngine, NamesWhoWaitsForWhatInADeadlock) {
  Program program = assembled(R"(
    load  s=0, d=0x40, n1=1, n0=1 !wait=1 !signal=0
    store s=0x40, d=0x400, n1=1, n0=1 !wait=0,5 !signal=1
    halt
)");
  program.layers.push_back({"conv1", "Conv"});
  program.runs.push_back({0, 0});
  std::string message = failure(program);
  EXPECT_THAT(message, HasSubstr("test.elf: instruction 0 (layer 'conv1'): error: deadlock"));
  EXPECT_THAT(
      message,
      HasSubstr("load: instruction 0 (load) waits for semaphore 1 (count 0, never signaled)"));
  EXPECT_THAT(
      message,
      HasSubstr("store: instruction 1 (store) waits for semaphore 0 (count 0, never signaled) "
                "and semaphore 5 (count 0, never signaled)"));
  EXPECT_THAT(message, HasSubstr("sequencer: instruction 2 (halt) waits until every unit is idle"));
}

TEST(FunctionalEngine, NamesTheLastSignalInADeadlock) {
  EXPECT_THAT(
      failure(assembled(R"(
    load  s=0, d=0x40, n1=1, n0=1 !signal=0
    store s=0x40, d=0x400, n1=1, n0=1 !wait=0
    store s=0x40, d=0x400, n1=1, n0=1 !wait=0
    halt
)")),
      HasSubstr("store: instruction 2 (store) waits for semaphore 0 (count 0, last signaled by "
                "instruction 0 (load))"));
}

TEST(FunctionalEngine, NamesASignalThatCannotBeReleased) {
  EXPECT_THAT(failure(assembled(R"(
    loop count=64, length=1
    fill d=0x40, value=5, n1=1, n0=1 !signal=0
    halt
)")),
              HasSubstr("load: instruction 1 (fill) waits to signal semaphore 0 (count 63, last "
                        "signaled by instruction 1 (fill))"));
}

TEST(FunctionalEngine, TrapsOnAReservedOpcode) {
  Program program = assembled("fence\nhalt\n");
  program.code[0] = '\xff';
  EXPECT_THAT(failure(program), HasSubstr("test.elf: instruction 0: error: illegal instruction: "));
}

TEST(FunctionalEngine, TrapsOnAnOperandOutsideOfItsMemory) {
  std::string message = failure(assembled("load s=0, d=0x3ffff, n1=1, n0=2\nhalt\n"));
  EXPECT_THAT(message, HasSubstr("test.elf: instruction 0: error: load: "));
  EXPECT_THAT(message, HasSubstr("spad"));
}

TEST(FunctionalEngine, TrapsOnDramBeyondTheProgram) {
  Program program = assembled("load s=0x10000, d=0, n1=1, n0=16\nhalt\n");
  EXPECT_THAT(failure(program),
              HasSubstr("instruction 0: error: load: operand 's' reaches byte 0x1000f of DRAM"));
}

TEST(FunctionalEngine, TrapsWithTheRegistersOfTheUnitsOwnTime) {
  // The stride is set before the load executes, though after the sequencer could have looked.
  EXPECT_THAT(failure(assembled(R"(
    load.set r0=d_s1, v0=200000, r1=s_s1, v1=0
    load s=0, d=0, n1=3, n0=1
    halt
)")),
              HasSubstr("instruction 1: error: load: "));
}

TEST(FunctionalEngine, TrapsOnLoopsNestedTooDeeply) {
  EXPECT_THAT(failure(assembled(R"(
    loop count=2, length=5
    loop count=2, length=4
    loop count=2, length=3
    loop count=2, length=2
    loop count=2, length=1
    xset rd=x1, value=0
    halt
)")),
              HasSubstr("instruction 4: error: loops are nested deeper than 4"));
}

TEST(FunctionalEngine, TrapsOnALoopThatLeavesTheCode) {
  EXPECT_THAT(failure(assembled("loop count=2, length=9\nhalt\n")),
              HasSubstr("instruction 0: error: a loop of 9 instructions reaches past the end"));
}

TEST(FunctionalEngine, TrapsOnABranchThatLeavesTheCode) {
  EXPECT_THAT(failure(assembled("branch rs=x0, negate=0, offset=-1\nhalt\n")),
              HasSubstr("instruction 0: error: a branch to instruction -1 leaves the code"));
}

TEST(FunctionalEngine, TrapsAtTheEndOfTheCode) {
  EXPECT_THAT(failure(assembled("fence\n")),
              HasSubstr("instruction 1: error: the program runs past its 1 instructions"));
}

TEST(FunctionalEngine, StopsAProgramThatDoesNotEnd) {
  RunOptions options;
  options.maxInstructions = 1000;
  EXPECT_THAT(failure(assembled("again: branch rs=x0, negate=0, offset=again\nhalt\n"), options),
              HasSubstr("the program has executed 1000 instructions and goes on\n"
                        "  fix: check that its loops end, or stop it with --max-cycles"));
}

TEST(FunctionalEngine, StopsAProgramThatDoesNotEndBeforeItsTraceFillsTheMemory) {
  EXPECT_THAT(
      failure(assembled("again: branch rs=x0, negate=0, offset=again\nhalt\n")),
      HasSubstr(
          "instruction 0: error: the program has executed 8388608 instructions, the most a trace "
          "holds, and goes on\n  fix: check that its loops end, or stop it with --max-cycles"));
}

TEST(FunctionalEngine, KeepsThePartialRecordOfALimitedRun) {
  RunOptions options;
  options.maxCycles = 3;
  RunRecord record;
  run(assembled("again: branch rs=x0, negate=0, offset=again\nhalt\n"), 0, &record, options);
  EXPECT_TRUE(record.stopped);
  EXPECT_EQ(record.instructions, 3u);
}

} // namespace
} // namespace tilewright

// What holds of a run as a whole: deadlocks and traps by name, limits, machines it refuses.
#include "tilewright/testing/harness.h"

#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

using testing::HasSubstr;

template <typename Run> std::string errorOf(Run run) {
  try {
    run();
  } catch (const UserError &error) {
    return error.what();
  }
  return "no error";
}

TEST(Core, DeadlockNamesWhoWaitsForWhat) {
  const std::string error = errorOf([] {
    run(R"(
      fill d=0, value=0, n1=1, n0=16 !signal=2
      mload w=0, k=16, n=16 !wait=1,2
      vabs a=0, d=0x1000, n0=1, nc=16 !wait=3 !signal=1
      fence
      halt)");
  });
  EXPECT_THAT(
      error, HasSubstr("test.elf: instruction 1: error: deadlock: matrix at instruction 1 `mload"));
  EXPECT_THAT(error, HasSubstr("waits for semaphore 1 (count 0); vector at instruction 2 `vabs"));
  EXPECT_THAT(error, HasSubstr("waits for semaphore 3 (count 0); sequencer at instruction 3 "
                               "`fence` waits for the units"));
}

TEST(Core, DeadlockOfASignalThatDoesNotFit) {
  const std::string error = errorOf([] {
    run("loop count=64, length=1\nload.set r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=7\nhalt");
  });
  EXPECT_THAT(error, HasSubstr("cannot signal semaphore 7 (count 63)"));
}

TEST(Core, DeadlockIsFoundWhenEveryCycleIsStepped) {
  RunSetup setup;
  setup.options.skip = false;
  EXPECT_THAT(errorOf([&] { run("mload w=0, k=16, n=16 !wait=1\nhalt", setup); }),
              HasSubstr("deadlock"));
}

TEST(Core, TrapNamesInstructionAndOperand) {
  const std::string error =
      errorOf([] { run("fence\nfill d=0x3fff8, value=0, n1=1, n0=16\nhalt"); });
  EXPECT_THAT(error, HasSubstr("test.elf: instruction 1: error: fill: "));
}

TEST(Core, TrapsOnAReservedEncoding) {
  Program program = assemble(target("edge16"), "fence\nhalt");
  program.code[16] = static_cast<char>(0xff);
  EXPECT_THAT(errorOf([&] { run(program); }),
              HasSubstr("instruction 1: error: illegal instruction"));
}

TEST(Core, TrapsBeyondTheLastInstruction) {
  EXPECT_THAT(errorOf([] { run("fence\nfence"); }),
              HasSubstr("error: the program runs past its 2 instructions"));
}

TEST(Core, TrapsOnControlThatLeavesTheCode) {
  const std::string first = "instruction 0: error: ";
  EXPECT_THAT(errorOf([] { run("branch rs=0, negate=0, offset=-1\nhalt"); }),
              HasSubstr(first + "a branch to instruction -1 leaves the code of 2 instructions"));
  EXPECT_THAT(errorOf([] { run("branch rs=0, negate=0, offset=2\nhalt"); }),
              HasSubstr(first + "a branch to instruction 2 leaves the code of 2 instructions"));
  EXPECT_THAT(errorOf([] { run("loop count=1, length=2\nhalt"); }),
              HasSubstr(first + "a loop of 2 instructions reaches past the end of the code"));
  EXPECT_EQ(errorOf([] { run("loop count=1, length=1\nhalt"); }), "no error");
}

TEST(Core, TrapsOnLoopsThatAreNestedTooDeep) {
  const std::string four = "loop count=2, length=5\nloop count=2, length=4\n"
                           "loop count=2, length=3\nloop count=2, length=2\n";
  EXPECT_EQ(errorOf([&] { run(four + "loop count=0, length=1\nfence\nhalt"); }), "no error");
  EXPECT_THAT(errorOf([&] { run(four + "loop count=1, length=1\nfence\nhalt"); }),
              HasSubstr("instruction 4: error: loops are nested deeper than 4"));
}

TEST(Core, MaxCyclesStopsWithAPartialRecord) {
  for (bool skip : {true, false}) {
    RunSetup setup;
    setup.options.maxCycles = 300;
    setup.options.skip = skip;
    const RunRecord record =
        run("vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\nvabs a=0, d=0x1000, n0=200, nc=16\n"
            "vabs a=0, d=0x1000, n0=200, nc=16\nhalt",
            setup);
    EXPECT_TRUE(record.stopped);
    EXPECT_EQ(record.cycles, 300);
    EXPECT_GT(record.trace[1].end, 0);
    EXPECT_EQ(record.trace[2].end, 0);
    for (const UnitRecord &unit : record.units) {
      int64_t sum = unit.busy + unit.idle;
      for (int64_t stall : unit.stalls)
        sum += stall;
      EXPECT_EQ(sum, 300);
    }
  }
}

TEST(Core, RunsTheSameWithoutATrace) {
  RunSetup setup;
  const std::string text = "loop count=3000, length=2\nload.set r0=s_s1, v0=0, r1=d_s1, "
                           "v1=0\nvector.set r0=lo, v0=0, r1=hi, v1=0\nhalt";
  const RunRecord traced = run(text, setup);
  setup.options.trace = false;
  const RunRecord bare = run(text, setup);
  EXPECT_EQ(bare.cycles, traced.cycles);
  EXPECT_EQ(bare.instructions, traced.instructions);
  EXPECT_TRUE(bare.trace.empty());
}

} // namespace
} // namespace tilewright::cycle

// Races in small programs: each with the token that orders it, and without.
#include "tilewright/simulator/engine/engine.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::HasSubstr;

const isa::Isa &edge16() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

// The diagnostic of a run that looks for races, or "".
std::string race(const std::string &text) {
  Program program;
  program.file = "test.elf";
  program.codeAddress = 0x8000;
  for (const auto &decoded : isa::assemble(edge16(), text, "test.s")) {
    auto bits = edge16().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = program.codeAddress + program.code.size();
  RunOptions options;
  options.checkRaces = true;
  DramImage dram(program);
  try {
    makeFunctionalEngine(edge16())->run(program, dram, options);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

TEST(RaceChecker, FindsAReadThatNothingOrdersAfterItsWrite) {
  EXPECT_EQ(
      race(R"(
    load  s=0, d=0x40, n1=1, n0=16
    store s=0x4f, d=0x400, n1=1, n0=1
    halt
)"),
      "test.elf: instruction 1: error: race: store reads address 0x4f of spad, which instruction 0 "
      "(load) writes, and no semaphore orders them\n  fix: let one signal what the other waits "
      "for");
}

TEST(RaceChecker, KnowsATokenOrders) {
  EXPECT_EQ(race(R"(
    load  s=0, d=0x40, n1=1, n0=16 !signal=0
    store s=0x4f, d=0x400, n1=1, n0=1 !wait=0
    halt
)"),
            "");
}

TEST(RaceChecker, KnowsAFenceOrders) {
  EXPECT_EQ(race(R"(
    load  s=0, d=0x40, n1=1, n0=16
    fence
    store s=0x4f, d=0x400, n1=1, n0=1
    halt
)"),
            "");
}

TEST(RaceChecker, LetsNeighborsBe) {
  EXPECT_EQ(race(R"(
    load  s=0, d=0x40, n1=1, n0=15
    store s=0x4f, d=0x400, n1=1, n0=1
    halt
)"),
            "");
}

TEST(RaceChecker, SeesStridedElementsExactly) {
  // The load writes even bytes; byte 0x43 is none of them, 0x44 is.
  const std::string even = "load.set r0=d_s0, v0=2, r1=s_s1, v1=0\nload s=0, d=0x40, n1=1, n0=8\n";
  EXPECT_EQ(race(even + "store s=0x43, d=0x400, n1=1, n0=1\nhalt\n"), "");
  EXPECT_THAT(race(even + "store s=0x44, d=0x400, n1=1, n0=1\nhalt\n"),
              HasSubstr("load writes address 0x44 of spad, which instruction 2 (store) reads"));
}

TEST(RaceChecker, FindsAWriteThatNothingOrdersAfterARead) {
  const std::string text = R"(
    load  s=0, d=0x40, n1=1, n0=16 !signal=0
    store s=0x40, d=0x400, n1=1, n0=16 !wait=0 !signal=1
    load  s=16, d=0x40, n1=1, n0=16 )";
  EXPECT_THAT(
      race(text + "\nhalt\n"),
      HasSubstr("instruction 2: error: race: load writes address 0x40 of spad, which instruction 1 "
                "(store) reads"));
  EXPECT_EQ(race(text + "!wait=1\nhalt\n"), "");
}

TEST(RaceChecker, FindsTwoWritesWithoutOrder) {
  EXPECT_THAT(race(R"(
    fill.acc d=3, value=1, n1=1, n0=1
    vadd a=100, b=200, d=0, n0=1, nc=4
    halt
)"),
              HasSubstr("vadd writes address 0x3 of acc, which instruction 0 (fill.acc) writes"));
}

TEST(RaceChecker, FollowsKnowledgeThroughOtherUnits) {
  // load -> vector -> store: the store knows of the load only by way of the vector unit.
  const std::string text = "load s=0, d=0x40, n1=1, n0=16 !signal=0\n";
  EXPECT_EQ(race(text + "vector.set r0=lo, v0=0, r1=hi, v1=1 !wait=0 !signal=1\n"
                        "store s=0x40, d=0x400, n1=1, n0=16 !wait=1\nhalt\n"),
            "");
  EXPECT_THAT(race(text + "vector.set r0=lo, v0=0, r1=hi, v1=1 !signal=1\n"
                          "store s=0x40, d=0x400, n1=1, n0=16 !wait=1\nhalt\n"),
              HasSubstr("race"));
}

TEST(RaceChecker, FindsThatATokenCameTooEarly) {
  // The token is given by the load before the one whose bytes are read.
  EXPECT_THAT(race(R"(
    load  s=0, d=0x80, n1=1, n0=16 !signal=0
    load  s=0, d=0x40, n1=1, n0=16
    store s=0x40, d=0x400, n1=1, n0=16 !wait=0
    halt
)"),
              HasSubstr("instruction 1: error: race: load writes address 0x40 of spad, which "
                        "instruction 2 (store) reads"));
}

TEST(RaceChecker, KnowsThatASetDoesNotWaitForTheLoadBeforeIt) {
  EXPECT_THAT(race(R"(
    load  s=0, d=0x40, n1=1, n0=16
    load.set r0=d_s1, v0=0, r1=d_s2, v1=0 !signal=0
    store s=0x40, d=0x400, n1=1, n0=16 !wait=0
    halt
)"),
              HasSubstr("which instruction 0 (load) writes"));
}

TEST(RaceChecker, KnowsThatLoadingWeightsDoesNotWaitForTheProductBeforeIt) {
  const std::string text = "mmul a=0, d=0, n1=1, n0=1, k=4, n=4, accumulate=0, swap=0\n";
  EXPECT_THAT(race(text + "mload w=0x100, k=4, n=4 !signal=0\n"
                          "vadd a=0, b=64, d=128, n0=1, nc=4 !wait=0\nhalt\n"),
              HasSubstr("vadd reads address 0x0 of acc, which instruction 0 (mmul) writes"));
}

TEST(RaceChecker, KnowsThatASwapWaitsForTheWeights) {
  // The load may overwrite the weights once the product that uses them has ended.
  const std::string text = "mload w=0x100, k=4, n=4\n";
  EXPECT_EQ(race(text + "mmul a=0, d=0, n1=1, n0=1, k=4, n=4, accumulate=0, swap=1 !signal=0\n"
                        "load s=0, d=0x100, n1=1, n0=16 !wait=0\nhalt\n"),
            "");
  EXPECT_THAT(race(text + "mmul a=0, d=0, n1=1, n0=1, k=4, n=4, accumulate=0, swap=0 !signal=0\n"
                          "load s=0, d=0x100, n1=1, n0=16 !wait=0\nhalt\n"),
              HasSubstr("load writes address 0x100 of spad, which instruction 0 (mload) reads"));
}

TEST(RaceChecker, FollowsDramThatTheProgramWrites) {
  const std::string text = "store s=0x40, d=0x400, n1=1, n0=16 !signal=0\n";
  EXPECT_THAT(race(text + "load s=0x40f, d=0x80, n1=1, n0=1\nhalt\n"),
              HasSubstr("store writes address 0x40f of dram, which instruction 1 (load) reads"));
  EXPECT_EQ(race(text + "load s=0x40f, d=0x80, n1=1, n0=1 !wait=0\nhalt\n"), "");
}

TEST(RaceChecker, LeavesReadersTogether) {
  EXPECT_EQ(race(R"(
    store s=0x40, d=0x400, n1=1, n0=16
    vrescale.widen a=0x40, d=0, n0=1, nc=16
    halt
)"),
            "");
}

} // namespace
} // namespace tilewright

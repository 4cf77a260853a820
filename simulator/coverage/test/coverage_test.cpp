// Bins: which there are, which are left out, and that an execution hits those that it should.
#include "tilewright/testing/harness.h"

#include "tilewright/coverage/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace tilewright::coverage {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// "mode: swap 1" of one instruction.
std::vector<std::string> binsOf(const isa::Isa &isa, const char *instruction) {
  std::vector<std::string> result;
  for (const Bin &bin : makeBins(isa))
    if (bin.instruction == isa.find(instruction)->index)
      result.push_back(std::string(name(bin.group)) + ": " + bin.what);
  return result;
}

// The bins that a program hits.
std::vector<std::string> seen(const std::string &text) {
  const isa::Isa &isa = cycle::target("edge16");
  const Program program = cycle::assemble(isa, text);
  Coverage coverage(isa);
  coverage.add(program, cycle::run(program, {isa, DramConfig::of(isa), {}}));
  std::vector<std::string> result;
  for (size_t i = 0; i < coverage.bins().size(); ++i) {
    const Bin &bin = coverage.bins()[i];
    if (coverage.hits()[i] != 0)
      result.push_back(isa.instructions()[static_cast<size_t>(bin.instruction)].name + " " +
                       name(bin.group) + ": " + bin.what);
  }
  return result;
}

TEST(Bins, FlagsAreModes) {
  const auto bins = binsOf(cycle::target("edge16"), "mmul");
  EXPECT_THAT(bins, Contains("mode: swap 0"));
  EXPECT_THAT(bins, Contains("mode: swap 1"));
  EXPECT_THAT(bins, Contains("cross: swap 1, semaphore"));
}

TEST(Bins, ExtentsAreCorners) {
  const auto bins = binsOf(cycle::target("edge16"), "load");
  EXPECT_THAT(bins, Contains("corner: n0 least"));
  EXPECT_THAT(bins, Contains("corner: n0 greatest"));
  EXPECT_THAT(bins, Contains("corner: d nothing"));
  EXPECT_THAT(bins, Contains("corner: d across banks"));
  EXPECT_THAT(bins, Contains("corner: s across bursts"));
  EXPECT_THAT(bins, Contains("corner: s_s1 negative"));
}

TEST(Bins, ProgramsDoNotReachTheEndOfDram) {
  EXPECT_THAT(binsOf(cycle::target("edge16"), "load"), Not(Contains("corner: s last byte")));
}

TEST(Bins, TheMatrixUnitNeverWaitsForAPortAlone) {
  EXPECT_THAT(binsOf(cycle::target("edge16"), "mmul"), Not(Contains("stall: spad_port")));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "mload"), Not(Contains("stall: spad_port")));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "mload"), Contains("stall: dependence"));
}

TEST(Bins, ValuesThatARequireForbidsAreLeftOut) {
  EXPECT_THAT(binsOf(cycle::target("edge16"), "loop"), Not(Contains("corner: length least")));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "loop"), Not(Contains("corner: length greatest")));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "loop"), Contains("corner: count greatest"));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "vchannel"), Not(Contains("corner: nc greatest")));
}

TEST(Bins, OnlyWhatGoesThroughDramWaitsForIt) {
  EXPECT_THAT(binsOf(cycle::target("edge16"), "fill"), Not(Contains("stall: dram")));
  EXPECT_THAT(binsOf(cycle::target("edge16"), "load"), Contains("stall: dram"));
}

TEST(Bins, AnInstructionOfAnOverlayHasRows) {
  const isa::Isa isa = overlaid(R"yaml(
instructions:
  vtwice:
    name: "vtwice"
    summary: "Doubles."
    unit: "vector"
    encode: { op: "0xF0" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
      half: { kind: "imm", type: "u1" }
    semantics: { map: { iter: [ "x in n0" ], out: "d[x]", expr: "cast<i32>(half == 1 ? a[x] : a[x] + a[x])" } }
)yaml");
  const auto bins = binsOf(isa, "vtwice");
  EXPECT_THAT(bins, Contains("mode: half 1"));
  EXPECT_THAT(bins, Contains("stall: acc_port"));
  EXPECT_THAT(bins, Not(Contains("stall: spad_port")));
}

TEST(Coverage, SeesWhatARunDoes) {
  const auto hits = seen("xset rd=x1, value=64\nload s=3, d=0+x1, n1=1, n0=300 !signal=0\n"
                         "vector.set r0=a_s0, v0=-1, r1=n1, v1=0 !wait=0\nhalt\n");
  EXPECT_THAT(hits, Contains("load mode: signals"));
  EXPECT_THAT(hits, Contains("load mode: d based"));
  EXPECT_THAT(hits, Contains("load corner: s misaligned"));
  EXPECT_THAT(hits, Contains("load corner: s across bursts"));
  EXPECT_THAT(hits, Contains("load stall: dram"));
  EXPECT_THAT(hits, Contains("vector.set mode: waits"));
  EXPECT_THAT(hits, Contains("vector.set mode: r0 a_s0"));
  EXPECT_THAT(hits, Contains("vector.set stall: semaphore"));
  EXPECT_THAT(hits, Not(Contains("load corner: d first byte")));
  EXPECT_THAT(hits, Not(Contains("mmul mode: swap 0")));
}

TEST(Coverage, RegistersAreThoseOfTheStart) {
  const auto hits = seen("load s=0, d=0, n1=1, n0=4\nload.set r0=s_s1, v0=-8, r1=n2, v1=1\nload "
                         "s=0, d=0, n1=1, n0=4\nhalt\n");
  EXPECT_THAT(hits, Contains("load corner: s_s1 zero"));
  EXPECT_THAT(hits, Contains("load corner: s_s1 negative"));
  EXPECT_THAT(hits, Not(Contains("load corner: s_s1 positive")));
}

TEST(Coverage, BranchesAreTakenOrNot) {
  const auto hits = seen("branch rs=x0, negate=1, offset=1\nhalt\n");
  EXPECT_THAT(hits, Contains("branch mode: not taken"));
  EXPECT_THAT(hits, Not(Contains("branch mode: taken")));
}

TEST(Coverage, RefusesATraceOfAnotherProgram) {
  const isa::Isa &isa = cycle::target("edge16");
  const Program longer = cycle::assemble(isa, "fence\nfence\nhalt\n"),
                shorter = cycle::assemble(isa, "halt\n");
  Coverage coverage(isa);
  EXPECT_THROW(coverage.add(shorter, cycle::run(longer)), std::logic_error);
}

TEST(Coverage, TableNamesWhatWasNotSeen) {
  const isa::Isa &isa = cycle::target("edge16");
  const Program program = cycle::assemble(isa, "halt\n");
  Coverage coverage(isa);
  coverage.add(program, cycle::run(program));
  EXPECT_THAT(coverage.table(), HasSubstr("not seen:\n"));
  EXPECT_THAT(coverage.table(), HasSubstr("  mmul: waits; signals; "));
  EXPECT_THAT(coverage.table(), HasSubstr("1 programs, 1 instructions: "));
  EXPECT_LT(coverage.percent(), 1);
}

} // namespace
} // namespace tilewright::coverage

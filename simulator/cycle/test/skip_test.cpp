// Fast-forwarding over steady cycles is an optimization: stepping every cycle gives the same
// record, to the last stall. TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a target,
// TILEWRIGHT_RANDOM_SEED=S starts at seed S.
#include "tilewright/testing/harness.h"

#include "tilewright/lockstep/random_program.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

class Skip : public testing::TestWithParam<const char *> {};

TEST_P(Skip, EqualsSteppingEveryCycle) {
  const isa::Isa &isa = target(GetParam());
  int64_t instructions = 0, conflicts = 0;
  const uint64_t first = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1));
  const int64_t programs = setting("TILEWRIGHT_RANDOM_PROGRAMS", 150);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(programs); ++seed) {
    const Program program = makeProgram(isa, lockstep::randomProgram(isa, seed, 60));
    RunSetup setup{isa, seed % 3 == 0 ? idealDram(isa) : DramConfig::of(isa), {}};
    const RunRecord skipped = run(program, setup);
    setup.options.skip = false;
    const RunRecord stepped = run(program, setup);
    ASSERT_EQ(print(skipped, isa), print(stepped, isa)) << "seed " << seed;
    for (size_t unit = 0; unit < skipped.units.size(); ++unit) {
      const UnitRecord &record = skipped.units[unit];
      int64_t sum = record.busy + record.idle;
      for (int64_t stall : record.stalls)
        sum += stall;
      ASSERT_EQ(sum, skipped.cycles) << isa.units()[unit].name << ", seed " << seed;
    }
    for (const auto &losers : skipped.bankConflicts)
      for (int64_t count : losers)
        conflicts += count;
    instructions += static_cast<int64_t>(skipped.instructions);
  }
  EXPECT_GT(instructions, 50 * programs);
  EXPECT_GT(conflicts, 3 * programs);
}

// Skipping and stepping give one record; adds the conflicts at banks that it has.
void expectAlike(const isa::Isa &isa, const Program &program, int64_t &conflicts) {
  RunSetup setup{isa, idealDram(isa), {}};
  const RunRecord skipped = run(program, setup);
  setup.options.skip = false;
  const RunRecord stepped = run(program, setup);
  ASSERT_EQ(print(skipped, isa), print(stepped, isa));
  for (const auto &losers : stepped.bankConflicts)
    for (const int64_t lost : losers)
      conflicts += lost;
}

// Long instructions that meet in the same banks, two and two, now beside each other and now one
// after the other: what random programs seldom do for long.
TEST(SkipDirected, EqualsSteppingWhereUnitsMeet) {
  const isa::Isa &isa = target("edge16");
  const std::string work[] = {
      "mmul a=0, d=0, n1=1, n0=150, k=16, n=16, accumulate=1, swap=0\n",
      "mmul a=0, d=0, n1=1, n0=150, k=16, n=16, accumulate=0, swap=0\n",
      "mmul a=0x7f00, d=0x1f00, n1=1, n0=60, k=16, n=16, accumulate=1, swap=0\n",
      "mload w=0x100, k=16, n=16\n",
      "vrescale a=0, d=0x8000, n0=130, nc=16\n",
      "vrescale.widen a=0, d=0, n0=130, nc=16\n",
      "vadd a=0, b=0x2000, d=0x1000, n0=90, nc=16\n",
      "vrescale.i8 a=0x7e00, d=0x7e00, n0=64, nc=16\n",
      "load s=0x100, d=0x40, n1=1, n0=2000\n",
      "load.i8 s=0x100, d=0x100, n1=1, n0=1500\n",
      "fill d=0x8000, value=0, n1=1, n0=2500\n",
      "fill.acc d=0, value=0, n1=1, n0=2500\n",
      "store s=0x7000, d=0x8000, n1=1, n0=6000\n",
      "store.i32 s=0x40, d=0x8000, n1=1, n0=700\n",
  };
  const std::string settings = "matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                               "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                               "vector.set r0=b_s0, v0=16, r1=b_s1, v1=0\n";
  for (const std::string &first : work) {
    for (const std::string &second : work) {
      const Program program = assemble(
          isa, settings + first + second + first + "fence\n" + second + second + first + "fence\n" +
                   first + "fence\n" + second + "vrescale a=0, d=0x18000, n0=130, nc=16\nhalt\n");
      RunSetup setup{isa, DramConfig::of(isa), {}};
      const RunRecord skipped = run(program, setup);
      setup.options.skip = false;
      ASSERT_EQ(print(skipped, isa), print(run(program, setup), isa)) << first << second;
    }
  }
}

// Rows that are skipped bring the last ones into another bank, where the vector unit begins to read
// at that time.
TEST(SkipDirected, KnowsWhereTheRowsBehindSkippedOnesLie) {
  const isa::Isa &isa = target("edge16");
  int64_t conflicts = 0;
  for (int rows = 100; rows <= 180; rows += 4) {
    const Program program = assemble(
        isa, fmt::format("matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                         "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                         "vector.set r0=b_s0, v0=16, r1=b_s1, v1=0\nfence\n"
                         "mmul a=0x7740, d=0x1740, n1=1, n0=150, k=16, n=16, accumulate=1, swap=0\n"
                         "vadd.i8 a=0x10000, b=0x18000, d=0x20000, n0={}, nc=16\n"
                         "vrescale a=0x2000, d=0x28000, n0=30, nc=16\nhalt\n",
                         rows));
    ASSERT_NO_FATAL_FAILURE(expectAlike(isa, program, conflicts)) << rows;
  }
  EXPECT_GT(conflicts, 0);
}

// The same of windows: sweeps with and without reads at their ends, sums that begin now and then,
// long after each other or in every cycle.
TEST(SkipDirected, KnowsWhereTheSumsOfWindowsBegin) {
  const isa::Isa &isa = target("edge16+depthwise");
  int64_t conflicts = 0;
  const std::pair<const char *, int> windows[] = {
      {"n1=40, n0=4, k1=3, k0=3, t1=1, t0=1, p=6", 64},
      {"n1=9, n0=2, k1=3, k0=3, t1=2, t0=2, p=6", 64},
      {"n1=3, n0=60, k1=1, k0=15, t1=7, t0=1, p=250", 1024}};
  for (const auto &[window, stride] : windows)
    for (int rows = 20; rows <= 180; rows += 16) {
      const Program program =
          assemble(isa, fmt::format("matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                                    "matrix.set r0=a_s1, v0=1024, r1=d_s1, v1={}\n"
                                    "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\nfence\n"
                                    "mdw a=0x7740, d=0x1740, n=16, {}, accumulate=1, swap=0\n"
                                    "vrescale a=0x1700, d=0x28000, n0={}, nc=16\n"
                                    "mload w=0x7000, k=16, n=16\n"
                                    "vrescale a=0x2000, d=0x28000, n0=30, nc=16\nhalt\n",
                                    stride, window, rows));
      ASSERT_NO_FATAL_FAILURE(expectAlike(isa, program, conflicts)) << window << rows;
    }
  EXPECT_GT(conflicts, 0);
}

// The same of an output-stationary product: blocks that end while others read accumulators,
// products that wait until sums have left, weights in the bank of the activations or of another
// unit.
TEST(SkipDirected, KnowsWhenSumsLeave) {
  const isa::Isa &isa = target("edge16+output-stationary");
  int64_t conflicts = 0;
  for (const char *banks : {"a=0x7740, w=0x10000", "a=0x7740, w=0x8000", "a=0x18000, w=0x10000"})
    for (int depth : {2, 16, 40})
      for (int rows = 20; rows <= 180; rows += 16) {
        const Program program = assemble(
            isa,
            fmt::format("matrix.set r0=a_s0, v0=16, r1=d_s0, v1=16\n"
                        "matrix.set r0=w_s0, v0=16, r1=depth, v1={}\n"
                        "matrix.set r0=taps1, v0=2, r1=w_k1, v1=640\n"
                        "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\nfence\n"
                        "msum {}, d=0x1f40, n=16, n1=1, n0=53\n"
                        "mmul a=0x8000, d=0x1f00, n1=1, n0=9, k=16, n=16, accumulate=1, swap=0\n"
                        "vrescale a=0x1f00, d=0x28000, n0={}, nc=16\n"
                        "mload w=0x10000, k=16, n=16\n"
                        "vrescale.i8 a=0x10000, d=0x28000, n0=30, nc=16\nhalt\n",
                        depth, banks, rows));
        ASSERT_NO_FATAL_FAILURE(expectAlike(isa, program, conflicts))
            << banks << ' ' << depth << ' ' << rows;
      }
  EXPECT_GT(conflicts, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, Skip,
                         testing::Values("edge16", "odd12x20", "wide32x8", "edge16+depthwise",
                                         "edge16+second-load", "edge16+zero-skipping",
                                         "edge16+output-stationary", "tiny4+depthwise",
                                         "tiny4+output-stationary"));

} // namespace
} // namespace tilewright::cycle

// Skipping quiet cycles is an optimization: stepping every cycle gives the same record, to the last
// stall. TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a target, TILEWRIGHT_RANDOM_SEED=S starts at
// seed S.
#include "harness.h"
#include "random_program.h"

#include <cstdlib>
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
    const Program program = makeProgram(isa, randomProgram(isa, seed, 60));
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

INSTANTIATE_TEST_SUITE_P(Targets, Skip, testing::Values("edge16", "odd12x20", "wide32x8"));

} // namespace
} // namespace tilewright::cycle

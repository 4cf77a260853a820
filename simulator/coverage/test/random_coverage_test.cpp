// What random programs cover of a machine, as a table: TILEWRIGHT_RANDOM_PROGRAMS=N runs N
// programs, TILEWRIGHT_RANDOM_SEED=S starts at seed S. The engines are equal on them
// (simulator/rtl/test/lockstep_test.cpp), so that the cycle engine speaks for all.
#include "tilewright/testing/harness.h"

#include "tilewright/coverage/coverage.h"
#include "tilewright/lockstep/fuzz.h"
#include "tilewright/support/error.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace tilewright::coverage {
namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

class RandomPrograms : public testing::TestWithParam<const char *> {};

TEST_P(RandomPrograms, CoverTheMachine) {
  const isa::Isa &isa = cycle::target(GetParam());
  const auto functional = makeFunctionalEngine(isa), engine = makeCycleEngine(isa);
  const lockstep::Fuzzer fuzzer(isa, *functional, {engine.get()});
  const int64_t programs = setting("TILEWRIGHT_RANDOM_PROGRAMS", 400);
  const auto first = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1));
  Coverage coverage(isa);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(programs); ++seed) {
    const Program program = fuzzer.program(fuzzer.make(seed, 60));
    DramImage image(program);
    try {
      coverage.add(program, engine->run(program, image, {}));
    } catch (const UserError &) {
      // One that ends with a trap or a deadlock on purpose has no record.
    }
  }
  std::printf("%s\n%s", GetParam(), coverage.table().c_str());
  if (programs >= 400) // fewer cannot be asked for much
    EXPECT_GT(coverage.percent(), 90);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomPrograms, testing::Values("tiny4", "odd12x20"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tilewright::coverage

// The RTL and the cycle engine give the same record, to the last stall of the last instruction.
// TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a target, TILEWRIGHT_RANDOM_SEED=S starts at seed S.
#include "harness.h"
#include "random_program.h"

#include "trace.h"

#include "tilewright/simulator/engine.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

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

INSTANTIATE_TEST_SUITE_P(Targets, Lockstep, testing::Values("tiny4", "odd12x20", "edge16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tilewright::cycle

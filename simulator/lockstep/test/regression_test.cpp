// Programs that made two engines differ once: on the engines that need no model of the hardware,
// and with every cycle stepped.
#include "tilewright/testing/regressions.h"

#include "tilewright/testing/lying_engine.h"

#include "tilewright/lockstep/compare.h"

#include <cstdlib>

namespace tilewright::lockstep {
namespace {

class Regressions : public testing::TestWithParam<std::string> {};

TEST_P(Regressions, AreEqual) {
  const Regression regression(GetParam());
  const auto functional = makeFunctionalEngine(regression.isa),
             cycle = makeCycleEngine(regression.isa);
  LyingEngine stepping(*cycle, [] {
    ::setenv("TILEWRIGHT_STEP_EVERY_CYCLE", "1", 1);
    Lie lie;
    lie.record = [](RunRecord &) { ::unsetenv("TILEWRIGHT_STEP_EVERY_CYCLE"); };
    return lie;
  });
  CompareOptions options;
  options.values = false; // they may race
  const Comparison comparison = compare(
      regression.isa, regression.program, [&] { return DramImage(regression.program); },
      {functional.get(), cycle.get(), &stepping}, options);
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

INSTANTIATE_TEST_SUITE_P(Programs, Regressions, testing::ValuesIn(regressionPrograms()), testName);

} // namespace
} // namespace tilewright::lockstep

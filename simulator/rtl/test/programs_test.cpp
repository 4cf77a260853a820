// Linked with the tests of the cycle engine: each program they run, and each error they expect, on
// the RTL too.
#include "tilewright/testing/harness.h"

#include "trace.h"

#include "tilewright/support/error.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

int runs = 0;
constexpr int64_t mostCyclesBeforeAnError = 1 << 20;

void runOnRtl(const Program &program, const RunSetup &setup, const RunRecord *record,
              const std::string &error) {
  ++runs;
  DramImage image(program);
  RunOptions options;
  // RTL that goes on where the cycle engine has ended differs: no run of it is without a limit.
  options.maxCycles = setup.options.maxCycles != 0 ? setup.options.maxCycles
                      : record != nullptr          ? record->cycles + 1
                                                   : mostCyclesBeforeAnError;
  options.trace = setup.options.trace;
  try {
    const RunRecord own =
        rtl::run(setup.isa, rtl::loadModel(setup.isa), setup.dram, program, image, options);
    ASSERT_NE(record, nullptr) << "the cycle engine says: " << error;
    EXPECT_EQ(print(own, setup.isa), print(*record, setup.isa));
  } catch (const UserError &own) {
    EXPECT_EQ(own.what(), error);
  }
}

class Observed : public testing::Environment {
public:
  void SetUp() override { observeRuns(runOnRtl); }
  void TearDown() override { EXPECT_GT(runs, 0); }
};
const testing::Environment *const observed = testing::AddGlobalTestEnvironment(new Observed);

} // namespace
} // namespace tilewright::cycle

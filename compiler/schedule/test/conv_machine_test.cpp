// ctest -R ConvMachine: what the planner takes DRAM to stream.
#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/testing/overlaid.h"

namespace tilewright {
namespace {

ConvMachine withTarget(const std::string &patch) {
  return ConvMachine::of(overlaid("target: { " + patch + " }"));
}

TEST(ConvMachine, PeakIsTheLesserOfDramsRateAndThePorts) {
  EXPECT_EQ(withTarget("clock_hz: 500000000").peakBytesPerCycle, 8);
  EXPECT_EQ(withTarget("clock_hz: 2000000000").peakBytesPerCycle, 4);
  EXPECT_EQ(withTarget("dram: hbm2, params: { bus_bytes: 32 }").peakBytesPerCycle, 32);
}

TEST(ConvMachine, SustainedIsBelowThePeak) {
  for (const char *patch : {"dram: lpddr4", "dram: ddr4", "dram: hbm2, params: { bus_bytes: 64 }",
                            "clock_hz: 2000000000"}) {
    const ConvMachine machine = withTarget(patch);
    EXPECT_LE(machine.dramBytesPerCycle, machine.peakBytesPerCycle) << patch;
    EXPECT_GT(machine.dramBytesPerCycle, 0.9 * machine.peakBytesPerCycle) << patch;
  }
}

TEST(ConvMachine, AShortRunTakesDramsTimeOrThePorts) {
  // Eight bytes touch an access of 64 and, by their place, more.
  const double touched = 64 + 7;
  EXPECT_DOUBLE_EQ(withTarget("dram: lpddr4").streamedFor(8), touched);
  EXPECT_DOUBLE_EQ(withTarget("dram: ddr4").streamedFor(8), touched * 8 / 19.2)
      << "in the time in which the port moves so many, DRAM is through";
  EXPECT_EQ(withTarget("dram: ideal").streamedFor(8), 8);
  EXPECT_EQ(withTarget("dram: ddr4").streamedFor(4096), 4096) << "the port limits";
}

} // namespace
} // namespace tilewright

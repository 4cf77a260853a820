// What tests of plans and of their spaces share.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/plan_space.h"

#include <gtest/gtest.h>

namespace tilewright {

// Numbers like those of `edge16`.
inline ConvMachine machine(int64_t spadBytes = 262144, int64_t accBytes = 65536) {
  ConvMachine machine{};
  machine.rows = machine.cols = machine.lanes = 16;
  machine.channels = 64;
  machine.spadBytes = spadBytes;
  machine.accBytes = accBytes;
  machine.accBanks = 2;
  machine.spadPort = 16;
  machine.rowLimit = 4095;
  machine.dramBytesPerCycle = 6.8;
  machine.matrixOverhead = 2;
  machine.vectorOverhead = 12;
  machine.accessBytes = 64;
  machine.burstBytes = 256;
  machine.peakBytesPerCycle = 8;
  machine.writeOverhead = 4;
  machine.dramLatency = 100;
  machine.mayGather = true;
  return machine;
}

// Points drawn from a space, crossed and mutated are legal; `check` sees each one drawn.
template <typename Check> void drawLegalPoints(const PlanSpace &space, const Check &check) {
  Random random(1);
  std::optional<PlanPoint> before = randomPoint(space, random);
  ASSERT_TRUE(before);
  for (int i = 0; i < 100; ++i) {
    const std::optional<PlanPoint> drawn = randomPoint(space, random);
    ASSERT_TRUE(drawn);
    EXPECT_TRUE(isLegal(space, *drawn));
    check(*drawn);
    if (const auto child = crossed(space, *drawn, *before, random))
      EXPECT_TRUE(isLegal(space, *child));
    if (const auto child = mutated(space, *drawn, random)) {
      EXPECT_TRUE(isLegal(space, *child));
      EXPECT_NE(*child, *drawn);
    }
    before = drawn;
  }
}

} // namespace tilewright

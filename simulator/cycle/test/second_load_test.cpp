// Of two load DMAs (docs/microarchitecture.md), which the RTL has not.
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/testing/harness.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

// Of a load, beside its bytes: until the first burst is requested, its cycle, the one in which it
// comes out of its buffer, and the end.
constexpr int64_t around = timing::startedToMoved + 2 + timing::doneToEnded;

// An element a cycle into the first bank; and 64 bytes by the other DMA.
std::vector<int64_t> besideAnother(const std::string &other) {
  const isa::Isa &isa = target("edge16+second-load");
  const auto entries = after("load.set r0=d_s0, v0=2, r1=d_s1, v1=0\n" + pause,
                             "load s=0, d=0, n1=1, n0=64\n" + other, {isa, idealDram(isa), {}});
  return {entries.at(0).end - entries.at(0).start + 1, entries.at(1).end - entries.at(0).start};
}

TEST(SecondLoad, DrainsBesideTheFirst) {
  const std::vector<int64_t> first{around + 8 + 64, around - 1 + 8 + 8 + 4};
  EXPECT_EQ(besideAnother("weights.load s=0x1000, d=0x8000, n1=1, n0=64"), first);
}

TEST(SecondLoad, GivesWayAtABank) {
  const std::vector<int64_t> first{around + 8 + 64, around - 1 + 8 + 64 + 4};
  EXPECT_EQ(besideAnother("weights.load s=0x1000, d=0x4000, n1=1, n0=64"), first);
}

TEST(SecondLoad, RequestsWhenTheFirstDoesNot) {
  const isa::Isa &isa = target("edge16+second-load");
  const auto entries =
      after(pause, "load s=0, d=0, n1=1, n0=1024\nweights.load s=0x1000, d=0x8000, n1=1, n0=8",
            {isa, idealDram(isa), {}});
  // Four bursts, one a cycle; the second DMA starts in the cycle of the first one's second.
  EXPECT_EQ(entries.at(0).end - entries.at(0).start + 1, around + 128 + 16);
  EXPECT_EQ(entries.at(1).end - entries.at(0).start, around - 1 + 128 + 1 + 1);
}

} // namespace
} // namespace tilewright::cycle

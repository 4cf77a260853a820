// Rows SEQ-* of docs/microarchitecture.md.
#include "harness.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

TEST(Sequencer, HaltAlone) {
  const RunRecord record = run("halt");
  std::fputs(print(record, target("edge16")).c_str(), stdout);
}
TEST(Sequencer, Smoke) {
  const RunRecord record = run(R"(
   load.set r0=s_s1, v0=64, r1=d_s1, v1=64
   matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16
   matrix.set r0=d_s0, v0=16, r1=a_s1, v1=0
   load s=0, d=0, n1=4, n0=64 !signal=0
   load s=0x1000, d=0x8000, n1=4, n0=256 !signal=1
   mload w=0, k=16, n=16 !wait=0
   mmul a=0x8000, d=0, n1=1, n0=49, k=16, n=16, accumulate=0, swap=1 !wait=1 !signal=2
   vrescale a=0, d=0x10000, n0=49, nc=16 !wait=2 !signal=3
   store s=0x10000, d=0x2000, n1=1, n0=784 !wait=3
   halt
  )");
  std::fputs(print(record, target("edge16")).c_str(), stdout);
}

} // namespace
} // namespace tilewright::cycle

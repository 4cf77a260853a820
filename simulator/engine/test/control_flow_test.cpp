#include "tilewright/simulator/engine/control_flow.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/fault.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// Whether the program may go on when its trace holds so many records.
bool mayGoOn(const std::string &text, size_t records) {
  static const isa::Isa isa = isa::load({});
  Program program;
  for (const isa::DecodedInstruction &decoded : isa::assemble(isa, text, "test.s")) {
    const auto bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.layers.emplace_back();
  try {
    ControlFlow(isa, program).checkTrace(records);
    return true;
  } catch (const ProgramFault &) {
    return false;
  }
}

constexpr size_t usual = size_t(1) << 23;

TEST(ControlFlow, ATraceIsLongerWhereLoopsAloneRepeat) {
  const std::string text = "loop count=3000, length=2\nloop count=4000, length=1\nfence\nhalt\n";
  EXPECT_TRUE(mayGoOn(text, usual));
  EXPECT_FALSE(mayGoOn(text, 2 * usual));
}

TEST(ControlFlow, ATraceEndsWhereLoopsRepeatMore) {
  const std::string text = "loop count=4000, length=3\nloop count=4000, length=2\n"
                           "loop count=4000, length=1\nfence\nhalt\n";
  EXPECT_TRUE(mayGoOn(text, usual - 1));
  EXPECT_FALSE(mayGoOn(text, usual));
}

TEST(ControlFlow, ATraceEndsWhereBranchesDecide) {
  EXPECT_FALSE(mayGoOn("again: branch rs=x0, negate=0, offset=again\nhalt\n", usual));
}

} // namespace
} // namespace tilewright

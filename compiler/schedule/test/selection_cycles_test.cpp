// Times of loads of the vector unit's registers, on edge16: 16 lanes, 16 bytes a cycle.
#include "selection_cycles.h"

#include <gtest/gtest.h>

namespace tilewright {

static int64_t cyclesOf(const char *instruction, int64_t channels) {
  const isa::Isa isa = isa::load({"edge16", {}, ""});
  const isa::Instruction &found = *isa.find(instruction);
  std::vector<int64_t> immediates(found.operands.size(), 0);
  if (const int operand = found.operandIndex("nc"); operand >= 0)
    immediates[static_cast<size_t>(operand)] = channels;
  return selectionCycles(isa, cycle::makePlans(isa)[static_cast<size_t>(found.index)],
                         immediates.data());
}

TEST(SelectionCycles, ParametersAreThreeWordsAChannel) {
  EXPECT_EQ(cyclesOf("vchannel", 16), 3 * 4);
  EXPECT_EQ(cyclesOf("vchannel", 17), 3 * 8);
}

TEST(SelectionCycles, TablesAreRead16BytesACycle) {
  EXPECT_EQ(cyclesOf("vtable.load", 0), 256 / 16);
  EXPECT_EQ(cyclesOf("vtable16.load", 0), 33 * 2); // 513 elements of 2 bytes, in beats of 16
}

} // namespace tilewright

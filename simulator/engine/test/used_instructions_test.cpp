// Instructions of a program by opcode.
#include "tilewright/simulator/engine/used_instructions.h"

#include "tilewright/isa/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(UsedInstructions, NamesEachOnceAndSkipsReservedOpcodes) {
  isa::Isa isa = isa::load({});
  Program program;
  for (const auto &decoded : isa::assemble(
           isa, "load s=0, d=0, n1=1, n0=1\nfence\nload s=0, d=0, n1=1, n0=1\nhalt\n", "test.s")) {
    auto bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.code.append(static_cast<size_t>(isa.instructionBytes()), '\xff');
  EXPECT_THAT(usedInstructions(isa, program),
              testing::UnorderedElementsAre(isa.find("load")->index, isa.find("fence")->index,
                                            isa.find("halt")->index));
}

} // namespace
} // namespace tilewright

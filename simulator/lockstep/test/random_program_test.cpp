// Random programs reach what they are meant to reach.
#include "machine.h"

#include "tilewright/isa/extent.h"
#include "tilewright/lockstep/fuzz.h"
#include "tilewright/lockstep/random_program.h"

#include <gtest/gtest.h>
#include <set>

namespace tilewright::lockstep {
namespace {

constexpr uint64_t programs = 150;

TEST(RandomProgram, HasAllInstructionsModesAndBanks) {
  const isa::Isa &isa = tiny();
  std::set<int> instructions;
  std::set<std::pair<int, int64_t>> flags; // operand of one bit and its value
  std::set<std::pair<isa::Space, int64_t>> banks;
  int waits = 0, based = 0, backward = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed)
    for (const isa::DecodedInstruction &decoded :
         randomProgram(isa, seed, 60, {RandomKind::Any, true})) {
      const isa::Instruction &instruction =
          isa.instructions()[static_cast<size_t>(decoded.instruction)];
      instructions.insert(decoded.instruction);
      waits += decoded.wait != 0;
      for (const isa::Operand &operand : instruction.operands) {
        const auto i = static_cast<size_t>(operand.index);
        if (operand.kind == isa::Operand::Kind::Immediate) {
          if (operand.least == 0 && operand.greatest == 1 &&
              instruction.control == isa::Control::None)
            flags.insert({instruction.index * 16 + operand.index, decoded.values[i]});
          backward += instruction.control == isa::Control::Branch && operand.name == "offset" &&
                      decoded.values[i] < 0;
          continue;
        }
        const isa::Memory &memory = isa.memory(operand.space);
        if (operand.space != isa::Space::Dram && decoded.bases[i] == 0)
          banks.insert({operand.space, decoded.values[i] * memory.addressBytes /
                                           static_cast<int64_t>(memory.bankBytes())});
        based += decoded.bases[i] != 0;
      }
    }
  EXPECT_EQ(instructions.size(), isa.instructions().size());
  EXPECT_EQ(banks.size(), static_cast<size_t>(isa.memory(isa::Space::Spad).banks +
                                              isa.memory(isa::Space::Acc).banks));
  EXPECT_GE(flags.size(), 4u); // accumulate and swap of mmul, both ways
  EXPECT_EQ(flags.size() % 2, 0u);
  EXPECT_GT(waits, 500);
  EXPECT_GT(based, 100);
  EXPECT_GT(backward, 10);
}

// And so come to their end.
TEST(RandomProgram, TrapsNowhere) {
  const std::vector<Engine *> engines = {&functionalEngine(), &cycleEngine()};
  const Fuzzer fuzzer(tiny(), functionalEngine(), engines);
  int kinds[caseKinds] = {};
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    RandomCase test;
    test.codeAddress = 0x20000;
    for (const isa::DecodedInstruction &decoded : randomProgram(tiny(), seed, 60))
      test.code.push_back(tiny().encode(decoded));
    ++kinds[static_cast<int>(fuzzer.check(test).kind)];
  }
  EXPECT_EQ(kinds[static_cast<int>(CaseKind::Ending)], 0);
}

} // namespace
} // namespace tilewright::lockstep

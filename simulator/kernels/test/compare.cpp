#include "compare.h"

#include "random_case.h"
#include "reference.h"

namespace tilewright {

void expectAgreement(const isa::Isa &isa, Kernels &kernels, const isa::Instruction &instruction,
                     uint64_t seed, int cases) {
  CaseGenerator generator(isa, seed);
  MachineState actual(isa);
  std::vector<uint8_t> dram(1 << 16);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE("'" + instruction.name + "', case " + std::to_string(i) + " of seed " +
                 std::to_string(seed));
    auto drawn = generator.draw(instruction, actual, dram);
    MachineState expected = actual;
    std::vector<uint8_t> expectedDram = dram;
    expected.dram = expectedDram.data();
    reference::execute(isa, drawn.decoded, drawn.addresses.data(), expected);
    ASSERT_EQ(kernels.trapReason(drawn.decoded, drawn.addresses.data(), actual), "");
    kernels.execute(drawn.decoded, drawn.addresses.data(), actual);
    ASSERT_TRUE(actual.spad == expected.spad) << "scratchpad differs";
    ASSERT_TRUE(actual.acc == expected.acc) << "accumulators differ";
    ASSERT_TRUE(dram == expectedDram) << "DRAM differs";
    ASSERT_TRUE(actual.arrays == expected.arrays) << "array registers differ";
    ASSERT_TRUE(actual.registers == expected.registers) << "registers differ";
  }
}

} // namespace tilewright

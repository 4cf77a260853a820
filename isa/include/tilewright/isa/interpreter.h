// Executes an instruction by walking its semantics, element by element: slow and plain. Expected
// values for test vectors and for the manual's examples come from here, and generated kernels are
// tested against it.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// What one instruction can see: memories, and the registers of its unit.
struct InterpreterState {
  std::array<std::vector<uint8_t>, 3> memories; // by Space; DRAM only as far as it is used
  std::vector<int64_t> registers;               // by StateRegister::index
  std::vector<std::vector<int64_t>> arrays;     // by StateArray::index, row-major values

  // Everything at its reset value, the on-chip memories zero, `dramBytes` of zero DRAM.
  InterpreterState(const Isa &isa, const Unit &unit, uint64_t dramBytes);
};

// The whole effect of a unit instruction (not control). `addresses` as in operandRanges; the caller
// has asked trapReason. Throws std::out_of_range for an access outside of `state.memories`.
void interpret(const Isa &isa, const DecodedInstruction &decoded, const int64_t *addresses,
               InterpreterState &state);

} // namespace tilewright::isa

// The sequencer's instructions as random programs use them: found by what they do, since a
// description may lack any of them but halt, or name them otherwise.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::lockstep {

// Null: the description has none that does this with these operands.
struct ControlInstructions {
  explicit ControlInstructions(const isa::Isa &isa);

  const isa::Instruction *halt = nullptr;
  const isa::Instruction *fence = nullptr;
  const isa::Instruction *set = nullptr;    // x[rd] = value
  const isa::Instruction *add = nullptr;    // x[rd] = x[rs] + value
  const isa::Instruction *loop = nullptr;   // count, length
  const isa::Instruction *step = nullptr;   // the same, with steps of base registers
  const isa::Instruction *branch = nullptr; // by offset, where x[rs] is 0, or with negate is not
  // Changes nothing when all its operands are 0.
  const isa::Instruction *idle = nullptr;
};

} // namespace tilewright::lockstep

// Which bytes each executed instruction touches: its operands' ranges, from its semantics and the
// registers as the instructions before it left them.
#pragma once

#include "tilewright/isa/extent.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <vector>

namespace tilewright::report {

struct Touch {
  isa::Space space = isa::Space::Spad;
  isa::Range range; // bytes; gaps between strided elements are in it
  isa::Access access = isa::Access::Read;
};

// Follows the trace from its begin to its end, one instruction after the other.
class TouchReader {
public:
  TouchReader(const Program &program, const isa::Isa &isa);

  // What the next instruction of the trace touches; the sequencer's touch nothing. Operands that
  // are outside their memory, which no finished instruction has, are left out.
  const std::vector<Touch> &next(const InstructionRecord &instruction);

private:
  void setRegisters(const isa::Instruction &instruction, const isa::DecodedInstruction &decoded);

  const isa::Isa &isa_;
  const Program &program_;
  std::vector<isa::DecodedInstruction> decoded_; // by program counter
  std::vector<bool> known_;                      // decoded
  std::vector<std::vector<int64_t>> registers_;  // by unit
  std::vector<int64_t> base_;
  std::vector<int64_t> addresses_;
  std::vector<isa::Range> ranges_;
  std::vector<Touch> touches_;
};

} // namespace tilewright::report

#include "tilewright/compiler/schedule/program_order.h"

namespace tilewright {

ProgramOrder::ProgramOrder(const Stream &stream, const isa::Isa &isa)
    : stream_(stream), base_(static_cast<size_t>(isa.param("base_registers"))),
      hasBases_(stream.hasBases()), flow_(isa, none_, stream.size()) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    control_.push_back(instruction.control);
    memories_.emplace_back();
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      if (instruction.operands[i].kind == isa::Operand::Kind::Memory)
        memories_.back().push_back(i);
  }
}

const StreamInstruction &ProgramOrder::written() {
  if (writtenAt_ != at()) {
    written_ = stream_[at()];
    writtenAt_ = at();
  }
  return written_;
}

const isa::DecodedInstruction &ProgramOrder::resolved() {
  const isa::DecodedInstruction &decoded = written().decoded;
  if (!hasBases_)
    return decoded;
  resolved_ = decoded;
  for (size_t i : memories_[instruction()]) {
    resolved_.values[i] += base_[decoded.bases[i]];
    resolved_.bases[i] = 0;
  }
  return resolved_;
}

void ProgramOrder::advance() {
  if (control() == isa::Control::None)
    return flow_.advance(base_);
  flow_.execute(written().decoded, base_);
}

} // namespace tilewright

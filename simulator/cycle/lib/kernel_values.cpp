#include "kernel_values.h"

#include "tilewright/isa/extent.h"
#include "tilewright/simulator/engine/written.h"

namespace tilewright::cycle {

std::string KernelValues::trapReason(const DispatchedInstruction &dispatched) {
  std::string reason =
      machine_.kernels.trapReason(dispatched.decoded, dispatched.addresses.data(), machine_.state);
  if (reason.empty())
    return reason;
  const isa::Instruction &instruction = *dispatched.timing->instruction;
  const std::vector<isa::Range> ranges =
      isa::operandRanges(instruction, machine_.isa, dispatched.decoded,
                         registers(dispatched.timing->unit->index), dispatched.addresses.data());
  leftDram_ = false;
  for (const isa::Operand &operand : instruction.operands) {
    const isa::Range &range = ranges[static_cast<size_t>(operand.index)];
    if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram &&
        !range.empty() &&
        (range.begin < 0 || range.end > static_cast<int64_t>(machine_.state.dramBytes)))
      leftDram_ = true;
  }
  return reason;
}

void KernelValues::execute(const DispatchedInstruction &dispatched) {
  machine_.kernels.execute(dispatched.decoded, dispatched.addresses.data(), machine_.state);
  if (sink_ != nullptr)
    reportWritten(machine_.isa, dispatched.decoded, dispatched.addresses.data(), machine_.state,
                  *dispatched.record, executed_, *sink_);
  ++executed_;
}

} // namespace tilewright::cycle

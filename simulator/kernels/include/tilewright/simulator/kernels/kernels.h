// The values of instructions: native code generated once per instruction from its semantics (LLVM
// ORC), called by every engine.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/simulator/engine/machine_state.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

// Executes unit instructions (not control) on a MachineState. Kernels are compiled when first used
// and cached on disk by content.
class Kernels {
public:
  explicit Kernels(const isa::Isa &isa);
  ~Kernels();
  // The whole effect of the instruction: set instructions and steps. `addresses` by operand index
  // (base added), as in isa::operandRanges.
  void execute(const isa::DecodedInstruction &decoded, const int64_t *addresses,
               MachineState &state);
  // isa::trapReason, and for an operand beyond the DRAM of the run: "" when the instruction may
  // execute. Costs a few nanoseconds then.
  std::string trapReason(const isa::DecodedInstruction &decoded, const int64_t *addresses,
                         const MachineState &state);
  // Compiles all instructions that occur in `code` now.
  void prepare(const std::vector<int> &instructions);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace tilewright

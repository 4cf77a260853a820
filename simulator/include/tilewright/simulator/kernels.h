// The values of instructions: native code generated once per instruction from its semantics (LLVM
// ORC), called by every engine.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

// All architectural state that holds values: memories and unit registers. Addresses are checked
// (Kernels::trapReason) before a kernel runs.
struct MachineState {
  explicit MachineState(const isa::Isa &isa); // everything at its reset value; memories zero
  void reset();

  std::vector<uint8_t> spad;
  std::vector<int32_t> acc;
  uint8_t *dram = nullptr; // not owned
  uint64_t dramBytes = 0;
  std::vector<std::vector<int64_t>> registers; // [unit][StateRegister::index]
  std::vector<std::vector<std::vector<uint8_t>>>
      arrays;                // [unit][StateArray::index], elements of storageBytes()
  std::vector<int64_t> base; // base registers; [0] stays 0
private:
  const isa::Isa *isa_;
};

// Executes unit instructions (not control) on a MachineState. Kernels are compiled when first used
// and cached on disk by content.
class Kernels {
public:
  explicit Kernels(const isa::Isa &isa);
  ~Kernels();
  // The whole effect of the instruction: set instructions and steps. `addresses` by operand index
  // (base added), as in isa::operandRanges.
  void execute(const isa::Word &word, const int64_t *addresses, MachineState &state);
  // isa::trapReason, and for an operand beyond the DRAM of the run: "" when the instruction may
  // execute. Costs a few nanoseconds then.
  std::string trapReason(const isa::Word &word, const int64_t *addresses,
                         const MachineState &state);
  // Compiles all instructions that occur in `words` now.
  void prepare(const std::vector<int> &instructions);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace tilewright

// Random executable instructions: values that meet the requires, addresses and strides that keep
// inside the memories, registers and memories full of corner values.
#pragma once

#include "tilewright/simulator/kernels/kernels.h"

#include <random>

namespace tilewright {

class CaseGenerator {
public:
  CaseGenerator(const isa::Isa &isa, uint64_t seed) : isa_(isa), random_(seed) {}

  struct Case {
    isa::DecodedInstruction decoded;
    std::vector<int64_t> addresses;
  };
  // Draws an instruction and the state it runs on until it may execute. `dram` is what `state.dram`
  // points to. Throws when a thousand draws in a row may not.
  Case draw(const isa::Instruction &instruction, MachineState &state, std::vector<uint8_t> &dram);

  // A value of the type: a corner of it, a small one, or any.
  int64_t value(const isa::Type &type);
  int64_t between(int64_t least, int64_t greatest);

private:
  bool tryDraw(const isa::Instruction &instruction, MachineState &state, Case &drawn);
  void drawRegisters(const isa::Unit &unit, MachineState &state);
  void drawContents(const isa::Instruction &instruction, MachineState &state,
                    std::vector<uint8_t> &dram);
  int64_t extent(int64_t greatest);
  int64_t stride();
  bool isSize(const isa::Instruction &instruction, isa::ExprKind kind, int index) const;
  bool isStride(const isa::Instruction &instruction, int index) const;

  const isa::Isa &isa_;
  std::mt19937_64 random_;
};

} // namespace tilewright

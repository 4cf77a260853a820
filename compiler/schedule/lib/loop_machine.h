// What the machine has for loops.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tilewright {

struct LoopMachine {
  const isa::Instruction *loop = nullptr;
  size_t count = 0, length = 0; // its operands
  const isa::Instruction *add = nullptr;
  size_t target = 0, source = 0, value = 0; // its operands
  int registers = 0;                        // base registers, the one that is zero among them
  int depth = 0;                            // of nests

  // Nothing where the description has no loops, or no register that an instruction adds to.
  static std::optional<LoopMachine> of(const isa::Isa &isa);

  // The most that a register holds, or is moved by, either way.
  int64_t reach = int64_t(1) << 29;

  int64_t greatestCount() const { return loop->operands[count].greatest; }
  int64_t greatestLength() const { return loop->operands[length].greatest; }

  isa::DecodedInstruction makeLoop(int64_t copies, int64_t instructions) const;
  isa::DecodedInstruction makeAdd(int to, int from, int64_t amount) const;
};

} // namespace tilewright

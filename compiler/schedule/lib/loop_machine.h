// What the machine has for loops.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tilewright {

struct LoopMachine {
  const isa::Instruction *loop = nullptr;
  size_t count = 0, length = 0;           // its operands
  const isa::Instruction *step = nullptr; // a loop that adds to registers itself; may be missing
  size_t stepCount = 0, stepLength = 0;   // its operands
  const isa::Instruction *add = nullptr;
  size_t target = 0, source = 0, value = 0; // its operands
  int registers = 0;                        // base registers, the one that is zero among them
  int depth = 0;                            // of nests

  // Nothing where the description has no loops, or no register that an instruction adds to.
  static std::optional<LoopMachine> of(const isa::Isa &isa);

  // The most that a register holds, or is moved by, either way.
  int64_t reach = int64_t(1) << 29;

  int64_t greatestCount() const { return loop->operands[count].greatest; }
  int64_t greatestLength() const; // that all loops can have

  // Registers that a loop of so many copies adds to itself, at most.
  size_t stepsOf(int64_t copies) const;
  bool isStep(int64_t amount) const; // whether it can
  // Additions that stand in a body, of registers that it moves. Those of a loop that ends together
  // with one in it do not count: one addition keeps the two apart.
  size_t additions(int64_t copies, size_t moves, bool endsWithLoop) const;

  // `steps`: (register, amount) each; not more than stepsOf(copies).
  isa::DecodedInstruction makeLoop(int64_t copies, int64_t instructions,
                                   const std::vector<std::pair<int, int64_t>> &steps = {}) const;
  isa::DecodedInstruction makeAdd(int to, int from, int64_t amount) const;
};

} // namespace tilewright

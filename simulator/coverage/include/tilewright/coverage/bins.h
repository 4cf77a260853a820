// What should be seen of each instruction: its modes, the corners of its operands, the causes it
// stalls for. The bins come from the description alone, and so do the rules that leave out what
// cannot occur: an instruction of an overlay has its rows.
#pragma once

#include "tilewright/isa/extent.h"
#include "tilewright/isa/isa.h"
#include "tilewright/simulator/engine/engine.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright::coverage {

// One execution of an instruction.
struct Execution {
  const isa::DecodedInstruction *decoded = nullptr;
  const InstructionRecord *record = nullptr;
  const int64_t *registers = nullptr; // of its unit, as it starts, by StateRegister::index
  const int64_t *base = nullptr;      // base registers, as it is dispatched
  const std::vector<isa::Range> *ranges = nullptr; // bytes that each operand touches
};

enum class Group {
  Mode,   // flags, small operands, numbers of registers, semaphores, base registers
  Corner, // ends and zero of other operands and of registers; where operands stand in their memory
  Stall,  // each cause that the instruction can be charged with
  Cross   // each of these causes with each value of each flag
};
constexpr int groupCount = 4;
const char *name(Group group); // "corner"

struct Bin {
  int instruction = 0; // Isa::instructions() index
  Group group = Group::Mode;
  std::string what; // "n0 greatest"
  std::function<bool(const Execution &)> seen;
};

// All bins of a machine, in the order of its instructions.
std::vector<Bin> makeBins(const isa::Isa &isa);

// Whether the instruction can be charged with cycles of this cause (docs/microarchitecture.md,
// "Where a cycle goes").
bool canStall(const isa::Isa &isa, const isa::Instruction &instruction, Stall cause);

} // namespace tilewright::coverage

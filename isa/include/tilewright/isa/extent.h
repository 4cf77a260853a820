// How far an instruction reaches: extents of its iterators and the addresses each memory operand
// touches. Asked by the engines (traps, bank timing, byte counts) and by the compiler (static
// checks), always from the instruction's own semantics.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// The addresses an operand touches: [least, greatest + elements' own size), in the memory's bytes.
// Empty when some extent is zero.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  bool empty() const { return begin >= end; }
};

// `state` by StateRegister::index of the instruction's unit; `addresses` by operand index, base
// register added, in the memory's address unit.
std::vector<Range> operandRanges(const Instruction &instruction, const Isa &isa,
                                 const DecodedInstruction &decoded, const int64_t *state,
                                 const int64_t *addresses);

// The same into `ranges`, one for each operand, without allocating.
void operandRanges(const Instruction &instruction, const Isa &isa,
                   const DecodedInstruction &decoded, const int64_t *state,
                   const int64_t *addresses, Range *ranges);

// "" when the instruction may execute; else why it traps: an operand outside its memory, or a
// written operand whose range overlaps that of a read one without being the same elements: same
// step, addresses and type, equal strides for every iterator that takes more than one value, and
// each element visited once.
std::string trapReason(const Instruction &instruction, const Isa &isa,
                       const DecodedInstruction &decoded, const int64_t *state,
                       const int64_t *addresses);

} // namespace tilewright::isa

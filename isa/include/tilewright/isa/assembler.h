// Text form of programs.
//
//   ; comment                             label:
//   load      s=0x1000+x1, d=0x40, n1=4, n0=64  !wait=3,4 !signal=0     memory operands: address,
//   optionally +xN vector.set r0=lo, v0=-128, r1=hi, v1=127                            register
//   operands by name or number branch    rs=x1, negate=1, offset=label            offset: the
//   label's instruction number less the branch's own loop      count=4, length=label length: the
//   instructions from the one after the loop up to the label
//
// Numbers are decimal or 0x hexadecimal. Operands stand in any order, each exactly once.
#pragma once

#include "tilewright/isa/isa.h"

namespace tilewright::isa {

// One instruction a line. Throws UserError with file:line:col: unknown mnemonic (names the
// nearest), operand missing, repeated, unknown or out of range, label twice or undefined.
std::vector<DecodedInstruction> assemble(const Isa &isa, std::string_view text,
                                         const std::string &file);

// The canonical text of one instruction; `assemble` reads it back to the same.
std::string disassemble(const Isa &isa, const DecodedInstruction &decoded);

} // namespace tilewright::isa

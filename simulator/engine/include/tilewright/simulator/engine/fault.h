// How an engine reports that a program cannot go on.
#pragma once

#include "tilewright/program/program.h"
#include "tilewright/support/error.h"

#include <cstdint>
#include <string>

namespace tilewright {

// "instruction 12 (layer 'conv1')": instruction numbers as in a listing, the user's operator where
// the program knows it.
std::string describeInstruction(const Program &program, uint64_t pc);

// Why: the causes of a trap that the register map names, and what is none to the machine, which
// waits forever.
enum class FaultCause { Illegal, PastEnd, LoopPastEnd, LoopDepth, Branch, Deadlock };

// The UserError of a program that cannot go on.
class ProgramFault : public UserError {
public:
  ProgramFault(const UserError &error, uint64_t pc, FaultCause cause)
      : UserError(error), pc_(pc), cause_(cause) {}
  uint64_t pc() const { return pc_; } // number of the instruction
  FaultCause cause() const { return cause_; }

private:
  uint64_t pc_;
  FaultCause cause_;
};

// Throws the ProgramFault whose place is the program and instruction `pc`.
[[noreturn]] void fault(const Program &program, uint64_t pc, const std::string &message,
                        const std::string &fix = "", FaultCause cause = FaultCause::Illegal);

} // namespace tilewright

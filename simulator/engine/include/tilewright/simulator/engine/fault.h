// How an engine reports that a program cannot go on.
#pragma once

#include "tilewright/program/program.h"

#include <cstdint>
#include <string>

namespace tilewright {

// "instruction 12 (layer 'conv1')": instruction numbers as in a listing, the user's operator where
// the program knows it.
std::string describeInstruction(const Program &program, uint64_t pc);

// Throws the UserError whose place is the program and instruction `pc`.
[[noreturn]] void fault(const Program &program, uint64_t pc, const std::string &message,
                        const std::string &fix = "");

// Ends a run whose trace holds `records` and would grow beyond 1 GiB: a program that does not end
// is told so before memory runs out.
void checkTraceLength(const Program &program, uint64_t pc, size_t records);

} // namespace tilewright

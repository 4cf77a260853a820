// Test vectors: random and corner-case executions of an instruction with their expected results,
// from its semantics.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>
#include <vector>

namespace tilewright::isa {

// Contents of the range that an operand reaches.
struct MemoryImage {
  int operand = 0;
  Space space = Space::Spad;
  int64_t begin = 0; // in bytes
  std::vector<uint8_t> bytes;
};

// One execution. Images cover the operands' ranges, so that bytes between strided elements are
// checked, too.
struct TestVector {
  DecodedInstruction decoded;
  std::vector<int64_t> addresses; // by operand, base register added
  std::vector<int64_t> registersBefore, registersAfter;
  std::vector<std::vector<int64_t>> arraysBefore, arraysAfter;
  std::vector<MemoryImage> before, after;
};

// `count` executions of a unit instruction, none of which traps; the same seed gives the same
// vectors. Extents are small: at most a few thousand elements. DRAM addresses stay below 64 KiB.
// Throws UserError for an instruction of which no operands are found that fit the machine.
std::vector<TestVector> testVectors(const Isa &isa, const Instruction &instruction, int count,
                                    uint64_t seed);

// The same as JSON, schema "tilewright/vectors/1"; memory contents in hexadecimal.
std::string vectorsJson(const Isa &isa, const std::vector<const Instruction *> &instructions,
                        int count, uint64_t seed);

} // namespace tilewright::isa

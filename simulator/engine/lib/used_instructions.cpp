#include "tilewright/simulator/engine/used_instructions.h"

#include <map>

namespace tilewright {

std::vector<int> usedInstructions(const isa::Isa &isa, const Program &program) {
  std::map<uint32_t, int> byOpcode;
  for (const auto &instruction : isa.instructions())
    byOpcode[static_cast<uint32_t>(instruction.opcode)] = instruction.index;
  // The opcode stands in the first bits of every format.
  const uint32_t mask = (1u << isa.instructions().front().op.width) - 1;
  const auto size = static_cast<size_t>(isa.instructionBytes());
  std::vector<bool> used(isa.instructions().size());
  uint32_t last = ~0u;
  for (size_t at = 0; at + size <= program.code.size(); at += size) {
    auto byte = [&](size_t i) { return uint32_t(static_cast<uint8_t>(program.code[at + i])); };
    uint32_t opcode = (byte(0) | byte(1) << 8) & mask;
    if (opcode == last)
      continue;
    last = opcode;
    if (auto found = byOpcode.find(opcode); found != byOpcode.end())
      used[static_cast<size_t>(found->second)] = true;
  }
  std::vector<int> result;
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i])
      result.push_back(static_cast<int>(i));
  return result;
}

} // namespace tilewright

#include "difference.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/fault.h"

#include <fmt/format.h>

namespace tilewright::lockstep {

std::string instructionText(const Setup &setup, uint64_t pc) {
  std::string text = describeInstruction(setup.program, pc);
  const auto bytes = static_cast<size_t>(setup.isa.instructionBytes());
  isa::DecodedInstruction decoded;
  std::string reason;
  if ((pc + 1) * bytes <= setup.program.code.size() &&
      setup.isa.decode(reinterpret_cast<const uint8_t *>(setup.program.code.data()) + pc * bytes,
                       decoded, reason))
    text += fmt::format(" `{}`", isa::disassemble(setup.isa, decoded));
  return text;
}

std::string placeText(const Setup &setup, const Difference &difference) {
  std::string text;
  auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
  if (difference.cycle >= 0)
    add(fmt::format("cycle {}", difference.cycle));
  if (difference.unit >= 0)
    add(setup.isa.units()[static_cast<size_t>(difference.unit)].name);
  if (difference.instruction != noInstruction)
    add(instructionText(setup, difference.instruction));
  return text.empty() ? "" : text + ": ";
}

} // namespace tilewright::lockstep

#include "tilewright/simulator/engine/fault.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

std::string describeInstruction(const Program &program, uint64_t pc) {
  auto next = std::upper_bound(
      program.runs.begin(), program.runs.end(), pc,
      [](uint64_t value, const LayerRun &run) { return value < run.firstInstruction; });
  int layer = next == program.runs.begin() ? -1 : std::prev(next)->layer;
  if (layer < 0 || layer >= static_cast<int>(program.layers.size()))
    return fmt::format("instruction {}", pc);
  return fmt::format("instruction {} (layer '{}')", pc,
                     escape(program.layers[static_cast<size_t>(layer)].name));
}

void fault(const Program &program, uint64_t pc, const std::string &message, const std::string &fix,
           FaultCause cause) {
  throw ProgramFault(
      UserError({program.file, 0, 0, describeInstruction(program, pc)}, message, fix), pc, cause);
}

} // namespace tilewright

#include "compare_runs.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

// " (output 'y', element 3)" when a tensor stands at the address.
static std::string tensorAt(const char *kind, const std::vector<TensorInfo> &tensors,
                            uint64_t address) {
  for (const TensorInfo &tensor : tensors) {
    auto element = static_cast<uint64_t>(byteSize(tensor.dtype));
    uint64_t size = element;
    for (int64_t dimension : tensor.shape)
      size *= static_cast<uint64_t>(dimension);
    if (address >= tensor.address && address - tensor.address < size)
      return fmt::format(" ({} '{}', element {})", kind, escape(tensor.name),
                         (address - tensor.address) / element);
  }
  return "";
}

static std::string layerAt(const Program &program, uint64_t pc) {
  auto next =
      std::upper_bound(program.runs.begin(), program.runs.end(), pc,
                       [](uint64_t at, const LayerRun &run) { return at < run.firstInstruction; });
  if (next == program.runs.begin() || (next - 1)->layer < 0)
    return "";
  return fmt::format(" (layer '{}')",
                     escape(program.layers[static_cast<size_t>((next - 1)->layer)].name));
}

static std::string traceDifference(const Program &program, const RunOutcome &a,
                                   const RunOutcome &b) {
  size_t common = std::min(a.record.trace.size(), b.record.trace.size());
  for (size_t i = 0; i < common; ++i) {
    const InstructionRecord &left = a.record.trace[i], &right = b.record.trace[i];
    if (left.pc != right.pc)
      return fmt::format("step {}: {} executes instruction {}{}, {} executes instruction {}{}", i,
                         a.engine, left.pc, layerAt(program, left.pc), b.engine, right.pc,
                         layerAt(program, right.pc));
    uint64_t leftBytes = left.dramReadBytes + left.dramWriteBytes;
    uint64_t rightBytes = right.dramReadBytes + right.dramWriteBytes;
    if (leftBytes != rightBytes)
      return fmt::format("instruction {}{}: {} moves {} bytes, {} moves {}", left.pc,
                         layerAt(program, left.pc), a.engine, leftBytes, b.engine, rightBytes);
  }
  if (a.record.instructions != b.record.instructions)
    return fmt::format("{} executes {} instructions, {} executes {}", a.engine,
                       a.record.instructions, b.engine, b.record.instructions);
  return "";
}

static std::string memoryDifference(const Program &program, const RunOutcome &a,
                                    const RunOutcome &b) {
  for (size_t sample = 0; sample < std::min(a.memory.size(), b.memory.size()); ++sample) {
    const uint8_t *begin = a.memory[sample].data(), *end = begin + a.memory[sample].size();
    auto [left, right] = std::mismatch(begin, end, b.memory[sample].data());
    if (left == end)
      continue;
    auto address = static_cast<uint64_t>(left - begin);
    std::string tensor = tensorAt("output", program.outputs, address);
    if (tensor.empty())
      tensor = tensorAt("input", program.inputs, address);
    return fmt::format("sample {}, DRAM address {:#x}{}: {} has {:#04x}, {} has {:#04x}", sample,
                       address, tensor, a.engine, *left, b.engine, *right);
  }
  return "";
}

std::string firstDifference(const Program &program, const RunOutcome &a, const RunOutcome &b) {
  std::string difference = traceDifference(program, a, b);
  if (difference.empty())
    difference = memoryDifference(program, a, b);
  bool bothTimed = a.record.cycles != 0 && b.record.cycles != 0;
  if (difference.empty() && bothTimed && a.record.cycles != b.record.cycles)
    difference = fmt::format("{} takes {} cycles, {} takes {}", a.engine, a.record.cycles, b.engine,
                             b.record.cycles);
  return difference;
}

} // namespace tilewright

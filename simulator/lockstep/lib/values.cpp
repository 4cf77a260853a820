#include "difference.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lockstep {

namespace {

// Which execution, among those that write, record `at` is on its own engine.
Execution executionAt(const std::vector<InstructionRecord> &trace, size_t at) {
  Execution execution{trace[at].pc, 0};
  for (size_t i = 0; i < at; ++i)
    execution.nth += trace[i].pc == execution.pc && trace[i].written != 0;
  return execution;
}

std::string valueText(const std::map<WindowSink::Address, uint8_t> &bytes,
                      const WindowSink::Address &address) {
  const auto found = bytes.find(address);
  return found == bytes.end() ? "does not write it" : fmt::format("leaves {:#04x}", found->second);
}

// " (output 'y', element 3)" when a tensor stands at the address.
std::string tensorAt(const char *kind, const std::vector<TensorInfo> &tensors, uint64_t address) {
  for (const TensorInfo &tensor : tensors) {
    const auto element = static_cast<uint64_t>(byteSize(tensor.dtype));
    uint64_t size = element;
    for (int64_t dimension : tensor.shape)
      size *= static_cast<uint64_t>(dimension);
    if (address < tensor.address || address - tensor.address >= size)
      continue;
    const uint64_t offset = address - tensor.address, half = sizeof(int32_t);
    // Halves of 64 bits stand apart.
    const uint64_t index =
        tensor.dtype == DType::I64 ? offset / half % (size / element) : offset / element;
    return fmt::format(" ({} '{}', element {})", kind, escape(tensor.name), index);
  }
  return "";
}

std::string tensorAt(const Program &program, uint64_t address) {
  const std::string output = tensorAt("output", program.outputs, address);
  return output.empty() ? tensorAt("input", program.inputs, address) : output;
}

// The cycle in which the byte was written last by one execution, as the engine with time says; -1.
int64_t writtenIn(const std::vector<Event> &writes, const InstructionRecord &record,
                  const WindowSink::Address &address) {
  int64_t cycle = -1;
  for (const Event &write : writes)
    if (write.cycle >= record.start && write.cycle <= record.end && write.space == address.first &&
        address.second >= write.address &&
        address.second < write.address + static_cast<uint64_t>(write.bytes))
      cycle = std::max(cycle, write.cycle);
  return cycle;
}

} // namespace

std::optional<Difference> writtenDifference(const Setup &setup, const Outcome &a,
                                            const Outcome &b) {
  const auto &left = a.record.trace, &right = b.record.trace;
  // The one that starts first, on an engine that knows.
  const bool byTime = b.hasTime();
  size_t at = left.size();
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].pc != right[i].pc)
      break;
    if (left[i].written != right[i].written &&
        (at == left.size() || (byTime && right[i].start < right[at].start)))
      at = i;
  }
  if (at == left.size())
    return std::nullopt;
  WindowSink sinkA(0, 0, executionAt(left, at)), sinkB(0, 0, executionAt(right, at));
  rerun(a, setup, sinkA);
  rerun(b, setup, sinkB);

  // Of the bytes that differ, the one that was written first.
  std::optional<WindowSink::Address> first;
  int64_t firstCycle = -1;
  auto consider = [&](const WindowSink::Address &address) {
    int64_t cycle = writtenIn(sinkB.writes(), right[at], address);
    if (cycle < 0)
      cycle = writtenIn(sinkA.writes(), left[at], address);
    if (!first || (cycle >= 0 && cycle < firstCycle)) {
      first = address;
      firstCycle = cycle;
    }
  };
  for (const auto &[address, value] : sinkA.bytes()) {
    const auto other = sinkB.bytes().find(address);
    if (other == sinkB.bytes().end() || other->second != value)
      consider(address);
  }
  for (const auto &[address, value] : sinkB.bytes())
    if (sinkA.bytes().count(address) == 0)
      consider(address);

  Difference difference;
  difference.instruction = left[at].pc;
  difference.cycle = firstCycle;
  isa::DecodedInstruction decoded;
  std::string reason;
  const auto bytes = static_cast<size_t>(setup.isa.instructionBytes());
  if (setup.isa.decode(reinterpret_cast<const uint8_t *>(setup.program.code.data()) +
                           left[at].pc * bytes,
                       decoded, reason))
    difference.unit = setup.isa.instructions()[static_cast<size_t>(decoded.instruction)].unit;
  if (!first) {
    difference.text = fmt::format("{}{} and {} leave other bytes, but not when they run again",
                                  placeText(setup, difference), a.engine->name(), b.engine->name());
    return difference;
  }
  difference.space = first->first;
  difference.address = first->second;
  difference.text =
      fmt::format("{}at {:#x} of {}{} {} {}, {} {}", placeText(setup, difference), first->second,
                  setup.isa.memory(first->first).name,
                  first->first == isa::Space::Dram ? tensorAt(setup.program, first->second) : "",
                  a.engine->name(), valueText(sinkA.bytes(), *first), b.engine->name(),
                  valueText(sinkB.bytes(), *first));
  return difference;
}

std::optional<Difference> memoryDifference(const Setup &setup, const Outcome &a, const Outcome &b) {
  const uint8_t *begin = a.memory.data(), *end = begin + a.memory.size();
  const auto [left, right] = std::mismatch(begin, end, b.memory.data());
  if (left == end)
    return std::nullopt;
  Difference difference;
  difference.space = isa::Space::Dram;
  difference.address = static_cast<uint64_t>(left - begin);
  difference.text = fmt::format("at the end, {:#x} of {}{}: {} has {:#04x}, {} has {:#04x}",
                                difference.address, setup.isa.memory(isa::Space::Dram).name,
                                tensorAt(setup.program, difference.address), a.engine->name(),
                                *left, b.engine->name(), *right);
  return difference;
}

} // namespace tilewright::lockstep

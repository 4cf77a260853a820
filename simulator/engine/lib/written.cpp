#include "tilewright/simulator/engine/written.h"

#include <algorithm>
#include <utility>

namespace tilewright {

namespace {

const uint8_t *bytesOf(const MachineState &state, isa::Space space) {
  if (space == isa::Space::Dram)
    return state.dram;
  return space == isa::Space::Spad ? state.spad.data()
                                   : reinterpret_cast<const uint8_t *>(state.acc.data());
}

// Calls visit(first byte, bytes) for each run of neighbors of the nest.
template <typename Visit>
void forEachRun(std::vector<int64_t> extents, const std::vector<int64_t> &strides, int64_t first,
                int64_t elementBytes, const Visit &visit) {
  if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; }))
    return;
  int64_t run = 1;
  for (size_t i = extents.size(); i-- > 0;)
    if (strides[i] == 1) {
      std::swap(run, extents[i]);
      break;
    }
  std::vector<int64_t> at(extents.size());
  for (;;) {
    visit(first * elementBytes, run * elementBytes);
    size_t i = at.size();
    for (; i > 0; --i) {
      first += strides[i - 1];
      if (++at[i - 1] < extents[i - 1])
        break;
      first -= strides[i - 1] * extents[i - 1];
      at[i - 1] = 0;
    }
    if (i == 0)
      return;
  }
}

} // namespace

void reportWritten(const isa::Isa &isa, const isa::DecodedInstruction &decoded,
                   const int64_t *addresses, const MachineState &state, InstructionRecord &record,
                   uint64_t instance, RunSink &sink) {
  const isa::Instruction &instruction =
      isa.instructions()[static_cast<size_t>(decoded.instruction)];
  isa::ScalarContext context;
  context.immediates = decoded.values.data();
  context.state = state.registers[static_cast<size_t>(instruction.unit)].data();
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (!access.write)
      continue;
    const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
    std::vector<int64_t> extents, strides(step.iterators.size());
    for (const isa::Iterator &iterator : step.iterators)
      extents.push_back(isa::evaluate(*iterator.extent, context));
    for (const isa::AffineTerm &term : access.index.terms)
      if (const auto i = static_cast<size_t>(term.iterator); i < strides.size())
        strides[i] = isa::evaluate(*term.coefficient, context);
    // Without a stride, all values of an iterator are the same elements.
    for (size_t i = 0; i < extents.size(); ++i)
      if (strides[i] == 0)
        extents[i] = std::min<int64_t>(extents[i], 1);
    const isa::Operand &operand = instruction.operands[static_cast<size_t>(access.operand)];
    const uint8_t *memory = bytesOf(state, operand.space);
    const int64_t begin = addresses[access.operand] * isa.memory(operand.space).addressBytes;
    forEachRun(std::move(extents), strides, isa::evaluate(*access.index.constant, context),
               access.elementBytes, [&](int64_t offset, int64_t bytes) {
                 const int64_t address = begin + offset;
                 sink.written(record, instance, operand.space, static_cast<uint64_t>(address),
                              memory + address, bytes);
               });
  }
}

} // namespace tilewright

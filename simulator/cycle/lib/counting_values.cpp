#include "counting_values.h"

#include "tilewright/isa/column_broadcast.h"
#include "tilewright/simulator/timing/blocks.h"

namespace tilewright::cycle {

namespace {

using Extents = std::array<uint64_t, isa::limits::iterators.count()>;

// Of one step: how often a stream's element is moved. The array reads a row of activations, and
// updates a row of accumulators, once: only the iterators that move the stream count (a window
// reads what its outputs share once, too). Elsewhere each turn of the step moves an element.
uint64_t moves(const timing::StreamTiming &stream, const timing::StepTiming &step,
               const Extents &extents, bool isContraction) {
  uint64_t count = 1;
  if (isContraction) {
    for (const auto &[iterator, coefficient] : stream.terms)
      count *= extents[static_cast<size_t>(iterator)];
    return count;
  }
  const size_t turning = stream.once ? static_cast<size_t>(step.spatial) : step.extents.size();
  for (size_t i = 0; i < turning; ++i)
    count *= extents[i];
  return count;
}

} // namespace

CountingValues::CountingValues(const isa::Isa &isa) : RegisterValues(isa) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    logic_.emplace_back();
    for (size_t step = 0; step < instruction.steps.size(); ++step)
      logic_.back().push_back(isa::switchedLogic(instruction, static_cast<int>(step)));
  }
}

void CountingValues::execute(const DispatchedInstruction &dispatched) {
  const timing::InstructionTiming &timing = *dispatched.timing;
  isa::ScalarContext context;
  context.immediates = dispatched.decoded.values.data();
  context.state = registers(timing.unit->index);
  for (size_t number = 0; number < timing.steps.size(); ++number) {
    const timing::StepTiming &step = timing.steps[number];
    const std::vector<isa::ExprPtr> &guards = timing.instruction->steps[number].guards;
    Extents extents{}, guarded{};
    uint64_t turns = 1;
    for (size_t i = 0; i < step.extents.size(); ++i) {
      extents[i] = guarded[i] =
          static_cast<uint64_t>(std::max<int64_t>(0, step.extents[i](context)));
      turns *= extents[i];
      if (i < guards.size() && guards[i])
        guarded[i] = std::min(extents[i], static_cast<uint64_t>(std::max<int64_t>(
                                              0, isa::evaluate(*guards[i], context))));
    }
    auto bytes = [&](const timing::StreamTiming &stream, const Extents &of) {
      if (timing.window && !stream.once && stream.space == isa::Space::Spad)
        return static_cast<uint64_t>(timing::ColumnBroadcastWalk(*timing.window, context).reads()) *
               extents[isa::BroadcastColumn] * static_cast<uint64_t>(stream.elementBytes);
      return moves(stream, step, of, timing.isContraction) *
             static_cast<uint64_t>(stream.elementBytes);
    };
    if (timing.isStationary) {
      const timing::Blocks blocks(timing, isa_, context, dispatched.addresses.data());
      work_.memories[static_cast<size_t>(isa::Space::Spad)].read +=
          static_cast<uint64_t>(blocks.activationBytes() + blocks.weightBytes());
    }
    // Reads happen where a `when` may hold.
    for (const timing::StreamTiming &read : step.reads)
      if (!timing.isStationary)
        work_.memories[static_cast<size_t>(read.space)].read += bytes(read, guarded);
    if (step.writesMemory)
      work_.memories[static_cast<size_t>(step.write.space)].written += bytes(step.write, extents);
    if (timing.isContraction && step.writesMemory)
      work_.products += turns;
    if (timing.unit->kind == isa::UnitTemplate::Vector) {
      uint64_t outputs = 1;
      for (size_t i = 0; i < static_cast<size_t>(step.spatial); ++i)
        outputs *= extents[i];
      const isa::SwitchedLogic &logic =
          logic_[static_cast<size_t>(timing.instruction->index)][number];
      work_.vectorElements += turns;
      work_.switchedLogic +=
          turns * static_cast<uint64_t>(logic.tap) + outputs * static_cast<uint64_t>(logic.output);
    }
  }
  RegisterValues::execute(dispatched);
}

} // namespace tilewright::cycle

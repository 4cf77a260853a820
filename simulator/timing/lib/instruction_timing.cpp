#include "tilewright/simulator/timing/instruction_timing.h"

#include "tilewright/isa/column_broadcast.h"
#include "tilewright/isa/stationary.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <utility>

namespace tilewright::timing {

Scalar::Scalar(const isa::ExprPtr &expr) : expr_(expr) {
  switch (expr->kind) {
  case isa::ExprKind::Literal:
    kind_ = Kind::Literal;
    value_ = static_cast<int64_t>(expr->value);
    break;
  case isa::ExprKind::Immediate:
    kind_ = Kind::Immediate;
    value_ = expr->index;
    break;
  case isa::ExprKind::State:
    kind_ = Kind::State;
    value_ = expr->index;
    break;
  default:
    kind_ = Kind::Tree;
    break;
  }
}

ColumnBroadcastWalk::ColumnBroadcastWalk(const ColumnBroadcastTiming &timing,
                                         const isa::ScalarContext &context)
    : sweeps(0), period(timing.period(context)), span(0), trailing(0) {
  std::array<int64_t, 2> taps, reach;
  for (size_t i : {size_t(0), size_t(1)}) {
    outputs[i] = timing.outputs[i](context);
    strides[i] = timing.strides[i](context);
    taps[i] = timing.taps[i](context);
    reach[i] = (outputs[i] - 1) * strides[i] + taps[i];
  }
  if (outputs[0] == 0 || outputs[1] == 0)
    return;
  sweeps = reach[0];
  span = reach[1];
  trailing = (taps[0] - 1) * period + taps[1] - 1;
}

namespace {

[[noreturn]] void fail(const isa::Instruction &instruction, const std::string &message,
                       const std::string &fix) {
  SourceLocation location;
  location.file = instruction.file;
  location.subject = fmt::format("instruction '{}'", escape(instruction.name));
  throw UserError(location, message, fix);
}

StreamTiming makeStream(const isa::Instruction &instruction, const isa::MemoryAccess &access) {
  StreamTiming stream;
  stream.operand = access.operand;
  stream.space = instruction.operands[static_cast<size_t>(access.operand)].space;
  stream.elementBytes = access.elementBytes;
  if (access.index.constant)
    stream.constant = Scalar(access.index.constant);
  for (const isa::AffineTerm &term : access.index.terms)
    stream.terms.emplace_back(term.iterator, Scalar(term.coefficient));
  stream.once = !access.reductions;
  return stream;
}

std::vector<StepTiming> makeSteps(const isa::Instruction &instruction) {
  std::vector<StepTiming> steps;
  for (const isa::Step &step : instruction.steps) {
    StepTiming timing;
    timing.spatial = static_cast<int>(step.iterators.size());
    timing.lanes = step.laneIterator();
    for (const isa::Iterator &iterator : step.iterators)
      timing.extents.emplace_back(iterator.extent);
    for (const isa::Iterator &iterator : step.reductions)
      timing.extents.emplace_back(iterator.extent);
    steps.push_back(std::move(timing));
  }
  for (const isa::MemoryAccess &access : instruction.accesses) {
    StepTiming &timing = steps[static_cast<size_t>(access.step)];
    StreamTiming stream = makeStream(instruction, access);
    if (access.write) {
      timing.writesMemory = true;
      timing.write = std::move(stream);
    } else {
      timing.reads.push_back(std::move(stream));
    }
  }
  return steps;
}

// A DMA instruction is one step that moves: between DRAM and an on-chip memory, or a constant into
// one.
void checkMove(const InstructionTiming &timing, const isa::Isa &isa) {
  const bool load = timing.unit->kind == isa::UnitTemplate::DmaLoad;
  if (timing.steps.size() != 1 || !timing.steps[0].writesMemory ||
      timing.steps[0].reads.size() > 1 ||
      timing.steps[0].extents.size() != static_cast<size_t>(timing.steps[0].spatial))
    fail(*timing.instruction, "it is no single move, which is all that a DMA unit does",
         "use another unit, or split it");
  const StepTiming &step = timing.steps[0];
  const bool fromDram = !step.reads.empty() && step.reads[0].space == isa::Space::Dram;
  const bool toDram = step.write.space == isa::Space::Dram;
  if (load ? toDram || (!step.reads.empty() && !fromDram)
           : !toDram || step.reads.empty() || fromDram)
    fail(*timing.instruction,
         load ? "a load unit moves from DRAM, or a constant, into an on-chip memory"
              : "a store unit moves from an on-chip memory to DRAM",
         "");
  const StreamTiming &local = load ? step.write : step.reads[0];
  const int64_t port =
      local.space == isa::Space::Spad ? isa.param("spad_port") : 4 * isa.param("acc_port");
  if (local.elementBytes > port)
    fail(*timing.instruction,
         fmt::format("its elements have {} bytes on chip, of which a port moves {}",
                     local.elementBytes, port),
         "a wider port, or smaller elements");
}

std::optional<ColumnBroadcastTiming> columnBroadcastOf(const isa::Instruction &instruction,
                                                       const isa::Isa &isa) {
  const std::optional<isa::ColumnBroadcast> window = isa::columnBroadcast(instruction, isa);
  if (!window)
    return std::nullopt;
  ColumnBroadcastTiming timing;
  for (size_t i : {size_t(0), size_t(1)}) {
    timing.outputs[i] = Scalar(window->outputs[i]);
    timing.taps[i] = Scalar(window->taps[i]);
    timing.strides[i] = Scalar(window->strides[i]);
  }
  timing.period = Scalar(window->period);
  return timing;
}

// Of an output-stationary contraction: activations first, then weights. False: of others.
bool putInOrder(const isa::Instruction &instruction, StepTiming &step) {
  const std::optional<isa::StationarySums> sums = isa::stationarySums(instruction);
  if (sums && sums->weights < sums->activations)
    std::swap(step.reads[0], step.reads[1]);
  return sums.has_value();
}

void checkMatrix(InstructionTiming &timing, const isa::Isa &isa) {
  const isa::Instruction &instruction = *timing.instruction;
  timing.rows = instruction.operandIndex("k");
  timing.columns = instruction.operandIndex("n");
  timing.swap = instruction.operandIndex("swap");
  std::vector<StepTiming>
      timed; // steps that touch memory; moving shadow weights into place costs nothing
  for (StepTiming &step : timing.steps)
    if (step.writesMemory || !step.reads.empty())
      timed.push_back(std::move(step));
  timing.steps = std::move(timed);
  if (timing.steps.size() == 1 && timing.steps[0].writesMemory) {
    timing.isStationary = putInOrder(instruction, timing.steps[0]);
    if (!timing.isStationary)
      timing.window = columnBroadcastOf(instruction, isa);
  }
  if (timing.steps.size() != 1 || (timing.rows < 0 && !timing.window && !timing.isStationary) ||
      timing.columns < 0)
    fail(instruction,
         "a matrix instruction has the operands k and n and one step that reads memory", "");
  StepTiming &step = timing.steps[0];
  timing.isContraction = step.writesMemory;
  const int64_t streams = static_cast<int64_t>(step.reads.size());
  if (timing.isContraction ? step.write.space != isa::Space::Acc || streams < 1 : streams != 1)
    fail(instruction,
         "a matrix instruction streams activations into the accumulators, or loads weights", "");
  for (size_t i = 0; i < (timing.isStationary ? 2 : 1); ++i)
    if (step.reads[i].space != isa::Space::Spad)
      fail(instruction, "activations and weights stand in the scratchpad", "");
  // The activations first; the accumulators that `init` reads are timed with the write.
  for (size_t i = 1; i < step.reads.size(); ++i)
    if (!step.reads[i].once && !timing.isStationary)
      fail(instruction, "the streamer reads one operand", "");
}

} // namespace

std::vector<InstructionTiming> makeTimings(const isa::Isa &isa) {
  std::vector<InstructionTiming> timings;
  for (const isa::Instruction &instruction : isa.instructions()) {
    InstructionTiming timing;
    timing.instruction = &instruction;
    timing.unit = &isa.units()[static_cast<size_t>(instruction.unit)];
    timing.steps = makeSteps(instruction);
    if (!timing.steps.empty()) {
      switch (timing.unit->kind) {
      case isa::UnitTemplate::DmaLoad:
      case isa::UnitTemplate::DmaStore:
        checkMove(timing, isa);
        break;
      case isa::UnitTemplate::Matrix:
        checkMatrix(timing, isa);
        break;
      case isa::UnitTemplate::Vector: {
        timing.latency = instruction.pipeline.latency;
        for (const isa::Operand &operand : instruction.operands)
          if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram)
            fail(instruction, "the vector unit reaches no DRAM", "load the operand first");
        break;
      }
      case isa::UnitTemplate::Sequencer:
        break;
      }
    }
    timings.push_back(std::move(timing));
  }
  return timings;
}

Walk walk(const StreamTiming &stream, const isa::Memory &memory, const isa::ScalarContext &context,
          const int64_t *addresses) {
  Walk result;
  result.address = addresses[stream.operand] * memory.addressBytes +
                   stream.constant(context) * stream.elementBytes;
  for (const auto &[iterator, coefficient] : stream.terms)
    result.stride[static_cast<size_t>(iterator)] += coefficient(context) * stream.elementBytes;
  return result;
}

} // namespace tilewright::timing

#include "tilewright/simulator/timing/plan.h"

#include "tilewright/isa/stationary.h"
#include "tilewright/isa/window.h"
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

WindowWalk::WindowWalk(const WindowPlan &plan, const isa::ScalarContext &context)
    : sweeps(0), period(plan.period(context)), span(0), trailing(0) {
  std::array<int64_t, 2> taps, reach;
  for (size_t i : {size_t(0), size_t(1)}) {
    outputs[i] = plan.outputs[i](context);
    strides[i] = plan.strides[i](context);
    taps[i] = plan.taps[i](context);
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
  Place place;
  place.file = instruction.file;
  place.subject = fmt::format("instruction '{}'", escape(instruction.name));
  throw UserError(place, message, fix);
}

StreamPlan makeStream(const isa::Instruction &instruction, const isa::MemoryAccess &access) {
  StreamPlan stream;
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

std::vector<StepPlan> makeSteps(const isa::Instruction &instruction) {
  std::vector<StepPlan> steps;
  for (const isa::Step &step : instruction.steps) {
    StepPlan plan;
    plan.spatial = static_cast<int>(step.iterators.size());
    for (const isa::Iterator &iterator : step.iterators)
      plan.extents.emplace_back(iterator.extent);
    for (const isa::Iterator &iterator : step.reductions)
      plan.extents.emplace_back(iterator.extent);
    steps.push_back(std::move(plan));
  }
  for (const isa::MemoryAccess &access : instruction.accesses) {
    StepPlan &plan = steps[static_cast<size_t>(access.step)];
    StreamPlan stream = makeStream(instruction, access);
    if (access.write) {
      plan.writesMemory = true;
      plan.write = std::move(stream);
    } else {
      plan.reads.push_back(std::move(stream));
    }
  }
  return steps;
}

// A DMA instruction is one step that moves: between DRAM and an on-chip memory, or a constant into
// one.
void checkMove(const InstructionPlan &plan, const isa::Isa &isa) {
  const bool load = plan.unit->kind == isa::UnitTemplate::DmaLoad;
  if (plan.steps.size() != 1 || !plan.steps[0].writesMemory || plan.steps[0].reads.size() > 1 ||
      plan.steps[0].extents.size() != static_cast<size_t>(plan.steps[0].spatial))
    fail(*plan.instruction, "it is no single move, which is all that a DMA unit does",
         "use another unit, or split it");
  const StepPlan &step = plan.steps[0];
  const bool fromDram = !step.reads.empty() && step.reads[0].space == isa::Space::Dram;
  const bool toDram = step.write.space == isa::Space::Dram;
  if (load ? toDram || (!step.reads.empty() && !fromDram)
           : !toDram || step.reads.empty() || fromDram)
    fail(*plan.instruction,
         load ? "a load unit moves from DRAM, or a constant, into an on-chip memory"
              : "a store unit moves from an on-chip memory to DRAM",
         "");
  const StreamPlan &local = load ? step.write : step.reads[0];
  const int64_t port =
      local.space == isa::Space::Spad ? isa.param("spad_port") : 4 * isa.param("acc_port");
  if (local.elementBytes > port)
    fail(*plan.instruction,
         fmt::format("its elements have {} bytes on chip, of which a port moves {}",
                     local.elementBytes, port),
         "a wider port, or smaller elements");
}

std::optional<WindowPlan> windowOf(const isa::Instruction &instruction, const isa::Isa &isa) {
  const std::optional<isa::SlidingWindow> window = isa::slidingWindow(instruction, isa);
  if (!window)
    return std::nullopt;
  WindowPlan plan;
  for (size_t i : {size_t(0), size_t(1)}) {
    plan.outputs[i] = Scalar(window->outputs[i]);
    plan.taps[i] = Scalar(window->taps[i]);
    plan.strides[i] = Scalar(window->strides[i]);
  }
  plan.period = Scalar(window->period);
  return plan;
}

// Of sums that stand in the array: activations first, then weights. False: of others.
bool putInOrder(const isa::Instruction &instruction, StepPlan &step) {
  const std::optional<isa::StationarySums> sums = isa::stationarySums(instruction);
  if (sums && sums->weights < sums->activations)
    std::swap(step.reads[0], step.reads[1]);
  return sums.has_value();
}

void checkMatrix(InstructionPlan &plan, const isa::Isa &isa) {
  const isa::Instruction &instruction = *plan.instruction;
  plan.rows = instruction.operandIndex("k");
  plan.columns = instruction.operandIndex("n");
  plan.swap = instruction.operandIndex("swap");
  std::vector<StepPlan>
      timed; // steps that touch memory; moving shadow weights into place costs nothing
  for (StepPlan &step : plan.steps)
    if (step.writesMemory || !step.reads.empty())
      timed.push_back(std::move(step));
  plan.steps = std::move(timed);
  if (plan.steps.size() == 1 && plan.steps[0].writesMemory) {
    plan.isStationary = putInOrder(instruction, plan.steps[0]);
    if (!plan.isStationary)
      plan.window = windowOf(instruction, isa);
  }
  if (plan.steps.size() != 1 || (plan.rows < 0 && !plan.window && !plan.isStationary) ||
      plan.columns < 0)
    fail(instruction,
         "a matrix instruction has the operands k and n and one step that reads memory", "");
  StepPlan &step = plan.steps[0];
  plan.isContraction = step.writesMemory;
  const int64_t streams = static_cast<int64_t>(step.reads.size());
  if (plan.isContraction ? step.write.space != isa::Space::Acc || streams < 1 : streams != 1)
    fail(instruction,
         "a matrix instruction streams activations into the accumulators, or loads weights", "");
  for (size_t i = 0; i < (plan.isStationary ? 2 : 1); ++i)
    if (step.reads[i].space != isa::Space::Spad)
      fail(instruction, "activations and weights stand in the scratchpad", "");
  // The activations first; the accumulators that `init` reads are timed with the write.
  for (size_t i = 1; i < step.reads.size(); ++i)
    if (!step.reads[i].once && !plan.isStationary)
      fail(instruction, "the streamer reads one operand", "");
}

} // namespace

std::vector<InstructionPlan> makePlans(const isa::Isa &isa) {
  std::vector<InstructionPlan> plans;
  for (const isa::Instruction &instruction : isa.instructions()) {
    InstructionPlan plan;
    plan.instruction = &instruction;
    plan.unit = &isa.units()[static_cast<size_t>(instruction.unit)];
    plan.steps = makeSteps(instruction);
    if (!plan.steps.empty()) {
      switch (plan.unit->kind) {
      case isa::UnitTemplate::DmaLoad:
      case isa::UnitTemplate::DmaStore:
        checkMove(plan, isa);
        break;
      case isa::UnitTemplate::Matrix:
        checkMatrix(plan, isa);
        break;
      case isa::UnitTemplate::Vector: {
        const auto own = isa.timing().find("instructions." + instruction.name + ".latency");
        plan.latency = own != isa.timing().end() ? own->second : isa.timing().at("vector.latency");
        for (const isa::Operand &operand : instruction.operands)
          if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram)
            fail(instruction, "the vector unit reaches no DRAM", "load the operand first");
        break;
      }
      case isa::UnitTemplate::Sequencer:
        break;
      }
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

Walk walk(const StreamPlan &stream, const isa::Memory &memory, const isa::ScalarContext &context,
          const int64_t *addresses) {
  Walk result;
  result.address = addresses[stream.operand] * memory.addressBytes +
                   stream.constant(context) * stream.elementBytes;
  for (const auto &[iterator, coefficient] : stream.terms)
    result.stride[static_cast<size_t>(iterator)] += coefficient(context) * stream.elementBytes;
  return result;
}

} // namespace tilewright::timing

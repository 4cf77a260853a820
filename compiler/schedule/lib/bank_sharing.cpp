#include "bank_sharing.h"

#include "tilewright/compiler/schedule/task_times.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tilewright::chains {

namespace {

// A port's cycles that a piece takes for a buffer.
struct Use {
  int buffer;
  isa::Space space;
  bool isWrite;
  double cycles;
};

class Conflicts {
public:
  void add(const Use &one, const Use &other, double cycles) {
    if (one.buffer != other.buffer && one.isWrite == other.isWrite && one.space == other.space &&
        cycles > 0)
      cycles_[std::minmax(one.buffer, other.buffer)] += cycles;
  }
  std::vector<BankConflict> list() const {
    std::vector<BankConflict> all;
    for (const auto &[pair, cycles] : cycles_)
      all.push_back({static_cast<size_t>(pair.first), static_cast<size_t>(pair.second), cycles});
    return all;
  }

private:
  std::map<std::pair<int, int>, double> cycles_;
};

// What tasks do at the ports. Those of one vector instruction, and a product beside the weights of
// the next one, are entered as conflicts.
class TaskUses {
public:
  TaskUses(const LoweringContext &context, Conflicts &conflicts)
      : isa_(context.isa), plans_(context.plans), lanes_(context.lanes),
        peakBytesPerCycle_(context.machine.peakBytesPerCycle),
        times_(context.isa, context.machine, context.plans), conflicts_(conflicts) {}

  std::vector<Use> of(const Piece &piece) {
    uses_.clear();
    for (const Task &task : piece.tasks) {
      const timing::InstructionTiming &plan = plans_[static_cast<size_t>(task.instruction)];
      for (const timing::StepTiming &step : plan.steps)
        if (plan.unit->kind == isa::UnitTemplate::Matrix)
          addProduct(task, plan, step);
        else if (plan.unit->kind == isa::UnitTemplate::Vector)
          addVector(task, plan, step);
        else if (step.writesMemory && step.write.space != isa::Space::Dram)
          add(task, step.write, true, loadCycles(task, step.write));
    }
    return std::move(uses_);
  }

private:
  static int bufferOf(const Task &task, const timing::StreamTiming &stream) {
    return stream.operand < 0 ? -1 : task.buffers[static_cast<size_t>(stream.operand)];
  }

  void add(const Task &task, const timing::StreamTiming &stream, bool isWrite, double cycles) {
    const int buffer = bufferOf(task, stream);
    if (buffer < 0)
      return;
    for (Use &use : uses_)
      if (use.buffer == buffer && use.isWrite == isWrite) {
        use.cycles += cycles;
        return;
      }
    uses_.push_back({buffer, stream.space, isWrite, cycles});
  }

  double loadCycles(const Task &task, const timing::StreamTiming &write) {
    return static_cast<double>(times_.cyclesOf(task)) * peakBytesPerCycle_ /
           isa_.memory(write.space).portBytes;
  }

  void addProduct(const Task &task, const timing::InstructionTiming &plan,
                  const timing::StepTiming &step) {
    if (step.reads.empty())
      return;
    const Use read{bufferOf(task, step.reads[0]), step.reads[0].space, false, 0};
    if (!plan.isContraction) {
      const auto rows = static_cast<double>(task.values[static_cast<size_t>(plan.rows)]);
      add(task, step.reads[0], false, rows);
      if (streamed_ && read.buffer >= 0)
        conflicts_.add(*streamed_, read, rows);
      return;
    }
    const auto cycles = static_cast<double>(times_.cyclesOf(task));
    const int accumulate = plan.instruction->operandIndex("accumulate");
    for (size_t i = 0; i < step.reads.size(); ++i)
      if (i == 0 || accumulate < 0 || task.values[static_cast<size_t>(accumulate)] != 0)
        add(task, step.reads[i], false, cycles);
    if (step.writesMemory)
      add(task, step.write, true, cycles);
    if (read.buffer >= 0)
      streamed_ = read;
  }

  void addVector(const Task &task, const timing::InstructionTiming &plan,
                 const timing::StepTiming &step) {
    llvm::SmallVector<int64_t, 32> state;
    for (const isa::StateRegister &reg : plan.unit->registers)
      state.push_back(reg.reset);
    for (auto [reg, value] : task.registers)
      state[static_cast<size_t>(reg)] = value;
    isa::ScalarContext scalars;
    scalars.immediates = task.values.data();
    scalars.state = state.data();
    const auto strip = static_cast<size_t>(step.lanes); // wraps where there is none
    int64_t beats = 1, taps = 1, lanes = 1;
    timing::Walk::PerIterator extents{};
    for (size_t i = 0; i < step.extents.size(); ++i) {
      extents[i] = std::max<int64_t>(step.extents[i](scalars), 0);
      if (i == strip) {
        lanes = std::min(extents[i], lanes_);
        extents[i] = (extents[i] + lanes_ - 1) / lanes_;
      }
      (i < static_cast<size_t>(step.spatial) ? beats : taps) *= extents[i];
    }
    // Taps that ask for elements: where a stream stays, it is held.
    auto asks = [&](timing::Walk walk) {
      if (step.lanes >= 0)
        walk.stride[strip] *= lanes_;
      int64_t asked = 1, before = 1;
      for (size_t i = 0; i < step.extents.size(); ++i) {
        if (walk.moves(i, step.extents.size(), extents) != 0)
          asked += before * (extents[i] - 1);
        before *= extents[i];
      }
      return asked;
    };
    auto cyclesOf = [&](const timing::StreamTiming &stream, bool isRead) {
      const isa::Memory &memory = isa_.memory(stream.space);
      const timing::Walk walk = timing::walk(stream, memory, scalars, task.values.data());
      const int64_t stride = step.lanes >= 0 ? walk.stride[strip] : 0,
                    pieces = stride == 0 ? 1
                             : stride == stream.elementBytes
                                 ? (lanes * stride + memory.portBytes - 1) / memory.portBytes
                                 : lanes;
      const int64_t times = !isRead                                     ? beats
                            : beats == 0 || (taps == 0 && !stream.once) ? 0
                            : taps == 0                                 ? beats
                                                                        : asks(walk);
      return static_cast<double>(pieces * times);
    };
    llvm::SmallVector<Use, 4> reads;
    for (const timing::StreamTiming &stream : step.reads) {
      if (bufferOf(task, stream) < 0)
        continue;
      const Use read{bufferOf(task, stream), stream.space, false, cyclesOf(stream, true)};
      for (const Use &other : reads)
        conflicts_.add(read, other, std::min(read.cycles, other.cycles));
      reads.push_back(read);
      add(task, stream, false, read.cycles);
    }
    if (step.writesMemory && bufferOf(task, step.write) >= 0)
      add(task, step.write, true, cyclesOf(step.write, false));
  }

  const isa::Isa &isa_;
  const std::vector<timing::InstructionTiming> &plans_;
  const int64_t lanes_;
  const double peakBytesPerCycle_; // of DRAM
  TaskTimes times_;
  Conflicts &conflicts_;
  std::vector<Use> uses_;
  std::optional<Use> streamed_; // by the product before
};

// A piece at work.
struct Work {
  int64_t start, end;
  std::vector<Use> uses;
  double part(const Use &use) const { // of its cycles
    return std::min(1.0, use.cycles / static_cast<double>(std::max<int64_t>(end - start, 1)));
  }
};

} // namespace

// Of two units, each of which does one piece after the other.
static void addOverlaps(const std::vector<Work> &first, const std::vector<Work> &second,
                        Conflicts &conflicts) {
  for (auto a = first.begin(), b = second.begin(); a != first.end() && b != second.end();) {
    if (const int64_t both = std::min(a->end, b->end) - std::max(a->start, b->start); both > 0)
      for (const Use &one : a->uses)
        for (const Use &other : b->uses)
          conflicts.add(one, other, static_cast<double>(both) * a->part(one) * b->part(other));
    ++(a->end < b->end ? a : b);
  }
}

std::vector<BankConflict> conflictsOf(const LoweringContext &context, const Run &run,
                                      const std::vector<int64_t> &starts) {
  Conflicts conflicts;
  TaskUses uses(context, conflicts);
  std::array<std::vector<Work>, 3> works; // by actor
  for (int actor : {matrix, vector, load}) {
    std::vector<size_t> pieces;
    for (size_t i = 0; i < run.pieces.size(); ++i)
      if (actors[static_cast<size_t>(run.order[i].stream)] == actor)
        pieces.push_back(i);
    std::sort(pieces.begin(), pieces.end(), [&](size_t a, size_t b) {
      return std::make_pair(starts[a], a) < std::make_pair(starts[b], b);
    });
    for (size_t i : pieces)
      works[static_cast<size_t>(actor)].push_back(
          {starts[i], starts[i] + run.order[i].cycles, uses.of(run.pieces[i])});
  }
  addOverlaps(works[matrix], works[vector], conflicts);
  addOverlaps(works[load], works[vector], conflicts);
  return conflicts.list();
}

} // namespace tilewright::chains

#include "tilewright/compiler/schedule/task.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

TaskForm::TaskForm(const isa::Isa &isa, const isa::Instruction &instruction)
    : instruction_(&instruction), unit_(&isa.units()[static_cast<size_t>(instruction.unit)]) {
  for (const isa::Operand &operand : instruction_->operands)
    operands_.emplace_back(operand.name);
  for (const isa::StateRegister &reg : unit_->registers)
    registers_.emplace_back(reg.name);
}

uint64_t writtenOperands(const isa::Instruction &instruction) {
  uint64_t written = 0;
  for (const isa::Step &step : instruction.steps)
    if (step.out.isMemory)
      written |= uint64_t(1) << step.out.index;
  return written;
}

void TaskForm::hasNoOperand(Name name) const {
  throw std::logic_error(
      fmt::format("instruction '{}' has no operand '{}'", instruction_->name, name.str()));
}

void TaskForm::hasNoRegister(Name name) const {
  throw UnfitDescription({},
                         fmt::format("unit '{}' has no register '{}', which this model needs",
                                     unit_->name, name.str()),
                         "keep the register in the description");
}

namespace {

class Hash {
public:
  void add(uint64_t value) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;
    hash_ = (hash_ ^ (hash_ >> 32) ^ value) * odd;
  }
  void add(const Task &task) {
    constexpr uint64_t apart = 0xD6E8FEB86659FD93; // two numbers in one
    add(static_cast<uint64_t>(task.instruction));
    for (size_t i = 0; i < task.values.size(); ++i)
      add(static_cast<uint64_t>(task.values[i]) + static_cast<uint64_t>(task.buffers[i]) * apart);
    for (const auto &[reg, value] : task.registers)
      add(static_cast<uint64_t>(value) + static_cast<uint64_t>(reg) * apart);
  }
  void add(const std::vector<Task> &tasks) {
    add(tasks.size());
    for (const Task &task : tasks)
      add(task);
  }
  uint64_t value() const { return hash_; }

private:
  uint64_t hash_ = 1;
};

} // namespace

uint64_t hashOf(const Steps &steps) {
  Hash hash;
  for (const Buffer &buffer : steps.buffers) {
    hash.add(static_cast<uint64_t>(buffer.space));
    hash.add(static_cast<uint64_t>(buffer.bytes));
    hash.add(static_cast<uint64_t>(buffer.traffic));
  }
  for (int64_t address : steps.layout)
    hash.add(static_cast<uint64_t>(address));
  steps.forEachStep([&](const Step &step) {
    for (const std::vector<Task> *tasks :
         {&step.constants, &step.loads, &step.compute, &step.stores})
      hash.add(*tasks);
  });
  return hash.value();
}

PackedTasks::PackedTasks(const isa::Isa &isa) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    memories_.emplace_back();
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      if (instruction.operands[i].kind == isa::Operand::Kind::Memory)
        memories_.back().push_back(static_cast<uint8_t>(i));
  }
}

uint32_t PackedTasks::numberOf(const Task &form) {
  Hash hash;
  hash.add(form);
  hash.add(static_cast<uint64_t>(form.layer));
  for (auto [at, end] = known_.equal_range(hash.value()); at != end; ++at) {
    const Task &other = forms_[at->second];
    if (other.instruction == form.instruction && other.layer == form.layer &&
        other.values == form.values && other.registers == form.registers)
      return at->second;
  }
  const auto number = static_cast<uint32_t>(forms_.size());
  forms_.push_back(form);
  known_.emplace(hash.value(), number);
  return number;
}

void PackedTasks::push_back(const Task &task) {
  constexpr int64_t lowerHalf = 0xffffffff;
  Task form = task;
  const std::vector<uint8_t> &memories = memories_[static_cast<size_t>(task.instruction)];
  for (uint8_t operand : memories) {
    form.values[operand] &= ~lowerHalf;
    form.buffers[operand] = -1;
  }
  words_.push_back(numberOf(form));
  for (uint8_t operand : memories) {
    words_.push_back(static_cast<uint32_t>(task.values[operand] & lowerHalf));
    words_.push_back(static_cast<uint32_t>(task.buffers[operand]));
  }
}

Task PackedTasks::Reader::next() {
  Task task = tasks_.forms_[tasks_.words_[at_++]];
  for (uint8_t operand : tasks_.memories_[static_cast<size_t>(task.instruction)]) {
    task.values[operand] |= tasks_.words_[at_++];
    task.buffers[operand] = static_cast<int>(tasks_.words_[at_++]);
  }
  return task;
}

void Steps::pack(size_t step, const isa::Isa &isa) {
  if (!packed_)
    packed_ = std::make_shared<PackedTasks>(isa);
  PackedStep &made = packedSteps_[step];
  made.begin = packed_->end();
  size_t list = 0;
  for (std::vector<Task> *tasks :
       {&steps[step].constants, &steps[step].loads, &steps[step].compute, &steps[step].stores}) {
    made.counts[list++] = static_cast<uint32_t>(tasks->size());
    for (const Task &task : *tasks)
      packed_->push_back(task);
  }
  steps[step] = Step();
}

Step Steps::unpacked(size_t step) const {
  const PackedStep &from = packedSteps_.at(step);
  PackedTasks::Reader reader(*packed_, from.begin);
  Step made;
  size_t list = 0;
  for (std::vector<Task> *tasks : {&made.constants, &made.loads, &made.compute, &made.stores}) {
    tasks->reserve(from.counts[list]);
    for (uint32_t left = from.counts[list++]; left > 0; --left)
      tasks->push_back(reader.next());
  }
  return made;
}

void Steps::unpack(size_t step) {
  if (!isPacked(step))
    return;
  steps[step] = unpacked(step);
  packedSteps_.erase(step);
}

} // namespace tilewright

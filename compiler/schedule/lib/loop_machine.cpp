#include "loop_machine.h"

#include "tilewright/isa/normal_form.h"

#include <algorithm>

namespace tilewright {

namespace {

// The operands of a base register, and of what is added to it; nothing for another value.
std::optional<std::pair<int, int>> addends(const isa::ExprPtr &value) {
  isa::TermPtr sum = isa::normalize(value);
  if (sum->kind == isa::ExprKind::Cast)
    sum = sum->args[0];
  if (sum->kind != isa::ExprKind::Add || sum->args.size() != 2)
    return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const isa::Term &from = *sum->args[i], &amount = *sum->args[1 - i];
    if (from.kind == isa::ExprKind::BaseRegister && amount.kind == isa::ExprKind::Immediate &&
        from.args[0]->kind == isa::ExprKind::Immediate)
      return std::pair(from.args[0]->index, amount.index);
  }
  return std::nullopt;
}

isa::DecodedInstruction blank(const isa::Instruction &instruction) {
  isa::DecodedInstruction made;
  made.instruction = instruction.index;
  made.values.assign(instruction.operands.size(), 0);
  made.bases.assign(instruction.operands.size(), 0);
  return made;
}

} // namespace

std::optional<LoopMachine> LoopMachine::of(const isa::Isa &isa) {
  LoopMachine machine;
  machine.registers = static_cast<int>(isa.param("base_registers"));
  machine.depth = static_cast<int>(isa.param("loop_depth"));
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (!instruction.requires_.empty() && instruction.control == isa::Control::SetBase)
      continue; // it may refuse what is added
    if (instruction.control == isa::Control::Loop && !instruction.loopSteps.empty()) {
      machine.step = &instruction;
      machine.stepCount = static_cast<size_t>(instruction.operandIndex("count"));
      machine.stepLength = static_cast<size_t>(instruction.operandIndex("length"));
    } else if (instruction.control == isa::Control::Loop) {
      machine.loop = &instruction;
      machine.count = static_cast<size_t>(instruction.operandIndex("count"));
      machine.length = static_cast<size_t>(instruction.operandIndex("length"));
    } else if (instruction.control == isa::Control::SetBase) {
      const auto operands = addends(instruction.controlValue);
      if (!operands)
        continue;
      machine.add = &instruction;
      machine.target = static_cast<size_t>(instruction.operandIndex("rd"));
      machine.source = static_cast<size_t>(operands->first);
      machine.value = static_cast<size_t>(operands->second);
    }
  }
  if (machine.loop == nullptr || machine.add == nullptr)
    return std::nullopt;
  if (machine.step != nullptr && machine.step->requires_.size() > machine.loop->requires_.size())
    machine.step = nullptr; // it may refuse a step, or that there is none
  for (size_t named : {machine.target, machine.source})
    machine.registers =
        std::min(machine.registers, static_cast<int>(machine.add->operands[named].greatest) + 1);
  for (const isa::Instruction &instruction : isa.instructions())
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory)
        machine.registers = std::min(machine.registers, 1 << operand.baseWidth);
  const isa::Operand &amount = machine.add->operands[machine.value];
  machine.reach = std::min({machine.reach, -amount.least, amount.greatest});
  if (machine.registers < 2 || machine.depth < 1)
    return std::nullopt;
  return machine;
}

int64_t LoopMachine::greatestLength() const {
  const int64_t greatest = loop->operands[length].greatest;
  return step == nullptr ? greatest : std::min(greatest, step->operands[stepLength].greatest);
}

size_t LoopMachine::stepsOf(int64_t copies) const {
  const bool adds = step != nullptr && copies <= step->operands[stepCount].greatest;
  return adds ? step->loopSteps.size() : 0;
}

bool LoopMachine::isStep(int64_t amount) const {
  return step != nullptr &&
         std::all_of(step->loopSteps.begin(), step->loopSteps.end(), [&](const auto &each) {
           const isa::Operand &operand = step->operands[static_cast<size_t>(each.second)];
           return amount >= operand.least && amount <= operand.greatest;
         });
}

size_t LoopMachine::additions(int64_t copies, size_t moves, bool endsWithLoop) const {
  const size_t steps = stepsOf(copies);
  return std::max(moves > steps ? moves - steps : 0, std::min<size_t>(moves, endsWithLoop));
}

isa::DecodedInstruction
LoopMachine::makeLoop(int64_t copies, int64_t instructions,
                      const std::vector<std::pair<int, int64_t>> &steps) const {
  isa::DecodedInstruction made = blank(steps.empty() ? *loop : *step);
  made.values[steps.empty() ? count : stepCount] = copies;
  made.values[steps.empty() ? length : stepLength] = instructions;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto [target, amount] = step->loopSteps[i];
    made.values[static_cast<size_t>(target)] = steps[i].first;
    made.values[static_cast<size_t>(amount)] = steps[i].second;
  }
  return made;
}

isa::DecodedInstruction LoopMachine::makeAdd(int to, int from, int64_t amount) const {
  isa::DecodedInstruction made = blank(*add);
  made.values[target] = to;
  made.values[source] = from;
  made.values[value] = amount;
  return made;
}

} // namespace tilewright

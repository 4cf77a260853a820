// The resolved description as text, one fact a line: what the hash is taken of, and what `isa diff`
// compares.
#include "resolver.h"
#include "tilewright/isa/roles.h"

#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class Canonical {
public:
  explicit Canonical(const Isa &isa) : isa_(isa) {}

  std::string run() {
    line("isa {} {}", isa_.name(), isa_.version());
    for (const auto &[name, value] : isa_.params())
      line("param {} = {}", name, value);
    for (Space space : {Space::Dram, Space::Spad, Space::Acc}) {
      const Memory &memory = isa_.memory(space);
      line("memory {}: {} bytes, address {}, {} banks, port {}", memory.name, memory.bytes,
           memory.addressBytes, memory.banks, memory.portBytes);
    }
    for (const Unit &unit : isa_.units())
      this->unit(unit);
    std::map<std::string, const Instruction *> sorted;
    for (const Instruction &instruction : isa_.instructions())
      sorted[instruction.name] = &instruction;
    for (const auto &[name, instruction] : sorted)
      this->instruction(*instruction);
    return std::move(text_);
  }

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void unit(const Unit &unit) {
    line("unit {} {}: template {}, queue {}", unit.index, unit.name, static_cast<int>(unit.kind),
         unit.queueDepth);
    for (const StateRegister &reg : unit.registers)
      line("register {}.{} {}: {} reset {}", unit.name, reg.index, reg.name, reg.type.str(),
           reg.reset);
    for (const StateArray &array : unit.arrays)
      line("array {}.{} {}: {}[{}] reset {}", unit.name, array.index, array.name, array.type.str(),
           fmt::join(array.sizes, ", "), array.reset);
  }

  void instruction(const Instruction &instruction) {
    const std::string &name = instruction.name;
    auto field = [](const HeaderField &f) { return fmt::format("{}+{}", f.low, f.width); };
    line("instruction {}: unit {}, opcode {:#x} at {}, wait {}, signal {}, {} bits", name,
         instruction.unit, instruction.opcode, field(instruction.op), field(instruction.wait),
         field(instruction.signal), instruction.usedBits);
    if (instruction.role)
      line("{} role {}", name, infoOf(*instruction.role).name);
    for (const Operand &operand : instruction.operands) {
      if (operand.kind == Operand::Kind::Memory)
        line("{} operand {}: {} of {}, access {}, base {}+{}, address {}+{}", name, operand.name,
             operand.type.str(), isa_.memory(operand.space).name, static_cast<int>(operand.access),
             operand.baseLow, operand.baseWidth, operand.low, operand.width);
      else
        line("{} operand {}: {} at {}+{}, {}..{}{}", name, operand.name, operand.type.str(),
             operand.low, operand.width, operand.least, operand.greatest,
             operand.isRegister ? ", register" : "");
    }
    for (const Require &require : instruction.requires_)
      line("{} require {}: {}", name, require.label, print(*require.expr, instruction, isa_));
    for (const auto &[number, value] : instruction.sets)
      line("{} sets {} to {}", name, number, value);
    if (instruction.control != Control::None)
      line("{} control {}{}", name, static_cast<int>(instruction.control),
           instruction.controlValue ? ": " + print(*instruction.controlValue, instruction, isa_)
                                    : "");
    text_ += semanticsText(instruction, isa_, name + " ");
  }

  const Isa &isa_;
  std::string text_;
};

std::string stepText(const Instruction &instruction, const Step &step, const Isa &isa,
                     const std::string &prefix) {
  std::string lines;
  auto line = [&](const std::string &text) { lines += fmt::format("{} {}\n", prefix, text); };
  auto text = [&](const ExprPtr &expr) { return print(*expr, instruction, isa, &step); };
  line(step.kind == StepKind::Map ? "map"
                                  : fmt::format("reduce {} in {}", static_cast<int>(step.combiner),
                                                step.accumulator.str()));
  for (const Iterator &iterator : step.iterators)
    line(fmt::format("for {} in {}", iterator.name, text(iterator.extent)));
  for (const Iterator &iterator : step.reductions)
    line(fmt::format("over {} in {}", iterator.name, text(iterator.extent)));
  std::vector<std::string> where;
  for (const ExprPtr &index : step.out.where)
    where.push_back(text(index));
  const auto out = static_cast<size_t>(step.out.index);
  line(fmt::format("out {}[{}]",
                   step.out.isMemory
                       ? instruction.operands[out].name
                       : isa.units()[static_cast<size_t>(instruction.unit)].arrays[out].name,
                   fmt::join(where, ", ")));
  for (const auto &[what, expr] : {std::pair("when", step.when),
                                   {"otherwise", step.otherwise},
                                   {"init", step.init},
                                   {"expr", step.expr},
                                   {"post", step.post}})
    if (expr)
      line(fmt::format("{} {}", what, text(expr)));
  return lines;
}

} // namespace

std::string semanticsText(const Instruction &instruction, const Isa &isa,
                          const std::string &prefix) {
  std::string text;
  for (size_t i = 0; i < instruction.steps.size(); ++i)
    text += stepText(instruction, instruction.steps[i], isa, fmt::format("{}step {}:", prefix, i));
  return text;
}

std::string canonicalText(const Isa &isa) { return Canonical(isa).run(); }

} // namespace tilewright::isa

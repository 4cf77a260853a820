#include "execution.h"

#include "tilewright/testing/source_path.h"

#include <memory>

namespace tilewright::timing::test {

const isa::Isa &machine(const std::string &overlay) {
  static std::map<std::string, std::unique_ptr<isa::Isa>> loaded;
  std::unique_ptr<isa::Isa> &isa = loaded[overlay];
  if (!isa) {
    isa::LoadOptions options;
    options.directory = sourcePath("isa");
    if (!overlay.empty())
      options.overlays = {options.directory + "/what-if/" + overlay + ".yaml"};
    isa = std::make_unique<isa::Isa>(isa::load(options));
  }
  return *isa;
}

Execution::Execution(const isa::Isa &isa, const std::string &instruction, const Values &values)
    : timing_(makeTimings(isa).at(static_cast<size_t>(isa.find(instruction)->index))),
      operands_(timing_.instruction->operands.size()) {
  for (const isa::StateRegister &each : timing_.unit->registers)
    registers_.push_back(each.reset);
  for (const auto &[name, value] : values) {
    if (const int operand = timing_.instruction->operandIndex(name); operand >= 0) {
      operands_[static_cast<size_t>(operand)] = value;
      continue;
    }
    bool isKnown = false;
    for (const isa::StateRegister &each : timing_.unit->registers)
      if (each.name == name) {
        registers_[static_cast<size_t>(each.index)] = value;
        isKnown = true;
      }
    if (!isKnown)
      throw std::logic_error(instruction + " has no " + name);
  }
}

isa::ScalarContext Execution::context() const {
  isa::ScalarContext context;
  context.immediates = operands_.data();
  context.state = registers_.data();
  return context;
}

} // namespace tilewright::timing::test

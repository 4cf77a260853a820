// What an instruction does: control flow, register writes or steps over iterators; checked to be
// total.
//
// 1. Ranges of immediates: their fields', narrowed by the `require`s that bound a single immediate.
// 2. Each iterator's extent is non-negative; the iterator ranges below the greatest extent.
// 3. Expressions get types; what is written must hold them.
// 4. Every array index is proved in range, every memory index is brought into affine form.
#include "semantics_context.h"

#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class SemanticsResolver {
public:
  SemanticsResolver(const yaml::Node &node, SemanticsContext &context)
      : node_(node), context_(context), instruction_(context.instruction) {}

  void dispatch() {
    int forms = 0;
    for (const char *form : {"map", "move", "reduce", "contract", "compose", "set", "control"})
      forms += node_.find(form) != nullptr;
    if (forms != 1)
      throw UserError(node_.location(),
                      fmt::format("the semantics have {} forms, not exactly one", forms),
                      "one of map, move, reduce, contract, compose, set, control");
    for (const char *only : {"to", "when"})
      if (node_.find(only) && !node_.find("control"))
        throw UserError(node_.find(only)->location(), fmt::format("'{}' belongs to control", only));
    const yaml::Node *control = node_.find("control");
    if ((control != nullptr) != (instruction_.unit == 0))
      throw UserError(node_.location(), control ? "only the sequencer has control semantics"
                                                : "the sequencer has only control semantics");
    if (control)
      return controlFlow(*control);
    if (const yaml::Node *sets = node_.find("set"))
      return setRegisters(*sets);
    if (const yaml::Node *steps = node_.find("compose")) {
      requireWithin(limits::steps, static_cast<int64_t>(steps->items.size()), steps->location(),
                    "the number of steps");
      for (const yaml::Node &item : steps->items) {
        if (item.keys.size() != 1)
          throw UserError(item.location(), "a step has exactly one form");
        resolveStep(context_, item.keys[0].text, item.items[0]);
      }
      return;
    }
    resolveStep(context_, node_.keys[0].text, node_.items[0]);
  }

private:
  int immediate(const char *name, const yaml::Node &location) {
    int index = instruction_.operandIndex(name);
    if (index < 0 ||
        instruction_.operands[static_cast<size_t>(index)].kind != Operand::Kind::Immediate)
      throw UserError(location.location(),
                      fmt::format("the immediate '{}' is missing: this form needs it", name));
    context_.markUsed(index);
    return index;
  }

  ExprPtr controlExpression(const char *key, const yaml::Node &control) {
    const yaml::Node *scalar = node_.find(key);
    if (!scalar)
      throw UserError(
          control.location(),
          fmt::format("key '{}' is missing: control \"{}\" needs it", key, control.text));
    Scope scope = context_.scope();
    scope.base = true;
    ExprPtr expr = ExprBuilder(context_.pool, scope).build(*scalar);
    context_.checkIndices(*scalar, expr, {});
    context_.markUsed(*expr);
    return expr;
  }

  void requireRegister(const char *name, int operand, int64_t registers,
                       const yaml::Node &control) const {
    const Operand &names = instruction_.operands[static_cast<size_t>(operand)];
    if (names.least < 0 || names.greatest >= registers)
      throw UserError(control.location(),
                      fmt::format("'{}' can name a base register that does not exist", name),
                      "make its type index<base_registers>");
  }

  void controlFlow(const yaml::Node &control) {
    static const std::map<std::string_view, Control> kinds = {{"halt", Control::Halt},
                                                              {"fence", Control::Fence},
                                                              {"set", Control::SetBase},
                                                              {"loop", Control::Loop},
                                                              {"branch", Control::Branch}};
    instruction_.control = kinds.at(control.text);
    const char *takes = instruction_.control == Control::SetBase  ? "to"
                        : instruction_.control == Control::Branch ? "when"
                                                                  : "";
    for (const char *key : {"to", "when"})
      if (node_.find(key) && std::string_view(key) != takes)
        throw UserError(node_.find(key)->location(),
                        fmt::format("control \"{}\" takes no '{}'", control.text, key));
    int64_t registers = lookupIn(context_.machine.params)("base_registers", control.location());
    switch (instruction_.control) {
    case Control::SetBase: {
      requireRegister("rd", immediate("rd", control), registers, control);
      instruction_.controlValue = controlExpression("to", control);
      context_.requireHolds(*node_.find("to"), Type{true, 32}, instruction_.controlValue,
                            "a base register");
      break;
    }
    case Control::Branch:
      immediate("offset", control);
      instruction_.controlValue = controlExpression("when", control);
      context_.requireHolds(*node_.find("when"), booleanType, instruction_.controlValue,
                            "the condition");
      break;
    case Control::Loop:
      for (const char *name : {"count", "length"})
        if (context_.range(immediate(name, control)).least < 0)
          throw UserError(control.location(), fmt::format("'{}' can be negative", name),
                          "make its type unsigned");
      for (const auto &[name, step] : {std::pair("r0", "step0"), std::pair("r1", "step1")})
        if (instruction_.operandIndex(name) >= 0) {
          instruction_.loopSteps.emplace_back(immediate(name, control), immediate(step, control));
          requireRegister(name, instruction_.loopSteps.back().first, registers, control);
        }
      break;
    default:
      break;
    }
  }

  void setRegisters(const yaml::Node &sets) {
    if (sets.items.empty())
      throw UserError(sets.location(), "no register is set");
    for (const yaml::Node &item : sets.items) {
      const yaml::Node &number = *item.find("register"), &value = *item.find("to");
      int numberIndex = immediate(number.text.c_str(), number),
          valueIndex = immediate(value.text.c_str(), value);
      if (!instruction_.operands[static_cast<size_t>(numberIndex)].isRegister)
        throw UserError(number.location(),
                        fmt::format("the operand '{}' is not of type \"register\"", number.text));
      instruction_.sets.emplace_back(numberIndex, valueIndex);
    }
  }

  const yaml::Node &node_;
  SemanticsContext &context_;
  Instruction &instruction_;
};

} // namespace

void resolveSemantics(const yaml::Node &semantics, Instruction &instruction, const Machine &machine,
                      ExprPool &pool) {
  SemanticsContext context(instruction, machine, pool);
  SemanticsResolver(semantics, context).dispatch();
  context.checkOperands(semantics);
}

} // namespace tilewright::isa

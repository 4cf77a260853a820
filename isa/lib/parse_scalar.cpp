#include "builder.h"
#include "tilewright/isa/normal_form.h"

#include <functional>

namespace tilewright::isa {

ExprPtr parseScalar(std::string_view text, const ScalarNames &names) {
  yaml::Node scalar;
  scalar.kind = yaml::Node::Kind::Text;
  scalar.text = text;
  scalar.line = scalar.column = 1;
  scalar.file = std::make_shared<const std::string>("scalar function");
  Instruction instruction;
  auto add = [&](const std::string &name, Operand::Kind kind, const Type &type) {
    Operand operand;
    operand.name = name;
    operand.kind = kind;
    operand.type = type;
    operand.index = static_cast<int>(instruction.operands.size());
    instruction.operands.push_back(operand);
  };
  for (const auto &[name, type] : names.parameters)
    add(name, Operand::Kind::Immediate, type);
  for (const auto &[name, type] : names.operands)
    add(name, Operand::Kind::Memory, type);
  Unit unit;
  for (const auto &[name, type] : names.arrays) {
    StateArray array;
    array.name = name;
    array.type = type;
    array.sizes = {1};
    array.index = static_cast<int>(unit.arrays.size());
    unit.arrays.push_back(array);
  }
  const std::vector<std::pair<std::string, Type>> iterators{{"c", {false, 12}}};
  Scope scope;
  scope.instruction = &instruction;
  scope.unit = &unit;
  scope.reads = true;
  scope.iterators = &iterators;
  ExprPool pool;
  ExprPtr expr = ExprBuilder(pool, scope).build(scalar);
  // Operands were numbered behind the parameters.
  const int first = static_cast<int>(names.parameters.size());
  std::function<ExprPtr(const ExprPtr &)> renumbered = [&](const ExprPtr &each) -> ExprPtr {
    std::vector<ExprPtr> args;
    for (const ExprPtr &arg : each->args)
      args.push_back(renumbered(arg));
    Expr copy = *each;
    copy.args = std::move(args);
    if (copy.kind == ExprKind::MemoryRead)
      copy.index -= first;
    return std::make_shared<const Expr>(std::move(copy));
  };
  return renumbered(expr);
}

} // namespace tilewright::isa

#include "builder.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

constexpr size_t maximumNodes =
    20000; // made for one instruction: bounds the time that inlining takes
constexpr int64_t maximumTree = 20000; // written out: bounds what printing and hashing take
constexpr Type baseRegisterType{true, 32};

ExprKind binaryKind(std::string_view op) {
  static const std::pair<std::string_view, ExprKind> kinds[] = {
      {"+", ExprKind::Add},          {"-", ExprKind::Subtract},    {"*", ExprKind::Multiply},
      {"<<", ExprKind::ShiftLeft},   {">>", ExprKind::ShiftRight}, {"&", ExprKind::And},
      {"|", ExprKind::Or},           {"^", ExprKind::Xor},         {"&&", ExprKind::And},
      {"||", ExprKind::Or},          {"==", ExprKind::Equal},      {"!=", ExprKind::NotEqual},
      {"<", ExprKind::Less},         {"<=", ExprKind::LessEqual},  {">", ExprKind::Greater},
      {">=", ExprKind::GreaterEqual}};
  for (const auto &[text, kind] : kinds)
    if (text == op)
      return kind;
  throw std::logic_error("unknown operator");
}

} // namespace

void ExprBuilder::fail(const Syntax &syntax, const Frame &frame, const std::string &message,
                       const std::string &fix) const {
  throw UserError(frame.scalar.location(syntax.offset), message, fix);
}

ExprPtr ExprBuilder::build(const yaml::Node &scalar, const Syntax &syntax) {
  return visit(syntax, Frame{scalar, nullptr});
}

void ExprBuilder::check(const Function &function) {
  std::vector<ExprPtr> values;
  for (size_t i = 0; i < function.arguments.size(); ++i)
    values.push_back(
        pool_.leaf(ExprKind::Immediate, function.arguments[i].second, static_cast<int>(i)));
  inlined(function, std::move(values), function.body, Frame{*function.scalar, nullptr});
}

ExprPtr ExprBuilder::visit(const Syntax &syntax, const Frame &frame) {
  if (pool_.size() > maximumNodes)
    fail(syntax, frame, "the semantics are too large when its functions are inlined");
  ExprPtr made;
  try {
    switch (syntax.kind) {
    case Syntax::Kind::Number:
      return pool_.literal(syntax.value);
    case Syntax::Kind::Name:
      return name(syntax, frame);
    case Syntax::Kind::Index:
      return element(syntax, frame);
    case Syntax::Kind::Call:
      return call(syntax, frame);
    case Syntax::Kind::Cast:
      return pool_.convert(ExprKind::Cast, syntax.type, visit(syntax.args[0], frame));
    case Syntax::Kind::Saturate:
      return pool_.convert(ExprKind::Saturate, syntax.type, visit(syntax.args[0], frame));
    case Syntax::Kind::Unary:
      made = pool_.node(syntax.text == "-" ? ExprKind::Negate : ExprKind::Not,
                        {visit(syntax.args[0], frame)});
      break;
    case Syntax::Kind::Binary: {
      ExprPtr left = visit(syntax.args[0], frame), right = visit(syntax.args[1], frame);
      bool logic = syntax.text == "&&" || syntax.text == "||";
      if (logic && (left->type != Type{false, 1} || right->type != Type{false, 1}))
        fail(syntax, frame,
             fmt::format("'{}' is of two u1, not of {} and {}", syntax.text, left->type.str(),
                         right->type.str()),
             "compare with 0");
      made = pool_.node(binaryKind(syntax.text), {left, right});
      break;
    }
    case Syntax::Kind::Conditional: {
      ExprPtr condition = visit(syntax.args[0], frame), then = visit(syntax.args[1], frame);
      made = pool_.node(ExprKind::Select, {condition, then, visit(syntax.args[2], frame)});
      break;
    }
    }
  } catch (const TypeError &error) {
    fail(syntax, frame, error.message, error.fix);
  }
  if (pool_.treeSize(made) > maximumTree)
    fail(syntax, frame, "the expression is too large when its functions are inlined");
  return made;
}

std::vector<std::string> ExprBuilder::namesInScope(const Frame &frame) const {
  std::vector<std::string> names;
  if (frame.arguments)
    for (const auto &[name, value] : *frame.arguments)
      names.push_back(name);
  if (scope_.params)
    for (const auto &[name, value] : *scope_.params)
      names.push_back(name);
  if (frame.arguments)
    return names;
  if (scope_.iterators)
    for (const auto &[name, type] : *scope_.iterators)
      names.push_back(name);
  if (scope_.values)
    for (const NamedValue &value : *scope_.values)
      names.push_back(value.name);
  if (scope_.instruction)
    for (const Operand &operand : scope_.instruction->operands)
      names.push_back(operand.name);
  if (scope_.unit)
    for (const StateRegister &reg : scope_.unit->registers)
      names.push_back(reg.name);
  if (scope_.unit)
    for (const StateArray &array : scope_.unit->arrays)
      names.push_back(array.name);
  if (scope_.result)
    names.push_back("result");
  return names;
}

// A function's body sees its arguments, params and other functions; an expression sees everything
// else.
ExprPtr ExprBuilder::name(const Syntax &syntax, const Frame &frame) {
  const std::string &text = syntax.text;
  if (frame.arguments) {
    if (auto it = frame.arguments->find(text); it != frame.arguments->end())
      return it->second;
  } else {
    if (scope_.result && text == "result")
      return pool_.leaf(ExprKind::Result, *scope_.result, -1);
    if (scope_.values)
      for (const NamedValue &value : *scope_.values)
        if (value.name == text)
          return value.expr;
    if (scope_.iterators)
      for (size_t i = 0; i < scope_.iterators->size(); ++i)
        if ((*scope_.iterators)[i].first == text)
          return pool_.leaf(ExprKind::Iterator, (*scope_.iterators)[i].second, static_cast<int>(i));
    if (scope_.instruction)
      if (int index = scope_.instruction->operandIndex(text); index >= 0) {
        const Operand &operand = scope_.instruction->operands[static_cast<size_t>(index)];
        if (operand.kind == Operand::Kind::Memory)
          fail(syntax, frame, fmt::format("the memory operand '{}' stands without an index", text),
               fmt::format("write {}[..]", text));
        return pool_.leaf(ExprKind::Immediate, operand.type, index);
      }
    if (scope_.unit) {
      for (const StateRegister &reg : scope_.unit->registers)
        if (reg.name == text)
          return pool_.leaf(ExprKind::State, reg.type, reg.index);
      for (const StateArray &array : scope_.unit->arrays)
        if (array.name == text)
          fail(syntax, frame, fmt::format("the array '{}' stands without an index", text),
               fmt::format("write {}[..]", text));
    }
  }
  if (scope_.params)
    if (auto it = scope_.params->find(text); it != scope_.params->end())
      return pool_.literal(it->second);
  std::string near = nearest(text, namesInScope(frame));
  fail(syntax, frame, fmt::format("undefined name '{}'", escape(text)),
       near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

ExprPtr ExprBuilder::element(const Syntax &syntax, const Frame &frame) {
  std::vector<ExprPtr> where;
  for (const Syntax &arg : syntax.args)
    where.push_back(visit(arg, frame));
  if (!frame.arguments && scope_.base && syntax.text == "x" && where.size() == 1)
    return pool_.leaf(ExprKind::BaseRegister, baseRegisterType, -1, std::move(where));
  if (!frame.arguments && scope_.reads) {
    int index = scope_.instruction->operandIndex(syntax.text);
    if (index >= 0) {
      const Operand &operand = scope_.instruction->operands[static_cast<size_t>(index)];
      if (operand.kind != Operand::Kind::Memory)
        fail(syntax, frame, fmt::format("'{}' is an immediate and takes no index", syntax.text));
      if (where.size() != 1)
        fail(syntax, frame, fmt::format("'{}' takes one index, not {}", syntax.text, where.size()));
      if (operand.access == Access::Write)
        fail(syntax, frame, fmt::format("'{}' is read, but its access is \"write\"", syntax.text),
             "make its access \"update\"");
      return pool_.leaf(ExprKind::MemoryRead, operand.type, index, std::move(where));
    }
    for (const StateArray &array : scope_.unit->arrays)
      if (array.name == syntax.text) {
        if (where.size() != array.sizes.size())
          fail(syntax, frame,
               fmt::format("'{}' takes {} indices, not {}", syntax.text, array.sizes.size(),
                           where.size()));
        return pool_.leaf(ExprKind::ArrayRead, array.type, array.index, std::move(where));
      }
  }
  std::string near = nearest(syntax.text, namesInScope(frame));
  fail(syntax, frame, fmt::format("'{}' is nothing that has elements here", escape(syntax.text)),
       near.empty()          ? ""
       : near == syntax.text ? "it is a number: write it without an index"
                             : fmt::format("did you mean '{}'?", near));
}

ExprPtr ExprBuilder::call(const Syntax &syntax, const Frame &frame) {
  static const std::map<std::string_view, std::pair<ExprKind, size_t>> builtins = {
      {"min", {ExprKind::Minimum, 2}},
      {"max", {ExprKind::Maximum, 2}},
      {"clz", {ExprKind::CountLeadingZeros, 1}}};
  std::vector<ExprPtr> values;
  for (const Syntax &arg : syntax.args)
    values.push_back(visit(arg, frame));
  auto builtin = builtins.find(syntax.text);
  auto function =
      scope_.functions ? scope_.functions->find(syntax.text) : Functions::const_iterator();
  bool isFunction = scope_.functions && function != scope_.functions->end();
  if (builtin == builtins.end() && !isFunction) {
    std::vector<std::string> names = {"min", "max", "clz"};
    if (scope_.functions)
      for (const auto &[name, value] : *scope_.functions)
        names.push_back(name);
    std::string near = nearest(syntax.text, names);
    fail(syntax, frame, fmt::format("undefined function '{}'", escape(syntax.text)),
         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  size_t expected = isFunction ? function->second.arguments.size() : builtin->second.second;
  if (values.size() != expected)
    fail(syntax, frame,
         fmt::format("'{}' takes {} arguments, not {}", syntax.text, expected, values.size()));
  return isFunction ? inlined(function->second, std::move(values), syntax, frame)
                    : pool_.node(builtin->second.first, std::move(values));
}

ExprPtr ExprBuilder::inlined(const Function &function, std::vector<ExprPtr> values,
                             const Syntax &syntax, const Frame &frame) {
  if (std::find(active_.begin(), active_.end(), function.name) != active_.end())
    fail(syntax, frame, fmt::format("the function '{}' calls itself", function.name));
  Arguments arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto &[name, type] = function.arguments[i];
    if (!holds(type, values[i]->type))
      fail(syntax, frame,
           fmt::format("argument '{}' of '{}' is {} and would lose bits of a {}", name,
                       function.name, type.str(), values[i]->type.str()),
           fmt::format("close it with cast<{0}>(..) or sat<{0}>(..)", type.str()));
    arguments[name] = pool_.convert(ExprKind::Cast, type, values[i]);
  }
  active_.push_back(function.name);
  ExprPtr body = visit(function.body, Frame{*function.scalar, &arguments});
  active_.pop_back();
  return body;
}

} // namespace tilewright::isa

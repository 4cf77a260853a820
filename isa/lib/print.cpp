#include "tilewright/isa/isa.h"

#include "type.h"

#include <fmt/format.h>

namespace tilewright::isa {

namespace {

struct Spelling {
  const char *op;
  int precedence;
};

// Precedence as in the grammar: 0 is the conditional, 11 a unary operator, 12 a value.
constexpr int conditional = 0, unary = 11, value = 12;

Spelling spelling(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Or:
    return {"|", 3};
  case ExprKind::Xor:
    return {"^", 4};
  case ExprKind::And:
    return {"&", 5};
  case ExprKind::Equal:
    return {"==", 6};
  case ExprKind::NotEqual:
    return {"!=", 6};
  case ExprKind::Less:
    return {"<", 7};
  case ExprKind::LessEqual:
    return {"<=", 7};
  case ExprKind::Greater:
    return {">", 7};
  case ExprKind::GreaterEqual:
    return {">=", 7};
  case ExprKind::ShiftLeft:
    return {"<<", 8};
  case ExprKind::ShiftRight:
    return {">>", 8};
  case ExprKind::Add:
    return {"+", 9};
  case ExprKind::Subtract:
    return {"-", 9};
  case ExprKind::Multiply:
    return {"*", 10};
  case ExprKind::Select:
    return {"?", conditional};
  case ExprKind::Not:
    return {"!", unary};
  case ExprKind::Negate:
    return {"-", unary};
  default:
    return {"", value};
  }
}

class Printer {
public:
  Printer(const Instruction &instruction, const Unit &unit, const Step *step)
      : instruction_(instruction), unit_(unit), step_(step) {}

  void print(const Expr &expr, int least) {
    if (expr.kind == ExprKind::Literal)
      return literal(expr, least);
    Spelling spelled = spelling(expr);
    bool parentheses = spelled.precedence < least;
    text_ += parentheses ? "(" : "";
    switch (spelled.precedence) {
    case value:
      call(expr);
      break;
    case unary:
      text_ += spelled.op;
      print(*expr.args[0], unary);
      break;
    case conditional:
      print(*expr.args[0], 1);
      text_ += " ? ";
      print(*expr.args[1], conditional);
      text_ += " : ";
      print(*expr.args[2], conditional);
      break;
    default:
      print(*expr.args[0], spelled.precedence);
      text_ += fmt::format(" {} ", spelled.op);
      print(*expr.args[1], spelled.precedence + 1);
    }
    text_ += parentheses ? ")" : "";
  }

  std::string take() { return std::move(text_); }

private:
  // A literal has the smallest type that holds it; any other type is written as a cast.
  void literal(const Expr &expr, int least) {
    std::string digits = fmt::format("{}", expr.value);
    bool parentheses = expr.value < 0 && least > unary;
    if (expr.type != smallestType(expr.value, expr.value, false))
      text_ += fmt::format("cast<{}>({})", expr.type.str(), digits);
    else
      text_ += parentheses ? "(" + digits + ")" : digits;
  }

  void call(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Iterator:
      text_ += iteratorName(static_cast<size_t>(expr.index));
      return;
    case ExprKind::Immediate:
      text_ += instruction_.operands[static_cast<size_t>(expr.index)].name;
      return;
    case ExprKind::State:
      text_ += unit_.registers[static_cast<size_t>(expr.index)].name;
      return;
    case ExprKind::Result:
      text_ += "result";
      return;
    case ExprKind::BaseRegister:
      return list("x[", expr, "]");
    case ExprKind::MemoryRead:
      return list(instruction_.operands[static_cast<size_t>(expr.index)].name + "[", expr, "]");
    case ExprKind::ArrayRead:
      return list(unit_.arrays[static_cast<size_t>(expr.index)].name + "[", expr, "]");
    case ExprKind::Minimum:
      return list("min(", expr, ")");
    case ExprKind::Maximum:
      return list("max(", expr, ")");
    case ExprKind::Cast:
      return list(fmt::format("cast<{}>(", expr.type.str()), expr, ")");
    case ExprKind::Saturate:
      return list(fmt::format("sat<{}>(", expr.type.str()), expr, ")");
    case ExprKind::CountLeadingZeros:
      return list("clz(", expr, ")");
    default:
      throw std::logic_error("not a value");
    }
  }

  void list(const std::string &open, const Expr &expr, const char *close) {
    text_ += open;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      text_ += i == 0 ? "" : ", ";
      print(*expr.args[i], conditional);
    }
    text_ += close;
  }

  std::string iteratorName(size_t index) const {
    if (!step_)
      return fmt::format("iterator{}", index);
    bool spatial = index < step_->iterators.size();
    return spatial ? step_->iterators[index].name
                   : step_->reductions[index - step_->iterators.size()].name;
  }

  const Instruction &instruction_;
  const Unit &unit_;
  const Step *step_;
  std::string text_;
};

} // namespace

std::string print(const Expr &expr, const Instruction &instruction, const Isa &isa,
                  const Step *step) {
  if (!step && instruction.steps.size() == 1)
    step = &instruction.steps[0];
  Printer printer(instruction, isa.units()[static_cast<size_t>(instruction.unit)], step);
  printer.print(expr, conditional);
  return printer.take();
}

} // namespace tilewright::isa

#include "expression_writer.h"

#include "tilewright/isa/pipeline.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;
using isa::Type;

std::string declaration(const Type &type) {
  return fmt::format("logic {}[{}:0]", type.isSigned ? "signed " : "", type.bits - 1);
}

std::string literal(__int128 value, const Type &type) {
  auto bits = static_cast<unsigned __int128>(value);
  if (type.bits < 128)
    bits &= (static_cast<unsigned __int128>(1) << type.bits) - 1;
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[static_cast<size_t>(bits & 15)]);
    bits >>= 4;
  } while (bits != 0);
  return fmt::format("{}'{}h{}", type.bits, type.isSigned ? "s" : "", digits);
}

std::string converted(const std::string &name, const Type &from, const Type &to) {
  std::string bits = name;
  if (to.bits > from.bits) {
    const int more = to.bits - from.bits;
    bits = from.isSigned ? fmt::format("{}'($signed({}))", to.bits, name)
                         : fmt::format("{{{}'h0, {}}}", more, name);
  } else if (to.bits < from.bits) {
    bits = fmt::format("{}[{}:0]", name, to.bits - 1);
  } else if (to.isSigned == from.isSigned) {
    return name;
  }
  return fmt::format("${}({})", to.isSigned ? "signed" : "unsigned", bits);
}

// A product that no type wider than its own changes. It is written in the type that is asked for: a
// simulator then multiplies words, where narrower ones take a sign extension each.
static bool isExactProduct(const Expr &expr) {
  if (expr.kind != ExprKind::Multiply)
    return false;
  const Type &x = expr.args[0]->type, &y = expr.args[1]->type;
  return expr.type.isSigned == (x.isSigned || y.isSigned) && expr.type.bits >= x.bits + y.bits;
}

// The operator of a sum whose low bits depend on as many of its terms alone; null: it is none.
static const char *sumOf(const Expr &expr) {
  return expr.kind == ExprKind::Add ? "+" : expr.kind == ExprKind::Subtract ? "-" : nullptr;
}

std::string ExpressionWriter::variable(const Type &type, const std::string &value) {
  const std::string name = fmt::format("{}{}", prefix_, next_++);
  declarations_ += fmt::format("{}{} {};\n", indent_, declaration(type), name);
  statements_ += fmt::format("{}{} = {};\n", indent_, name, value);
  return name;
}

std::string ExpressionWriter::write(const Expr &expr) {
  if (expr.kind == ExprKind::Literal)
    return literal(expr.value, expr.type);
  if (auto found = known_.find(&expr); found != known_.end())
    return found->second;
  const auto bound = bound_.find(&expr);
  const std::string value = bound != bound_.end() ? bound->second : operation(expr);
  return known_[&expr] = variable(expr.type, value);
}

std::string ExpressionWriter::writeAs(const Expr &expr, const Type &type) {
  if (expr.kind == ExprKind::Literal)
    return literal(expr.value, type);
  if (expr.type == type)
    return write(expr);
  if (!isKnown(expr) && isExactProduct(expr) && type.isSigned && type.bits > expr.type.bits &&
      type.bits <= 32)
    return variable(
        type, fmt::format("{} * {}", writeAs(*expr.args[0], type), writeAs(*expr.args[1], type)));
  if (const char *symbol = sumOf(expr); symbol && !isKnown(expr) && type.bits < expr.type.bits)
    return variable(type, fmt::format("{} {} {}", writeAs(*expr.args[0], type), symbol,
                                      writeAs(*expr.args[1], type)));
  return converted(write(expr), expr.type, type);
}

std::string ExpressionWriter::binary(const Expr &expr, const char *symbol) {
  const std::string a = writeAs(*expr.args[0], expr.type), b = writeAs(*expr.args[1], expr.type);
  return fmt::format("{} {} {}", a, symbol, b);
}

std::string ExpressionWriter::compare(const Expr &expr, const char *symbol) {
  const Type &x = expr.args[0]->type, &y = expr.args[1]->type;
  Type common{x.isSigned || y.isSigned, 0};
  for (const Type *type : {&x, &y})
    common.bits = std::max(common.bits, type->bits + (common.isSigned && !type->isSigned ? 1 : 0));
  const std::string a = writeAs(*expr.args[0], common), b = writeAs(*expr.args[1], common);
  return fmt::format("{} {} {}", a, symbol, b);
}

// The amount is clamped to [0, bits - 1].
std::string ExpressionWriter::shift(const Expr &expr) {
  const std::string value = writeAs(*expr.args[0], expr.type);
  const char *symbol = expr.kind == ExprKind::ShiftLeft ? "<<" : expr.type.isSigned ? ">>>" : ">>";
  const Expr &by = *expr.args[1];
  if (by.kind == ExprKind::Literal)
    return fmt::format("{} {} {}", value, symbol,
                       static_cast<int>(std::clamp<__int128>(by.value, 0, expr.type.bits - 1)));
  return fmt::format("{} {} {}", value, symbol, variable({false, 8}, amount(expr)));
}

std::string ExpressionWriter::amount(const Expr &shift) {
  const int most = shift.type.bits - 1;
  const Expr &by = *shift.args[1];
  // In eight bits: amounts beyond 127 count as 127, which is no less than `most`.
  const Type &type = by.type;
  const isa::Values values = isa::valuesOf(by);
  const std::string amount = write(by);
  std::string clamped = converted(amount, type, {false, 8});
  if (values.greatest > most)
    clamped = fmt::format("{} > {} ? 8'd{} : {}", amount, literal(most, type), most, clamped);
  if (values.least < 0)
    clamped = fmt::format("{} < {} ? 8'd0 : {}", amount, literal(0, type), clamped);
  return clamped;
}

// The least of a constant and what is at least another: both comparisons can be made at once.
bool ExpressionWriter::isClamp(const Expr &expr) const {
  const Expr &inner = *expr.args[0];
  return inner.kind == ExprKind::Maximum && !isKnown(inner) && inner.type == expr.type &&
         isa::isLaneConstant(*inner.args[1]) && isa::isLaneConstant(*expr.args[1]);
}

std::string ExpressionWriter::clamp(const Expr &expr) {
  const Expr &inner = *expr.args[0];
  const auto operand = [&](const Expr &of) {
    const std::string text = writeAs(of, expr.type);
    return of.kind == ExprKind::Literal ? variable(expr.type, text) : text;
  };
  const std::string value = operand(*inner.args[0]), least = operand(*inner.args[1]),
                    most = operand(*expr.args[1]);
  const Type bit{false, 1};
  const std::string isMore = variable(bit, fmt::format("{} > {}", value, least));
  const std::string isTooMuch =
      variable(bit, fmt::format("{} ? {} > {} : {} > {}", isMore, value, most, least, most));
  return fmt::format("{} ? {} : {} ? {} : {}", isTooMuch, most, isMore, value, least);
}

// What does not fit shows in its high bits: no comparison is needed.
std::string ExpressionWriter::saturate(const Expr &expr) {
  const Expr &arg = *expr.args[0];
  const Type &from = arg.type, &to = expr.type;
  const std::string a =
      arg.kind == ExprKind::Literal ? variable(from, literal(arg.value, from)) : write(arg);
  const std::string low = converted(a, from, to);
  const int most = to.bits - (to.isSigned ? 1 : 0),    // bits of the greatest
      magnitude = from.bits - (from.isSigned ? 1 : 0); // of the argument's greatest
  const bool isAbove = magnitude > most, isBelow = from.least() < to.least();
  const std::string sign = fmt::format("{}[{}]", a, from.bits - 1);
  if (isAbove && isBelow && to.isSigned) // then both are signed
    return fmt::format("{} == {} ? {} : {{{}, {{{}{{!{}}}}}}}", a,
                       converted(fmt::format("$signed({})", low), to, from), low, sign, most, sign);
  std::string result = low;
  if (isAbove)
    result = fmt::format("{}[{}:{}] != '0 ? {} : {}", a, magnitude - 1, most,
                         literal(to.greatest(), to), low);
  if (isBelow)
    result = fmt::format("{} ? {} : {}", sign, literal(to.least(), to), result);
  return result;
}

std::string ExpressionWriter::leadingZeros(const Expr &expr) {
  const int bits = expr.args[0]->type.bits;
  const std::string value = write(*expr.args[0]);
  const std::string count = variable({false, 8}, fmt::format("8'd{}", bits));
  statements_ += fmt::format("{0}for (int i = 0; i < {1}; i++) if ({2}[i]) {3} = 8'({4} - i);\n",
                             indent_, bits, value, count, bits - 1);
  return converted(count, {false, 8}, expr.type);
}

std::string ExpressionWriter::operation(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Add:
    return binary(expr, "+");
  case ExprKind::Subtract:
    return binary(expr, "-");
  case ExprKind::Multiply:
    return binary(expr, "*");
  case ExprKind::And:
    return binary(expr, "&");
  case ExprKind::Or:
    return binary(expr, "|");
  case ExprKind::Xor:
    return binary(expr, "^");
  case ExprKind::Minimum:
    if (isClamp(expr))
      return clamp(expr);
    [[fallthrough]];
  case ExprKind::Maximum: {
    const std::string a = writeAs(*expr.args[0], expr.type), b = writeAs(*expr.args[1], expr.type);
    // The same comparison for both.
    return fmt::format(fmt::runtime(expr.kind == ExprKind::Minimum ? "{0} > {1} ? {1} : {0}"
                                                                   : "{0} > {1} ? {0} : {1}"),
                       a, b);
  }
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
    return shift(expr);
  case ExprKind::Not:
    return fmt::format("{} == {}", write(*expr.args[0]), literal(0, expr.args[0]->type));
  case ExprKind::Negate:
    return fmt::format("-{}", writeAs(*expr.args[0], expr.type));
  case ExprKind::Equal:
    return compare(expr, "==");
  case ExprKind::NotEqual:
    return compare(expr, "!=");
  case ExprKind::Less:
    return compare(expr, "<");
  case ExprKind::LessEqual:
    return compare(expr, "<=");
  case ExprKind::Greater:
    return compare(expr, ">");
  case ExprKind::GreaterEqual:
    return compare(expr, ">=");
  case ExprKind::Select: {
    const std::string condition = write(*expr.args[0]);
    return fmt::format("{} != {} ? {} : {}", condition, literal(0, expr.args[0]->type),
                       writeAs(*expr.args[1], expr.type), writeAs(*expr.args[2], expr.type));
  }
  case ExprKind::Cast:
    return writeAs(*expr.args[0], expr.type);
  case ExprKind::Saturate:
    return saturate(expr);
  case ExprKind::CountLeadingZeros:
    return leadingZeros(expr);
  default:
    return leaf_(*this, expr);
  }
}

} // namespace tilewright::rtl

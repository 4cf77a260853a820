#include "semantics_context.h"

#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

// Narrows the range of an immediate by "imm < e" and the like, where e is over literals (params are
// folded) and other immediates.
static void narrow(const Expr &condition, std::vector<Interval> &ranges) {
  if (condition.kind == ExprKind::And) {
    narrow(*condition.args[0], ranges);
    narrow(*condition.args[1], ranges);
    return;
  }
  if (condition.args.size() != 2)
    return;
  for (int side = 0; side < 2; ++side) {
    const Expr &subject = *condition.args[static_cast<size_t>(side)];
    if (subject.kind != ExprKind::Immediate)
      continue;
    Interval other = IntervalAnalysis(ranges, {}).of(condition.args[static_cast<size_t>(1 - side)]);
    Interval &range = ranges[static_cast<size_t>(subject.index)];
    ExprKind kind = condition.kind;
    bool less = kind == ExprKind::Less || kind == ExprKind::LessEqual,
         greater = kind == ExprKind::Greater || kind == ExprKind::GreaterEqual;
    int strict = kind == ExprKind::Less || kind == ExprKind::Greater;
    if ((side == 0 && less) || (side == 1 && greater))
      range.greatest = std::min(range.greatest, other.greatest - strict);
    if ((side == 0 && greater) || (side == 1 && less))
      range.least = std::max(range.least, other.least + strict);
    if (kind == ExprKind::Equal)
      range = {std::max(range.least, other.least), std::min(range.greatest, other.greatest)};
  }
}

SemanticsContext::SemanticsContext(Instruction &i, const Machine &m, ExprPool &p)
    : instruction(i), machine(m), unit(m.units[static_cast<size_t>(i.unit)]), pool(p) {
  for (const Operand &operand : instruction.operands)
    ranges_.push_back({operand.least, operand.greatest});
  used_.assign(instruction.operands.size(), false);
  written_ = used_;
  for (const Require &require : instruction.requires_) {
    narrow(*require.expr, ranges_);
    markUsed(*require.expr);
  }
}

Scope SemanticsContext::scope() const {
  Scope scope;
  scope.params = &machine.params;
  scope.functions = &machine.functions;
  scope.instruction = &instruction;
  scope.unit = &unit;
  return scope;
}

void SemanticsContext::markUsed(const Expr &expr) {
  if (expr.kind == ExprKind::Immediate || expr.kind == ExprKind::MemoryRead)
    used_[static_cast<size_t>(expr.index)] = true;
  for (const ExprPtr &arg : expr.args)
    markUsed(*arg);
}

void SemanticsContext::markWritten(int operand) {
  markUsed(operand);
  written_[static_cast<size_t>(operand)] = true;
}

void SemanticsContext::checkOperands(const yaml::Node &semantics) const {
  for (const Operand &operand : instruction.operands) {
    auto index = static_cast<size_t>(operand.index);
    if (!used_[index])
      throw UserError(semantics.location(),
                      fmt::format("the operand '{}' is never used", operand.name), "remove it");
    if (operand.kind == Operand::Kind::Memory && operand.access != Access::Read && !written_[index])
      throw UserError(
          semantics.location(),
          fmt::format("the operand '{}' is declared written, but never is", operand.name));
  }
}

Interval SemanticsContext::intervalOf(const ExprPtr &expr,
                                      const std::vector<Interval> &iterators) const {
  return IntervalAnalysis(ranges_, iterators).of(expr);
}

void SemanticsContext::requireHolds(const yaml::Node &scalar, const Type &type, const ExprPtr &expr,
                                    const std::string &what) const {
  if (!holds(type, expr->type))
    throw UserError(scalar.location(),
                    fmt::format("the value is {} and would lose bits: {} is {}", expr->type.str(),
                                what, type.str()),
                    fmt::format("close it with cast<{0}>(..) or sat<{0}>(..)", type.str()));
}

void SemanticsContext::checkIndices(const yaml::Node &scalar, const ExprPtr &expr,
                                    const std::vector<Interval> &iterators) const {
  if (expr->kind == ExprKind::ArrayRead) {
    const StateArray &array = unit.arrays[static_cast<size_t>(expr->index)];
    for (size_t i = 0; i < array.sizes.size(); ++i)
      requireInRange(scalar, expr->args[i], array, i, iterators);
  }
  if (expr->kind == ExprKind::BaseRegister) {
    Interval range = intervalOf(expr->args[0], iterators);
    int64_t registers = lookupIn(machine.params)("base_registers", scalar.location());
    if (range.least < 0 || range.greatest >= registers)
      throw UserError(scalar.location(),
                      fmt::format("x[..] can be indexed outside of 0..{}", registers - 1));
  }
  for (const ExprPtr &arg : expr->args)
    checkIndices(scalar, arg, iterators);
}

void SemanticsContext::requireInRange(const yaml::Node &scalar, const ExprPtr &index,
                                      const StateArray &array, size_t dimension,
                                      const std::vector<Interval> &iterators) const {
  Interval range = intervalOf(index, iterators);
  if (range.least < 0 || range.greatest >= array.sizes[dimension])
    throw UserError(
        scalar.location(),
        fmt::format("index {} of '{}' can be {}, outside of 0..{}", dimension + 1, array.name,
                    static_cast<int64_t>(range.least < 0
                                             ? std::max<__int128>(range.least, INT64_MIN)
                                             : std::min<__int128>(range.greatest, INT64_MAX)),
                    array.sizes[dimension] - 1),
        "bound it with min, max, a cast, or a require on an immediate");
}

bool contains(const Expr &expr, ExprKind kind) {
  if (expr.kind == kind)
    return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const ExprPtr &arg) { return contains(*arg, kind); });
}

} // namespace tilewright::isa

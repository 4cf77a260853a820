#include "range.h"

#include <algorithm>

namespace tilewright::kernels {

using isa::Expr;
using isa::ExprKind;

Range rangeOf(const isa::Type &type) { return {type.least(), type.greatest()}; }

Range unite(const Range &a, const Range &b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

Container containerOf(const Range &range) {
  for (int bits : {8, 16, 32, 64}) {
    __int128 half = __int128(1) << (bits - 1);
    if (range.least >= -half && range.greatest < half)
      return {bits, true};
    if (range.least >= 0 && range.greatest < 2 * half)
      return {bits, false};
  }
  return {128, true};
}

Range clampedAmount(const Range &amount, const isa::Type &shifted) {
  auto clamp = [&](__int128 value) { return std::clamp<__int128>(value, 0, shifted.bits - 1); };
  return {clamp(amount.least), clamp(amount.greatest)};
}

const Range &Ranges::of(const Expr &expr) {
  auto found = known_.find(&expr);
  if (found != known_.end())
    return found->second;
  Range range = compute(expr);
  return known_.emplace(&expr, range).first->second;
}

namespace {

// The smallest 2^n - 1 that is not below `value`.
__int128 allOnes(__int128 value) {
  __int128 ones = 0;
  while (ones < value)
    ones = 2 * ones + 1;
  return ones;
}

Range shiftLeft(const Range &value, const Range &amount, const Range &type) {
  // Only what cannot wrap is narrower than the type.
  if (value.least < 0 || amount.greatest > 100 ||
      value.greatest > (type.greatest >> static_cast<int>(amount.greatest)))
    return type;
  return {value.least << static_cast<int>(amount.least),
          value.greatest << static_cast<int>(amount.greatest)};
}

Range shiftRight(const Range &value, const Range &amount) {
  auto least = static_cast<int>(amount.least), most = static_cast<int>(amount.greatest);
  return {value.least < 0 ? value.least >> least : value.least >> most,
          value.greatest < 0 ? value.greatest >> most : value.greatest >> least};
}

Range product(const Range &a, const Range &b) {
  __int128 corners[] = {a.least * b.least, a.least * b.greatest, a.greatest * b.least,
                        a.greatest * b.greatest};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

} // namespace

Range Ranges::compute(const Expr &expr) {
  const Range type = rangeOf(expr.type);
  auto arg = [&](size_t i) -> const Range & { return of(*expr.args[i]); };
  // Beyond this width the sums and products below could leave the 128 bits they are computed in.
  const bool wide = expr.type.bits > 120;
  switch (expr.kind) {
  case ExprKind::Literal:
    return {expr.value, expr.value};
  case ExprKind::Add:
    return wide ? type : Range{arg(0).least + arg(1).least, arg(0).greatest + arg(1).greatest};
  case ExprKind::Subtract:
    return wide ? type : Range{arg(0).least - arg(1).greatest, arg(0).greatest - arg(1).least};
  case ExprKind::Multiply:
    return wide ? type : product(arg(0), arg(1));
  case ExprKind::Negate:
    return wide ? type : Range{-arg(0).greatest, -arg(0).least};
  case ExprKind::Minimum:
    return {std::min(arg(0).least, arg(1).least), std::min(arg(0).greatest, arg(1).greatest)};
  case ExprKind::Maximum:
    return {std::max(arg(0).least, arg(1).least), std::max(arg(0).greatest, arg(1).greatest)};
  case ExprKind::ShiftLeft:
    return shiftLeft(arg(0), clampedAmount(arg(1), expr.type), type);
  case ExprKind::ShiftRight:
    return shiftRight(arg(0), clampedAmount(arg(1), expr.args[0]->type));
  case ExprKind::And:
    if (arg(0).least < 0 || arg(1).least < 0)
      return type;
    return {0, std::min(arg(0).greatest, arg(1).greatest)};
  case ExprKind::Or:
  case ExprKind::Xor:
    if (wide || arg(0).least < 0 || arg(1).least < 0)
      return type;
    return {0, allOnes(std::max(arg(0).greatest, arg(1).greatest))};
  case ExprKind::Not:
  case ExprKind::Equal:
  case ExprKind::NotEqual:
  case ExprKind::Less:
  case ExprKind::LessEqual:
  case ExprKind::Greater:
  case ExprKind::GreaterEqual:
    return {0, 1};
  case ExprKind::Select:
    return unite(arg(1), arg(2));
  case ExprKind::Cast:
    return arg(0).within(type) ? arg(0) : type;
  case ExprKind::Saturate:
    return {std::clamp(arg(0).least, type.least, type.greatest),
            std::clamp(arg(0).greatest, type.least, type.greatest)};
  case ExprKind::CountLeadingZeros:
    return {0, expr.args[0]->type.bits};
  case ExprKind::Iterator:
  case ExprKind::Immediate:
  case ExprKind::State:
  case ExprKind::BaseRegister:
  case ExprKind::Result:
  case ExprKind::MemoryRead:
  case ExprKind::ArrayRead:
    return type;
  }
  return type;
}

} // namespace tilewright::kernels

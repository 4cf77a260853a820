#include "interval.h"
#include "type.h"

#include <algorithm>

namespace tilewright::isa {

Interval IntervalAnalysis::of(const ExprPtr &expr) {
  auto it = known_.find(expr.get());
  if (it != known_.end())
    return it->second;
  Interval interval = compute(*expr);
  known_[expr.get()] = interval;
  return interval;
}

// Sums and products cannot overflow: the node's type holds every value its operands can give.
Interval IntervalAnalysis::compute(const Expr &expr) {
  const Interval whole{expr.type.least(), expr.type.greatest()};
  std::vector<Interval> a;
  for (const ExprPtr &arg : expr.args)
    a.push_back(of(arg));
  switch (expr.kind) {
  case ExprKind::Literal:
    return {expr.value, expr.value};
  case ExprKind::Immediate: {
    auto index = static_cast<size_t>(expr.index);
    return index < immediates_.size() ? immediates_[index] : whole;
  }
  case ExprKind::Iterator: {
    auto index = static_cast<size_t>(expr.index);
    return index < iterators_.size() ? iterators_[index] : whole;
  }
  case ExprKind::Add:
    return {a[0].least + a[1].least, a[0].greatest + a[1].greatest};
  case ExprKind::Subtract:
    return {a[0].least - a[1].greatest, a[0].greatest - a[1].least};
  case ExprKind::Negate:
    return {-a[0].greatest, -a[0].least};
  case ExprKind::Multiply: {
    __int128 corners[] = {a[0].least * a[1].least, a[0].least * a[1].greatest,
                          a[0].greatest * a[1].least, a[0].greatest * a[1].greatest};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  case ExprKind::Minimum:
    return {std::min(a[0].least, a[1].least), std::min(a[0].greatest, a[1].greatest)};
  case ExprKind::Maximum:
    return {std::max(a[0].least, a[1].least), std::max(a[0].greatest, a[1].greatest)};
  case ExprKind::Select:
    return {std::min(a[1].least, a[2].least), std::max(a[1].greatest, a[2].greatest)};
  case ExprKind::Saturate:
    return {saturate(a[0].least, expr.type), saturate(a[0].greatest, expr.type)};
  case ExprKind::Cast:
    return a[0].least >= whole.least && a[0].greatest <= whole.greatest ? a[0] : whole;
  case ExprKind::ShiftRight: {
    auto amount = [&](__int128 value) {
      return static_cast<int>(std::clamp<__int128>(value, 0, expr.type.bits - 1));
    };
    int low = amount(a[1].least), high = amount(a[1].greatest);
    return {a[0].least < 0 ? a[0].least >> low : a[0].least >> high,
            a[0].greatest < 0 ? a[0].greatest >> high : a[0].greatest >> low};
  }
  case ExprKind::And:
    if (a[0].least >= 0 ||
        a[1].least >= 0) { // the result has no bit that a non-negative argument has not
      __int128 greatest = whole.greatest;
      for (const Interval &arg : a)
        greatest = arg.least >= 0 ? std::min(greatest, arg.greatest) : greatest;
      return {0, greatest};
    }
    return whole;
  case ExprKind::CountLeadingZeros:
    return {0, expr.args[0]->type.bits};
  default:
    return whole;
  }
}

} // namespace tilewright::isa

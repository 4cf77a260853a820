#include "evaluate.h"
#include "type.h"

#include <algorithm>

namespace tilewright::isa {

static __int128 shiftAmount(__int128 amount, const Type &type) {
  return std::clamp<__int128>(amount, 0, type.bits - 1);
}

__int128 applyOperation(const Expr &expr, const __int128 *a) {
  switch (expr.kind) {
  case ExprKind::Add:
    return a[0] + a[1];
  case ExprKind::Subtract:
    return a[0] - a[1];
  case ExprKind::Multiply:
    return a[0] * a[1];
  case ExprKind::Minimum:
    return std::min(a[0], a[1]);
  case ExprKind::Maximum:
    return std::max(a[0], a[1]);
  case ExprKind::ShiftLeft: {
    auto bits = static_cast<unsigned __int128>(a[0])
                << static_cast<int>(shiftAmount(a[1], expr.type));
    return wrap(static_cast<__int128>(bits), expr.type);
  }
  case ExprKind::ShiftRight:
    return a[0] >> static_cast<int>(shiftAmount(a[1], expr.type));
  case ExprKind::And:
    return a[0] & a[1];
  case ExprKind::Or:
    return a[0] | a[1];
  case ExprKind::Xor:
    return a[0] ^ a[1];
  case ExprKind::Not:
    return a[0] == 0;
  case ExprKind::Negate:
    return -a[0];
  case ExprKind::Equal:
    return a[0] == a[1];
  case ExprKind::NotEqual:
    return a[0] != a[1];
  case ExprKind::Less:
    return a[0] < a[1];
  case ExprKind::LessEqual:
    return a[0] <= a[1];
  case ExprKind::Greater:
    return a[0] > a[1];
  case ExprKind::GreaterEqual:
    return a[0] >= a[1];
  case ExprKind::Select:
    return a[0] != 0 ? a[1] : a[2];
  case ExprKind::Cast:
    return wrap(a[0], expr.type);
  case ExprKind::Saturate:
    return saturate(a[0], expr.type);
  case ExprKind::CountLeadingZeros: {
    const Type &type = expr.args[0]->type;
    auto bits = static_cast<unsigned __int128>(wrap(a[0], Type{false, std::min(type.bits, 127)}));
    if (type.bits == 128 && a[0] < 0)
      return 0;
    int zeros = type.bits;
    for (; bits != 0; bits >>= 1)
      --zeros;
    return zeros;
  }
  default:
    return 0; // leaves have no operation
  }
}

static __int128 evaluateWide(const Expr &expr, const ScalarContext &context) {
  switch (expr.kind) {
  case ExprKind::Literal:
    return expr.value;
  case ExprKind::Iterator:
    return context.iterators ? context.iterators[expr.index] : 0;
  case ExprKind::Immediate:
    return context.immediates ? context.immediates[expr.index] : 0;
  case ExprKind::State:
    return context.state ? context.state[expr.index] : 0;
  case ExprKind::BaseRegister:
    return context.base ? context.base[evaluateWide(*expr.args[0], context)] : 0;
  case ExprKind::Result:
  case ExprKind::MemoryRead:
  case ExprKind::ArrayRead:
    return 0;
  default:
    break;
  }
  __int128 values[3];
  for (size_t i = 0; i < expr.args.size(); ++i)
    values[i] = evaluateWide(*expr.args[i], context);
  return applyOperation(expr, values);
}

int64_t evaluateTree(const Expr &expr, const ScalarContext &context) {
  return static_cast<int64_t>(evaluateWide(expr, context));
}

} // namespace tilewright::isa

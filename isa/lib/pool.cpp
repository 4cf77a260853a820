#include "pool.h"
#include "evaluate.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tilewright::isa {

namespace {

struct Bounds {
  __int128 least, greatest;
};

Type typed(const std::optional<Bounds> &bounds, bool isSigned) {
  if (!bounds)
    throw TypeError{"the value needs more than 128 bits",
                    "close an argument with cast<T> or sat<T>"};
  Type type = smallestType(bounds->least, bounds->greatest, isSigned);
  if (type.least() > bounds->least || type.greatest() < bounds->greatest)
    throw TypeError{"the value needs more than 128 bits",
                    "close an argument with cast<T> or sat<T>"};
  return type;
}

// The bounds of an arithmetic operation over all values of its argument types; none when they leave
// 128 bits.
std::optional<Bounds> arithmeticBounds(ExprKind kind, const Type &a, const Type &b) {
  const __int128 as[] = {a.least(), a.greatest()}, bs[] = {b.least(), b.greatest()};
  std::optional<Bounds> bounds;
  for (__int128 x : as)
    for (__int128 y : bs) {
      __int128 value;
      bool overflow = kind == ExprKind::Add        ? __builtin_add_overflow(x, y, &value)
                      : kind == ExprKind::Subtract ? __builtin_sub_overflow(x, y, &value)
                                                   : __builtin_mul_overflow(x, y, &value);
      if (overflow)
        return std::nullopt;
      bounds = bounds ? Bounds{std::min(bounds->least, value), std::max(bounds->greatest, value)}
                      : Bounds{value, value};
    }
  return bounds;
}

Type resultType(ExprKind kind, const std::vector<ExprPtr> &args) {
  const Type boolean{false, 1};
  const Type &a = args[0]->type;
  switch (kind) {
  case ExprKind::Add:
  case ExprKind::Subtract:
  case ExprKind::Multiply: {
    const Type &b = args[1]->type;
    return typed(arithmeticBounds(kind, a, b), a.isSigned || b.isSigned);
  }
  case ExprKind::Negate:
    return typed(arithmeticBounds(ExprKind::Subtract, Type{false, 1}, a), true);
  case ExprKind::Minimum:
  case ExprKind::Maximum:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Xor:
    return commonType(a, args[1]->type);
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
    return a;
  case ExprKind::Not:
    if (a != boolean)
      throw TypeError{fmt::format("'!' is of a u1, not of a {}", a.str()), "compare with 0"};
    return boolean;
  case ExprKind::Equal:
  case ExprKind::NotEqual:
  case ExprKind::Less:
  case ExprKind::LessEqual:
  case ExprKind::Greater:
  case ExprKind::GreaterEqual:
    return boolean;
  case ExprKind::Select:
    if (a != boolean)
      throw TypeError{fmt::format("the condition is a {}, not a u1", a.str()), "compare with 0"};
    return commonType(args[1]->type, args[2]->type);
  case ExprKind::CountLeadingZeros:
    return Type{false, 8};
  default:
    throw std::logic_error("not an operation");
  }
}

Expr bare(ExprKind kind, Type type, int index = -1) { return Expr{kind, type, 0, index, {}}; }

size_t hashOf(const Expr &expr) {
  size_t hash = static_cast<size_t>(expr.kind) * 31 + static_cast<size_t>(expr.type.bits) * 2 +
                expr.type.isSigned;
  hash = hash * 1000003 + static_cast<size_t>(expr.value);
  hash = hash * 1000003 + static_cast<size_t>(expr.index);
  for (const ExprPtr &arg : expr.args)
    hash = hash * 1000003 + std::hash<const Expr *>()(arg.get());
  return hash;
}

} // namespace

ExprPtr ExprPool::intern(Expr expr) {
  ++nodes_;
  size_t hash = hashOf(expr);
  auto [begin, end] = shared_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Expr &other = *it->second;
    if (other.kind == expr.kind && other.type == expr.type && other.value == expr.value &&
        other.index == expr.index && other.args == expr.args)
      return it->second;
  }
  int64_t treeSize = 1;
  for (const ExprPtr &arg : expr.args)
    treeSize = std::min(int64_t(1) << 40, treeSize + this->treeSize(arg));
  auto made = std::make_shared<const Expr>(std::move(expr));
  treeSizes_[made.get()] = treeSize;
  shared_.emplace(hash, made);
  return made;
}

int64_t ExprPool::treeSize(const ExprPtr &expr) const {
  auto it = treeSizes_.find(expr.get());
  return it == treeSizes_.end() ? 1 : it->second;
}

ExprPtr ExprPool::literal(__int128 value) {
  Expr expr = bare(ExprKind::Literal, smallestType(value, value, false));
  expr.value = value;
  return intern(std::move(expr));
}

ExprPtr ExprPool::leaf(ExprKind kind, Type type, int index, std::vector<ExprPtr> args) {
  Expr expr = bare(kind, type, index);
  expr.args = std::move(args);
  return intern(std::move(expr));
}

ExprPtr ExprPool::node(ExprKind kind, std::vector<ExprPtr> args) {
  Expr expr = bare(kind, resultType(kind, args));
  expr.args = std::move(args);
  bool constant = std::all_of(expr.args.begin(), expr.args.end(),
                              [](const ExprPtr &arg) { return arg->kind == ExprKind::Literal; });
  if (!constant)
    return intern(std::move(expr));
  __int128 values[3];
  for (size_t i = 0; i < expr.args.size(); ++i)
    values[i] = expr.args[i]->value;
  if (kind == ExprKind::Negate) // so that -128 is an i8
    return literal(-values[0]);
  Expr folded = bare(ExprKind::Literal, expr.type);
  folded.value = applyOperation(expr, values);
  return intern(std::move(folded));
}

ExprPtr ExprPool::convert(ExprKind kind, Type type, ExprPtr arg) {
  if (arg->type == type)
    return arg;
  Expr expr = bare(arg->kind == ExprKind::Literal ? ExprKind::Literal : kind, type);
  if (arg->kind == ExprKind::Literal)
    expr.value = kind == ExprKind::Cast ? wrap(arg->value, type) : saturate(arg->value, type);
  else
    expr.args.push_back(std::move(arg));
  return intern(std::move(expr));
}

} // namespace tilewright::isa

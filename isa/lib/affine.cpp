#include "pool.h"
#include "type.h"

#include <algorithm>
#include <optional>

namespace tilewright::isa {

namespace {

bool hasIterators(const Expr &expr, std::unordered_map<const Expr *, bool> &known) {
  if (auto it = known.find(&expr); it != known.end())
    return it->second;
  bool found = expr.kind == ExprKind::Iterator;
  for (const ExprPtr &arg : expr.args)
    found = found || hasIterators(*arg, known);
  known[&expr] = found;
  return found;
}

class AffineBuilder {
public:
  std::optional<AffineForm> visit(const ExprPtr &expr) {
    if (!hasIterators(*expr, known_)) {
      bool opaque = hasReads(*expr);
      return opaque ? std::nullopt : std::optional(AffineForm{expr, {}});
    }
    switch (expr->kind) {
    case ExprKind::Iterator:
      return AffineForm{pool_.literal(0), {{expr->index, pool_.literal(1)}}};
    case ExprKind::Add:
    case ExprKind::Subtract: {
      auto left = visit(expr->args[0]), right = visit(expr->args[1]);
      return left && right ? std::optional(combine(expr->kind, *left, *right)) : std::nullopt;
    }
    case ExprKind::Negate: {
      auto inner = visit(expr->args[0]);
      return inner ? std::optional(scale(*inner, pool_.literal(-1))) : std::nullopt;
    }
    case ExprKind::Multiply: {
      bool left = hasIterators(*expr->args[0], known_),
           right = hasIterators(*expr->args[1], known_);
      const ExprPtr &factor = expr->args[left ? 1 : 0];
      if ((left && right) || hasReads(*factor))
        return std::nullopt;
      auto inner = visit(expr->args[left ? 0 : 1]);
      return inner ? std::optional(scale(*inner, factor)) : std::nullopt;
    }
    case ExprKind::Cast:
      return holds(expr->type, expr->args[0]->type) ? visit(expr->args[0]) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

private:
  static bool hasReads(const Expr &expr) {
    if (expr.kind == ExprKind::MemoryRead || expr.kind == ExprKind::ArrayRead ||
        expr.kind == ExprKind::Result)
      return true;
    for (const ExprPtr &arg : expr.args)
      if (hasReads(*arg))
        return true;
    return false;
  }

  static bool isLiteral(const ExprPtr &expr, __int128 value) {
    return expr->kind == ExprKind::Literal && expr->value == value;
  }

  ExprPtr sum(ExprKind kind, const ExprPtr &a, const ExprPtr &b) {
    if (isLiteral(b, 0))
      return a;
    if (isLiteral(a, 0) && kind == ExprKind::Add)
      return b;
    return pool_.node(kind, {a, b});
  }

  ExprPtr product(const ExprPtr &a, const ExprPtr &b) {
    if (isLiteral(a, 1) || isLiteral(b, 0))
      return b;
    return isLiteral(b, 1) || isLiteral(a, 0) ? a : pool_.node(ExprKind::Multiply, {a, b});
  }

  AffineForm combine(ExprKind kind, AffineForm left, const AffineForm &right) {
    left.constant = sum(kind, left.constant, right.constant);
    for (const AffineTerm &term : right.terms) {
      auto same = std::find_if(left.terms.begin(), left.terms.end(),
                               [&](const AffineTerm &t) { return t.iterator == term.iterator; });
      if (same == left.terms.end())
        left.terms.push_back({term.iterator, sum(kind, pool_.literal(0), term.coefficient)});
      else
        same->coefficient = sum(kind, same->coefficient, term.coefficient);
    }
    return left;
  }

  AffineForm scale(AffineForm form, const ExprPtr &factor) {
    form.constant = product(form.constant, factor);
    for (AffineTerm &term : form.terms)
      term.coefficient = product(term.coefficient, factor);
    return form;
  }

  ExprPool pool_;
  std::unordered_map<const Expr *, bool> known_;
};

} // namespace

bool asAffine(const ExprPtr &expr, AffineForm &form) {
  try {
    std::optional<AffineForm> found = AffineBuilder().visit(expr);
    if (found)
      form = std::move(*found);
    return found.has_value();
  } catch (const TypeError &) { // the rearranged form would need more than 128 bits
    return false;
  }
}

} // namespace tilewright::isa

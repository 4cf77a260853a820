#include "tilewright/isa/normal_form.h"

#include "evaluate.h"
#include "terms.h"

#include <unordered_map>

namespace tilewright::isa {

namespace {

using namespace terms;

class Normalizer {
public:
  TermPtr of(const ExprPtr &expr) {
    auto known = known_.find(expr.get());
    if (known == known_.end())
      known = known_.emplace(expr.get(), made(*expr)).first;
    return known->second;
  }

private:
  TermPtr leaf(const Expr &expr, std::vector<TermPtr> args) {
    Term term;
    term.kind = expr.kind;
    term.type = expr.type;
    term.index = expr.index;
    term.args = std::move(args);
    term.least = expr.type.least();
    term.greatest = expr.type.greatest();
    return make(std::move(term));
  }

  TermPtr made(const Expr &expr) {
    if (expr.kind == ExprKind::Literal)
      return literalTerm(expr.value);
    if (expr.kind == ExprKind::MemoryRead)
      return leaf(expr, {});
    std::vector<TermPtr> a;
    for (const ExprPtr &arg : expr.args)
      a.push_back(of(arg));
    switch (expr.kind) {
    case ExprKind::Add:
      return sum(a);
    case ExprKind::Subtract:
      return sum({a[0], negated(a[1])});
    case ExprKind::Negate:
      return negated(a[0]);
    case ExprKind::Multiply:
      return product(a);
    case ExprKind::Minimum:
    case ExprKind::Maximum:
      return extremum(expr.kind, a);
    case ExprKind::ShiftLeft:
    case ExprKind::ShiftRight:
      return shift(expr.kind, expr.type, a[0], a[1]);
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Xor:
      sort(a);
      return typed(expr.kind, expr.type, a, expr.type);
    case ExprKind::Not:
      return inverted(a[0]);
    case ExprKind::Equal:
      sort(a);
      return compare(ExprKind::Equal, a[0], a[1]);
    case ExprKind::NotEqual:
      sort(a);
      return inverted(compare(ExprKind::Equal, a[0], a[1]));
    case ExprKind::Less:
    case ExprKind::LessEqual:
      return compare(expr.kind, a[0], a[1]);
    case ExprKind::Greater:
      return compare(ExprKind::Less, a[1], a[0]);
    case ExprKind::GreaterEqual:
      return compare(ExprKind::LessEqual, a[1], a[0]);
    case ExprKind::Select:
      return select(expr.type, a[0], a[1], a[2]);
    case ExprKind::Cast:
      return cast(expr.type, a[0]);
    case ExprKind::Saturate:
      return extremum(ExprKind::Minimum,
                      {literalTerm(expr.type.greatest()),
                       extremum(ExprKind::Maximum, {literalTerm(expr.type.least()), a[0]})});
    case ExprKind::CountLeadingZeros:
      return typed(expr.kind, expr.args[0]->type, a, Type{false, 8});
    default:
      return leaf(expr, std::move(a));
    }
  }

  std::unordered_map<const Expr *, TermPtr> known_;
};

} // namespace

TermPtr normalize(const ExprPtr &expr) { return Normalizer().of(expr); }

__int128 evaluate(const Term &term, const LeafValue &leaf) {
  std::vector<__int128> args;
  for (const TermPtr &arg : term.args)
    args.push_back(evaluate(*arg, leaf));
  switch (term.kind) {
  case ExprKind::Literal:
    return term.value;
  case ExprKind::Iterator:
  case ExprKind::Immediate:
  case ExprKind::State:
  case ExprKind::BaseRegister:
  case ExprKind::Result:
  case ExprKind::MemoryRead:
  case ExprKind::ArrayRead:
    return leaf(term, args);
  default:
    break;
  }
  Expr operation{term.kind, term.type, 0, -1, {}};
  if (term.kind == ExprKind::CountLeadingZeros) // counts in its argument's width
    operation.args.push_back(
        std::make_shared<const Expr>(Expr{ExprKind::Literal, term.type, 0, -1, {}}));
  const bool isList = term.kind == ExprKind::Add || term.kind == ExprKind::Multiply ||
                      term.kind == ExprKind::Minimum || term.kind == ExprKind::Maximum;
  if (!isList)
    return applyOperation(operation, args.data());
  __int128 value = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    const __int128 pair[] = {value, args[i]};
    value = applyOperation(operation, pair);
  }
  return value;
}

} // namespace tilewright::isa

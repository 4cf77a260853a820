#include "terms.h"

#include "type.h"

#include <algorithm>

namespace tilewright::isa {

namespace {

constexpr __int128 mostInt128 = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
constexpr __int128 leastInt128 = -mostInt128 - 1;

__int128 added(__int128 a, __int128 b) {
  __int128 sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? leastInt128 : mostInt128;
}

__int128 multiplied(__int128 a, __int128 b) {
  __int128 product;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) == (b < 0) ? mostInt128 : leastInt128;
}

bool isLiteral(const TermPtr &term) { return term->kind == ExprKind::Literal; }
bool isLiteral(const TermPtr &term, __int128 value) {
  return isLiteral(term) && term->value == value;
}

bool fits(const Term &term, const Type &type) {
  return term.least >= type.least() && term.greatest <= type.greatest();
}

bool typeMatters(ExprKind kind) {
  return kind == ExprKind::Cast || kind == ExprKind::ShiftLeft || kind == ExprKind::ShiftRight ||
         kind == ExprKind::CountLeadingZeros;
}

// A total order; 0 for equal terms.
int order(const Term &a, const Term &b) {
  auto by = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (&a == &b)
    return 0;
  if (int kind = by(a.kind, b.kind))
    return kind;
  if (int value = by(a.value, b.value))
    return value;
  if (int index = by(a.index, b.index))
    return index;
  if (typeMatters(a.kind))
    if (int type = by(a.type.bits * 2 + a.type.isSigned, b.type.bits * 2 + b.type.isSigned))
      return type;
  if (int count = by(a.args.size(), b.args.size()))
    return count;
  for (size_t i = 0; i < a.args.size(); ++i)
    if (int arg = order(*a.args[i], *b.args[i]))
      return arg;
  return 0;
}

// The arguments, those of nested nodes of the kind in their place, and what the literals give.
struct Flat {
  std::vector<TermPtr> args;
  __int128 literal;
};

template <typename Combine>
Flat flatten(ExprKind kind, const std::vector<TermPtr> &args, __int128 neutral, Combine combine) {
  Flat flat{{}, neutral};
  for (const TermPtr &arg : args) {
    const std::vector<TermPtr> one{arg};
    for (const TermPtr &each : arg->kind == kind ? arg->args : one) {
      if (isLiteral(each))
        flat.literal = combine(flat.literal, each->value);
      else
        flat.args.push_back(each);
    }
  }
  return flat;
}

} // namespace

bool operator==(const Term &a, const Term &b) { return order(a, b) == 0; }

TermPtr literalTerm(__int128 value) {
  Term term;
  term.value = term.least = term.greatest = value;
  return terms::make(std::move(term));
}

TermPtr negated(const TermPtr &term) { return terms::product({literalTerm(-1), term}); }

namespace terms {

TermPtr make(Term term) { return std::make_shared<const Term>(std::move(term)); }

void sort(std::vector<TermPtr> &args) {
  std::sort(args.begin(), args.end(),
            [](const TermPtr &a, const TermPtr &b) { return order(*a, *b) < 0; });
}

TermPtr typed(ExprKind kind, Type type, std::vector<TermPtr> args, Type range) {
  Term term;
  term.kind = kind;
  term.type = type;
  term.args = std::move(args);
  term.least = range.least();
  term.greatest = range.greatest();
  return make(std::move(term));
}

TermPtr sum(const std::vector<TermPtr> &args) {
  Flat flat = flatten(ExprKind::Add, args, 0, added);
  if (flat.literal != 0 || flat.args.empty())
    flat.args.insert(flat.args.begin(), literalTerm(flat.literal));
  if (flat.args.size() == 1)
    return flat.args[0];
  sort(flat.args);
  Term term;
  term.kind = ExprKind::Add;
  for (const TermPtr &arg : flat.args) {
    term.least = added(term.least, arg->least);
    term.greatest = added(term.greatest, arg->greatest);
  }
  term.args = std::move(flat.args);
  return make(std::move(term));
}

TermPtr product(const std::vector<TermPtr> &args) {
  Flat flat = flatten(ExprKind::Multiply, args, 1, multiplied);
  if (flat.literal == 0 || flat.args.empty())
    return literalTerm(flat.literal);
  if (flat.literal == 1 && flat.args.size() == 1)
    return flat.args[0];
  if (flat.args.size() == 1 && flat.args[0]->kind == ExprKind::Add) {
    std::vector<TermPtr> parts;
    for (const TermPtr &part : flat.args[0]->args)
      parts.push_back(product({literalTerm(flat.literal), part}));
    return sum(parts);
  }
  if (flat.literal != 1)
    flat.args.insert(flat.args.begin(), literalTerm(flat.literal));
  sort(flat.args);
  Term term;
  term.kind = ExprKind::Multiply;
  term.least = term.greatest = 1;
  for (const TermPtr &arg : flat.args) {
    __int128 ends[] = {multiplied(term.least, arg->least), multiplied(term.least, arg->greatest),
                       multiplied(term.greatest, arg->least),
                       multiplied(term.greatest, arg->greatest)};
    term.least = *std::min_element(ends, ends + 4);
    term.greatest = *std::max_element(ends, ends + 4);
  }
  term.args = std::move(flat.args);
  return make(std::move(term));
}

TermPtr extremum(ExprKind kind, const std::vector<TermPtr> &args) {
  const bool isMinimum = kind == ExprKind::Minimum;
  auto best = [isMinimum](__int128 a, __int128 b) {
    return isMinimum ? std::min(a, b) : std::max(a, b);
  };
  const __int128 none = isMinimum ? mostInt128 : leastInt128;
  Flat flat = flatten(kind, args, none, best);
  std::vector<TermPtr> kept;
  for (const TermPtr &arg : flat.args)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const TermPtr &other) { return *other == *arg; }))
      kept.push_back(arg);
  __int128 least = none, greatest = none; // of all but the literal
  for (const TermPtr &arg : kept) {
    least = best(least, arg->least);
    greatest = best(greatest, arg->greatest);
  }
  const bool literalWins =
      !kept.empty() && (isMinimum ? flat.literal <= least : flat.literal >= greatest);
  const bool literalLoses =
      !kept.empty() && (isMinimum ? flat.literal >= greatest : flat.literal <= least);
  if (kept.empty() || (literalWins && !literalLoses))
    return literalTerm(flat.literal);
  if (!literalLoses)
    kept.insert(kept.begin(), literalTerm(flat.literal));
  if (kept.size() == 1)
    return kept[0];
  sort(kept);
  Term term;
  term.kind = kind;
  term.least = best(least, flat.literal);
  term.greatest = best(greatest, flat.literal);
  term.args = std::move(kept);
  return make(std::move(term));
}

// A term that is equal modulo 2^bits: casts to no fewer bits within sums and products go.
static TermPtr withoutCasts(const TermPtr &term, int bits) {
  if (term->kind == ExprKind::Cast && term->type.bits >= bits)
    return withoutCasts(term->args[0], bits);
  if (term->kind != ExprKind::Add && term->kind != ExprKind::Multiply)
    return term;
  std::vector<TermPtr> args;
  for (const TermPtr &arg : term->args)
    args.push_back(withoutCasts(arg, bits));
  return term->kind == ExprKind::Add ? sum(args) : product(args);
}

TermPtr cast(const Type &type, const TermPtr &arg) {
  if (isLiteral(arg))
    return literalTerm(wrap(arg->value, type));
  if (fits(*arg, type))
    return arg;
  TermPtr inner = withoutCasts(arg, type.bits);
  return fits(*inner, type) ? inner : typed(ExprKind::Cast, type, {inner}, type);
}

// An amount is clamped to what the type can be shifted by, so a bound that does no more says
// nothing.
static TermPtr amountOf(TermPtr amount, const Type &type) {
  auto strip = [&](ExprKind kind, auto says) {
    if (amount->kind == kind && amount->args.size() == 2 && isLiteral(amount->args[0]) &&
        !says(amount->args[0]->value))
      amount = amount->args[1];
  };
  for (int i = 0; i < 2; ++i) {
    strip(ExprKind::Minimum, [&](__int128 bound) { return bound < type.bits - 1; });
    strip(ExprKind::Maximum, [](__int128 bound) { return bound > 0; });
  }
  return amount;
}

TermPtr shift(ExprKind kind, const Type &type, const TermPtr &value, const TermPtr &rawAmount) {
  TermPtr amount = amountOf(rawAmount, type);
  if (isLiteral(amount) && amount->value <= 0)
    return value;
  return typed(kind, type, {value, amount}, type);
}

TermPtr compare(ExprKind kind, const TermPtr &a, const TermPtr &b) {
  return typed(kind, Type{false, 1}, {a, b}, Type{false, 1});
}

TermPtr inverted(const TermPtr &condition) {
  switch (condition->kind) {
  case ExprKind::Less:
    return compare(ExprKind::LessEqual, condition->args[1], condition->args[0]);
  case ExprKind::LessEqual:
    return compare(ExprKind::Less, condition->args[1], condition->args[0]);
  case ExprKind::Not:
    return condition->args[0];
  case ExprKind::Literal:
    return literalTerm(condition->value == 0);
  default:
    return typed(ExprKind::Not, Type{false, 1}, {condition}, Type{false, 1});
  }
}

TermPtr select(const Type &type, const TermPtr &condition, const TermPtr &then,
               const TermPtr &otherwise) {
  if (isLiteral(condition))
    return condition->value != 0 ? then : otherwise;
  if (*then == *otherwise)
    return then;
  if (condition->kind == ExprKind::Less || condition->kind == ExprKind::LessEqual) {
    const TermPtr &low = condition->args[0], &high = condition->args[1];
    if (*low == *then && *high == *otherwise)
      return extremum(ExprKind::Minimum, {then, otherwise});
    if (*low == *otherwise && *high == *then)
      return extremum(ExprKind::Maximum, {then, otherwise});
    if (*then == *negated(otherwise)) {
      // -x where x < 0, or x where it is not: the absolute value; and the other way round.
      const bool ofOtherwise = *low == *otherwise && isLiteral(high, 0);
      const bool ofThen = *high == *then && isLiteral(low, 0);
      if (ofOtherwise || ofThen)
        return extremum(ExprKind::Maximum, {then, otherwise});
      if ((*low == *then && isLiteral(high, 0)) || (*high == *otherwise && isLiteral(low, 0)))
        return extremum(ExprKind::Minimum, {then, otherwise});
    }
  }
  if (condition->kind == ExprKind::Not)
    return select(type, condition->args[0], otherwise, then);
  Term term;
  term.kind = ExprKind::Select;
  term.least = std::min(then->least, otherwise->least);
  term.greatest = std::max(then->greatest, otherwise->greatest);
  term.args = {condition, then, otherwise};
  return make(std::move(term));
}

} // namespace terms

} // namespace tilewright::isa

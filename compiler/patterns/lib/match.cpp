// What a pattern computes against what an operator does: types, reductions, then the scalar
// function (unify.h).
#include "unify.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::patterns {

using isa::ExprKind;
using isa::TermPtr;

namespace {

std::optional<Match> refused(Mismatch *mismatch, Mismatch why) {
  if (mismatch)
    *mismatch = std::move(why);
  return std::nullopt;
}

bool holds(const isa::Type &type, const Function &function) {
  return function.least >= type.least() && function.greatest <= type.greatest();
}

isa::ScalarNames namesOf(const Function &function) {
  isa::ScalarNames names;
  for (const Operand &operand : function.operands)
    names.operands.emplace_back(operand.name, operand.type);
  for (const Parameter &parameter : function.parameters)
    names.parameters.emplace_back(parameter.name, parameter.type);
  names.arrays = function.tables;
  return names;
}

} // namespace

Candidate::Candidate(Function function, Terms *known) : function_(std::move(function)) {
  const isa::ScalarNames names = namesOf(function_);
  std::string key = function_.text;
  for (const auto *list : {&names.operands, &names.parameters, &names.arrays})
    for (const auto &[name, type] : *list)
      key += ' ' + name + ':' + type.str();
  isa::TermPtr *place = known ? &(*known)[key] : &term_;
  if (!*place)
    *place = isa::normalize(isa::parseScalar(function_.text, names));
  term_ = *place;
}

std::optional<Match> match(const isa::Isa &isa, const Pattern &pattern, const Candidate &candidate,
                           Mismatch *mismatch) {
  const isa::Type &type = pattern.result.type;
  const TermPtr &term = candidate.term();
  const bool fits = holds(type, candidate.function()) ||
                    (term->least >= type.least() && term->greatest <= type.greatest());
  if (!fits)
    return refused(mismatch,
                   {fmt::format("the result is {}, too narrow for the operator's", type.str())});
  if (auto found = unify(isa, pattern, pattern.unconverted, candidate, nullptr))
    return found;
  return unify(isa, pattern, pattern.expr, candidate, mismatch);
}

std::optional<Match> match(const isa::Isa &isa, const Pattern &pattern, const Candidate &candidate,
                           const Reduction &reduction, Mismatch *mismatch) {
  if (pattern.combiner != reduction.combiner)
    return refused(mismatch, {"it takes values together in another way"});
  if (!holds(pattern.accumulator, candidate.function()) ||
      !holds(pattern.result.type, candidate.function()))
    return refused(mismatch, {fmt::format("it reduces in {}, too narrow for the operator's values",
                                          pattern.accumulator.str()),
                              0});
  // Sums wrap at 32 bits: in no other type do they come out alike.
  if (reduction.combiner == isa::Combiner::Add && pattern.accumulator != isa::Type{true, 32})
    return refused(mismatch, {"its sums do not wrap at 32 bits", 0});
  // The least value of a narrower type is as good a beginning of a maximum, and so on.
  const __int128 init = reduction.combiner == isa::Combiner::Maximum
                            ? std::max<__int128>(reduction.init, pattern.accumulator.least())
                        : reduction.combiner == isa::Combiner::Minimum
                            ? std::min<__int128>(reduction.init, pattern.accumulator.greatest())
                            : reduction.init;
  if (pattern.init->kind != ExprKind::Literal || pattern.init->value != init)
    return refused(mismatch, {"it begins with another value", 0});
  return unify(isa, pattern, pattern.expr, candidate, mismatch);
}

} // namespace tilewright::patterns

// Terms from terms: each operation gives the normal form (normal_form.h) of what it computes, where
// its arguments are in that form.
#pragma once

#include "tilewright/isa/normal_form.h"

namespace tilewright::isa::terms {

TermPtr make(Term term);               // as it is
void sort(std::vector<TermPtr> &args); // in an order that is the same for equal terms
// An operation of a type on arguments, whose value is within the range of another.
TermPtr typed(ExprKind kind, Type type, std::vector<TermPtr> args, Type range);

TermPtr sum(const std::vector<TermPtr> &args);
TermPtr product(const std::vector<TermPtr> &args);
TermPtr extremum(ExprKind kind, const std::vector<TermPtr> &args); // Minimum, Maximum
TermPtr cast(const Type &type, const TermPtr &arg);
TermPtr shift(ExprKind kind, const Type &type, const TermPtr &value, const TermPtr &amount);
TermPtr compare(ExprKind kind, const TermPtr &a, const TermPtr &b);
TermPtr inverted(const TermPtr &condition);
TermPtr select(const Type &type, const TermPtr &condition, const TermPtr &then,
               const TermPtr &otherwise);

} // namespace tilewright::isa::terms

// Scalar expressions in a normal form, in which many ways to write one function come out alike:
// what selection compares operators and instructions by.
//
// Arithmetic of expressions is that of integers (widths grow), so sums, products, minima and maxima
// are lists in any order; differences are sums; saturation is a minimum of a maximum; what changes
// no value (casts that hold their argument, bounds that are never met, casts within a sum that is
// cast to no more bits) is left out; selects that are a minimum, maximum or absolute value become
// one. Equal terms mean equal functions; equal functions may have terms that differ.
#pragma once

#include "tilewright/isa/expression.h"

#include <functional>
#include <string_view>
#include <utility>

namespace tilewright::isa {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

// Kinds are those of expressions without Subtract, Negate, Saturate, NotEqual, Greater and
// GreaterEqual. Add, Multiply, Minimum and Maximum have any number of arguments, at least two, in
// an order of their own; a literal among them comes first. A MemoryRead has no arguments: which
// element it reads is not part of the scalar function.
struct Term {
  ExprKind kind = ExprKind::Literal;
  Type type; // leaves, Cast and shifts: as in Expr; CountLeadingZeros: of the argument
  __int128 value = 0;
  int index = -1;
  std::vector<TermPtr> args;
  __int128 least = 0, greatest = 0; // what it can be
};

TermPtr normalize(const ExprPtr &expr);
bool operator==(const Term &a, const Term &b);

TermPtr literalTerm(__int128 value);
TermPtr negated(const TermPtr &term);

// The value of a term whose leaves (Immediate, State, MemoryRead, Iterator, Result, and ArrayRead
// with its indices) are given.
using LeafValue = std::function<__int128(const Term &leaf, const std::vector<__int128> &indices)>;
__int128 evaluate(const Term &term, const LeafValue &leaf);

// A scalar function written in the language of the semantics (docs/isa.md), over names of its own.
struct ScalarNames {
  std::vector<std::pair<std::string, Type>> operands;   // name[c]: MemoryRead, index by position
  std::vector<std::pair<std::string, Type>> parameters; // Immediate, index by position
  std::vector<std::pair<std::string, Type>> arrays;     // name[i]: ArrayRead, index by position
};
// Throws UserError, with a place in the text, for what the language does not allow.
ExprPtr parseScalar(std::string_view text, const ScalarNames &names);

} // namespace tilewright::isa

// Which values an expression can take: narrower than its type where constants and shifts say so.
// From it follows the machine width in which the expression is computed.
#pragma once

#include "tilewright/isa/expression.h"

#include <unordered_map>

namespace tilewright::kernels {

struct Range {
  __int128 least = 0;
  __int128 greatest = 0;

  bool within(const Range &outer) const {
    return least >= outer.least && greatest <= outer.greatest;
  }
};

Range rangeOf(const isa::Type &type);
Range unite(const Range &a, const Range &b);

// How a value is held in a machine integer: the narrowest of 8, 16, 32, 64 and 128 bits that holds
// the whole range.
struct Container {
  int bits = 32;
  bool isSigned = true; // how it widens
};
Container containerOf(const Range &range);

// Ranges of the nodes of expressions, each computed once. The expressions must outlive it.
class Ranges {
public:
  const Range &of(const isa::Expr &expr);

private:
  Range compute(const isa::Expr &expr);
  std::unordered_map<const isa::Expr *, Range> known_;
};

// The range of a shift amount after the clamp to [0, bits of the shifted type - 1].
Range clampedAmount(const Range &amount, const isa::Type &shifted);

} // namespace tilewright::kernels

// What values an expression can take: interval arithmetic over its graph. Proves array indices in
// range and extents non-negative.
#pragma once

#include "tilewright/isa/expression.h"

#include <unordered_map>
#include <vector>

namespace tilewright::isa {

struct Interval {
  __int128 least = 0;
  __int128 greatest = 0;
};

class IntervalAnalysis {
public:
  // `immediates` by operand index, `iterators` by iterator index; anything else ranges over its
  // type.
  IntervalAnalysis(const std::vector<Interval> &immediates, const std::vector<Interval> &iterators)
      : immediates_(immediates), iterators_(iterators) {}
  Interval of(const ExprPtr &expr);

private:
  Interval compute(const Expr &expr);

  const std::vector<Interval> &immediates_;
  const std::vector<Interval> &iterators_;
  std::unordered_map<const Expr *, Interval> known_;
};

} // namespace tilewright::isa

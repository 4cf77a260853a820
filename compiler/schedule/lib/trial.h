// What a plan costs: its steps, emitted on an empty chip and given to the estimator.
#pragma once

#include "lowering.h"

#include <functional>
#include <optional>

namespace tilewright {

struct Trial {
  int64_t cycles;
  std::vector<int64_t> layout; // Steps::layout
};

// Nothing when the steps do not fit on chip. Constants that `lower` adds are forgotten again.
std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower);

} // namespace tilewright

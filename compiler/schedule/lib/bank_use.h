// Which banks of the scratchpad an instruction reads, for an idea of how units get in each other's
// way there.
#pragma once

#include "tilewright/simulator/plan.h"

#include <algorithm>

namespace tilewright {

class BankUse {
public:
  // All that a stream of a step may touch of its memory, in banks of `bank` bytes.
  static BankUse of(const cycle::StepPlan &step, const cycle::StreamPlan &stream,
                    const isa::Memory &memory, int64_t bank, const isa::ScalarContext &context,
                    const int64_t *addresses) {
    const cycle::Walk walk = cycle::walk(stream, memory, context, addresses);
    int64_t low = walk.address, high = walk.address + stream.elementBytes;
    for (size_t i = 0; i < step.extents.size(); ++i) {
      const int64_t reach = walk.stride[i] * std::max<int64_t>(step.extents[i](context) - 1, 0);
      (reach < 0 ? low : high) += reach;
    }
    BankUse use;
    const int64_t last = (high - 1) / bank;
    for (int64_t i = std::max<int64_t>(low, 0) / bank; i <= last && i < 64; ++i)
      use.mask_ |= uint64_t(1) << i;
    return use;
  }

  void add(const BankUse &other) { mask_ |= other.mask_; }

  // The share of its time that `other` spends in a bank of this one, when each walks its banks
  // evenly.
  double shareWith(const BankUse &other) const {
    const double common = __builtin_popcountll(mask_ & other.mask_);
    return common == 0
               ? 0
               : common / __builtin_popcountll(mask_) * common / __builtin_popcountll(other.mask_);
  }

private:
  uint64_t mask_ = 0;
};

} // namespace tilewright

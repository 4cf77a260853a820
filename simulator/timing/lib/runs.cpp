#include "tilewright/simulator/timing/runs.h"

namespace tilewright::timing {

Runs::Runs(const InstructionTiming &timing, const isa::Isa &isa, const isa::ScalarContext &context,
           const int64_t *addresses) {
  const StepTiming &step = timing.steps[0];
  const bool isStore = step.write.space == isa::Space::Dram;
  const StreamTiming *dram = isStore ? &step.write : step.reads.empty() ? nullptr : &step.reads[0];
  const StreamTiming &local = isStore ? step.reads[0] : step.write;

  const Walk to = walk(local, isa.memory(local.space), context, addresses);
  Walk from;
  if (dram != nullptr) {
    from = walk(*dram, isa.memory(isa::Space::Dram), context, addresses);
    dramBytes_ = dram->elementBytes;
  }
  space_ = local.space;
  localBytes_ = local.elementBytes;
  dram_ = from.address;
  local_ = to.address;

  const int inner = step.spatial - 1;
  dimensions_ = inner;
  elements_ = 1;
  if (inner >= 0) {
    const size_t at = static_cast<size_t>(inner);
    const int64_t extent = std::max<int64_t>(step.extents[at](context), 0);
    if (dram == nullptr || from.stride[at] == dramBytes_) {
      elements_ = extent;
      localStride_ = to.stride[at];
    } else {
      dimensions_ = inner + 1; // each element is a run
    }
  }
  runsLeft_ = elements_ > 0 ? 1 : 0;
  int64_t low = local_, high = local_ + localBytes_;
  const int64_t along = localStride_ * std::max<int64_t>(elements_ - 1, 0);
  (along < 0 ? low : high) += along;
  for (int i = 0; i < dimensions_; ++i) {
    const size_t at = static_cast<size_t>(i);
    extents_[at] = std::max<int64_t>(step.extents[at](context), 0);
    dramStride_[at] = from.stride[at];
    localStrides_[at] = to.stride[at];
    runsLeft_ *= extents_[at];
    const int64_t reach = to.stride[at] * std::max<int64_t>(extents_[at] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  totalElements_ = runsLeft_ * elements_;
  localLow_ = low;
  localHigh_ = high;
}

void Runs::next() {
  --runsLeft_;
  for (int i = dimensions_ - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    dram_ += dramStride_[at];
    local_ += localStrides_[at];
    if (++index_[at] < extents_[at])
      return;
    dram_ -= dramStride_[at] * extents_[at];
    local_ -= localStrides_[at] * extents_[at];
    index_[at] = 0;
  }
}

} // namespace tilewright::timing

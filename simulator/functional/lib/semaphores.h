// The counting semaphores, and who signaled each last.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright {

class Semaphores {
public:
  explicit Semaphores(const isa::Isa &isa)
      : counts_(static_cast<size_t>(isa.semaphores())), signaledBy_(counts_.size()),
        most_(isa.param("semaphore_max")) {}

  bool canAcquire(uint32_t mask) const {
    return all(mask, [&](size_t i) { return counts_[i] > 0; });
  }
  bool canRelease(uint32_t mask) const {
    return all(mask, [&](size_t i) { return counts_[i] < most_; });
  }
  void acquire(uint32_t mask) {
    all(mask, [&](size_t i) { return counts_[i]--, true; });
  }
  void release(uint32_t mask, uint64_t pc) {
    all(mask, [&](size_t i) { return counts_[i]++, signaledBy_[i] = pc, true; });
  }

  int64_t count(size_t i) const { return counts_[i]; }
  int64_t most() const { return most_; }
  std::optional<uint64_t> signaledBy(size_t i) const { return signaledBy_[i]; }
  size_t size() const { return counts_.size(); }

private:
  template <typename Visit> static bool all(uint32_t mask, const Visit &visit) {
    for (size_t i = 0; mask; ++i, mask >>= 1)
      if ((mask & 1) && !visit(i))
        return false;
    return true;
  }

  std::vector<int64_t> counts_;
  std::vector<std::optional<uint64_t>> signaledBy_;
  int64_t most_;
};

} // namespace tilewright

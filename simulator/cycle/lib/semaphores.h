// The counting semaphores, as masks: rows SEM-acquire, SEM-release and SEM-next of
// docs/microarchitecture.md.
#pragma once

#include "tilewright/isa/limits.h"

#include <array>
#include <cstdint>

namespace tilewright::cycle {

class Semaphores {
public:
  Semaphores(int count, int64_t greatest) : greatest_(greatest) {
    for (int s = 0; s < count; ++s)
      update(s);
  }

  bool canAcquire(uint32_t wait) const { return (wait & ~available_) == 0; }
  bool canRelease(uint32_t signal) const { return (signal & full_) == 0; }

  void acquire(uint32_t wait) {
    for (uint32_t rest = wait; rest != 0; rest &= rest - 1) {
      const int s = __builtin_ctz(rest);
      if (counts_[s] - ++acquired_[s] < 1)
        available_ &= ~(uint32_t(1) << s);
    }
    changed_ |= wait;
  }
  void release(uint32_t signal) {
    for (uint32_t rest = signal; rest != 0; rest &= rest - 1) {
      const int s = __builtin_ctz(rest);
      if (counts_[s] + ++released_[s] >= greatest_)
        full_ |= uint32_t(1) << s;
    }
    changed_ |= signal;
  }

  // The end of the cycle.
  void next() {
    for (; changed_ != 0; changed_ &= changed_ - 1) {
      const int s = __builtin_ctz(changed_);
      counts_[s] += released_[s] - acquired_[s];
      released_[s] = acquired_[s] = 0;
      update(s);
    }
  }

  int64_t count(int semaphore) const { return counts_[semaphore]; }

private:
  void update(int s) {
    const uint32_t bit = uint32_t(1) << s;
    available_ = counts_[s] >= 1 ? available_ | bit : available_ & ~bit;
    full_ = counts_[s] >= greatest_ ? full_ | bit : full_ & ~bit;
  }

  int64_t greatest_;
  static_assert(isa::limits::semaphores.greatest <= 32); // bits of a mask
  std::array<int64_t, isa::limits::semaphores.count()> counts_{}, acquired_{}, released_{};
  uint32_t available_ = 0, full_ = 0, changed_ = 0;
};

} // namespace tilewright::cycle

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

  bool canTake(uint32_t wait) const { return (wait & ~takeable_) == 0; }
  bool canGive(uint32_t signal) const { return (signal & full_) == 0; }

  void take(uint32_t wait) {
    for (uint32_t rest = wait; rest != 0; rest &= rest - 1) {
      const int s = __builtin_ctz(rest);
      if (counts_[s] - ++taken_[s] < 1)
        takeable_ &= ~(uint32_t(1) << s);
    }
    changed_ |= wait;
  }
  void give(uint32_t signal) {
    for (uint32_t rest = signal; rest != 0; rest &= rest - 1) {
      const int s = __builtin_ctz(rest);
      if (counts_[s] + ++given_[s] >= greatest_)
        full_ |= uint32_t(1) << s;
    }
    changed_ |= signal;
  }

  // The end of the cycle.
  void next() {
    for (; changed_ != 0; changed_ &= changed_ - 1) {
      const int s = __builtin_ctz(changed_);
      counts_[s] += given_[s] - taken_[s];
      given_[s] = taken_[s] = 0;
      update(s);
    }
  }

  int64_t count(int semaphore) const { return counts_[semaphore]; }

private:
  void update(int s) {
    const uint32_t bit = uint32_t(1) << s;
    takeable_ = counts_[s] >= 1 ? takeable_ | bit : takeable_ & ~bit;
    full_ = counts_[s] >= greatest_ ? full_ | bit : full_ & ~bit;
  }

  int64_t greatest_;
  static_assert(isa::limits::semaphores.greatest <= 32); // bits of a mask
  std::array<int64_t, isa::limits::semaphores.count()> counts_{}, taken_{}, given_{};
  uint32_t takeable_ = 0, full_ = 0, changed_ = 0;
};

} // namespace tilewright::cycle

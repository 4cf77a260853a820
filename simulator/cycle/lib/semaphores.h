// The counting semaphores, as masks: rows SEM-grant, SEM-acquire, SEM-release and SEM-next of
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

  // Whether a request can be granted in this cycle. One without a mask always can.
  bool canGrant(uint32_t wait, uint32_t signal) const {
    return (wait | signal) == 0 ||
           ((acquired_ | released_) == 0 && (wait & ~available_) == 0 && (signal & full_) == 0);
  }
  bool canAcquire(uint32_t wait) const { return canGrant(wait, 0); }
  bool canRelease(uint32_t signal) const { return canGrant(0, signal); }

  // Parts of the one request that is granted.
  void acquire(uint32_t wait) { acquired_ |= wait; }
  void release(uint32_t signal) { released_ |= signal; }

  // The end of the cycle.
  void next() {
    for (uint32_t rest = acquired_ ^ released_; rest != 0; rest &= rest - 1) {
      const int s = __builtin_ctz(rest);
      counts_[static_cast<size_t>(s)] += (released_ >> s & 1) != 0 ? 1 : -1;
      update(s);
    }
    acquired_ = released_ = 0;
  }

  int64_t count(int semaphore) const { return counts_[static_cast<size_t>(semaphore)]; }

private:
  void update(int s) {
    const uint32_t bit = uint32_t(1) << s;
    const int64_t count = counts_[static_cast<size_t>(s)];
    available_ = count >= 1 ? available_ | bit : available_ & ~bit;
    full_ = count >= greatest_ ? full_ | bit : full_ & ~bit;
  }

  int64_t greatest_;
  static_assert(isa::limits::semaphores.greatest <= 32); // bits of a mask
  std::array<int64_t, isa::limits::semaphores.count()> counts_{};
  uint32_t available_ = 0, full_ = 0;    // as of the beginning of the cycle
  uint32_t acquired_ = 0, released_ = 0; // in this cycle
};

} // namespace tilewright::cycle

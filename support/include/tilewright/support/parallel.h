// Loops that several threads share. LLVM's pools end the process where a thread cannot start.
#pragma once

#include <cstddef>
#include <functional>

namespace tilewright {

unsigned processorCount(); // at least 1

// Calls work(worker, i) for each i below `count`, begun in this order, on `workers` threads at
// most: worker 0 is the caller's. When all calls have ended, throws what the one with the lowest i
// threw. Where a thread cannot start, there are fewer of them.
void parallelFor(unsigned workers, size_t count,
                 const std::function<void(unsigned worker, size_t i)> &work);

} // namespace tilewright

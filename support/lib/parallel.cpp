#include "tilewright/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <thread>
#include <vector>

namespace tilewright {

unsigned processorCount() { return std::max(1u, std::thread::hardware_concurrency()); }

void parallelFor(unsigned workers, size_t count,
                 const std::function<void(unsigned worker, size_t i)> &work) {
  std::atomic<size_t> next = 0;
  std::vector<std::exception_ptr> errors(count);
  auto share = [&](unsigned worker) {
    for (size_t i = next++; i < count; i = next++)
      try {
        work(worker, i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
  };
  std::vector<std::future<void>> others; // whose destructors wait, should memory be short
  // Without a thread, a share is taken by the wait for it, and finds nothing left.
  for (unsigned worker = 1; worker < std::min<size_t>(workers, count); ++worker)
    others.push_back(std::async(share, worker));
  share(0);
  for (const std::future<void> &other : others)
    other.wait();
  for (const std::exception_ptr &error : errors)
    if (error)
      std::rethrow_exception(error);
}

} // namespace tilewright

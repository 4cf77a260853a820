// How far an experiment is, in a line: points, failures, the best so far, time left.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace tilewright::explore {

class Progress {
public:
  // `known`: of `all` points, those that had run before.
  Progress(size_t all, size_t known) : all_(all), known_(known), begin_(Clock::now()) {}

  void ended(bool failed) {
    ++ended_;
    failed_ += failed ? 1 : 0;
  }
  // Of a point that has figures.
  void took(const std::string &workload, double seconds);
  std::string line() const {
    return line(std::chrono::duration<double>(Clock::now() - begin_).count());
  }
  std::string line(double seconds) const; // that have passed

private:
  using Clock = std::chrono::steady_clock;
  size_t all_, known_, ended_ = 0, failed_ = 0;
  Clock::time_point begin_;
  std::map<std::string, double> fastest_; // seconds by workload
};

} // namespace tilewright::explore

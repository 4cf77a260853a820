// What is going on, on standard error: a line that is written over on a terminal; elsewhere a line
// every ten seconds.
#pragma once

#include <chrono>
#include <string>

namespace tilewright {

class StatusLine {
public:
  ~StatusLine() { clear(); }
  void show(const std::string &text);
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now(); // shown
  bool isShown_ = false;
};

} // namespace tilewright

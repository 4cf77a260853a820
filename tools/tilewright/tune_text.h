// What tuning shows: how far it is, on standard error, and what it found.
#pragma once

#include "tilewright/compiler/driver/driver.h"

#include <chrono>
#include <string>

namespace tilewright {

// "tuning 'conv1' (3 of 25): trial 48 of 200, about 4 min left". `seconds`: since the first kernel.
std::string progressText(const TuneProgress &at, double seconds);

// One line that is written over and over on a terminal; in a file or a pipe a line every half a
// minute.
class TuneProgressLine {
public:
  void show(const TuneProgress &at);
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool isShown_ = false;
};

// A line a kernel, and the two whole programs.
std::string tableOf(const TuneResult &tuning);

} // namespace tilewright

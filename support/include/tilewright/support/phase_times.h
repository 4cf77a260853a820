// What the phases of a process take, one behind the other: together they are the whole of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct PhaseTime {
  std::string name;
  double wall = 0;       // seconds by the clock
  double processor = 0;  // seconds of all threads, user and system
  int64_t peakBytes = 0; // the most memory resident at once until its end
};

class PhaseTimes {
public:
  // What has passed since the end of the phase before, or since the process began, belongs to
  // `phase`: one that has ended before goes on.
  void ended(std::string_view phase);

  const std::vector<PhaseTime> &phases() const { return phases_; }

private:
  std::vector<PhaseTime> phases_; // in the order in which they ended first
};

// A line for each phase, and one for their sum.
std::string tableOf(const PhaseTimes &times);

} // namespace tilewright

#include "tilewright/support/phase_times.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <string>

#include <unistd.h>

namespace tilewright {

namespace {

double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

// Seconds since the machine started at which this process did, to a hundredth; now, where the
// system does not say.
double processStart() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The second field, the program's name, may hold anything; the 22nd counts ticks.
  size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field)
    at = text.find(' ', at + 1);
  unsigned long long ticks = 0;
  if (at == std::string::npos || std::sscanf(text.c_str() + at, "%llu", &ticks) != 1)
    return secondsOf(CLOCK_BOOTTIME);
  return double(ticks) / double(sysconf(_SC_CLK_TCK));
}

// The most memory of this program alone: what getrusage tells may be that of the one which started
// it.
int64_t peakBytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lld", &kibibytes) == 1)
      return kibibytes * 1024;
  }
  return 0;
}

} // namespace

void PhaseTimes::ended(std::string_view phase) {
  double wall = secondsOf(CLOCK_BOOTTIME) - processStart(),
         processor = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  for (const PhaseTime &before : phases_) {
    wall -= before.wall;
    processor -= before.processor;
  }
  auto same = [&](const PhaseTime &each) { return each.name == phase; };
  auto found = std::find_if(phases_.begin(), phases_.end(), same);
  if (found == phases_.end())
    found = phases_.insert(phases_.end(), PhaseTime{std::string(phase)});
  found->wall += wall;
  found->processor += processor;
  found->peakBytes = peakBytes();
}

std::string tableOf(const PhaseTimes &times) {
  std::string table =
      fmt::format("{:<16}{:>9}{:>13}{:>10}\n", "phase", "seconds", "processor s", "peak MiB");
  PhaseTime total{"total"};
  auto line = [&](const PhaseTime &phase) {
    table += fmt::format("{:<16}{:>9.3f}{:>13.3f}{:>10}\n", phase.name, phase.wall, phase.processor,
                         phase.peakBytes >> 20);
  };
  for (const PhaseTime &phase : times.phases()) {
    line(phase);
    total.wall += phase.wall;
    total.processor += phase.processor;
    total.peakBytes = std::max(total.peakBytes, phase.peakBytes);
  }
  line(total);
  return table;
}

} // namespace tilewright

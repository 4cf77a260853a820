#include "difference.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lockstep {

namespace {

bool isDeadlock(const Outcome &run) { return run.error.find("deadlock:") != std::string::npos; }

// Which of two instructions that trap comes first is a matter of time, and how the units of a
// deadlock are told is each engine's own.
bool endAlike(const Outcome &a, const Outcome &b) {
  return (isDeadlock(a) && isDeadlock(b)) ||
         (a.userError && b.userError && isDeadlock(a) == isDeadlock(b) &&
          a.userError->location().subject != b.userError->location().subject);
}

// Where a run that was cut off stands: the oldest instruction that has not ended, else the last
// one.
std::string standsText(const Setup &setup, const Outcome &run) {
  const auto &trace = run.record.trace;
  if (trace.empty())
    return ", before its first instruction";
  auto at = trace.end() - 1;
  if (run.hasTime())
    at = std::find_if(trace.begin(), at, [](const auto &entry) { return entry.end == 0; });
  return ", at " + instructionText(setup, at->pc);
}

} // namespace

std::string endText(const Setup &setup, const Outcome &run) {
  if (run.runsOn)
    return fmt::format("{} is still running after {} {}{}", run.engine->name(), run.bound,
                       run.hasTime() ? "cycles" : "instructions", standsText(setup, run));
  return fmt::format("{} {}", run.engine->name(),
                     run.error.empty() ? "comes to its end"
                     : run.isOurs()    ? "finds itself wrong: " + run.error
                                       : "ends with `" + run.error + "`");
}

std::string endDifference(const Setup &setup, const Outcome &a, const Outcome &b) {
  if (a.error == b.error && a.isDone() == b.isDone() && !a.isOurs() && !b.isOurs())
    return "";
  return endText(setup, a) + "; " + endText(setup, b);
}

std::optional<Difference> untimedDifference(const Setup &setup, const Outcome &a,
                                            const Outcome &b) {
  Difference difference;
  if (endAlike(a, b))
    return std::nullopt;
  difference.text = endDifference(setup, a, b);
  if (!difference.text.empty())
    return difference;
  const auto &left = a.record.trace, &right = b.record.trace;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    difference.instruction = left[i].pc;
    if (left[i].pc != right[i].pc) {
      difference.text = fmt::format("{}as number {} {} executes instruction {}, {} instruction {}",
                                    placeText(setup, difference), i, a.engine->name(), left[i].pc,
                                    b.engine->name(), right[i].pc);
      return difference;
    }
    const uint64_t leftBytes = left[i].dramReadBytes + left[i].dramWriteBytes,
                   rightBytes = right[i].dramReadBytes + right[i].dramWriteBytes;
    if (leftBytes != rightBytes) {
      difference.text =
          fmt::format("{}{} moves {} bytes, {} moves {}", placeText(setup, difference),
                      a.engine->name(), leftBytes, b.engine->name(), rightBytes);
      return difference;
    }
  }
  difference.instruction = noInstruction;
  if (left.size() != right.size()) {
    difference.text = fmt::format("{} executes {} instructions, {} executes {}", a.engine->name(),
                                  left.size(), b.engine->name(), right.size());
    return difference;
  }
  if (!setup.options.values || !a.error.empty())
    return std::nullopt;
  if (auto written = writtenDifference(setup, a, b))
    return written;
  return memoryDifference(setup, a, b);
}

} // namespace tilewright::lockstep

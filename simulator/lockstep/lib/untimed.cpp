#include "difference.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace tilewright::lockstep {

namespace {

bool isDeadlock(const Outcome &run) { return run.error.find("deadlock:") != std::string::npos; }

// The unit of the instruction that an error is at; empty: none.
std::string unitOf(const Setup &setup, const UserError &error) {
  unsigned long long pc = 0;
  isa::Word word;
  std::string reason;
  const auto bytes = static_cast<uint64_t>(setup.isa.instructionBytes());
  if (std::sscanf(error.place().subject.c_str(), "instruction %llu", &pc) != 1 ||
      (pc + 1) * bytes > setup.program.code.size() ||
      !setup.isa.decode(reinterpret_cast<const uint8_t *>(setup.program.code.data()) + pc * bytes,
                        word, reason))
    return "";
  const auto unit = setup.isa.instructions()[static_cast<size_t>(word.instruction)].unit;
  return setup.isa.units()[static_cast<size_t>(unit)].name;
}

// Whether the deadlock's error says that an instruction of the unit has started and cannot signal.
bool waitsToSignal(const std::string &deadlock, const std::string &unit) {
  const size_t at = deadlock.find(" " + unit + ": instruction ");
  const size_t waits = deadlock.find(" waits ", at);
  return !unit.empty() && at != std::string::npos && waits != std::string::npos &&
         deadlock.compare(waits, 16, " waits to signal") == 0;
}

// The unit for whose queue the sequencer waits in a deadlock; empty: for none.
std::string queueOf(const std::string &deadlock) {
  const std::string before = " waits for room in the queue of ";
  const size_t at = deadlock.find(before);
  return at == std::string::npos
             ? ""
             : deadlock.substr(at + before.size(), deadlock.find('\n', at) - at - before.size());
}

// A unit starts what stands behind an instruction that waits to signal, and that may trap; what has
// started leaves its queue, and what the sequencer then comes to may trap, too. Without time a
// unit's instructions follow each other, and all that is seen is the deadlock.
bool trapsBehindADeadlock(const Setup &setup, const Outcome &untimed, const Outcome &timed) {
  if (untimed.hasTime() || !timed.hasTime() || !isDeadlock(untimed) || !timed.userError ||
      isDeadlock(timed))
    return false;
  return waitsToSignal(untimed.error, unitOf(setup, *timed.userError)) ||
         waitsToSignal(untimed.error, queueOf(untimed.error));
}

// Which of two instructions that trap comes first is a matter of time, and how the units of a
// deadlock are told is each engine's own.
bool endAlike(const Setup &setup, const Outcome &a, const Outcome &b) {
  return (isDeadlock(a) && isDeadlock(b)) || trapsBehindADeadlock(setup, a, b) ||
         trapsBehindADeadlock(setup, b, a) ||
         (a.userError && b.userError && isDeadlock(a) == isDeadlock(b) &&
          a.userError->place().subject != b.userError->place().subject);
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
  if (endAlike(setup, a, b))
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

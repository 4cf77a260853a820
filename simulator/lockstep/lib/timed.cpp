#include "difference.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::lockstep {

namespace {

// Cycles of which both runs told everything.
int64_t commonCycles(const Outcome &a, const Outcome &b) {
  const bool bothEnd = a.isDone() && b.isDone();
  return bothEnd ? std::max(a.digest.cycles(), b.digest.cycles())
                 : std::min(a.digest.cycles(), b.digest.cycles());
}

uint64_t windowAt(const Outcome &run, size_t at) {
  return at < run.digest.windows().size() ? run.digest.windows()[at] : 0;
}

// The first cycle of the first window that differs; -1: none.
int64_t differentWindow(const Outcome &a, const Outcome &b) {
  const bool bothEnd = a.isDone() && b.isDone();
  size_t windows = std::max(a.digest.windows().size(), b.digest.windows().size());
  // The window in which a run was aborted is known in part.
  if (!bothEnd)
    windows = std::min(windows, static_cast<size_t>(commonCycles(a, b) / DigestSink::window));
  for (size_t at = 0; at < windows; ++at)
    if (windowAt(a, at) != windowAt(b, at))
      return static_cast<int64_t>(at) * DigestSink::window;
  return -1;
}

// What the other engine does instead of an event that it does not know.
std::string insteadOf(const Event &event, const std::vector<Event> &others, const isa::Isa &isa) {
  for (const Event &other : others)
    if (other.cycle == event.cycle && other.kind == event.kind && other.unit == event.unit)
      return describe(other, isa) + (other.pc != event.pc && other.pc != noInstruction &&
                                             event.kind != Event::Kind::Activity
                                         ? fmt::format(" for instruction {}", other.pc)
                                         : "");
  for (const Event &other : others) {
    Event moved = other;
    moved.cycle = event.cycle;
    if (event.kind != Event::Kind::Activity && moved == event)
      return fmt::format("does so in cycle {}", other.cycle);
  }
  return "does not";
}

// The first event of cycles [begin, end) that only one of the engines has. Runs both.
std::optional<Difference> eventDifference(const Setup &setup, const Outcome &a, const Outcome &b,
                                          int64_t begin, int64_t end) {
  WindowSink sinkA(begin, end, {}), sinkB(begin, end, {});
  rerun(a, setup, sinkA);
  rerun(b, setup, sinkB);
  const std::vector<Event> &left = sinkA.events(), &right = sinkB.events();
  std::vector<Event> onlyA, onlyB;
  std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                      std::back_inserter(onlyA));
  std::set_difference(right.begin(), right.end(), left.begin(), left.end(),
                      std::back_inserter(onlyB));
  Difference difference;
  if (onlyA.empty() && onlyB.empty())
    return std::nullopt;
  auto when = [](const Event &event) { return std::pair(event.cycle, event.kind); };
  const bool isA = onlyB.empty() || (!onlyA.empty() && when(onlyA.front()) <= when(onlyB.front()));
  const Event &event = isA ? onlyA.front() : onlyB.front();
  difference.cycle = event.cycle;
  difference.unit = event.unit;
  difference.instruction = event.pc;
  if (event.kind == Event::Kind::Write || event.kind == Event::Kind::Read) {
    difference.space = event.space;
    difference.address = event.address;
  }
  difference.text =
      fmt::format("{}{} {}, {} {}", placeText(setup, difference), (isA ? a : b).engine->name(),
                  describe(event, setup.isa), (isA ? b : a).engine->name(),
                  insteadOf(event, isA ? onlyB : onlyA, setup.isa));
  return difference;
}

// What differs in the times of one instruction, the earliest of its fields; "" for none.
struct FieldDifference {
  int64_t cycle = 0;
  std::string text; // "starts in cycle 12", both sides
  std::string other;
};
std::optional<FieldDifference> fieldDifference(const InstructionRecord &a,
                                               const InstructionRecord &b) {
  std::optional<FieldDifference> first;
  auto time = [&](const char *verb, int64_t left, int64_t right) {
    if (left != right && (!first || std::min(left, right) < first->cycle))
      first = {std::min(left, right), fmt::format("{} it in cycle {}", verb, left),
               fmt::format("in cycle {}", right)};
  };
  time("dispatches", a.dispatch, b.dispatch);
  time("starts", a.start, b.start);
  time("ends", a.end, b.end);
  for (int cause = 0; cause < static_cast<int>(Stall::Count) && !first; ++cause)
    if (a.stalls[cause] != b.stalls[cause])
      first = {std::max(a.end, b.end), // its activities say in which cycle
               fmt::format("stalls it for {} cycles ({})", a.stalls[cause],
                           name(static_cast<Stall>(cause))),
               fmt::format("for {}", b.stalls[cause])};
  const uint64_t left = a.dramReadBytes + a.dramWriteBytes,
                 right = b.dramReadBytes + b.dramWriteBytes;
  if (!first && left != right)
    first = {a.start, fmt::format("moves {} bytes of DRAM", left), fmt::format("{}", right)};
  return first;
}

int unitOf(const Setup &setup, uint64_t pc) {
  isa::DecodedInstruction decoded;
  std::string reason;
  const auto bytes = static_cast<size_t>(setup.isa.instructionBytes());
  if ((pc + 1) * bytes > setup.program.code.size() ||
      !setup.isa.decode(reinterpret_cast<const uint8_t *>(setup.program.code.data()) + pc * bytes,
                        decoded, reason))
    return -1;
  return setup.isa.instructions()[static_cast<size_t>(decoded.instruction)].unit;
}

std::optional<Difference> recordDifference(const Setup &setup, const Outcome &a, const Outcome &b) {
  const auto &left = a.record.trace, &right = b.record.trace;
  std::optional<Difference> first;
  auto keep = [&](Difference &difference, const std::string &text) {
    if (first && first->cycle <= difference.cycle)
      return;
    difference.text = placeText(setup, difference) + text;
    first = difference;
  };
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    Difference difference;
    if (i >= left.size() || i >= right.size() || left[i].pc != right[i].pc) {
      const auto at = [i](const auto &trace) {
        return i < trace.size() ? fmt::format("executes instruction {}", trace[i].pc)
                                : std::string("is at its end");
      };
      const auto &known = i < left.size() ? left[i] : right[i];
      difference.cycle = known.dispatch;
      difference.unit = 0;
      difference.instruction = known.pc;
      keep(difference, fmt::format("as number {} {} {}, {} {}", i, a.engine->name(), at(left),
                                   b.engine->name(), at(right)));
      break; // all that follows differs
    }
    if (const auto field = fieldDifference(left[i], right[i])) {
      difference.cycle = field->cycle;
      difference.unit = unitOf(setup, left[i].pc);
      difference.instruction = left[i].pc;
      keep(difference, fmt::format("{} {}, {} {}", a.engine->name(), field->text, b.engine->name(),
                                   field->other));
    }
  }
  return first;
}

// Totals that no instruction or window shows.
std::string totalDifference(const RunRecord &a, const RunRecord &b, const isa::Isa &isa) {
  auto differs = [](const std::string &what, auto left, auto right) {
    return left == right ? std::string() : fmt::format("{}: {} and {}", what, left, right);
  };
  std::vector<std::string> found = {
      differs("cycles", a.cycles, b.cycles),
      differs("instructions", a.instructions, b.instructions),
      differs("bytes read from DRAM", a.dramReadBytes, b.dramReadBytes),
      differs("bytes written to DRAM", a.dramWriteBytes, b.dramWriteBytes),
      differs("bytes fetched", a.fetchBytes, b.fetchBytes),
      differs("DRAM row hits", a.dramRowHits, b.dramRowHits),
      differs("DRAM row misses", a.dramRowMisses, b.dramRowMisses),
      differs("DRAM refreshes", a.dramRefreshes, b.dramRefreshes)};
  for (size_t u = 0; u < isa.units().size(); ++u) {
    const std::string &unit = isa.units()[u].name;
    found.push_back(differs(unit + " busy cycles", a.units[u].busy, b.units[u].busy));
    found.push_back(differs(unit + " idle cycles", a.units[u].idle, b.units[u].idle));
    for (int cause = 0; cause < static_cast<int>(Stall::Count); ++cause)
      found.push_back(differs(fmt::format("{} stalls ({})", unit, name(static_cast<Stall>(cause))),
                              a.units[u].stalls[cause], b.units[u].stalls[cause]));
    for (size_t winner = 0; winner < isa.units().size(); ++winner)
      found.push_back(
          differs(fmt::format("conflicts of {} with {}", unit, isa.units()[winner].name),
                  a.bankConflicts[u][winner], b.bankConflicts[u][winner]));
  }
  for (const std::string &each : found)
    if (!each.empty())
      return each;
  return "";
}

} // namespace

std::optional<Difference> timedDifference(const Setup &setup, const Outcome &a, const Outcome &b) {
  std::optional<Difference> first;
  if (const int64_t begin = differentWindow(a, b); begin >= 0) {
    first = eventDifference(setup, a, b, begin, begin + DigestSink::window);
    if (!first)
      throw std::logic_error(fmt::format("{} or {} does other things when it runs again",
                                         a.engine->name(), b.engine->name()));
  } else if (!a.isDone() || !b.isDone()) {
    // The cycles behind the last full window.
    const int64_t end = commonCycles(a, b);
    first = eventDifference(setup, a, b, end - end % DigestSink::window, end);
  }
  auto earlier = [&](std::optional<Difference> other) {
    if (other && (!first || other->cycle < first->cycle))
      first = std::move(other);
  };
  if (a.isDone() && b.isDone()) {
    earlier(recordDifference(setup, a, b));
    if (setup.options.values)
      earlier(writtenDifference(setup, a, b));
  }
  if (first) {
    if (b.runsOn)
      first->text += "; " + endText(setup, b);
    return first;
  }
  Difference total;
  total.text = endDifference(setup, a, b);
  if (total.text.empty() && a.error.empty())
    if (const std::string differs = totalDifference(a.record, b.record, setup.isa);
        !differs.empty())
      total.text =
          fmt::format("{} and {} differ in {}", a.engine->name(), b.engine->name(), differs);
  if (!total.text.empty())
    return total;
  // An instruction that a trap cuts short has left on one engine what it has not on the other.
  return setup.options.values && a.error.empty() ? memoryDifference(setup, a, b) : std::nullopt;
}

} // namespace tilewright::lockstep

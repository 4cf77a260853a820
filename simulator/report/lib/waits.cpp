#include "waits.h"

#include <algorithm>
#include <tuple>

namespace tilewright::report {

void WaitTable::add(const Wait &wait) {
  if (cycles_.empty())
    cycles_.resize(units_ * stallCount * (units_ + 1));
  const size_t cause =
      static_cast<size_t>(wait.unit) * stallCount + static_cast<size_t>(wait.cause);
  cycles_[cause * (units_ + 1) + static_cast<size_t>(wait.on + 1)] += wait.cycles;
}

std::vector<Wait> WaitTable::list() const {
  std::vector<Wait> waits;
  for (size_t i = 0; i < cycles_.size(); ++i)
    if (cycles_[i] > 0) {
      const size_t cause = i / (units_ + 1);
      waits.push_back({static_cast<int>(cause / stallCount), static_cast<Stall>(cause % stallCount),
                       static_cast<int>(i % (units_ + 1)) - 1, cycles_[i]});
    }
  std::sort(waits.begin(), waits.end(), [](const Wait &a, const Wait &b) {
    return std::tie(b.cycles, a.unit, a.cause, a.on) < std::tie(a.cycles, b.unit, b.cause, b.on);
  });
  return waits;
}

std::vector<Wait> allWaits(const Report &report) {
  WaitTable table(report.units.size());
  for (const Row &row : report.layers)
    for (const Wait &wait : row.waits)
      table.add(wait);
  for (const Wait &wait : report.none.waits)
    table.add(wait);
  return table.list();
}

namespace {
struct Header {
  int unit = 0;
  uint32_t wait = 0, signal = 0;
};

std::vector<Header> headersOf(const Program &program, const isa::Isa &isa) {
  const auto size = static_cast<size_t>(isa.instructionBytes());
  std::vector<Header> headers(program.code.size() / size);
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  isa::DecodedInstruction decoded;
  std::string reason;
  for (size_t pc = 0; pc < headers.size(); ++pc)
    if (isa.decode(code + pc * size, decoded, reason))
      headers[pc] = {isa.instructions()[static_cast<size_t>(decoded.instruction)].unit,
                     decoded.wait, decoded.signal};
  return headers;
}

// When one semaphore was given or taken, by position in the trace.
struct Event {
  int64_t cycle;
  size_t at;
};

void sortByTime(std::vector<Event> &events) {
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.cycle, a.at) < std::tie(b.cycle, b.at);
  });
}
} // namespace

std::vector<int> semaphoreGivers(const Program &program, const RunRecord &record,
                                 const isa::Isa &isa) {
  const std::vector<Header> headers = headersOf(program, isa);
  const size_t count = record.trace.size();
  std::vector<int> givers(count, -1);
  std::vector<int64_t> latest(count, -1); // the cycle in which the last one needed was given
  auto headerOf = [&](size_t at) {
    const uint64_t pc = record.trace[at].pc;
    return pc < headers.size() ? headers[pc] : Header();
  };
  for (int semaphore = 0; semaphore < isa.semaphores(); ++semaphore) {
    std::vector<Event> gives, takes;
    for (size_t at = 0; at < count; ++at) {
      const Header header = headerOf(at);
      if (header.signal >> semaphore & 1)
        gives.push_back({record.trace[at].end, at});
      if (header.wait >> semaphore & 1)
        takes.push_back({record.trace[at].start, at});
    }
    sortByTime(gives);
    sortByTime(takes);
    for (size_t n = 0; n < takes.size() && n < gives.size(); ++n)
      if (gives[n].cycle > latest[takes[n].at]) {
        latest[takes[n].at] = gives[n].cycle;
        givers[takes[n].at] = headerOf(gives[n].at).unit;
      }
    for (size_t n = 0; n < gives.size() && !takes.empty(); ++n)
      if (headerOf(gives[n].at).wait == 0)
        givers[gives[n].at] = headerOf(takes.front().at).unit;
  }
  return givers;
}

void addWaits(WaitTable &table, const InstructionRecord &instruction, int unit, int giver) {
  for (int i = 1; i < stallCount; ++i) {
    const auto cause = static_cast<Stall>(i);
    const int64_t cycles = instruction.stalls[i];
    if (cycles == 0)
      continue;
    constexpr int sequencer = 0;
    if (cause == Stall::QueueFull)
      table.add({sequencer, cause, unit, cycles});
    else if (cause == Stall::Fetch)
      table.add({sequencer, cause, -1, cycles});
    else
      table.add({unit, cause, cause == Stall::Semaphore ? giver : -1, cycles});
  }
}

} // namespace tilewright::report

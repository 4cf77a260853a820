#include "tilewright/compiler/schedule/stream_check.h"

#include "tilewright/compiler/schedule/hazards.h"
#include "tilewright/isa/assembler.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

static void join(LaneClock &into, const LaneClock &other) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

StreamChecker::StreamChecker(const isa::Isa &isa)
    : isa_(isa), accesses_(isa), hazards_(laneCount(isa)),
      semaphoreMax_(isa.param("semaphore_max")), sequence_(static_cast<size_t>(laneCount(isa)), 0),
      known_(isa.units().size(), LaneClock(static_cast<size_t>(laneCount(isa)), 0)),
      signals_(static_cast<size_t>(isa.semaphores())) {
  for (const isa::Unit &unit : isa.units()) {
    registers_.emplace_back();
    for (const isa::StateRegister &reg : unit.registers)
      registers_.back().push_back(reg.reset);
  }
}

std::string StreamChecker::visit(const isa::DecodedInstruction &decoded) {
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  auto unit = static_cast<size_t>(instruction.unit);
  if (instruction.control == isa::Control::Fence || instruction.control == isa::Control::Halt) {
    hazards_.clear();
    for (LaneClock &clock : known_)
      clock = sequence_;
    return "";
  }
  if (instruction.control != isa::Control::None)
    return "control flow cannot be checked";
  auto lane = static_cast<size_t>(laneOf(isa_, instruction));
  const int32_t sequence = ++sequence_[lane];
  for (size_t semaphore = 0; semaphore < signals_.size() && decoded.wait >> semaphore != 0;
       ++semaphore) {
    if ((decoded.wait >> semaphore & 1) == 0)
      continue;
    if (signals_[semaphore].empty())
      return fmt::format("waits for semaphore {}, which no earlier instruction signals", semaphore);
    join(known_[unit], signals_[semaphore].front());
    signals_[semaphore].pop_front();
  }
  const LaneClock needed =
      hazards_.visit(static_cast<int>(lane), sequence, accesses_.of(decoded, registers_[unit]));
  for (size_t other = 0; other < needed.size(); ++other)
    if (needed[other] > known_[unit][other] &&
        unitOfLane(isa_, static_cast<int>(other)) != instruction.unit)
      return fmt::format(
          "may start before instruction {} of unit {} has ended, which touches the same memory",
          needed[other],
          isa_.units()[static_cast<size_t>(unitOfLane(isa_, static_cast<int>(other)))].name);
  for (auto [index, value] : instruction.sets)
    registers_[unit][static_cast<size_t>(decoded.values[static_cast<size_t>(index)])] =
        decoded.values[static_cast<size_t>(value)];
  LaneClock ended = known_[unit];
  ended[lane] = sequence;
  for (size_t semaphore = 0; semaphore < signals_.size() && decoded.signal >> semaphore != 0;
       ++semaphore) {
    if ((decoded.signal >> semaphore & 1) == 0)
      continue;
    signals_[semaphore].push_back(ended);
    if (static_cast<int64_t>(signals_[semaphore].size()) > semaphoreMax_)
      return fmt::format("may fill semaphore {} beyond {}", semaphore, semaphoreMax_);
  }
  return "";
}

std::string StreamChecker::finish() const {
  for (size_t semaphore = 0; semaphore < signals_.size(); ++semaphore)
    if (!signals_[semaphore].empty())
      return fmt::format("semaphore {} ends with {} signals that nobody waits for", semaphore,
                         signals_[semaphore].size());
  return "";
}

std::string checkStream(const std::vector<StreamInstruction> &stream, const isa::Isa &isa) {
  StreamChecker checker(isa);
  for (size_t i = 0; i < stream.size(); ++i) {
    std::string problem = checker.visit(stream[i].decoded);
    if (!problem.empty())
      return fmt::format("instruction {} ({}) {}", i, isa::disassemble(isa, stream[i].decoded),
                         problem);
  }
  return checker.finish();
}

} // namespace tilewright

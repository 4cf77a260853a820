#include "tilewright/compiler/schedule/stream_check.h"

#include "tilewright/compiler/schedule/hazards.h"
#include "tilewright/compiler/schedule/program_order.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/fault.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

// No program that was made for a machine takes so many; one that a person wrote may never end.
static constexpr uint64_t mostExecuted = uint64_t(1) << 27;

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
  if (instruction.control == isa::Control::Branch)
    return "goes elsewhere, which cannot be checked";
  if (instruction.control != isa::Control::None)
    return decoded.wait == 0 && decoded.signal == 0
               ? ""
               : "makes the sequencer wait or signal, which cannot be checked";
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

std::optional<StreamFault> findFault(const Stream &stream, const isa::Isa &isa) {
  StreamChecker checker(isa);
  ProgramOrder order(stream, isa);
  for (uint64_t executed = 0; !order.atEnd(); ++executed) {
    const size_t at = order.at();
    auto faultOf = [&](const std::string &problem) {
      return StreamFault{at, fmt::format("instruction {} ({}) {}", at,
                                         isa::disassemble(isa, order.written().decoded), problem)};
    };
    if (executed == mostExecuted)
      return faultOf(fmt::format("is reached after {} others, more than are checked", executed));
    if (const std::string problem = checker.visit(order.resolved()); !problem.empty())
      return faultOf(problem);
    try {
      order.advance();
    } catch (const ProgramFault &fault) {
      return faultOf(fmt::format("cannot execute: {}", fault.message()));
    }
  }
  if (const std::string problem = checker.finish(); !problem.empty())
    return StreamFault{std::nullopt, problem};
  return std::nullopt;
}

std::string checkStream(const Stream &stream, const isa::Isa &isa) {
  const std::optional<StreamFault> fault = findFault(stream, isa);
  return fault ? fault->text : "";
}

} // namespace tilewright

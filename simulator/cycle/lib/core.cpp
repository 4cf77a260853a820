#include "core.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/fault.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::cycle {

namespace {

// The unit of a template, or the one after so many of them; null: there is none.
const isa::Unit *findUnit(const isa::Isa &isa, isa::UnitTemplate kind, int after) {
  for (const isa::Unit &unit : isa.units())
    if (unit.kind == kind && after-- == 0)
      return &unit;
  return nullptr;
}

const isa::Unit &unitOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  if (const isa::Unit *unit = findUnit(isa, kind, 0))
    return *unit;
  throw std::logic_error("the loader gives a unit of each template");
}

} // namespace

Core::Core(const isa::Isa &isa, const std::vector<timing::InstructionTiming> &timings,
           const Program &program, Values &values, Bus &bus, const CoreOptions &options)
    : isa_(isa), options_(options), shared_(isa, program, values, bus, options.sink),
      matrix_(shared_, unitOf(isa, isa::UnitTemplate::Matrix)),
      vector_(shared_, unitOf(isa, isa::UnitTemplate::Vector)),
      load_(shared_, unitOf(isa, isa::UnitTemplate::DmaLoad), Client::Load),
      store_(shared_, unitOf(isa, isa::UnitTemplate::DmaStore)),
      sequencer_(
          shared_, timings,
          [&] {
            std::vector<Queue *> queues(isa.units().size(), nullptr);
            if (const isa::Unit *second = findUnit(isa, isa::UnitTemplate::DmaLoad, 1))
              secondLoad_.emplace(shared_, *second, Client::SecondLoad);
            units_ = {&matrix_, &vector_, &load_, secondLoad_ ? &*secondLoad_ : nullptr, &store_};
            for (Unit *unit : units_)
              if (unit != nullptr)
                queues[static_cast<size_t>(unit->unit().index)] = &unit->queue();
            return queues;
          }(),
          [this] { return unitsIdle(); }, options.trace) {}

bool Core::advance(int64_t quantum) {
  const int64_t pause = t_ + quantum;
  while (t_ < pause) {
    if (options_.maxCycles != 0 && t_ >= options_.maxCycles) {
      stopped_ = true;
      return true;
    }
    shared_.ports.nextCycle();
    shared_.readAddressUsed = false;
    sequencer_.step(t_);
    matrix_.step(t_);
    vector_.step(t_);
    load_.step(t_);
    if (secondLoad_)
      secondLoad_->step(t_);
    store_.step(t_);
    if (shared_.sink != nullptr)
      reportConflicts();
    sequencer_.next();
    shared_.semaphores.next();
    ++t_;
    if (sequencer_.halted())
      return true;
    if (t_ >= tryAt_)
      fastForward(options_.maxCycles != 0 ? std::min(options_.maxCycles, pause) : pause);
  }
  return false;
}

void Core::stopAt(int64_t cycle) {
  options_.maxCycles = options_.maxCycles != 0 ? std::min(options_.maxCycles, cycle) : cycle;
}

// Those of the cycle that was stepped last: there are none in skipped cycles.
void Core::reportConflicts() {
  const Ports::Conflicts &now = shared_.ports.conflicts();
  for (size_t loser = 0; loser < static_cast<size_t>(clientCount); ++loser)
    for (size_t winner = 0; winner < static_cast<size_t>(clientCount); ++winner)
      if (const int64_t pieces = now[loser][winner] - conflicts_[loser][winner]; pieces != 0)
        shared_.sink->conflict(
            {t_, units_[loser]->unit().index, units_[winner]->unit().index, pieces});
  conflicts_ = now;
}

// Advances over the cycles in which all units do steady work, if no two of them can meet at a port.
bool Core::fastForward(int64_t limit) {
  const int64_t t = t_ - 1; // the cycle that was stepped last
  int64_t n = sequencer_.steadyCycles(t);
  if (n == 0)
    return false;
  PortUse matrixUse, vectorUse, loadUse, secondLoadUse, storeUse;
  n = std::min(n, matrix_.steadyCycles(t, matrixUse));
  if (n == 0)
    return false;
  n = std::min(n, vector_.steadyCycles(t, vectorUse));
  if (n == 0)
    return false;
  n = std::min(n, load_.steadyCycles(t, loadUse));
  if (n == 0)
    return false;
  if (secondLoad_)
    n = std::min(n, secondLoad_->steadyCycles(t, secondLoadUse));
  if (n == 0)
    return false;
  n = std::min(n, store_.steadyCycles(t, storeUse));
  if (n == 0)
    return false;
  if (n == forever)
    deadlock();
  if (!options_.skip)
    return false;
  for (size_t port = 0; port < static_cast<size_t>(portCount); ++port) {
    BankMask used = matrixUse.banks[port];
    for (const PortUse *use : {&vectorUse, &loadUse, &secondLoadUse, &storeUse}) {
      if (used & use->banks[port]) {
        tryAt_ = t_ + n;
        return false;
      }
      used |= use->banks[port];
    }
  }
  n = std::min(n, limit - t_);
  if (n <= 0)
    return false;
  sequencer_.skip(t, n);
  matrix_.skip(t, n);
  vector_.skip(t, n);
  load_.skip(t, n);
  if (secondLoad_)
    secondLoad_->skip(t, n);
  store_.skip(t, n);
  t_ += n;
  return true;
}

RunRecord Core::record() {
  RunRecord record;
  record.cycles = t_;
  record.instructions = sequencer_.instructions();
  record.units.resize(isa_.units().size());
  record.units[0] = sequencer_.record();
  for (const Unit *unit : units_)
    if (unit != nullptr)
      record.units[static_cast<size_t>(unit->unit().index)] = unit->record();
  record.dramReadBytes = shared_.dramReadBytes;
  record.dramWriteBytes = shared_.dramWriteBytes;
  record.fetchBytes = sequencer_.fetchBytes();
  record.bankConflicts.assign(isa_.units().size(), std::vector<int64_t>(isa_.units().size(), 0));
  const Ports::Conflicts &conflicts = shared_.ports.conflicts();
  for (size_t loser = 0; loser < units_.size(); ++loser)
    for (size_t winner = 0; winner < units_.size(); ++winner)
      if (units_[loser] != nullptr && units_[winner] != nullptr)
        record.bankConflicts[static_cast<size_t>(units_[loser]->unit().index)]
                            [static_cast<size_t>(units_[winner]->unit().index)] =
            conflicts[loser][winner];
  record.stopped = stopped_;
  if (options_.trace)
    record.trace = sequencer_.takeTrace();
  return record;
}

// Who waits for what, for every unit that waits.
void Core::deadlock() {
  std::string message = "deadlock:";
  uint64_t pc = sequencer_.pc();
  bool first = true;
  auto describe = [&](const std::string &unit, const Unit::Blocked &blocked) {
    if (blocked.record == nullptr)
      return;
    std::string reasons;
    auto add = [&](uint32_t mask, bool wait) {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int s = __builtin_ctz(rest);
        const int64_t count = shared_.semaphores.count(s);
        if (wait ? count < 1 : count >= isa_.param("semaphore_max"))
          reasons += fmt::format("{}{} semaphore {} (count {})", reasons.empty() ? "" : ",",
                                 wait ? " waits for" : " cannot signal", s, count);
      }
    };
    add(blocked.wait, true);
    add(blocked.signal, false);
    if (reasons.empty())
      reasons = " waits for the units";
    message +=
        fmt::format("{} {} at instruction {} `{}`{}", first ? "" : ";", unit, blocked.record->pc,
                    isa::disassemble(isa_, sequencer_.decode(blocked.record->pc)), reasons);
    if (first)
      pc = blocked.record->pc;
    first = false;
  };
  describe(matrix_.unit().name, matrix_.blocked());
  describe(vector_.unit().name, vector_.blocked());
  describe(load_.unit().name, load_.blocked());
  if (secondLoad_)
    describe(secondLoad_->unit().name, secondLoad_->blocked());
  describe(store_.unit().name, store_.blocked());
  describe(isa_.units()[0].name, sequencer_.blocked());
  fault(shared_.program, pc, message,
        "signal the semaphore from the unit that makes what is waited for", FaultCause::Deadlock);
}

} // namespace tilewright::cycle

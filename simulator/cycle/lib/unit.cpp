#include "unit.h"

#include "tilewright/simulator/engine/fault.h"

namespace tilewright::cycle {

Shared::Shared(const isa::Isa &isa, const Program &program, Values &values, Bus &bus, RunSink *sink)
    : isa(isa), program(program), values(values), bus(bus), sink(sink),
      semaphores(isa.semaphores(), isa.param("semaphore_max")), spad(isa.memory(isa::Space::Spad)),
      acc(isa.memory(isa::Space::Acc)) {}

void reportActivity(RunSink &sink, int unit, const Activity &activity, int64_t t, int64_t cycles) {
  ActivityEvent event;
  event.cycle = t;
  event.cycles = cycles;
  event.unit = unit;
  switch (activity.kind) {
  case Activity::Busy:
    event.kind = ActivityEvent::Kind::Busy;
    break;
  case Activity::Idle:
    break;
  case Activity::Stalled:
    event.kind = ActivityEvent::Kind::Stalled;
    event.cause = activity.cause;
    event.pc = activity.charged->pc;
    break;
  }
  sink.activity(event);
}

void Unit::reportAccess(int64_t t, const InstructionRecord *record, isa::Space space, bool isWrite,
                        uint64_t address, int64_t bytes) {
  shared_.sink->access({t, unit_.index, record->pc, space, isWrite, address, bytes});
}

int64_t Unit::toLastBeat(uint64_t address, int64_t beats) const {
  const int64_t bus = shared_.isa.param("bus_bytes");
  return beats * bus - static_cast<int64_t>(address % static_cast<uint64_t>(bus));
}

DispatchedInstruction Unit::begin(int64_t t) {
  const DispatchedInstruction dispatched = queue_.head();
  shared_.semaphores.acquire(dispatched.decoded.wait);
  queue_.pop();
  dispatched.record->start = t;
  const std::string reason = shared_.values.trapReason(dispatched);
  if (!reason.empty())
    fault(shared_.program, dispatched.record->pc,
          dispatched.timing->instruction->name + ": " + reason);
  return dispatched;
}

void Unit::set(int64_t t) {
  const DispatchedInstruction dispatched = begin(t);
  shared_.values.execute(dispatched);
  end(dispatched.record, dispatched.decoded.signal, t);
}

} // namespace tilewright::cycle

#include "unit.h"

#include "tilewright/simulator/fault.h"

namespace tilewright::cycle {

Shared::Shared(const isa::Isa &isa, const Program &program, Values &values, Bus &bus, RunSink *sink)
    : isa(isa), program(program), values(values), bus(bus), sink(sink),
      semaphores(isa.semaphores(), isa.param("semaphore_max")), spad(isa.memory(isa::Space::Spad)),
      acc(isa.memory(isa::Space::Acc)) {}

Issued Unit::begin(int64_t t) {
  const Issued issued = queue_.head();
  shared_.semaphores.take(issued.word->wait);
  queue_.pop();
  issued.record->start = t;
  const std::string reason = shared_.values.trapReason(issued);
  if (!reason.empty())
    fault(shared_.program, issued.record->pc, issued.plan->instruction->name + ": " + reason);
  return issued;
}

void Unit::set(int64_t t) {
  const Issued issued = begin(t);
  shared_.values.execute(issued);
  end(issued.record, issued.word->signal, t);
}

} // namespace tilewright::cycle

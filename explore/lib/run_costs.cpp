#include "tilewright/explore/run_costs.h"

#include "tilewright/explore/technology.h"
#include "tilewright/simulator/cycle/timing_engine.h"

namespace tilewright::explore {

report::Costs costsOf(const Program &program, const RunRecord &record, const isa::Isa &isa) {
  const Technology technology = readTechnology("");
  const Machine machine = machineOf(isa);
  report::Costs costs;
  costs.technology = technology.name;
  costs.areaMm2 = areaOf(machine, technology).mm2;
  if (record.cycles == 0)
    return costs;
  const RunWork counted = workOf(program, record, isa);
  auto bytes = [&](isa::Space space) {
    const RunWork::Bytes &moved = counted.memories[static_cast<size_t>(space)];
    return static_cast<double>(moved.read + moved.written);
  };
  Work work;
  work.macs = static_cast<double>(counted.products);
  work.logic = static_cast<double>(counted.switchedLogic);
  work.spadBytes = bytes(isa::Space::Spad);
  work.accBytes = bytes(isa::Space::Acc);
  work.dramReads = static_cast<double>(record.dramReadBytes + record.fetchBytes);
  work.dramWrites = static_cast<double>(record.dramWriteBytes);
  work.activations = static_cast<double>(record.dramRowMisses);
  work.refreshes = static_cast<double>(record.dramRefreshes);
  work.seconds = static_cast<double>(record.cycles) / static_cast<double>(isa.clockHz());
  for (const auto &[name, joules] : energyOf(work, machine, technology).parts())
    costs.joules[name] = joules;
  return costs;
}

} // namespace tilewright::explore

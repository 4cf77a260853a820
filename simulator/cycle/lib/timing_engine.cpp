#include "tilewright/simulator/timing_engine.h"

#include "core.h"
#include "direct_bus.h"
#include "register_values.h"

namespace tilewright {

struct TimingEngine::Machine {
  const isa::Isa &isa;
  std::vector<cycle::InstructionPlan> plans;
  DramConfig dram;
};

TimingEngine::TimingEngine(const isa::Isa &isa)
    : machine_(
          std::make_unique<Machine>(Machine{isa, cycle::makePlans(isa), DramConfig::of(isa)})) {}

TimingEngine::~TimingEngine() = default;

std::optional<int64_t> TimingEngine::cycles(const Program &program, int64_t maxCycles) const {
  constexpr int64_t quantum = 1 << 20;
  cycle::RegisterValues values(machine_->isa);
  cycle::DirectBus bus(machine_->dram);
  cycle::CoreOptions options;
  options.maxCycles = maxCycles;
  options.trace = false;
  cycle::Core core(machine_->isa, machine_->plans, program, values, bus, options);
  while (!core.advance(quantum)) {
  }
  const RunRecord record = core.record();
  return record.stopped ? std::nullopt : std::optional<int64_t>(record.cycles);
}

} // namespace tilewright

#include "tilewright/simulator/cycle/timing_engine.h"

#include "core.h"
#include "counting_values.h"
#include "direct_bus.h"

namespace tilewright {

struct TimingEngine::Machine {
  const isa::Isa &isa;
  std::vector<timing::InstructionTiming> timings;
  DramConfig dram;
};

TimingEngine::TimingEngine(const isa::Isa &isa)
    : machine_(
          std::make_unique<Machine>(Machine{isa, timing::makeTimings(isa), DramConfig::of(isa)})) {}

TimingEngine::~TimingEngine() = default;

namespace {

constexpr int64_t quantum = 1 << 20;

RunRecord advanceToEnd(cycle::Core &core) {
  while (!core.advance(quantum)) {
  }
  return core.record();
}

} // namespace

std::optional<int64_t> TimingEngine::cycles(const Program &program, int64_t maxCycles) const {
  cycle::RegisterValues values(machine_->isa);
  cycle::DirectBus bus(machine_->dram);
  cycle::CoreOptions options;
  options.maxCycles = maxCycles;
  options.trace = false;
  cycle::Core core(machine_->isa, machine_->timings, program, values, bus, options);
  const RunRecord record = advanceToEnd(core);
  return record.stopped ? std::nullopt : std::optional<int64_t>(record.cycles);
}

TimedRun TimingEngine::run(const Program &program, int64_t maxCycles) const {
  cycle::CountingValues values(machine_->isa);
  cycle::DirectBus bus(machine_->dram);
  cycle::CoreOptions options;
  options.maxCycles = maxCycles;
  cycle::Core core(machine_->isa, machine_->timings, program, values, bus, options);
  TimedRun run{advanceToEnd(core), values.work()};
  run.record.dramRowHits = bus.dram.rowHits();
  run.record.dramRowMisses = bus.dram.rowMisses();
  run.record.dramRefreshes = bus.dram.refreshes();
  return run;
}

} // namespace tilewright

#include "system.h"

#include <chrono>
#include <cstdlib>

namespace tilewright {

namespace {

class CycleEngine : public Engine {
public:
  explicit CycleEngine(const isa::Isa &isa) : machine_(isa), dramConfig_(DramConfig::of(isa)) {}
  const char *name() const override { return "cycle"; }

  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    const auto begin = std::chrono::steady_clock::now();
    machine_.state.reset();
    machine_.state.dram = dram.data();
    machine_.state.dramBytes = dram.size();
    cycle::CoreOptions coreOptions;
    coreOptions.maxCycles = options.maxCycles;
    coreOptions.trace = options.trace;
    coreOptions.sink = options.sink;
    // For tests and for doubts: every cycle stepped, with the same record.
    coreOptions.skip = std::getenv("TILEWRIGHT_STEP_EVERY_CYCLE") == nullptr;
    RunRecord record = cycle::simulate(machine_, program, dramConfig_, coreOptions);
    record.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return record;
  }

private:
  cycle::Machine machine_;
  DramConfig dramConfig_;
};

} // namespace

std::unique_ptr<Engine> makeCycleEngine(const isa::Isa &isa) {
  return std::make_unique<CycleEngine>(isa);
}

} // namespace tilewright

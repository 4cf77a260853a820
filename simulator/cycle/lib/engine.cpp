#include "system.h"

#include "tilewright/simulator/engine/written.h"
#include "tilewright/simulator/kernels/kernels.h"

#include <chrono>
#include <cstdlib>

namespace tilewright {

namespace {

// Values by generated kernels on a MachineState.
class KernelValues : public cycle::Values {
public:
  KernelValues(const isa::Isa &isa, Kernels &kernels, DramImage &dram, RunSink *sink)
      : isa_(isa), kernels_(kernels), state_(isa), sink_(sink) {
    state_.dram = dram.data();
    state_.dramBytes = dram.size();
  }
  const int64_t *registers(int unit) const override {
    return state_.registers[static_cast<size_t>(unit)].data();
  }
  std::string trapReason(const cycle::DispatchedInstruction &dispatched) override {
    return kernels_.trapReason(dispatched.decoded, dispatched.addresses.data(), state_);
  }
  void execute(const cycle::DispatchedInstruction &dispatched) override {
    kernels_.execute(dispatched.decoded, dispatched.addresses.data(), state_);
    if (sink_ != nullptr)
      reportWritten(isa_, dispatched.decoded, dispatched.addresses.data(), state_,
                    *dispatched.record, executed_, *sink_);
    ++executed_;
  }

private:
  const isa::Isa &isa_;
  Kernels &kernels_;
  MachineState state_;
  RunSink *sink_;
  uint64_t executed_ = 0;
};

class CycleEngine : public Engine {
public:
  explicit CycleEngine(const isa::Isa &isa)
      : isa_(isa), timings_(timing::makeTimings(isa)), dramConfig_(DramConfig::of(isa)),
        kernels_(isa) {}
  const char *name() const override { return "cycle"; }

  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    const auto begin = std::chrono::steady_clock::now();
    KernelValues values(isa_, kernels_, dram, options.sink);
    DramModel dramModel(dramConfig_);
    cycle::CoreOptions coreOptions;
    coreOptions.maxCycles = options.maxCycles;
    coreOptions.trace = options.trace;
    coreOptions.sink = options.sink;
    // For tests and for doubts: every cycle stepped, with the same record.
    coreOptions.skip = std::getenv("TILEWRIGHT_STEP_EVERY_CYCLE") == nullptr;
    RunRecord record = cycle::simulate(isa_, timings_, program, values, dramModel, coreOptions);
    record.dramRowHits = dramModel.rowHits();
    record.dramRowMisses = dramModel.rowMisses();
    record.dramRefreshes = dramModel.refreshes();
    record.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return record;
  }

private:
  const isa::Isa &isa_;
  std::vector<timing::InstructionTiming> timings_;
  DramConfig dramConfig_;
  Kernels kernels_;
};

} // namespace

std::unique_ptr<Engine> makeCycleEngine(const isa::Isa &isa) {
  return std::make_unique<CycleEngine>(isa);
}

} // namespace tilewright

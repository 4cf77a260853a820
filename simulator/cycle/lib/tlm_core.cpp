#include "tilewright/simulator/cycle/tlm_core.h"

#include "kernel_values.h"
#include "tlm_bus.h"

#include <cmath>

namespace tilewright::cycle {

sc_core::sc_time cycleTime(const isa::Isa &isa) {
  const double picoseconds = 1e12 / static_cast<double>(isa.clockHz());
  return sc_core::sc_time(picoseconds < 1 ? 1 : std::round(picoseconds), sc_core::SC_PS);
}

Machine::Machine(const isa::Isa &isa)
    : isa(isa), timings(timing::makeTimings(isa)), kernels(isa), state(isa) {}

void Machine::restart() {
  std::vector<uint8_t> spad = std::move(state.spad);
  std::vector<int32_t> acc = std::move(state.acc);
  state.reset();
  state.spad = std::move(spad);
  state.acc = std::move(acc);
}

struct TlmCore::Parts {
  Parts(Machine &machine, const Program &program, tlm::tlm_fw_transport_if<> &memory, uint64_t base,
        const CoreOptions &options)
      : values(machine, options.sink), bus(machine, program, memory, base),
        core(machine.isa, machine.timings, program, values, bus, options) {
    bus.stops(core);
  }
  KernelValues values;
  TlmBus bus;
  Core core;
};

TlmCore::TlmCore(Machine &machine, const Program &program, tlm::tlm_fw_transport_if<> &memory,
                 uint64_t base, const CoreOptions &options)
    : parts_(std::make_unique<Parts>(machine, program, memory, base, options)) {}

TlmCore::~TlmCore() = default;

bool TlmCore::advance(int64_t quantum) { return parts_->core.advance(quantum); }
int64_t TlmCore::cycle() const { return parts_->core.cycle(); }
sc_core::sc_time TlmCore::timeOf(int64_t cycle) const { return parts_->bus.timeOf(cycle); }
uint64_t TlmCore::pc() const { return parts_->core.pc(); }
RunRecord TlmCore::record() { return parts_->core.record(); }
const TlmCore::Refusals &TlmCore::refusals() const { return parts_->bus.refusals(); }
int64_t TlmCore::lastResponse() const { return parts_->bus.lastResponse(); }
const TlmCore::Beats &TlmCore::beats() const { return parts_->bus.beatsMoved(); }
bool TlmCore::leftDram() const { return parts_->values.leftDram(); }

} // namespace tilewright::cycle

// Values by generated kernels on a machine's state.
#pragma once

#include "unit.h"

#include "tilewright/simulator/cycle/tlm_core.h"

namespace tilewright::cycle {

class KernelValues : public Values {
public:
  // `sink`: is told what instructions write; null: nobody asks.
  KernelValues(Machine &machine, RunSink *sink) : machine_(machine), sink_(sink) {}
  const int64_t *registers(int unit) const override {
    return machine_.state.registers[static_cast<size_t>(unit)].data();
  }
  std::string trapReason(const DispatchedInstruction &dispatched) override;
  void execute(const DispatchedInstruction &dispatched) override;
  // Whether the last reason for a trap was an operand outside the DRAM.
  bool leftDram() const { return leftDram_; }

private:
  Machine &machine_;
  RunSink *sink_;
  uint64_t executed_ = 0;
  bool leftDram_ = false;
};

} // namespace tilewright::cycle

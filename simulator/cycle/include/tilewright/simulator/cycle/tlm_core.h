// The core as the initiator of a TLM-2.0 memory socket: what the cycle engine and an accelerator in
// a virtual platform have in common.
#pragma once

#include "tilewright/simulator/cycle/core_options.h"

#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/engine/machine_state.h"
#include "tilewright/simulator/kernels/kernels.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

namespace tilewright::cycle {

// A cycle of the ISA's clock, in whole picoseconds.
sc_core::sc_time cycleTime(const isa::Isa &isa);

// A machine that runs one program after the other. The ISA outlives it.
struct Machine {
  explicit Machine(const isa::Isa &isa);
  // As a start finds it: memories on chip keep their contents, all else is as after reset.
  void restart();

  const isa::Isa &isa;
  std::vector<timing::InstructionTiming> timings;
  Kernels kernels;
  MachineState state; // with the DRAM of the program that runs
};

// One run of a program. It runs ahead of simulated time (temporal decoupling); its transactions
// carry the time that they are ahead. They move no values but those that memory holds already:
// instructions move values when they start, through the pointer to the DRAM.
class TlmCore {
public:
  // Cycle 0 begins in this moment. `machine.state.dram` is the DRAM from the program's byte 0 on,
  // `base` where that is on the bus. All arguments outlive the run.
  TlmCore(Machine &machine, const Program &program, tlm::tlm_fw_transport_if<> &memory,
          uint64_t base, const CoreOptions &options);
  ~TlmCore();

  // Advances by `quantum` cycles, or less when the program ends, or stops for what the memory
  // refused: then true. Throws ProgramFault for traps and deadlocks. Called in a SystemC thread.
  bool advance(int64_t quantum);
  int64_t cycle() const; // cycles that are over
  // When a cycle begins.
  sc_core::sc_time timeOf(int64_t cycle) const;
  uint64_t pc() const; // of the sequencer
  // All but the DRAM's counters and the wall time. A trace is handed over: once.
  RunRecord record();

  // To what the memory answered no OK. The run stops at the end of the cycle of the first such
  // answer.
  struct Refusals {
    bool fetch = false, load = false, store = false;
    bool any() const { return fetch || load || store; }
  };
  const Refusals &refusals() const;
  // The last cycle in which a beat or a response is on the bus; -1: none ever was.
  int64_t lastResponse() const;
  // On the data bus.
  struct Beats {
    uint64_t fetch = 0, load = 0, store = 0;
  };
  const Beats &beats() const;
  // Whether the fault was an operand outside the DRAM.
  bool leftDram() const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace tilewright::cycle

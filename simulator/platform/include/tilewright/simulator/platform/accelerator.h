// The machine as a SystemC module, for a virtual platform: docs/host.md says how it behaves behind
// its registers.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

namespace tilewright {
class ProgramFault;
}

namespace tilewright::platform {

// Values and time are the cycle engine's. A simulation may have many, of any ISA.
//
// It runs ahead of simulated time by at most TLM's global quantum, or 1000 cycles where that is
// zero. Registers and the interrupt are at their own time; counters other than `cycles` show the
// end of the last quantum while a program runs. A soft reset waits for what the core has sent
// ahead.
class Accelerator : public sc_core::sc_module {
public:
  // Memory is timed by b_transport, with the time in the delay; a memory may also wait. When a
  // program starts it has to grant direct access (DMI) for reading and writing to what is at
  // `argument_base`, or an SC_ERROR is reported. Instructions move values through that when they
  // start; the code is read when the program does.
  tlm_utils::simple_initiator_socket<Accelerator> memory;
  // Words of 32 bits at byte offsets into the register block. An access waits until it takes
  // effect. Other sizes and unknown addresses get an error response. Debug transport reads.
  tlm_utils::simple_target_socket<Accelerator> registers;
  sc_core::sc_out<bool> interrupt; // a level

  // A cycle is one of the ISA's clock, in whole picoseconds. The ISA outlives the module. Throws
  // UserError for a machine that the cycle engine does not make.
  Accelerator(const sc_core::sc_module_name &name, const isa::Isa &isa);
  ~Accelerator() override;
  SC_HAS_PROCESS(Accelerator);

private:
  struct Ending; // of a program
  struct Parts;

  // The host's side: accelerator.cpp.
  void access(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
  unsigned debug(tlm::tlm_generic_payload &payload);
  void heed(uint64_t offset, uint32_t value, uint32_t mask);
  void start();
  void softReset();
  void show();
  bool isInterrupting() const;
  void drive(); // the process that writes the interrupt

  // The program's side: run.cpp.
  void run(); // the process that runs programs
  std::optional<Ending> runToEnd();
  Ending trap(const ProgramFault &fault);
  bool findMemory();
  bool loadProgram();
  void count();
  void finish(const Ending &ending);
  void awaitReset();
  bool waitUntil(const sc_core::sc_time &time);
  void withdraw(sc_dt::uint64 begin, sc_dt::uint64 end);
  sc_core::sc_time timeOf(int64_t cycle) const;
  int64_t cyclesOver() const;
  int64_t quantum() const;

  std::unique_ptr<Parts> parts_;
};

} // namespace tilewright::platform

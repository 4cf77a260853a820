// A host processor: one thread that runs programs with the C driver, and its interrupt handler.
#pragma once

#include "driver_port.h"

#include <deque>
#include <systemc>
#include <vector>

namespace tilewright::platform {

class Host : public sc_core::sc_module {
public:
  // A program that is in memory, for the machine of the same number.
  struct Task {
    tilewright_program program;
    uint64_t isaHash; // as tilewright_probe takes it
  };
  struct Outcome {
    // BUSY: the program did not end. NO_DEVICE, OTHER_ISA, ...: it was not started.
    tilewright_result result = TILEWRIGHT_BUSY;
    tilewright_trap trap = {};
    tilewright_counters counters = {};
    int interrupts = 0;              // that were taken
    sc_core::sc_time started, ended; // `ended`: of the interrupt
  };
  // What the host has of one machine.
  struct Machine {
    Machine(const char *port, const char *interrupt, const Task &task)
        : port(port), interrupt(interrupt), task(task) {}
    DriverPort port;
    sc_core::sc_in<bool> interrupt;
    Task task;
    Outcome outcome;
  };
  std::deque<Machine> machines; // by task

  // Starts all tasks, then waits for all interrupts.
  Host(const sc_core::sc_module_name &name, const std::vector<Task> &tasks);
  SC_HAS_PROCESS(Host);

private:
  void end_of_elaboration() override;
  void run();
  void handleInterrupts();

  sc_core::sc_event_or_list anyInterrupt_;
  sc_core::sc_event handled_;
};

} // namespace tilewright::platform

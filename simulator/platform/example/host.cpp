#include "host.h"

#include <string>

namespace tilewright::platform {

Host::Host(const sc_core::sc_module_name &name, const std::vector<Task> &tasks) : sc_module(name) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string number = std::to_string(i);
    machines.emplace_back(("port" + number).c_str(), ("interrupt" + number).c_str(), tasks[i]);
  }
  SC_THREAD(run);
  SC_THREAD(handleInterrupts);
}

void Host::run() {
  for (Machine &machine : machines) {
    const tilewright_device *device = machine.port.device();
    Outcome &outcome = machine.outcome;
    outcome.result = tilewright_probe(device, machine.task.isaHash);
    if (outcome.result != TILEWRIGHT_OK)
      continue;
    tilewright_enable_interrupts(device, TILEWRIGHT_ISR_DONE_MASK);
    outcome.result = tilewright_start(device, &machine.task.program);
    outcome.started = sc_core::sc_time_stamp();
    if (outcome.result == TILEWRIGHT_OK)
      outcome.result = TILEWRIGHT_BUSY;
  }
  for (Machine &machine : machines) {
    const tilewright_device *device = machine.port.device();
    Outcome &outcome = machine.outcome;
    if (outcome.result != TILEWRIGHT_BUSY)
      continue;
    while (outcome.interrupts == 0)
      wait(handled_);
    outcome.result = tilewright_poll(device);
    outcome.trap = tilewright_read_trap(device);
    outcome.counters = tilewright_read_counters(device);
  }
}

void Host::end_of_elaboration() {
  for (const Machine &machine : machines)
    anyInterrupt_ |= machine.interrupt.posedge_event();
}

void Host::handleInterrupts() {
  for (;;) {
    bool isHandled = false;
    for (Machine &machine : machines) {
      if (!machine.interrupt.read())
        continue;
      machine.outcome.ended = sc_core::sc_time_stamp();
      tilewright_acknowledge_interrupts(machine.port.device());
      ++machine.outcome.interrupts;
      isHandled = true;
    }
    if (isHandled)
      handled_.notify(sc_core::SC_ZERO_TIME);
    else
      wait(anyInterrupt_);
  }
}

} // namespace tilewright::platform

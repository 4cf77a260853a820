// A SystemC simulation beside others in one process.
#pragma once

#include <memory>
#include <systemc>

namespace tilewright::cycle {

// SystemC's kernel acts on the one simulation context that is current in the process, and a context
// takes no modules once it has run. This is a context of its own, current while it lives; what was
// current before is so again afterwards. Modules that are made in it end before it does.
class SimulationContext {
public:
  SimulationContext();
  ~SimulationContext();
  SimulationContext(const SimulationContext &) = delete;
  SimulationContext &operator=(const SimulationContext &) = delete;

  // Runs until nothing is left to happen, or sc_stop; or for some time. Throws what SystemC reports
  // as an error.
  void run();
  void run(const sc_core::sc_time &duration);

private:
  sc_core::sc_simcontext *before_;
  std::unique_ptr<sc_core::sc_simcontext> own_;
};

} // namespace tilewright::cycle

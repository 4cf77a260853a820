#include "tilewright/simulator/cycle/simulation_context.h"

#include "asan_stack.h"

namespace tilewright::cycle {

namespace {

// Whatever ends the simulation, the stack is this thread's again.
struct RestoresStack {
  ~RestoresStack() { restoreStackBounds(); }
};

} // namespace

SimulationContext::SimulationContext()
    : before_(sc_core::sc_curr_simcontext), own_(std::make_unique<sc_core::sc_simcontext>()) {
  sc_core::sc_curr_simcontext = own_.get();
}

SimulationContext::~SimulationContext() {
  own_.reset();
  sc_core::sc_curr_simcontext = before_;
}

void SimulationContext::run() {
  const RestoresStack restores;
  sc_core::sc_start();
}

void SimulationContext::run(const sc_core::sc_time &duration) {
  const RestoresStack restores;
  sc_core::sc_start(duration);
}

} // namespace tilewright::cycle

// libsystemc brings a main() of its own that calls this. Programs of this project have their own
// main and never get here; a platform that has an sc_main takes that one.
__attribute__((weak)) int sc_main(int, char *[]) { return 70; }

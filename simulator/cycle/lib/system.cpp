#include "system.h"

#include "tilewright/simulator/cycle/dram_module.h"
#include "tilewright/simulator/cycle/simulation_context.h"

#include <exception>
#include <tlm_utils/simple_initiator_socket.h>

namespace tilewright::cycle {

namespace {

// What one run hands to the core, and gets from it.
struct Job {
  Machine &machine;
  const Program &program;
  const CoreOptions &options;
  RunRecord record;
  std::exception_ptr error;
};

// The core: a thread that runs ahead of the kernel by at most a quantum, and is the only initiator
// of its bus.
class CoreModule : public sc_core::sc_module {
public:
  tlm_utils::simple_initiator_socket<CoreModule> socket;

  CoreModule(const sc_core::sc_module_name &name, Job &job)
      : sc_module(name), socket("socket"), job_(job) {
    SC_THREAD(run);
    set_stack_size(8 << 20); // kernels are compiled on it when they are first used
  }
  SC_HAS_PROCESS(CoreModule);

private:
  static constexpr int64_t quantum = 1 << 20; // cycles

  void run() {
    try {
      TlmCore core(job_.machine, job_.program, *socket.operator->(), 0, job_.options);
      while (!core.advance(quantum))
        wait(core.timeOf(core.cycle()) - sc_core::sc_time_stamp());
      job_.record = core.record();
    } catch (...) {
      // An exception must not leave the thread's own stack: the caller of the run gets it.
      job_.error = std::current_exception();
    }
  }

  Job &job_;
};

} // namespace

RunRecord simulate(Machine &machine, const Program &program, const DramConfig &dram,
                   const CoreOptions &options) {
  SimulationContext context;
  Job job{machine, program, options, {}, nullptr};
  CoreModule core("core", job);
  DramModule memory("dram", dram, cycleTime(machine.isa));
  core.socket.bind(memory.socket);
  context.run();
  if (job.error)
    std::rethrow_exception(job.error);
  job.record.dramRowHits = memory.model().rowHits();
  job.record.dramRowMisses = memory.model().rowMisses();
  job.record.dramRefreshes = memory.model().refreshes();
  return std::move(job.record);
}

} // namespace tilewright::cycle

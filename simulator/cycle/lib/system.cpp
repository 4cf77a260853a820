#include "system.h"

#include "asan_stack.h"

#include <cmath>
#include <exception>
#include <memory>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

namespace tilewright::cycle {

namespace {

// What one run hands to the modules.
struct Job {
  const isa::Isa &isa;
  const std::vector<timing::InstructionTiming> &timings;
  const Program &program;
  Values &values;
  DramModel &dram;
  const CoreOptions &options;
  sc_core::sc_time cycle; // of the core clock
  RunRecord record;
  std::exception_ptr error;
};

// SystemC's kernel acts on the one simulation context that is current in the process, and a context
// takes no modules once it has run. So a run has a context of its own, current while this lives;
// what was current before is so again afterwards.
class Context {
public:
  Context() { sc_core::sc_curr_simcontext = own_.get(); }
  ~Context() {
    own_.reset();
    sc_core::sc_curr_simcontext = before_;
  }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

private:
  sc_core::sc_simcontext *before_ = sc_core::sc_curr_simcontext;
  std::unique_ptr<sc_core::sc_simcontext> own_ = std::make_unique<sc_core::sc_simcontext>();
};

// The DRAM as a TLM target. A transaction arrives at the local time plus the annotated delay; it is
// answered with the delay until its last beat (reads) or its response (writes). It annotates time
// only: contents stand in the DramImage, values move with instructions.
class DramModule : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<DramModule> socket;

  DramModule(const sc_core::sc_module_name &name, Job &job)
      : sc_module(name), socket("socket"), job_(job) {
    socket.register_b_transport(this, &DramModule::transport);
  }

private:
  void transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
    const sc_core::sc_time arrival = sc_core::sc_time_stamp() + delay;
    const int64_t t = static_cast<int64_t>(arrival.value() / job_.cycle.value());
    const int64_t bytes = payload.get_data_length();
    const int64_t done = payload.is_read() ? job_.dram.read(t, payload.get_address(), bytes)
                                           : job_.dram.write(t, payload.get_address(), bytes);
    delay += sc_core::sc_time::from_value(static_cast<uint64_t>(done - t) * job_.cycle.value());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  Job &job_;
};

// The core: a thread that runs ahead of the kernel by at most a quantum (temporal decoupling) and
// is the only initiator of its bus.
class CoreModule : public sc_core::sc_module, private Bus {
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
      Core core(job_.isa, job_.timings, job_.program, job_.values, *this, job_.options);
      bool ended = false;
      while (!ended) {
        ended = core.advance(quantum);
        const int64_t ahead = core.cycle() - synced_;
        synced_ = core.cycle();
        wait(cycles(ahead));
      }
      job_.record = core.record();
    } catch (...) {
      // An exception must not leave the thread's own stack: the caller of the run gets it.
      job_.error = std::current_exception();
    }
  }

  sc_core::sc_time cycles(int64_t n) const {
    return sc_core::sc_time::from_value(static_cast<uint64_t>(n) * job_.cycle.value());
  }

  // The cycle in which a transaction that is sent in cycle t is done.
  int64_t transport(int64_t t, tlm::tlm_command command, uint64_t address, int64_t bytes) {
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(&nothing_);
    payload_.set_data_length(static_cast<unsigned>(bytes));
    payload_.set_streaming_width(static_cast<unsigned>(bytes));
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = cycles(t - synced_);
    socket->b_transport(payload_, delay);
    return synced_ + static_cast<int64_t>(delay.value() / job_.cycle.value());
  }

  Beats read(int64_t t, uint64_t address, int64_t bytes) override {
    const int64_t last = transport(t, tlm::TLM_READ_COMMAND, address, bytes);
    return {last - beats(address, bytes) + 1, last};
  }
  int64_t write(int64_t t, uint64_t address, int64_t bytes) override {
    return transport(t, tlm::TLM_WRITE_COMMAND, address, bytes);
  }
  int64_t beats(uint64_t address, int64_t bytes) const override {
    return job_.dram.beats(address, bytes);
  }

  Job &job_;
  int64_t synced_ = 0; // cycle of the run at which the kernel's time stands
  tlm::tlm_generic_payload payload_;
  unsigned char nothing_ = 0;
};

} // namespace

RunRecord simulate(const isa::Isa &isa, const std::vector<timing::InstructionTiming> &timings,
                   const Program &program, Values &values, DramModel &dram,
                   const CoreOptions &options) {
  Context context;
  const double picoseconds = 1e12 / static_cast<double>(isa.clockHz());
  Job job{isa,
          timings,
          program,
          values,
          dram,
          options,
          sc_core::sc_time(picoseconds < 1 ? 1 : std::round(picoseconds), sc_core::SC_PS),
          {},
          nullptr};
  CoreModule core("core", job);
  DramModule memory("dram", job);
  core.socket.bind(memory.socket);
  sc_core::sc_start();
  restoreStackBounds();
  if (job.error)
    std::rethrow_exception(job.error);
  return std::move(job.record);
}

} // namespace tilewright::cycle

// libsystemc brings a main() of its own that calls this; programs of this project have their own
// main and never get here.
int sc_main(int, char *[]) { return 70; }

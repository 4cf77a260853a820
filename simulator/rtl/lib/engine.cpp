// The rtl engine: the host that runs a program through the registers, as firmware does, and makes
// the record of the core's trace.
#include "tilewright/rtl/model.h"

#include "board.h"
#include "trace.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>

namespace tilewright {

namespace {

class RtlEngine : public Engine {
public:
  explicit RtlEngine(const isa::Isa &isa) : isa_(isa), dramConfig_(DramConfig::of(isa)) {
    rtl::checkModel(isa);
  }
  const char *name() const override { return "rtl"; }

  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    const bool shows = !options.waves.empty();
    const rtl::ModelLibrary *&model = models_[shows];
    if (model == nullptr)
      model = &rtl::loadModel(isa_, shows ? rtl::Signals::Waves : rtl::Signals::Hidden);
    return rtl::run(isa_, *model, dramConfig_, program, dram, options);
  }

private:
  const isa::Isa &isa_;
  DramConfig dramConfig_;
  const rtl::ModelLibrary *models_[2] = {}; // without and with waves; loaded when first needed
};

} // namespace

namespace rtl {

namespace {

static_assert(TILEWRIGHT_UNITS == 5);
constexpr int64_t mostIdleCycles = 10000000; // until a machine that shall stop has stopped

// A run from start to end, seen from both sides: by the host through the registers, and by the
// trace in each cycle. What both tell has to agree.
class Run {
public:
  Run(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
      const Program &program, DramImage &dram, const RunOptions &options, const BusFaults &faults)
      : isa_(isa), program_(program), options_(options), isSteady_(faults.refusals == 0),
        board_(isa, library, dramConfig, dram, faults), device_(board_.device()),
        trace_(isa, program, dram.size(), options) {
    board_.observe([this](int64_t t, const ModelPorts &ports) {
      try {
        observe(t, ports);
      } catch (...) {
        end_ = End::Failure;
        error_ = std::current_exception();
      }
    });
  }

  RunRecord run() {
    if (options_.sink != nullptr)
      board_.watchWrites();
    if (!options_.waves.empty())
      board_.writeWaves(options_.waves, std::max<uint64_t>(2, 1000000000000 / static_cast<uint64_t>(
                                                                                  isa_.clockHz())));
    start();
    while (board_.ports().interrupt == 0 && (end_ == End::None || stopsByItself()))
      step();
    board_.rethrow();
    switch (end_) {
    case End::Halt:
      checkCounters();
      acknowledge(TILEWRIGHT_ISR_DONE_MASK);
      break;
    case End::Trap:
    case End::BusError:
      checkTrap();
      acknowledge(TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
      break;
    case End::Deadlock:
    case End::Stopped:
      reset();
      break;
    case End::None:
      throw std::logic_error("the RTL raises its interrupt while the program runs");
    case End::Failure:
      break;
    }
    board_.rethrow();
    if (end_ == End::BusError)
      trace_.busError(*board_.memory().error());
    if (error_)
      std::rethrow_exception(error_);
    record_->stopped = end_ == End::Stopped;
    record_->dramRowHits = rowHits_;
    record_->dramRowMisses = rowMisses_;
    record_->dramRefreshes = refreshes_;
    return std::move(*record_);
  }

private:
  // How the program has ended, as the trace shows it. Failure: by an error after which nothing is
  // expected of the core.
  enum class End { None, Halt, Trap, BusError, Deadlock, Stopped, Failure };

  bool stopsByItself() const {
    return end_ == End::Halt || end_ == End::Trap || end_ == End::BusError;
  }

  void step() {
    board_.step();
    board_.rethrow();
    if (end_ != End::None && ++idleCycles_ > mostIdleCycles)
      throw std::logic_error("the RTL does not stop");
  }

  void start() {
    if (tilewright_probe(&device_, std::stoull(isa_.hash().substr(0, 16), nullptr, 16)) !=
        TILEWRIGHT_OK)
      throw std::logic_error("the registers of the RTL name another machine");
    tilewright_enable_interrupts(&device_, TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
    tilewright_program program;
    program.code_address = program_.codeAddress;
    program.code_count =
        static_cast<uint32_t>(program_.code.size() / static_cast<size_t>(isa_.instructionBytes()));
    program.entry = static_cast<uint32_t>(program_.entry);
    program.argument_base = 0;
    if (tilewright_start(&device_, &program) != TILEWRIGHT_OK)
      throw std::logic_error("the RTL does not start");
    board_.rethrow();
  }

  void observe(int64_t t, const ModelPorts &ports) {
    const BusMemory &memory = board_.memory();
    if (end_ != End::None) {
      if (end_ == End::Halt && !record_)
        finish(t, ports);
      if (stopsByItself() && (ports.executed != 0 || startsAny(ports)))
        throw std::logic_error("the RTL goes on after its end");
      return;
    }
    if (options_.maxCycles != 0 && t >= options_.maxCycles) {
      end_ = End::Stopped;
      finish(t, ports);
      board_.memory().ignoreBeyond();
      return;
    }
    if (memory.error() && memory.error()->cycle < t) {
      if ((ports.busError >> memory.error()->requester & 1) == 0 || ports.trap == 0)
        throw std::logic_error(
            fmt::format("the RTL takes no notice of the error of cycle {}", memory.error()->cycle));
      end_ = End::BusError;
      endAt(ports);
      return;
    }
    try {
      trace_.cycle(t, ports, memory.isIdle() && isSteady_);
    } catch (const UserError &) {
      error_ = std::current_exception();
      end_ = endOf(ports);
      endAt(ports);
    }
    if (ports.halted != 0)
      end_ = End::Halt;
  }

  // What the error of a cycle means for the core. After an operand that the trace rejects it does
  // what nobody defines.
  static End endOf(const ModelPorts &ports) {
    bool isFault = false;
    for (int i = 0; i < 4; ++i)
      isFault = isFault || (ports.startValid[i] != 0 && ports.startFault[i] != 0);
    if (ports.trap != 0)
      return isFault ? End::Failure : End::Trap;
    return startsAny(ports) || ports.executed != 0 ? End::Failure : End::Deadlock;
  }

  static bool startsAny(const ModelPorts &ports) {
    return std::any_of(std::begin(ports.startValid), std::end(ports.startValid),
                       [](uint8_t valid) { return valid != 0; });
  }

  void endAt(const ModelPorts &ports) {
    trap_ = ports.trap;
    trapPc_ = ports.pc;
    board_.memory().ignoreBeyond();
  }

  void finish(int64_t cycles, const ModelPorts &ports) {
    record_ = trace_.finish(cycles, ports);
    const DramModel &dram = board_.memory().model();
    rowHits_ = dram.rowHits();
    rowMisses_ = dram.rowMisses();
    refreshes_ = dram.refreshes();
  }

  void acknowledge(uint32_t events) {
    if (tilewright_acknowledge_interrupts(&device_) != events || board_.ports().interrupt != 0)
      throw std::logic_error("the RTL's interrupt does not say how the program ended");
  }

  // The counters of the registers against the record that the trace makes.
  void checkCounters() {
    const tilewright_counters counters = tilewright_read_counters(&device_);
    const auto check = [](const std::string &what, uint64_t counted, uint64_t expected) {
      if (counted != expected)
        throw std::logic_error(
            fmt::format("the RTL counts {} {}, not {}", counted, what, expected));
    };
    if (tilewright_poll(&device_) != TILEWRIGHT_OK)
      throw std::logic_error("the status of the RTL is not that of a program that has halted");
    check("cycles", counters.cycles, static_cast<uint64_t>(record_->cycles));
    check("instructions", counters.instructions, record_->instructions);
    const BusMemory &memory = board_.memory();
    check("beats of instructions", counters.fetch_beats, memory.fetchBeats());
    check("beats of loads", counters.load_beats, memory.loadBeats());
    check("beats of stores", counters.store_beats, memory.storeBeats());
    for (int port = 0; port < TILEWRIGHT_UNITS; ++port) {
      const UnitRecord &unit = record_->units[static_cast<size_t>(unitIndex(isa_, port))];
      int64_t stalled = 0;
      for (int64_t cycles : unit.stalls)
        stalled += cycles;
      check(fmt::format("busy cycles of unit {}", port), counters.busy[port],
            static_cast<uint64_t>(unit.busy));
      check(fmt::format("stalled cycles of unit {}", port), counters.stalled[port],
            static_cast<uint64_t>(stalled));
    }
  }

  // The registers name the trap that the trace has shown.
  void checkTrap() {
    const tilewright_trap trap = tilewright_read_trap(&device_);
    if (tilewright_poll(&device_) != TILEWRIGHT_TRAPPED || trap.cause != trap_ ||
        trap.pc != trapPc_)
      throw std::logic_error(fmt::format("the RTL says trap {} at instruction {}, not {} at {}",
                                         trap.cause, trap.pc, trap_, trapPc_));
    const bool refused[] = {trap.fetch_refused, trap.load_refused, trap.store_refused};
    if (end_ == End::BusError && !refused[board_.memory().error()->requester])
      throw std::logic_error("the RTL does not say which transfer the memory refused");
  }

  // A machine that would not end comes to rest all the same.
  void reset() {
    int64_t left = mostIdleCycles;
    const tilewright_result result = tilewright_soft_reset(
        &device_, [](void *context) { return --*static_cast<int64_t *>(context) > 0; }, &left);
    board_.rethrow();
    if (result != TILEWRIGHT_OK || !board_.memory().isIdle())
      throw std::logic_error("the RTL does not reset");
  }

  const isa::Isa &isa_;
  const Program &program_;
  const RunOptions &options_;
  bool isSteady_; // the bus takes what it is sent at once
  Board board_;
  tilewright_device device_;
  Trace trace_;
  End end_ = End::None;
  std::exception_ptr error_;
  uint32_t trap_ = 0, trapPc_ = 0;
  int64_t idleCycles_ = 0; // since the end
  std::optional<RunRecord> record_;
  uint64_t rowHits_ = 0, rowMisses_ = 0, refreshes_ = 0;
};

} // namespace

RunRecord run(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
              const Program &program, DramImage &dram, const RunOptions &options,
              const BusFaults &faults) {
  const auto begin = std::chrono::steady_clock::now();
  if (program.codeAddress % static_cast<uint64_t>(isa.instructionBytes()) != 0)
    throw UserError(
        {program.file, 0, 0, "the rtl engine"},
        fmt::format("the code stands at 0x{:x}, which is no multiple of an instruction's {} bytes",
                    program.codeAddress, isa.instructionBytes()),
        "run it on --engine cycle");
  RunRecord record = Run(isa, library, dramConfig, program, dram, options, faults).run();
  record.wallSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return record;
}

} // namespace rtl

std::unique_ptr<Engine> makeRtlEngine(const isa::Isa &isa) {
  return std::make_unique<RtlEngine>(isa);
}

} // namespace tilewright

// From the trace ports of the core to the record of a run.
#pragma once

#include "tilewright/rtl/model.h"

#include "tilewright/simulator/engine/control_flow.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/engine/run_sink.h"
#include "tilewright/simulator/memory/dram_model.h"

#include <deque>
#include <vector>

namespace tilewright::rtl {

// How the memory behind the AXI4 port departs from the timing contract, for tests.
struct BusFaults {
  // When not 0, the seed of a bus that is not always ready: times are no longer the cycle engine's,
  // values are.
  uint64_t refusals = 0;
  // Bytes that it does not have: it answers reads and writes that touch them with `response`, and
  // writes nothing.
  uint64_t errorBegin = 0, errorEnd = 0;
  uint8_t response = 2; // RRESP and BRESP: SLVERR, or 3: DECERR
};

struct ErrorResponse {
  int64_t cycle;
  int requester;    // bit of ModelPorts::busError: instruction fetch, load, store
  uint64_t address; // of the read's beat, of the write's burst
  uint8_t response;
};

// The unit of a trace port: sequencer, matrix, vector, load, store.
int unitIndex(const isa::Isa &isa, int port);

// Follows the program beside the core: what was dispatched, has begun and ended, and why a program
// cannot go on. The core says when it traps; the words of the message come from here.
class Trace {
public:
  Trace(const isa::Isa &isa, const Program &program, uint64_t dramBytes, const RunOptions &options);

  // What the core shows in cycle t. `memoryIdle`: nothing is on its way in the memory system.
  // Throws UserError for traps and deadlocks, std::logic_error when the core does what the program
  // does not.
  void cycle(int64_t t, const ModelPorts &ports, bool memoryIdle);
  // The core has stopped at what the memory answered: throws UserError.
  [[noreturn]] void busError(const ErrorResponse &error) const;
  // All but the DRAM's counters and the wall time.
  RunRecord finish(int64_t cycles, const ModelPorts &ports);

private:
  struct Written {
    isa::Space space;
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  struct Entry {
    InstructionRecord record;
    std::vector<Written> written; // so far; the sink is told when the instruction ends
    const isa::DecodedInstruction *decoded = nullptr;
    std::vector<int64_t> addresses;
    int unit = 0;
    bool started = false, ended = false;
  };

  Entry &entry(uint32_t id);
  const isa::DecodedInstruction &decode(uint64_t pc);
  void execute(int64_t t, const ModelPorts &ports);
  void start(int64_t t, Entry &entry, bool isFault);
  void charge(int64_t t, const ModelPorts &ports);
  std::string trapReason(const Entry &entry, bool isFault) const;
  [[noreturn]] void trap(const ModelPorts &ports);
  void follow(uint32_t id);
  void reportAccesses(int64_t t, const ModelPorts &ports);
  void reportConflicts(int64_t t, const ModelPorts &ports);
  void reportWrite(int64_t t, int port, uint32_t id, isa::Space space, uint64_t address,
                   const uint8_t *bytes, int64_t count);
  void tellWritten(uint32_t id, Entry &entry);
  bool isStuck(const ModelPorts &ports) const;
  [[noreturn]] void deadlock(const ModelPorts &ports);

  const isa::Isa &isa_;
  const Program &program_;
  int64_t dramBytes_;
  uint64_t fetchBytes_; // of a line of instructions
  int64_t matrixPipeline_;
  bool keep_;
  ControlFlow flow_;
  std::vector<int64_t> base_;
  std::vector<std::vector<int64_t>> registers_;                   // by unit
  std::vector<std::unique_ptr<isa::DecodedInstruction>> decoded_; // by pc
  std::vector<int64_t> semaphores_;
  std::deque<Entry> entries_; // from firstId_ on
  uint32_t firstId_ = 0;
  uint32_t nextId_ = 0; // of the next instruction to be executed or dispatched
  RunRecord record_;
  int64_t stuckCycles_ = 0; // in a row

  // For the sink: whose the accesses are. The RTL's units do their instructions in order.
  RunSink *sink_;
  static constexpr uint32_t none = UINT32_MAX;
  struct Rows {
    uint32_t id;
    int64_t left;
  };
  std::deque<Rows> rows_;  // of mmuls that are still to be written
  uint32_t vector_ = none; // begun last
  uint32_t newestLoad_ = none;
  std::vector<uint32_t> stores_; // by place among those in flight
  size_t nextStore_ = 0;
  uint32_t sender_ = none;      // of the burst that is written
  uint64_t beatAddress_ = 0;    // of its next beat
  uint32_t conflicts_[16] = {}; // that the sink was told of
};

RunRecord run(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
              const Program &program, DramImage &dram, const RunOptions &options,
              const BusFaults &faults = {});

} // namespace tilewright::rtl

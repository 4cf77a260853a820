// What every engine (functional, cycle, rtl) takes and gives.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

// Why a unit did not work on an instruction in a cycle, in the order in which causes are charged
// (docs/microarchitecture.md).
enum class Stall { None, Fetch, QueueFull, Semaphore, SpadPort, AccPort, Dram, Dependence, Count };
const char *name(Stall cause); // "semaphore"

// One executed instruction, in dispatch order. Cycles count from 0; the functional engine gives
// none (all zero).
struct InstructionRecord {
  uint64_t pc = 0;            // instruction number in the program
  int64_t dispatch = 0;       // the sequencer hands it to its unit's queue (or runs it itself)
  int64_t start = 0;          // its unit begins to execute it: semaphores acquired
  int64_t end = 0;            // last write done, semaphores signaled
  uint64_t dramReadBytes = 0; // useful bytes
  uint64_t dramWriteBytes = 0;
  int64_t stalls[static_cast<int>(Stall::Count)] =
      {};               // cycles between the end of the unit's previous work and `end`, by cause
  uint64_t written = 0; // digest of the bytes that it left in memory: 0 unless RunOptions::sink
                        // makes one
};

// Per unit over the whole run: busy + idle + the stalls = cycles.
struct UnitRecord {
  int64_t busy = 0;
  int64_t idle = 0;
  int64_t stalls[static_cast<int>(Stall::Count)] = {};
};

struct RunRecord {
  int64_t cycles = 0;
  uint64_t instructions = 0;
  std::vector<InstructionRecord> trace; // when RunOptions::trace
  std::vector<UnitRecord> units;        // by Isa::units() index
  uint64_t dramReadBytes = 0;           // useful bytes moved for load instructions
  uint64_t dramWriteBytes = 0;
  uint64_t fetchBytes = 0; // instruction fetch
  uint64_t dramRowHits = 0, dramRowMisses = 0, dramRefreshes = 0;
  std::vector<std::vector<int64_t>> bankConflicts; // cycles lost by unit [loser][winner]
  bool stopped = false;                            // --max-cycles ended it: the record is partial
  double wallSeconds = 0;
};

// The DRAM contents of one run: the program's segments and inputs before, its outputs after.
class DramImage {
public:
  DramImage(const Program &program);
  uint8_t *data() { return bytes_.get(); }
  const uint8_t *data() const { return bytes_.get(); }
  uint64_t size() const { return size_; }

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t[], Free>
      bytes_; // zeroed by the operating system when touched: a large empty DRAM costs no memory
  uint64_t size_ = 0;
};

class RunSink; // run_sink.h

struct RunOptions {
  std::string waves;     // rtl engine: the FST file that all its signals go to; none when empty
  int64_t maxCycles = 0; // 0: no limit. The functional engine counts instructions instead
  uint64_t maxInstructions = uint64_t(1) << 33;
  bool trace = true;
  bool checkRaces = false; // functional engine: end with an error when two units touch the same
                           // bytes and nothing orders them
  RunSink *sink = nullptr; // is told what happens in each cycle; asks for `trace`
};

// A program that cannot go on: a trap (illegal instruction, operand out of range) or a deadlock
// (who waits for what). A UserError whose place is the program file and `instruction N (layer
// 'x')`.
class Engine {
public:
  virtual ~Engine() = default;
  virtual const char *name() const = 0;
  // Runs the program over `dram`. May be called again; every run starts from reset.
  virtual RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) = 0;
};

// Throws UserError for a name that is no engine (names the nearest) or one whose tools are missing
// here (and which are offered).
std::unique_ptr<Engine> makeEngine(const std::string &name, const isa::Isa &isa);
// `interleaving` 0: the units take turns in a fixed order; any other value: in one drawn from that
// seed. A program that is synchronized gives the same values under all.
std::unique_ptr<Engine> makeFunctionalEngine(const isa::Isa &isa, uint64_t interleaving = 0);
std::unique_ptr<Engine> makeCycleEngine(const isa::Isa &isa);
// The generated hardware, run by Verilator: its model is built when a machine is first used
// (docs/rtl.md).
std::unique_ptr<Engine> makeRtlEngine(const isa::Isa &isa);

} // namespace tilewright

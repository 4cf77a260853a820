// What the units share: the state they meet in (semaphores, ports, bus, values) and the queue each
// starts its instructions from.
#pragma once

#include "account.h"
#include "ports.h"
#include "semaphores.h"

#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/run_sink.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright::cycle {

// A dispatched instruction: what a queue entry holds.
struct DispatchedInstruction {
  isa::DecodedInstruction decoded;
  const timing::InstructionTiming *timing = nullptr;
  InstructionRecord *record = nullptr;
  std::array<int64_t, isa::limits::operands.count()> addresses{}; // by operand, base register added

  bool isSet() const { return timing->steps.empty(); }
};

// Values of registers and memories. The cycle engine's are Kernels on a MachineState; timing alone
// needs only the registers.
class Values {
public:
  virtual ~Values() = default;
  virtual const int64_t *registers(int unit) const = 0; // by StateRegister::index
  // "" when the instruction may execute, else why it traps.
  virtual std::string trapReason(const DispatchedInstruction &dispatched) = 0;
  virtual void execute(const DispatchedInstruction &dispatched) = 0;
};

// The AXI master's view of the memory system. Calls come in order of time; reads of a cycle before
// its writes.
class Bus {
public:
  virtual ~Bus() = default;
  struct Beats {
    int64_t first, last; // cycles in which the read beats are on the bus
  };
  virtual Beats read(int64_t t, uint64_t address, int64_t bytes) = 0;
  virtual int64_t write(int64_t t, uint64_t address, int64_t bytes) = 0; // cycle of the response
  virtual int64_t beats(uint64_t address, int64_t bytes) const = 0;
};

struct Shared {
  Shared(const isa::Isa &isa, const Program &program, Values &values, Bus &bus, RunSink *sink);

  const isa::Isa &isa;
  const Program &program;
  Values &values;
  Bus &bus;
  RunSink *sink; // null: nobody asks
  Semaphores semaphores;
  Ports ports;
  Banks spad, acc;
  bool readAddressUsed = false; // the AXI read-address channel, in this cycle
  uint64_t dramReadBytes = 0, dramWriteBytes = 0;

  const Banks &banks(isa::Space space) const { return space == isa::Space::Spad ? spad : acc; }
};

// The queue between sequencer and unit. What is pushed in a cycle is seen in the next.
class Queue {
public:
  explicit Queue(int depth) : entries_(static_cast<size_t>(depth)) {}
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == entries_.size(); }
  const DispatchedInstruction &head() const { return entries_[first_]; }
  void pop() {
    first_ = first_ + 1 == entries_.size() ? 0 : first_ + 1;
    --count_;
  }
  void push(const DispatchedInstruction &dispatched) {
    entries_[(first_ + count_) % entries_.size()] = dispatched;
    ++count_;
  }

private:
  std::vector<DispatchedInstruction> entries_;
  size_t first_ = 0, count_ = 0;
};

// The front of every unit: the queue's head, its waits and signals, its register values.
//
// Each unit has, beside its own interface: `step(t)`, all of cycle t; `steadyCycles(t, use)`, for
// how many cycles from t + 1 on it will only do steady work (0: the next cycle must be stepped;
// `forever`: it waits for another unit), and which banks it may use meanwhile; `skip(t, n)`, those
// cycles at once. `step` n times and `skip(n)` leave the same state: a property test says so.
class Unit {
public:
  Unit(Shared &shared, const isa::Unit &unit)
      : shared_(shared), unit_(unit), queue_(unit.queueDepth) {}
  Queue &queue() { return queue_; }
  const Queue &queue() const { return queue_; }
  const UnitRecord &record() const { return account_.record(); }
  const isa::Unit &unit() const { return unit_; }

  // What it waits for when nothing can proceed: the instruction and the semaphores that block it;
  // null when it does not.
  struct Blocked {
    const InstructionRecord *record = nullptr;
    uint32_t wait = 0;   // cannot acquire
    uint32_t signal = 0; // cannot release
  };
  Blocked blockedHead() const {
    if (queue_.empty())
      return {};
    return {queue_.head().record, queue_.head().decoded.wait,
            queue_.head().isSet() ? queue_.head().decoded.signal : 0};
  }

protected:
  bool canAcquire() const { return shared_.semaphores.canAcquire(queue_.head().decoded.wait); }
  bool canRelease(uint32_t signal) const { return shared_.semaphores.canRelease(signal); }
  // A set acquires, executes and releases in one cycle.
  bool canSet() const {
    const isa::DecodedInstruction &head = queue_.head().decoded;
    return shared_.semaphores.canGrant(head.wait, head.signal);
  }

  // Takes the head and acquires its semaphores; traps, or executes its values.
  DispatchedInstruction begin(int64_t t);
  // The whole of a set instruction.
  void set(int64_t t);
  void end(InstructionRecord *record, uint32_t signal, int64_t t) {
    shared_.semaphores.release(signal);
    record->end = t;
  }
  // What is done, and ends when its semaphores can be released: from the next cycle on.
  struct Ending {
    InstructionRecord *record = nullptr;
    uint32_t signal = 0;
  };
  // Ends what is done, if it can; whether it did.
  bool tryEnd(int64_t t) {
    if (!ending_ || !canRelease(ending_->signal))
      return false;
    end(ending_->record, ending_->signal, t);
    ending_.reset();
    return true;
  }
  bool canEnd() const { return ending_ && canRelease(ending_->signal); }
  // Bytes from an address to the end of its last beat.
  int64_t toLastBeat(uint64_t address, int64_t beats) const;
  // Cycles [t, t + n) went to the activity. What tells the sink is never inlined: a run without one
  // pays for a test.
  void charge(const Activity &activity, int64_t t, int64_t n) {
    account_.charge(activity, n);
    if (shared_.sink != nullptr)
      reportActivity(*shared_.sink, unit_.index, activity, t, n);
  }
  void reportAccess(int64_t t, const InstructionRecord *record, isa::Space space, bool isWrite,
                    uint64_t address, int64_t bytes);
  isa::ScalarContext context(const DispatchedInstruction &dispatched) const {
    isa::ScalarContext result;
    result.immediates = dispatched.decoded.values.data();
    result.state = shared_.values.registers(unit_.index);
    return result;
  }

  Shared &shared_;
  const isa::Unit &unit_;
  Queue queue_;
  std::optional<DispatchedInstruction> started_; // and has yet to come to the unit's stages
  std::optional<Ending> ending_;
  Account account_;
  Activity steadyActivity_; // of the cycles that `steadyCycles` last counted
};

} // namespace tilewright::cycle

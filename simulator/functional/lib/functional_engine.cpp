#include "tilewright/simulator/functional/functional_engine.h"

#include "in_flight.h"
#include "race_checker.h"
#include "semaphores.h"

#include "tilewright/simulator/engine/decode_cache.h"
#include "tilewright/simulator/engine/fault.h"
#include "tilewright/simulator/engine/used_instructions.h"
#include "tilewright/simulator/engine/written.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace tilewright {

namespace {

// An instruction on its way from the sequencer through its unit's queue.
struct Pending {
  uint64_t pc = 0;
  size_t trace = 0; // its record
  isa::DecodedInstruction decoded;
  InlineVector<int64_t, isa::limits::operands.count()> addresses; // by operand, base added
  RaceChecker::Clock sequencer{};                                 // what the sequencer knew
};

// A unit's queue: a ring of entries that keep their storage.
class Queue {
public:
  explicit Queue(int depth) : entries_(static_cast<size_t>(std::max(1, depth))) {}
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == entries_.size(); }
  const Pending &front() const { return entries_[first_]; }
  Pending &push() { return entries_[(first_ + count_++) % entries_.size()]; }
  void pop() {
    first_ = (first_ + 1) % entries_.size();
    --count_;
  }

private:
  std::vector<Pending> entries_;
  size_t first_ = 0, count_ = 0;
};

struct UnitState {
  UnitState(const isa::Isa &isa, const isa::Unit &unit)
      : queue(unit.queueDepth), inFlight(isa, unit) {}
  bool idle() const { return queue.empty() && inFlight.empty(); }
  Queue queue;
  InFlight inFlight;
};

class Run {
public:
  Run(const isa::Isa &isa, Kernels &kernels, const Program &program, DramImage &dram,
      const RunOptions &options)
      : isa_(isa), kernels_(kernels), program_(program), options_(options), state_(isa),
        semaphores_(isa), flow_(isa, program), decoded_(isa) {
    state_.dram = dram.data();
    state_.dramBytes = dram.size();
    for (const auto &unit : isa.units())
      units_.emplace_back(isa, unit);
    record_.units.resize(isa.units().size());
    if (options.checkRaces)
      races_.emplace(isa);
    if (options.trace) // without loops, that is all
      record_.trace.reserve(flow_.instructions());
  }

  RunRecord inTurn() {
    while (!done_) {
      bool moved = false;
      while (sequence())
        moved = true;
      for (size_t unit = 1; unit < units_.size() && !done_; ++unit)
        moved |= work(unit);
      if (!moved && !done_)
        deadlock();
    }
    return finish();
  }

  RunRecord atRandom(uint64_t seed) {
    std::mt19937_64 random(seed);
    while (!done_) {
      size_t turn = random() % units_.size();
      if (turn == 0 ? sequence() : work(turn))
        continue;
      // The drawn one is blocked: when all are, that is a deadlock.
      bool moved = sequence();
      for (size_t unit = 1; unit < units_.size() && !moved && !done_; ++unit)
        moved = work(unit);
      if (!moved && !done_)
        deadlock();
    }
    return finish();
  }

private:
  RunRecord finish() {
    record_.instructions = count_;
    return std::move(record_);
  }

  const isa::Instruction &instruction(const isa::DecodedInstruction &decoded) const {
    return isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  }

  // At the program counter.
  const isa::DecodedInstruction &decode() {
    const DecodeCache::Entry &entry = decoded_.at(flow_);
    if (!entry.reason.empty())
      fault(program_, flow_.pc(), entry.reason);
    return entry.decoded;
  }

  // One instruction of the sequencer; false when it must wait.
  bool sequence() {
    if (done_)
      return false;
    flow_.checkPc();
    const isa::DecodedInstruction &decoded = decode();
    const auto &what = instruction(decoded);
    if (what.control == isa::Control::None ? !dispatch(decoded, what) : !control(decoded, what))
      return false;
    ++count_;
    if (options_.maxCycles > 0 && count_ >= static_cast<uint64_t>(options_.maxCycles) && !done_)
      record_.stopped = done_ = true;
    if (count_ >= options_.maxInstructions && !done_)
      fault(program_, flow_.pc(),
            fmt::format("the program has executed {} instructions and goes on", count_),
            "check that its loops end, or stop it with --max-cycles");
    return true;
  }

  bool dispatch(const isa::DecodedInstruction &decoded, const isa::Instruction &what) {
    auto &queue = units_[static_cast<size_t>(what.unit)].queue;
    if (queue.full())
      return false;
    Pending &pending = queue.push();
    pending.pc = flow_.pc();
    pending.trace = newRecord();
    pending.decoded = decoded;
    pending.addresses.resize(what.operands.size());
    for (const auto &operand : what.operands)
      if (operand.kind == isa::Operand::Kind::Memory) {
        auto i = static_cast<size_t>(operand.index);
        pending.addresses[i] = decoded.values[i] + state_.base[decoded.bases[i]];
      }
    if (races_)
      pending.sequencer = races_->sequencer();
    flow_.advance(state_.base);
    return true;
  }

  bool control(const isa::DecodedInstruction &decoded, const isa::Instruction &what) {
    if ((what.control == isa::Control::Halt || what.control == isa::Control::Fence) && !idle())
      return false;
    if (!semaphores_.canAcquire(decoded.wait) || !semaphores_.canRelease(decoded.signal))
      return false;
    semaphores_.acquire(decoded.wait);
    semaphores_.release(decoded.signal, flow_.pc());
    if (races_) {
      races_->start(0, races_->sequencer(), decoded.wait);
      if (what.control == isa::Control::Fence)
        races_->fence();
      races_->end(races_->passedOn(decoded), decoded.signal);
    }
    newRecord();
    if (what.control == isa::Control::Halt)
      done_ = true;
    else
      flow_.execute(decoded, state_.base);
    return true;
  }

  size_t newRecord() {
    if (!options_.trace)
      return 0;
    flow_.checkTrace(record_.trace.size());
    record_.trace.emplace_back();
    record_.trace.back().pc = flow_.pc();
    return record_.trace.size() - 1;
  }

  bool idle() const {
    return std::all_of(units_.begin(), units_.end(),
                       [](const UnitState &unit) { return unit.idle(); });
  }

  // One turn of a unit: what is in flight ends, if it can, and the head of its queue starts, if it
  // may. True when anything happened.
  bool work(size_t index) {
    auto &unit = units_[index];
    bool moved = !unit.inFlight.empty() && unit.inFlight.retire([&](const auto &entry) {
      return semaphores_.canRelease(entry.signal) &&
             (end(entry.pc, entry.signal, entry.passesOn), true);
    });
    if (!unit.queue.empty() && starts(unit)) {
      start(index);
      moved = true;
    }
    return moved;
  }

  bool starts(UnitState &unit) {
    const isa::DecodedInstruction &decoded = unit.queue.front().decoded;
    if (!semaphores_.canAcquire(decoded.wait) ||
        (isSet(decoded) && !semaphores_.canRelease(decoded.signal)))
      return false;
    return unit.inFlight.empty() || unit.inFlight.admits(timingOf(decoded));
  }

  void start(size_t index) {
    auto &unit = units_[index];
    const Pending &head = unit.queue.front();
    const isa::DecodedInstruction &decoded = head.decoded;
    semaphores_.acquire(decoded.wait);
    if (races_)
      races_->start(index, head.sequencer, decoded.wait);
    execute(head);
    const RaceChecker::Clock passesOn = races_ ? races_->passedOn(decoded) : RaceChecker::Clock{};
    if (isSet(decoded) || (semaphores_.canRelease(decoded.signal) &&
                           (unit.inFlight.empty() || !unit.inFlight.hasBefore(timingOf(decoded)))))
      end(head.pc, decoded.signal, passesOn);
    else
      unit.inFlight.push({head.pc, decoded.signal, passesOn}, timingOf(decoded), scalars(head),
                         head.addresses.data());
    unit.queue.pop();
  }

  void end(uint64_t pc, uint32_t signal, const RaceChecker::Clock &passesOn) {
    semaphores_.release(signal, pc);
    if (races_)
      races_->end(passesOn, signal);
  }

  // It acquires, executes and releases at once.
  bool isSet(const isa::DecodedInstruction &decoded) const {
    return instruction(decoded).steps.empty();
  }

  // Needed where something is in flight only, which few programs come to.
  const timing::InstructionTiming &timingOf(const isa::DecodedInstruction &decoded) {
    if (timings_.empty())
      timings_ = timing::makeTimings(isa_);
    return timings_[static_cast<size_t>(decoded.instruction)];
  }

  isa::ScalarContext scalars(const Pending &pending) const {
    isa::ScalarContext context;
    context.immediates = pending.decoded.values.data();
    context.state = state_.registers[static_cast<size_t>(instruction(pending.decoded).unit)].data();
    return context;
  }

  void execute(const Pending &pending) {
    std::string reason = kernels_.trapReason(pending.decoded, pending.addresses.data(), state_);
    if (!reason.empty())
      fault(program_, pending.pc, instruction(pending.decoded).name + ": " + reason);
    if (races_) {
      const auto unit = static_cast<size_t>(instruction(pending.decoded).unit);
      reason = races_->access(pending.decoded, pending.addresses.data(),
                              state_.registers[unit].data(), pending.pc);
      if (!reason.empty())
        fault(program_, pending.pc, reason, "let one signal what the other waits for");
    }
    countBytes(pending);
    kernels_.execute(pending.decoded, pending.addresses.data(), state_);
    if (options_.sink != nullptr && options_.trace)
      reportWritten(isa_, pending.decoded, pending.addresses.data(), state_,
                    record_.trace[pending.trace], pending.trace, *options_.sink);
  }

  // Elements that the instruction moves from and to DRAM: what its step's iterators count.
  void countBytes(const Pending &pending) {
    const auto &what = instruction(pending.decoded);
    for (const auto &access : what.accesses) {
      const auto &operand = what.operands[static_cast<size_t>(access.operand)];
      if (operand.space != isa::Space::Dram)
        continue;
      const isa::ScalarContext context = scalars(pending);
      int64_t bytes = access.elementBytes;
      for (const auto &iterator : what.steps[static_cast<size_t>(access.step)].iterators)
        bytes *= isa::evaluate(*iterator.extent, context);
      auto count = static_cast<uint64_t>(bytes);
      (access.write ? record_.dramWriteBytes : record_.dramReadBytes) += count;
      if (options_.trace) {
        auto &trace = record_.trace[pending.trace];
        (access.write ? trace.dramWriteBytes : trace.dramReadBytes) += count;
      }
    }
  }

  // --- deadlock ---

  std::string nameAt(uint64_t pc) const {
    isa::DecodedInstruction decoded;
    std::string reason;
    const auto *code = reinterpret_cast<const uint8_t *>(program_.code.data());
    if (!isa_.decode(code + pc * static_cast<uint64_t>(isa_.instructionBytes()), decoded, reason))
      return fmt::format("instruction {}", pc);
    return fmt::format("instruction {} ({})", pc, instruction(decoded).name);
  }

  // "semaphore 3 (count 0, last signaled by instruction 7 (load))" for each that cannot be
  // acquired, or released.
  std::string blocking(uint32_t mask, bool acquires) const {
    std::string text;
    for (size_t i = 0; i < semaphores_.size(); ++i) {
      if (!((mask >> i) & 1) ||
          (acquires ? semaphores_.count(i) > 0 : semaphores_.count(i) < semaphores_.most()))
        continue;
      auto by = semaphores_.signaledBy(i);
      text += fmt::format("{}semaphore {} (count {}, {})", text.empty() ? "" : " and ", i,
                          semaphores_.count(i),
                          by ? "last signaled by " + nameAt(*by) : "never signaled");
    }
    return text;
  }

  [[noreturn]] void deadlock() {
    std::string text;
    uint64_t place = flow_.pc();
    bool placed = false;
    for (size_t i = 1; i < units_.size(); ++i) {
      const UnitState &unit = units_[i];
      if (unit.idle())
        continue;
      const InFlight::Entry *oldest = unit.inFlight.oldest();
      const uint64_t pc = oldest ? oldest->pc : unit.queue.front().pc;
      if (!placed || pc < place)
        place = pc;
      placed = true;
      text += fmt::format("; {}: {} waits {}", isa_.units()[i].name, nameAt(pc),
                          oldest ? "to signal " + blocking(oldest->signal, false)
                                 : waits(unit.queue.front().decoded));
    }
    text += fmt::format("; {}: {} waits {}", isa_.units()[0].name, nameAt(flow_.pc()),
                        sequencerWaits());
    fault(program_, place, "deadlock" + (":" + text.substr(1)),
          "let another instruction signal what is waited for");
  }

  std::string sequencerWaits() {
    const isa::DecodedInstruction &decoded = decode();
    const auto &what = instruction(decoded);
    if (what.control == isa::Control::None)
      return fmt::format("for a free entry in the queue of {}",
                         isa_.units()[static_cast<size_t>(what.unit)].name);
    if (semaphores_.canAcquire(decoded.wait) && semaphores_.canRelease(decoded.signal))
      return "until every unit is idle";
    return waits(decoded);
  }

  // Of an instruction that acquires and releases at once, or that has not started.
  std::string waits(const isa::DecodedInstruction &decoded) const {
    return semaphores_.canAcquire(decoded.wait) ? "to signal " + blocking(decoded.signal, false)
                                                : "for " + blocking(decoded.wait, true);
  }

  const isa::Isa &isa_;
  Kernels &kernels_;
  const Program &program_;
  const RunOptions &options_;
  MachineState state_;
  Semaphores semaphores_;
  ControlFlow flow_;
  DecodeCache decoded_;
  std::optional<RaceChecker> races_;
  std::vector<UnitState> units_;
  std::vector<timing::InstructionTiming> timings_;
  RunRecord record_;
  uint64_t count_ = 0;
  bool done_ = false;
};

} // namespace

FunctionalEngine::FunctionalEngine(const isa::Isa &isa, uint64_t interleaving)
    : isa_(isa), interleaving_(interleaving), kernels_(isa) {}

RunRecord FunctionalEngine::run(const Program &program, DramImage &dram,
                                const RunOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  kernels_.prepare(usedInstructions(isa_, program));
  Run run(isa_, kernels_, program, dram, options);
  RunRecord record = interleaving_ == 0 ? run.inTurn() : run.atRandom(interleaving_);
  record.wallSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return record;
}

std::unique_ptr<Engine> makeFunctionalEngine(const isa::Isa &isa, uint64_t interleaving) {
  return std::make_unique<FunctionalEngine>(isa, interleaving);
}

} // namespace tilewright

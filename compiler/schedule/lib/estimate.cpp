#include "tilewright/compiler/schedule/estimate.h"

#include "ring.h"
#include "tilewright/compiler/schedule/program_order.h"
#include "vector_run.h"

#include "tilewright/isa/column_broadcast.h"
#include "tilewright/simulator/memory/dram_model.h"
#include "tilewright/simulator/timing/blocks.h"
#include "tilewright/simulator/timing/instruction_timing.h"
#include "tilewright/simulator/timing/runs.h"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>

namespace tilewright {

namespace {

constexpr int64_t never = int64_t(1) << 58; // of cycles: there is room for an actor beside it

// In the order in which they act within a cycle. A DMA is two: what requests bursts and what drains
// them, what gathers them and what sends them.
enum Actor {
  Sequencer,
  Matrix,
  Vector,
  Drain,
  Load,
  SecondDrain,
  SecondLoad,
  Send,
  Gather,
  ActorCount
};
constexpr int actorBits = 4;

constexpr int64_t drainStep = 16; // pieces of a load that are looked at together

struct Entry { // of a queue
  size_t index;
  int64_t dispatch;
};

struct UnitState {
  Ring<Entry> queue;
  std::vector<int64_t> registers;
  int64_t free = 0;     // the earliest start of its next instruction
  int64_t lastEnd = -1; // ends are in order
  Ring<int64_t> ends;   // of instructions in flight, `never` while unknown
};

// What timing.yaml says, read once: the estimator asks at each event.
struct Times {
  explicit Times(const isa::Isa &isa)
      : sequencerFetchBytes(isa.timing().at("sequencer.fetch_bytes")),
        sequencerBuffer(isa.timing().at("sequencer.buffer")),
        sequencerAhead(isa.timing().at("sequencer.ahead")),
        sequencerOutstanding(isa.timing().at("sequencer.outstanding")),
        matrixInflight(isa.timing().at("matrix.inflight")),
        matrixPipeline(isa.timing().at("matrix.pipeline")),
        vectorStart(isa.timing().at("vector.start")),
        loadInflight(isa.timing().at("load.inflight")),
        loadBuffers(isa.timing().at("load.buffers")),
        storeInflight(isa.timing().at("store.inflight")),
        storeBuffers(isa.timing().at("store.buffers")),
        storeOutstanding(isa.timing().at("store.outstanding")),
        burstBytes(static_cast<uint64_t>(isa.param("burst_bytes"))) {}
  int64_t sequencerFetchBytes, sequencerBuffer, sequencerAhead, sequencerOutstanding,
      matrixInflight, matrixPipeline, vectorStart, loadInflight, loadBuffers, storeInflight,
      storeBuffers, storeOutstanding;
  uint64_t burstBytes;
};

class Estimator {
public:
  enum class Keep { Nothing, Times, Spans };
  Estimator(const Stream &stream, const isa::Isa &isa,
            const std::vector<timing::InstructionTiming> &plans, uint64_t codeAddress, Keep keep)
      : stream_(stream), isa_(isa), plans_(plans), dram_(DramConfig::of(isa)), times_(isa),
        order_(stream, isa), codeAddress_(codeAddress), keep_(keep), run_(isa) {
    units_.resize(isa.units().size());
    for (const isa::Unit &unit : isa.units()) {
      UnitState &state = units_[static_cast<size_t>(unit.index)];
      for (const isa::StateRegister &reg : unit.registers)
        state.registers.push_back(reg.reset);
      unitOf_[actor(unit)] = unit.index;
    }
    unitOf_[Drain] = unitOf_[Load];
    unitOf_[SecondDrain] = unitOf_[SecondLoad];
    unitOf_[Send] = unitOf_[Gather];
    for (isa::Space space : {isa::Space::Spad, isa::Space::Acc})
      banks_[static_cast<size_t>(space)] =
          BankSize(static_cast<int64_t>(isa.memory(space).bankBytes()));
    for (const timing::InstructionTiming &plan : plans)
      facts_.push_back({actor(*plan.unit), plan.instruction->control, plan.unit->queueDepth,
                        plan.instruction->operandIndex("accumulate")});
    semaphores_.resize(static_cast<size_t>(isa.semaphores()));
    arrivals_.resize(static_cast<size_t>(times_.sequencerBuffer * isa.instructionBytes() /
                                         times_.sequencerFetchBytes));
    if (keep == Keep::Times) {
      streamTimes_.dispatch.resize(stream.size());
      streamTimes_.start.resize(stream.size());
    }
  }

  // The cycles. Ends early in cycle `enough`.
  int64_t run(int64_t enough = never);
  ExecutedSpans takeSpans() { return std::move(spans_); }
  int64_t moved() const { return moved_; }
  StreamTimes takeTimes() { return std::move(streamTimes_); } // where those are kept

private:
  Actor actor(const isa::Unit &unit) const {
    switch (unit.kind) {
    case isa::UnitTemplate::Matrix:
      return Matrix;
    case isa::UnitTemplate::Vector:
      return Vector;
    case isa::UnitTemplate::DmaLoad:
      return std::any_of(isa_.units().begin(), isa_.units().begin() + unit.index,
                         [&](const isa::Unit &other) { return other.kind == unit.kind; })
                 ? SecondLoad
                 : Load;
    case isa::UnitTemplate::DmaStore:
      return Gather;
    case isa::UnitTemplate::Sequencer:
      break;
    }
    return Sequencer;
  }
  struct Facts { // of an instruction of the description
    Actor actor;
    isa::Control control;
    int queueDepth, accumulate; // operand, -1: it always accumulates
  };
  struct Burst { // gathered, not sent
    timing::Cut cut;
    int64_t gathered;
    size_t index;
    bool last; // of its instruction
  };

  struct Arrival { // a burst that was requested, or a fill; not drained
    size_t index = 0;
    int64_t arrived = 0, pieces = 0; // it drains from the next cycle on
    isa::Space space = isa::Space::Spad;
    BankMask banks = 0;
    bool isBurst = false, isLast = false; // of its instruction
  };

  struct Loader {
    Actor issuer, drainer;
    timing::Runs runs{};
    uint64_t at = 0; // byte address of the next burst
    bool issuing = false;
    int64_t from = 0; // the cycle from which on the issue stage can do something
    size_t issuingIndex = 0;
    int64_t drained = -1; // the cycle of the last piece of the burst before
    Ring<Arrival> undrained{};
    int64_t undrainedBursts = 0;
    Ring<int64_t> landing{}; // last cycles of landing buffers in use: of those known in advance
  };

  // Time and actor in one number: the least of them is next.
  static constexpr int64_t event(Actor actor, int64_t t) { return t << actorBits | actor; }
  void wake(Actor actor, int64_t t) { wake_[actor] = std::min(wake_[actor], event(actor, t)); }
  UnitState &unit(Actor actor) { return units_[static_cast<size_t>(unitOf_[actor])]; }
  // An instruction under way: what has an index is dispatched and has not ended, or is decoded.
  void started(size_t index, int64_t t) {
    if (keep_ == Keep::Times)
      streamTimes_.start[underWay_[index].number] = t;
    else if (keep_ == Keep::Spans)
      spans_.spans[underWay_[index].number].start = t;
  }
  void ended(size_t index, int64_t t) {
    if (keep_ == Keep::Spans)
      spans_.spans[underWay_[index].number].end = t;
  }
  void dispatched(size_t index, int64_t t) {
    if (keep_ == Keep::Times)
      streamTimes_.dispatch[underWay_[index].number] = t;
  }
  const isa::DecodedInstruction &decoded(size_t index) const { return underWay_[index].decoded; }
  const Facts &factsOf(const isa::DecodedInstruction &decoded) const {
    return facts_[static_cast<size_t>(decoded.instruction)];
  }
  const timing::InstructionTiming &plan(size_t index) const {
    return plans_[static_cast<size_t>(decoded(index).instruction)];
  }
  isa::ScalarContext context(const UnitState &state, size_t index) const {
    isa::ScalarContext result;
    result.immediates = decoded(index).values.data();
    result.state = state.registers.data();
    return result;
  }

  int64_t lineOf(size_t number) const {
    return static_cast<int64_t>(codeAddress_ +
                                number * static_cast<uint64_t>(isa_.instructionBytes())) /
           times_.sequencerFetchBytes;
  }
  bool isHeld(int64_t line) const { return line < nextLine_ && line >= nextLine_ - heldLines_; }
  int64_t &arrival(int64_t line) { return arrivals_[static_cast<size_t>(line) % arrivals_.size()]; }
  int64_t lineToFetch() const;
  void sequence(int64_t t);
  size_t enter();
  int64_t fetch(int64_t t);
  bool dispatch(int64_t t, int64_t &again);
  bool idle(int64_t t) const;
  int64_t semaphoresReady(uint32_t mask) const;
  bool begin(Actor actor, int64_t t);
  void end(Actor actor, size_t index, int64_t t);
  void finish(size_t index, int64_t t);
  void act(Actor actor, int64_t t);
  void matrix(int64_t t);
  int64_t entersAt(const timing::InstructionTiming &plan, const isa::DecodedInstruction &decoded,
                   int64_t t);
  void vector(int64_t t);
  // Pieces of so many elements along levels.
  struct Nest {
    timing::Walk walk;
    int64_t elements;
    int levels;
    PerLevel extents;
  };
  struct Streamed {
    Nest activations, sums;
    int64_t rows;     // cycles of the streamer
    int64_t trailing; // of them, those after the one in which the last sum begins
  };
  Streamed streamed(const timing::StepTiming &step, const isa::ScalarContext &scalars,
                    size_t index) const;
  Streamed stream(const timing::StepTiming &step, const isa::ScalarContext &scalars, size_t index,
                  int64_t t);
  int64_t stand(const isa::ScalarContext &scalars, size_t index, int64_t t);
  int64_t sharedCycles(const timing::Blocks &blocks, int64_t block) const;
  int64_t loadWeights(const timing::StepTiming &step, const isa::ScalarContext &scalars,
                      size_t index, int64_t t);
  void load(Loader &loader, int64_t t);
  void request(Loader &loader, int64_t t);
  void arrive(Loader &loader, const Arrival &arrival);
  void drain(Loader &loader, int64_t t);
  void drained(Loader &loader);
  void gather(int64_t t);
  void send(int64_t t);
  void prepareSending();
  timing::Runs runs(UnitState &state, size_t index) const {
    return timing::Runs(plan(index), isa_, context(state, index), decoded(index).values.data());
  }
  int64_t pieces(const timing::Runs &runs, int64_t elements) const;
  BankMask banksOf(const timing::Runs &runs, const timing::Elements &elements) const;
  std::array<Holds *, 2> matrixReads(isa::Space space) {
    if (space == isa::Space::Acc)
      return {&holds_.accumulatorReads, &holds_.accumulatorReads};
    return {&holds_.activations, &holds_.weights};
  }
  int64_t vectorWrites(const Arrival &arrival, int64_t t) {
    return running_ ? run_.leaves(arrival.space, VectorRun::Access::Write, arrival.banks, t, holds_)
                    : t;
  }
  // When the array writes sums into the banks next, from cycle t on; null: nothing is known.
  const Hold *sumsWritten(const Arrival &arrival, int64_t t) {
    return arrival.space == isa::Space::Acc ? holds_.accumulatorWrites.find(arrival.banks, t)
                                            : nullptr;
  }
  int64_t portFree(isa::Space space, BankMask banks, int64_t t);
  int64_t portTaken(isa::Space space, BankMask banks, int64_t t);
  bool beginBurst(int64_t t);
  void interrupt(int64_t t);
  void interrupt(isa::Space space, Holds &holds);

  const Stream &stream_;
  const isa::Isa &isa_;
  const std::vector<timing::InstructionTiming> &plans_;
  std::vector<Facts> facts_; // by index
  DramModel dram_;
  const Times times_;
  std::array<BankSize, 3> banks_; // by memory
  std::vector<UnitState> units_;
  int64_t moved_ = 0; // bytes of loads and stores
  int unitOf_[ActorCount] = {};
  int64_t wake_[ActorCount] = {
      event(Sequencer, 0),      event(Matrix, never), event(Vector, never),
      event(Drain, never),      event(Load, never),   event(SecondDrain, never),
      event(SecondLoad, never), event(Send, never),   event(Gather, never)};
  std::vector<Ring<int64_t>> semaphores_; // cycles of the signals that nobody took yet
  StreamTimes streamTimes_;
  ExecutedSpans spans_;
  size_t inFlight_ = 0; // dispatched, end not known
  int64_t lastEnd_ = -1;
  int64_t now_ = 0;

  // Sequencer
  ProgramOrder order_;
  const uint64_t codeAddress_;
  const Keep keep_;
  struct UnderWay {
    isa::DecodedInstruction decoded; // with its final addresses
    size_t number;                   // as they were dispatched
  };
  std::deque<UnderWay> underWay_;
  std::vector<size_t> free_;      // of these
  bool isDecoded_ = false;        // the instruction at hand
  size_t fetchAt_ = 0;            // the instruction that is decoded next
  int64_t nextLine_ = 0;          // behind the last one that the buffer holds
  int64_t heldLines_ = 0;         // lines before it
  std::vector<int64_t> arrivals_; // of lines that the buffer holds, by line modulo their number
  Ring<int64_t> arriving_;        // of lines on the way
  size_t executed_ = 0;           // instructions
  int64_t halted_ = -1;           // the cycle of the last control instruction
  int64_t addressAt_ = -1;        // the cycle in which the read-address channel was used last
  // Matrix
  int64_t held_ = -1; // the cycle in which what started last enters its streamer or loader
  int64_t streamerFree_ = 0, loaderFree_ = 0;
  int64_t sumsUntil_ = -1; // the last write of sums that stood in the array
  MatrixHolds holds_;
  // Vector: the instruction that runs
  bool running_ = false;
  size_t runningIndex_ = 0;
  VectorRun run_;
  Loader load_{Load, Drain}, secondLoad_{SecondLoad, SecondDrain};
  // Store
  timing::Runs storeRuns_;
  uint64_t storeAt_ = 0;
  bool gathering_ = false;
  int64_t gatherFrom_ = 0; // the cycle from which on the store at hand is gathered
  int64_t piecesLeft_ = 0; // of the burst that is gathered
  BankMask gathered_ = 0;  // and where they stand
  size_t gatheringIndex_ = 0;
  Ring<Burst> waiting_;
  Ring<int64_t> bufferFree_; // of gather buffers in use: `never` until sent
  size_t buffersUsed_ = 0;
  // The cycle of the last beat of the burst that comes next, -1: not known yet; of the one before.
  int64_t sending_ = -1, sent_ = -1;
  Ring<int64_t> responses_;
};

// The earliest cycle in which all semaphores of the mask can be taken; `never` when a signal is not
// known yet.
int64_t Estimator::semaphoresReady(uint32_t mask) const {
  int64_t ready = 0;
  for (size_t i = 0; mask != 0; ++i, mask >>= 1)
    if (mask & 1)
      ready = std::max(ready, semaphores_[i].empty() ? never - 1 : semaphores_[i].front());
  return ready + 1;
}

// Takes the head of the unit's queue in `t` if its semaphores allow; a set is executed at once.
// Returns false, with the wake-up time set, when the head cannot start.
bool Estimator::begin(Actor actor, int64_t t) {
  UnitState &state = unit(actor);
  const Entry head = state.queue.front();
  const int64_t ready = std::max(semaphoresReady(decoded(head.index).wait), head.dispatch + 1);
  if (ready > t) {
    if (ready < never)
      wake(actor, ready);
    return false;
  }
  uint32_t mask = decoded(head.index).wait;
  for (size_t i = 0; mask != 0; ++i, mask >>= 1)
    if (mask & 1)
      semaphores_[i].pop_front();
  state.queue.pop_front();
  for (auto [reg, value] : plan(head.index).instruction->sets) {
    const auto &values = decoded(head.index).values;
    state.registers[static_cast<size_t>(values[static_cast<size_t>(reg)])] =
        values[static_cast<size_t>(value)];
  }
  started(head.index, t);
  wake(Sequencer, t + 1);
  return true;
}

// The end of an instruction of a unit: in order, one a cycle.
void Estimator::end(Actor actor, size_t index, int64_t t) {
  UnitState &state = unit(actor);
  state.lastEnd = std::max(t, state.lastEnd + 1);
  finish(index, state.lastEnd);
}

void Estimator::finish(size_t index, int64_t t) {
  ended(index, t);
  lastEnd_ = std::max(lastEnd_, t);
  if (--inFlight_ == 0) // a fence may wait for that
    wake(Sequencer, t + 1);
  const uint32_t signal = decoded(index).signal;
  free_.push_back(index);
  if (signal == 0)
    return;
  uint32_t mask = signal;
  for (size_t i = 0; mask != 0; ++i, mask >>= 1)
    if (mask & 1) {
      semaphores_[i].insert(t);
    }
  for (Actor other : {Matrix, Vector, Load, SecondLoad, Gather})
    if (const auto &queue = unit(other).queue;
        !queue.empty() && (decoded(queue.front().index).wait & signal) != 0)
      wake(other, t + 1);
}

// The line that is wanted and that there is a place for in the buffer (SEQ-fetch); -1: none.
int64_t Estimator::lineToFetch() const {
  if (fetchAt_ >= stream_.size())
    return -1;
  const int64_t line = lineOf(fetchAt_);
  if (!isHeld(line))
    return line;
  const int64_t last =
      lineOf(std::min(fetchAt_ + static_cast<size_t>(times_.sequencerAhead), stream_.size() - 1));
  const bool fits = nextLine_ - line < static_cast<int64_t>(arrivals_.size());
  return nextLine_ <= last && fits ? nextLine_ : -1;
}

// Requests a line when one is wanted and fewer than allowed are on the way; the cycle in which to
// try again.
int64_t Estimator::fetch(int64_t t) {
  const int64_t line = lineToFetch();
  if (line < 0)
    return never; // until the program moves on
  arriving_.popBelow(t);
  if (static_cast<int64_t>(arriving_.size()) >= times_.sequencerOutstanding)
    return arriving_.front() + 1;
  if (line != nextLine_) // the buffer is emptied
    heldLines_ = 0;
  heldLines_ = std::min(heldLines_ + 1, static_cast<int64_t>(arrivals_.size()));
  nextLine_ = line + 1;
  const int64_t lineBytes = times_.sequencerFetchBytes;
  arrival(line) = dram_.read(t, static_cast<uint64_t>(line * lineBytes), lineBytes);
  arriving_.push_back(arrival(line));
  addressAt_ = t;
  return lineToFetch() < 0 ? never : t + 1;
}

bool Estimator::idle(int64_t t) const { return inFlight_ == 0 && lastEnd_ < t; }

// The instruction at hand comes under way; its index.
size_t Estimator::enter() {
  const size_t number = executed_++;
  if (keep_ == Keep::Spans)
    spans_.spans.push_back({0, 0, static_cast<uint32_t>(order_.at())});
  if (free_.empty()) {
    free_.push_back(underWay_.size());
    underWay_.emplace_back();
  }
  const size_t index = free_.back();
  free_.pop_back();
  underWay_[index] = {order_.resolved(), number};
  return index;
}

// Executes or dispatches the instruction at hand; false, with the cycle in which to try again, when
// it must wait.
bool Estimator::dispatch(int64_t t, int64_t &again) {
  const Facts &facts = facts_[order_.instruction()];
  if (facts.control != isa::Control::None) {
    const bool waits = facts.control == isa::Control::Fence || facts.control == isa::Control::Halt;
    if (waits && !idle(t)) {
      if (inFlight_ == 0)
        again = std::min(again, lastEnd_ + 1);
      return false;
    }
    const size_t index = enter();
    dispatched(index, t);
    started(index, t);
    ended(index, halted_ = t);
    free_.push_back(index);
    order_.advance();
    return true;
  }
  UnitState &state = unit(facts.actor);
  if (static_cast<int>(state.queue.size()) >= facts.queueDepth)
    return false; // a pop wakes it
  const size_t index = enter();
  state.queue.push_back({index, t});
  ++inFlight_;
  dispatched(index, t);
  order_.advance();
  wake(facts.actor, t + 1);
  return true;
}

// A cycle of the sequencer (SEQ-decode, SEQ-predict).
void Estimator::sequence(int64_t t) {
  const int64_t line = fetchAt_ < stream_.size() ? lineOf(fetchAt_) : -1;
  const bool isThere = isHeld(line) && arrival(line) < t;
  const size_t predicted = order_.predictedAfter(fetchAt_); // before anything executes
  int64_t again = fetch(t);
  const bool hasExecuted = isDecoded_ && dispatch(t, again);
  if (!isDecoded_ || hasExecuted) {
    isDecoded_ = false;
    if (hasExecuted && (order_.jumped() || order_.at() != fetchAt_)) {
      fetchAt_ = order_.at();
    } else if (isThere) {
      isDecoded_ = true;
      fetchAt_ = predicted;
    }
    if (hasExecuted || isDecoded_)
      again = t + 1;
    else if (isHeld(line))
      again = std::min(again, arrival(line) + 1);
  }
  if (again != never)
    wake(Sequencer, again);
}

void Estimator::matrix(int64_t t) {
  UnitState &state = unit(Matrix);
  state.ends.popBelow(t);
  if (state.queue.empty())
    return;
  if (held_ >= t)
    return wake(Matrix, held_ + 1);
  const size_t index = state.queue.front().index;
  const timing::InstructionTiming &plan = this->plan(index);
  const isa::DecodedInstruction &decoded = this->decoded(index);
  if (!begin(Matrix, t))
    return;
  wake(Matrix, t + 1);
  if (plan.steps.empty())
    return finish(index, t);
  held_ = entersAt(plan, decoded, t);
  const int64_t first = held_ + timing::enteredToRow;
  const timing::StepTiming &step = plan.steps[0];
  const isa::ScalarContext scalars = context(state, index);
  if (running_)
    run_.advance(t, holds_);
  if (!plan.isContraction) {
    loaderFree_ = loadWeights(step, scalars, index, first);
    return finish(index, loaderFree_ - 1 + timing::doneToEnded);
  }
  int64_t last; // write
  if (plan.isStationary) {
    streamerFree_ = stand(scalars, index, first);
    last = std::max(first, sumsUntil_);
  } else {
    const Streamed streamed = stream(step, scalars, index, first);
    streamerFree_ = first + streamed.rows - 1; // what enters may do so at the last row
    last = streamed.rows == 0
               ? first
               : first + streamed.rows - 1 - streamed.trailing + times_.matrixPipeline;
  }
  end(Matrix, index, last);
  state.ends.push_back(state.lastEnd);
}

// The cycle in which what starts in cycle t enters its streamer or loader (MAT-enter,
// MAT-load-enter, MAT-behind).
int64_t Estimator::entersAt(const timing::InstructionTiming &plan,
                            const isa::DecodedInstruction &decoded, int64_t t) {
  int64_t enters = t + 1;
  if (!plan.isContraction)
    return std::max(enters, loaderFree_ + timing::doneToEnded);
  const Ring<int64_t> &ends = unit(Matrix).ends;
  enters = std::max(enters, streamerFree_);
  if (plan.swap >= 0 && decoded.values[static_cast<size_t>(plan.swap)] != 0)
    enters = std::max(enters, loaderFree_);
  if (const auto inFlight = static_cast<size_t>(times_.matrixInflight); ends.size() >= inFlight)
    enters = std::max(enters, ends[ends.size() - inFlight] + 1);
  if (!plan.isStationary)
    enters = std::max(enters, sumsUntil_ - times_.matrixPipeline + 1 - timing::enteredToRow);
  return enters;
}

// What an `mmul` moves. Of a window, a row of outputs counts as one piece of accumulators.
Estimator::Streamed Estimator::streamed(const timing::StepTiming &step,
                                        const isa::ScalarContext &scalars, size_t index) const {
  const timing::InstructionTiming &plan = this->plan(index);
  const auto &values = decoded(index).values;
  auto nestOf = [&](const timing::StreamTiming &stream, int64_t elements) {
    return Nest{timing::walk(stream, isa_.memory(stream.space), scalars, values.data()), elements,
                step.spatial - 1, PerLevel{}}; // the last spatial iterator is the columns
  };
  const int64_t columns = values[static_cast<size_t>(plan.columns)];
  Streamed made{nestOf(step.reads[0], columns), nestOf(step.write, columns), columns > 0 ? 1 : 0,
                0};
  Nest &activations = made.activations, &sums = made.sums;
  if (!plan.window) {
    activations.elements = values[static_cast<size_t>(plan.rows)];
    for (size_t i = 0; i < static_cast<size_t>(activations.levels); ++i) {
      activations.extents[i] = sums.extents[i] = std::max<int64_t>(step.extents[i](scalars), 0);
      made.rows *= activations.extents[i];
    }
    return made;
  }
  const timing::ColumnBroadcastWalk window(*plan.window, scalars);
  made.rows *= window.cycles();
  made.trailing = window.trailing;
  activations.extents = {window.sweeps, window.period};
  activations.walk.stride = {activations.walk.stride[isa::BroadcastV],
                             activations.walk.stride[isa::BroadcastU]};
  const int64_t along = (window.outputs[1] - 1) * sums.walk.stride[isa::BroadcastX];
  sums.walk.address += std::min<int64_t>(0, along);
  sums.elements += std::abs(along) / step.write.elementBytes;
  sums.extents = {window.outputs[0], window.strides[0] * window.period};
  sums.walk.stride[isa::BroadcastX] = 0;
  return made;
}

// Holds the ports that an `mmul` takes from cycle t on: nobody comes before it.
Estimator::Streamed Estimator::stream(const timing::StepTiming &step,
                                      const isa::ScalarContext &scalars, size_t index, int64_t t) {
  const auto &values = decoded(index).values;
  const Streamed moved = streamed(step, scalars, index);
  const int64_t rows = moved.rows;
  if (rows == 0)
    return moved;
  // `before`: the same, as long before as sums are read.
  auto hold = [&](const timing::StreamTiming &stream, const Nest &nest, int64_t from, Holds &holds,
                  Holds *before) {
    if (nest.elements == 0)
      return;
    const timing::Walk &walk = nest.walk;
    const BankSize &bank = banks_[static_cast<size_t>(stream.space)];
    const int64_t bytes = nest.elements * stream.elementBytes;
    int64_t low = walk.address, high = walk.address + bytes;
    for (size_t i = 0; i < static_cast<size_t>(nest.levels); ++i)
      (walk.stride[i] < 0 ? low : high) += walk.stride[i] * (nest.extents[i] - 1);
    const BankMask all = bank.mask(low, high);
    Holds::Path path(nest.levels, nest.extents);
    if (isSeveral(all))
      path.add(walk.address, 0, bytes, walk.stride, bank);
    auto add = [&](Holds &to, int64_t first) {
      to.forget(now_);
      if (isSeveral(all))
        to.add(first, rows, path);
      else
        to.add({first, first + rows - 1, all});
      if (&to != &holds_.accumulatorWrites) // a store only reads
        interrupt(stream.space, to);
    };
    add(holds, from);
    if (before != nullptr)
      add(*before, from + timing::sumsClaimedAhead - timing::sumsReadAhead);
  };
  hold(step.reads[0], moved.activations, t, holds_.activations, nullptr);
  const int operand = facts_[static_cast<size_t>(decoded(index).instruction)].accumulate;
  const bool accumulates =
      step.reads.size() > 1 && (operand < 0 || values[static_cast<size_t>(operand)] != 0);
  hold(step.write, moved.sums, t + times_.matrixPipeline - timing::sumsClaimedAhead,
       holds_.accumulatorWrites, accumulates ? &holds_.accumulatorReads : nullptr);
  return moved;
}

// Holds the ports that sums take which stand in the array, block by block from cycle t on. The
// cycle in which the streamer is free. Where activations and weights share a bank, a cycle that
// reads both is two.
int64_t Estimator::stand(const isa::ScalarContext &scalars, size_t index, int64_t t) {
  const timing::Blocks blocks(plan(index), isa_, scalars, decoded(index).values.data());
  const BankSize &spad = banks_[static_cast<size_t>(isa::Space::Spad)],
                 &acc = banks_[static_cast<size_t>(isa::Space::Acc)];
  auto maskOf = [](const BankSize &bank, const timing::Blocks::Reach &reach) {
    return bank.mask(reach.low, reach.high);
  };
  const bool reads = blocks.activationBytes() > 0;
  const BankMask weights = reads ? maskOf(spad, blocks.weights()) : 0;
  holds_.activations.forget(now_);
  holds_.accumulatorWrites.forget(now_);
  std::optional<Hold> held; // of blocks side by side that read the same banks
  auto add = [&](const Hold &hold) {
    if (held && held->banks == hold.banks) {
      held->until = hold.until;
      return;
    }
    if (held)
      holds_.activations.add(*held);
    held = hold;
  };
  for (int64_t block = 0; block < blocks.count(); ++block) {
    const BankMask activations = reads ? maskOf(spad, blocks.activations(block)) : 0;
    int64_t last = t + blocks.cycles(block) - 1;
    if (activations & weights)
      last += sharedCycles(blocks, block);
    last = std::max(last, sumsUntil_ - times_.matrixPipeline + 1);
    if (reads)
      add({t, last, activations | weights});
    const int64_t first = last + times_.matrixPipeline;
    sumsUntil_ = first + blocks.rows(block) - 1;
    holds_.accumulatorWrites.add({first - timing::sumsClaimedAhead,
                                  sumsUntil_ - timing::sumsClaimedAhead,
                                  maskOf(acc, blocks.sums(block))});
    t = last + 1;
  }
  if (held)
    holds_.activations.add(*held);
  interrupt(isa::Space::Spad, holds_.activations);
  return blocks.count() > 0 ? t : t + 1;
}

// Cycles that a block takes more, as activations and weights of some taps stand in one bank.
int64_t Estimator::sharedCycles(const timing::Blocks &blocks, int64_t block) const {
  const BankSize &spad = banks_[static_cast<size_t>(isa::Space::Spad)];
  int64_t cycles = 0;
  for (int64_t tap = 0; tap < blocks.taps(); ++tap) {
    const timing::Blocks::Reach activations = blocks.activations(block, tap),
                                weights = blocks.weights(tap);
    const BankMask all = spad.mask(activations.low, activations.high),
                   common = all & spad.mask(weights.low, weights.high);
    if (common != 0)
      cycles += blocks.bothReads(block) / (isSeveral(all) ? 2 : 1);
  }
  return cycles;
}

// Reads the rows of an `mload` from cycle t on, behind the activations where both stand in one
// bank. The cycle in which the loader is free.
int64_t Estimator::loadWeights(const timing::StepTiming &step, const isa::ScalarContext &scalars,
                               size_t index, int64_t t) {
  const auto &values = decoded(index).values;
  const int64_t rows = values[static_cast<size_t>(plan(index).rows)];
  const int64_t columns = values[static_cast<size_t>(plan(index).columns)];
  if (rows <= 0 || columns == 0)
    return t + std::max<int64_t>(rows, 1);
  const timing::StreamTiming &stream = step.reads[0];
  const timing::Walk walk = timing::walk(stream, isa_.memory(stream.space), scalars, values.data());
  holds_.weights.forget(now_);
  Holds::Path banks(1, {rows});
  banks.add(walk.address, 0, columns * stream.elementBytes, walk.stride,
            banks_[static_cast<size_t>(stream.space)]);
  banks.forEachStretch([&](int level, int64_t, int64_t count, const Holds::Path::Masks &masks) {
    for (int64_t left = level < 0 ? rows : count; left > 0;) {
      const Hold *before = holds_.activations.find(masks[0], t);
      if (before != nullptr && before->from <= t) {
        t = before->until + 1;
        continue;
      }
      const int64_t run = before == nullptr ? left : std::min(left, before->from - t);
      holds_.weights.add({t, t + run - 1, masks[0]});
      t += run;
      left -= run;
    }
  });
  interrupt(stream.space, holds_.weights);
  return t;
}

void Estimator::vector(int64_t t) {
  UnitState &state = unit(Vector);
  if (running_) {
    const int64_t last = run_.end(holds_) - 1 + plan(runningIndex_).latency;
    if (t < last)
      return wake(Vector, last);
    running_ = false;
    state.free = t + 1;
    finish(runningIndex_, t + timing::doneToEnded);
    return wake(Vector, state.free);
  }
  if (state.queue.empty())
    return;
  if (state.free > t)
    return wake(Vector, state.free);
  const size_t index = state.queue.front().index;
  if (!begin(Vector, t))
    return;
  if (plan(index).steps.empty()) {
    finish(index, t);
    state.free = t + 1;
    return wake(Vector, state.free);
  }
  const isa::ScalarContext scalars = context(state, index);
  const int64_t *addresses = decoded(index).values.data();
  running_ = true;
  runningIndex_ = index;
  const int64_t from = t + times_.vectorStart;
  run_.begin(plan(index), scalars, addresses, from);
  if (run_.isDone()) { // without beats it ends with its start-up
    running_ = false;
    state.free = from + 1;
    finish(index, from + timing::doneToEnded);
    return wake(Vector, state.free);
  }
  if (unit(Gather).free > from)
    interrupt(run_.comes(storeRuns_.space(), gathered_, from, holds_));
  wake(Vector, run_.end(holds_) - 1 + plan(index).latency);
}

// Cycles that elements of a run take through their port.
int64_t Estimator::pieces(const timing::Runs &runs, int64_t elements) const {
  const int64_t port = isa_.memory(runs.space()).portBytes;
  const bool dense = runs.elements() == 1 || runs.localStride() == runs.localBytes();
  const int64_t each = dense ? std::max<int64_t>(port / runs.localBytes(), 1) : 1;
  return std::max<int64_t>((elements + each - 1) / each, 1);
}

// The banks in which elements of a run stand; none: no port is needed.
BankMask Estimator::banksOf(const timing::Runs &runs, const timing::Elements &elements) const {
  if (elements.count() <= 0)
    return 0;
  const int64_t first = runs.local() + elements.first * runs.localStride(),
                last = first + (elements.count() - 1) * runs.localStride();
  return banks_[static_cast<size_t>(runs.space())].mask(std::min(first, last),
                                                        std::max(first, last) + runs.localBytes());
}

// The first cycle from t on in which no other unit reads these banks, as far as is known.
int64_t Estimator::portFree(isa::Space space, BankMask banks, int64_t t) {
  for (Holds *holds : matrixReads(space)) {
    const Hold *hold = holds->find(banks, t);
    if (hold != nullptr && hold->from <= t)
      return hold->until + 1;
  }
  return running_ ? run_.leaves(space, VectorRun::Access::Read, banks, t, holds_) : t;
}

// The first cycle from t on in which another unit reads these banks, as far as is known.
int64_t Estimator::portTaken(isa::Space space, BankMask banks, int64_t t) {
  int64_t taken = running_ ? run_.comes(space, banks, t, holds_) : never;
  for (Holds *holds : matrixReads(space))
    if (const Hold *hold = holds->find(banks, t))
      taken = std::min(taken, hold->from);
  return taken;
}

void Estimator::load(Loader &loader, int64_t t) {
  if (loader.from > t)
    return wake(loader.issuer, loader.from);
  if (loader.issuing)
    return request(loader, t);
  UnitState &state = unit(loader.issuer);
  state.ends.popBelow(t);
  if (state.queue.empty())
    return;
  const size_t index = state.queue.front().index;
  const bool set = plan(index).steps.empty();
  if (!set && static_cast<int64_t>(state.ends.size()) >= times_.loadInflight) {
    if (state.ends.front() != never) // else its end wakes
      wake(loader.issuer, state.ends.front() + 1);
    return;
  }
  if (!begin(loader.issuer, t))
    return;
  if (set) {
    finish(index, t);
    return wake(loader.issuer, t + 1);
  }
  loader.from = t + timing::startedToMoved;
  wake(loader.issuer, loader.from);
  loader.runs = runs(state, index);
  if (loader.runs.isFill() || loader.runs.done()) {
    int64_t cycles = 0;
    const BankMask banks = loader.runs.done()
                               ? 0
                               : banks_[static_cast<size_t>(loader.runs.space())].mask(
                                     loader.runs.localLow(), loader.runs.localHigh());
    for (; !loader.runs.done(); loader.runs.next())
      cycles += pieces(loader.runs, loader.runs.elements());
    Arrival fill;
    fill.index = index;
    loader.from = t + 2; // nothing is requested
    wake(loader.issuer, loader.from);
    fill.arrived = t + 1;
    fill.pieces = std::max<int64_t>(cycles, 1);
    fill.space = loader.runs.space();
    fill.banks = banks;
    fill.isLast = true;
    return arrive(loader, fill);
  }
  loader.issuing = true;
  loader.issuingIndex = index;
  loader.at = loader.runs.dram();
}

// Requests one burst of the load at hand.
void Estimator::request(Loader &loader, int64_t t) {
  if (addressAt_ == t)
    return wake(loader.issuer, t + 1);
  loader.landing.popBelow(t);
  if (static_cast<int64_t>(loader.landing.size()) + loader.undrainedBursts >= times_.loadBuffers) {
    if (!loader.landing.empty()) // else a drained one wakes
      wake(loader.issuer, loader.landing.front() + 1);
    return;
  }
  const uint64_t begin = loader.runs.dram(), size = static_cast<uint64_t>(loader.runs.dramBytes());
  const uint64_t stop = begin + static_cast<uint64_t>(loader.runs.elements()) * size;
  const timing::Cut burst = timing::cut(loader.at, stop, times_.burstBytes);
  loader.at += static_cast<uint64_t>(burst.bytes);
  moved_ += burst.bytes;
  addressAt_ = t;
  const int64_t arrived = dram_.read(t, burst.begin, burst.bytes);
  const timing::Elements own = timing::ownedByLoad(loader.runs, burst);
  Arrival arrival;
  arrival.index = loader.issuingIndex;
  arrival.arrived = arrived + timing::landedToDrained - 1;
  arrival.pieces = pieces(loader.runs, own.count());
  arrival.space = loader.runs.space();
  arrival.banks = banksOf(loader.runs, own);
  arrival.isBurst = true;
  if (loader.at == stop) {
    loader.runs.next();
    loader.at = loader.runs.dram();
    arrival.isLast = loader.runs.done();
    loader.issuing = !arrival.isLast;
  }
  arrive(loader, arrival);
  wake(loader.issuer, t + 1);
}

void Estimator::arrive(Loader &loader, const Arrival &arrival) {
  if (arrival.isLast)
    unit(loader.issuer).ends.push_back(never);
  loader.undrainedBursts += arrival.isBurst ? 1 : 0;
  loader.undrained.push_back(arrival);
  wake(loader.drainer, std::max(loader.undrained.front().arrived, loader.drained) + 1);
}

void Estimator::drain(Loader &loader, int64_t t) {
  if (loader.undrained.empty())
    return;
  Arrival &arrival = loader.undrained.front();
  if (const int64_t first = std::max(arrival.arrived, loader.drained) + 1; first > t)
    return wake(loader.drainer, first);
  if (const int64_t free = vectorWrites(arrival, t); free > t)
    return wake(loader.drainer, free);
  int64_t step = arrival.banks == 0 ? arrival.pieces : std::min(arrival.pieces, drainStep);
  if (const Hold *sums = sumsWritten(arrival, t)) {
    if (sums->from <= t)
      return wake(loader.drainer, sums->until + 1);
    step = std::min(step, sums->from - t);
  }
  arrival.pieces -= step;
  loader.drained =
      (running_ ? run_.writeBetween(arrival.space, arrival.banks, t, step, holds_) : t + step) - 1;
  if (arrival.pieces == 0) {
    drained(loader);
    wake(loader.issuer, loader.drained + 1);
  }
  if (!loader.undrained.empty())
    wake(loader.drainer, std::max(loader.undrained.front().arrived, loader.drained) + 1);
}

// The oldest burst, or fill, has its last piece in cycle loader.drained.
void Estimator::drained(Loader &loader) {
  const Arrival arrival = loader.undrained.front();
  loader.undrained.pop_front();
  if (arrival.isBurst) {
    --loader.undrainedBursts;
    loader.landing.push_back(loader.drained);
  }
  if (arrival.isLast) {
    end(loader.issuer, arrival.index, loader.drained + timing::doneToEnded);
    unit(loader.issuer).ends.replace(never, loader.drained);
  }
}

void Estimator::gather(int64_t t) {
  UnitState &state = unit(Gather);
  if (const int64_t from = std::max(state.free, gatherFrom_); from > t)
    return wake(Gather, from);
  if (!gathering_ && piecesLeft_ == 0) {
    state.ends.popBelow(t);
    if (state.queue.empty())
      return;
    const size_t index = state.queue.front().index;
    const bool set = plan(index).steps.empty();
    if (!set && static_cast<int64_t>(state.ends.size()) >= times_.storeInflight) {
      if (state.ends.front() != never)
        wake(Gather, state.ends.front() + 1);
      return;
    }
    if (!begin(Gather, t))
      return;
    if (set) {
      finish(index, t);
      return wake(Gather, t + 1);
    }
    gatherFrom_ = t + timing::startedToMoved;
    wake(Gather, gatherFrom_);
    storeRuns_ = runs(state, index);
    if (storeRuns_.done()) {
      gatherFrom_ = t + 2;
      wake(Gather, gatherFrom_);
      end(Gather, index, gatherFrom_);
      state.ends.push_back(state.lastEnd);
      return;
    }
    state.ends.push_back(never);
    gathering_ = true;
    gatheringIndex_ = index;
    storeAt_ = storeRuns_.dram();
    return;
  }
  if (piecesLeft_ == 0 && !beginBurst(t))
    return;
  const int64_t free = portFree(storeRuns_.space(), gathered_, t);
  if (free > t)
    return wake(Gather, free);
  const int64_t until = std::min(t + piecesLeft_, portTaken(storeRuns_.space(), gathered_, t));
  piecesLeft_ -= until - t;
  state.free = until;
  wake(Gather, until);
  if (piecesLeft_ != 0)
    return;
  waiting_.back().gathered = until - 1;
  if (sending_ < 0)
    prepareSending();
}

// What was to be gathered from cycle t on has to wait: another unit takes the port.
void Estimator::interrupt(int64_t t) {
  UnitState &state = unit(Gather);
  if (state.free <= t)
    return;
  if (piecesLeft_ == 0) {
    waiting_.back().gathered = never;
    if (waiting_.size() == 1)
      sending_ = -1;
  }
  piecesLeft_ += state.free - t;
  state.free = t;
  wake(Gather, t);
}

// The same, where one of these holds is new.
void Estimator::interrupt(isa::Space space, Holds &holds) {
  if (unit(Gather).free <= now_ || space != storeRuns_.space())
    return;
  if (const Hold *hold = holds.find(gathered_, now_))
    interrupt(std::max(hold->from, now_));
}

// Begins to gather the next burst of the store at hand, if there is a buffer.
bool Estimator::beginBurst(int64_t t) {
  while (!bufferFree_.empty() && bufferFree_.front() < t) {
    bufferFree_.pop_front();
    --buffersUsed_;
  }
  if (static_cast<int64_t>(buffersUsed_) >= times_.storeBuffers) {
    if (!bufferFree_.empty())
      wake(Gather, bufferFree_.front() + 1);
    return false;
  }
  const uint64_t begin = storeRuns_.dram(), size = static_cast<uint64_t>(storeRuns_.dramBytes());
  const uint64_t stop = begin + static_cast<uint64_t>(storeRuns_.elements()) * size;
  const timing::Cut burst = timing::cut(storeAt_, stop, times_.burstBytes);
  storeAt_ += static_cast<uint64_t>(burst.bytes);
  const timing::Elements own = timing::ownedByStore(storeRuns_, burst);
  gathered_ = banksOf(storeRuns_, own);
  piecesLeft_ = pieces(storeRuns_, own.count());
  ++buffersUsed_;
  if (storeAt_ == stop) {
    storeRuns_.next();
    storeAt_ = storeRuns_.dram();
    gathering_ = !storeRuns_.done();
  }
  waiting_.push_back({burst, never, gatheringIndex_, !gathering_});
  return true;
}

void Estimator::send(int64_t t) {
  if (sending_ < 0)
    return prepareSending();
  if (sending_ > t)
    return wake(Send, sending_);
  const Burst burst = waiting_.front();
  waiting_.pop_front();
  moved_ += burst.cut.bytes;
  const int64_t response = dram_.write(t, burst.cut.begin, burst.cut.bytes);
  responses_.push_back(response);
  bufferFree_.push_back(t);
  if (burst.last) {
    end(Gather, burst.index, response);
    unit(Gather).ends.replace(never, unit(Gather).lastEnd);
  }
  wake(Gather, t + 1);
  sent_ = t;
  sending_ = -1;
  prepareSending();
}

// Decides when the next burst is on its way, if it is gathered: nothing else can come between.
void Estimator::prepareSending() {
  if (waiting_.empty() || waiting_.front().gathered == never)
    return;
  int64_t first = std::max(waiting_.front().gathered + timing::gatheredToSent, sent_ + 1);
  while (static_cast<int64_t>(responses_.size()) >= times_.storeOutstanding) {
    first = std::max(first, responses_.front() + 1);
    responses_.pop_front();
  }
  const timing::Cut &cut = waiting_.front().cut;
  sending_ = first + dram_.beats(cut.begin, cut.bytes) - 1;
  wake(Send, sending_);
}

void Estimator::act(Actor actor, int64_t t) {
  switch (actor) {
  case Sequencer:
    return sequence(t);
  case Matrix:
    return matrix(t);
  case Vector:
    return vector(t);
  case Drain:
    return drain(load_, t);
  case Load:
    return load(load_, t);
  case SecondDrain:
    return drain(secondLoad_, t);
  case SecondLoad:
    return load(secondLoad_, t);
  case Send:
    return send(t);
  case Gather:
    return gather(t);
  case ActorCount:
    return;
  }
}

int64_t Estimator::run(int64_t enough) {
  while (!order_.atEnd()) {
    int64_t next = wake_[Sequencer];
    for (int64_t other : wake_) // without a branch
      next = std::min(next, other);
    const int64_t t = next >> actorBits;
    if (t == never)
      throw std::logic_error("the estimate waits for a signal that nobody gives");
    if (t >= enough)
      return t;
    const auto actor = static_cast<Actor>(next & ((1 << actorBits) - 1));
    wake_[actor] = event(actor, never);
    now_ = t;
    act(actor, t);
  }
  return halted_ + 1;
}

} // namespace

StreamTimes estimateTimes(const Stream &stream, const isa::Isa &isa,
                          const std::vector<timing::InstructionTiming> &plans,
                          uint64_t codeAddress) {
  Estimator estimator(stream, isa, plans, codeAddress, Estimator::Keep::Times);
  const int64_t cycles = estimator.run();
  StreamTimes times = estimator.takeTimes();
  times.cycles = cycles;
  return times;
}

ExecutedSpans estimateSpans(const Stream &stream, const isa::Isa &isa, uint64_t codeAddress) {
  const std::vector<timing::InstructionTiming> plans = timing::makeTimings(isa);
  Estimator estimator(stream, isa, plans, codeAddress, Estimator::Keep::Spans);
  const int64_t cycles = estimator.run();
  ExecutedSpans spans = estimator.takeSpans();
  spans.cycles = cycles;
  return spans;
}

int64_t estimateCycles(const Stream &stream, const isa::Isa &isa,
                       const std::vector<timing::InstructionTiming> &plans, uint64_t codeAddress,
                       int64_t enough, int64_t *moved) {
  Estimator estimator(stream, isa, plans, codeAddress, Estimator::Keep::Nothing);
  const int64_t cycles = estimator.run(enough);
  if (moved)
    *moved = estimator.moved();
  return cycles;
}

} // namespace tilewright

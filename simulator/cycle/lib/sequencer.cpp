#include "sequencer.h"

#include "tilewright/simulator/engine/fault.h"

#include <algorithm>

namespace tilewright::cycle {

// Without a trace a record lives until its instruction ends: no more are alive than queues and
// units hold.
static constexpr uint64_t liveRecords = 4096;

Sequencer::Sequencer(Shared &shared, const std::vector<timing::InstructionTiming> &timings,
                     std::vector<Queue *> queues, std::function<bool()> unitsIdle, bool trace)
    : shared_(shared), timings_(timings), queues_(std::move(queues)),
      unitsIdle_(std::move(unitsIdle)), trace_(trace), flow_(shared.isa, shared.program),
      fetchPc_(flow_.pc()), lineBytes_(shared.isa.timing().at("sequencer.fetch_bytes")),
      instructionBytes_(shared.isa.instructionBytes()),
      ahead_(shared.isa.timing().at("sequencer.ahead")),
      outstanding_(static_cast<size_t>(shared.isa.timing().at("sequencer.outstanding"))),
      decoded_(shared.isa), base_(static_cast<size_t>(shared.isa.param("base_registers"))) {
  arrivals_.resize(static_cast<size_t>(shared.isa.timing().at("sequencer.buffer") *
                                       instructionBytes_ / lineBytes_));
  records_.reserve(trace ? std::min<uint64_t>(flow_.instructions(), 1 << 23) : liveRecords);
}

void Sequencer::step(int64_t t) {
  if (!isDecoded_)
    flow_.checkPc();
  const uint64_t predicted = flow_.predictedAfter(fetchPc_); // before anything executes
  const bool isThere = this->isThere(t);
  fetch(t);
  const Activity activity = isDecoded_ ? execute(t) : Activity::stalled(Stall::Fetch, current());
  charge(activity, t, 1);
  decodeNext(isThere, predicted, activity.kind == Activity::Busy);
}

// What was decoded has executed or waits: the end of the cycle.
void Sequencer::decodeNext(bool isThere, uint64_t predicted, bool hasExecuted) {
  if (isDecoded_ && !hasExecuted)
    return;
  isDecoded_ = false;
  if (hasExecuted && (flow_.jumped() || flow_.pc() != fetchPc_)) {
    fetchPc_ = flow_.pc();
  } else if (isThere) {
    isDecoded_ = true;
    fetchPc_ = predicted;
  }
}

bool Sequencer::isThere(int64_t t) const {
  if (fetchPc_ >= flow_.instructions())
    return false;
  const int64_t line = lineOf(fetchPc_);
  return isHeld(line) && arrival(line) < t;
}

void Sequencer::charge(const Activity &activity, int64_t t, int64_t n) {
  account_.charge(activity, n);
  if (shared_.sink != nullptr)
    reportActivity(*shared_.sink, 0, activity, t, n);
}

int64_t Sequencer::lineOf(uint64_t pc) const {
  return static_cast<int64_t>(shared_.program.codeAddress +
                              pc * static_cast<uint64_t>(instructionBytes_)) /
         lineBytes_;
}

// That of the instruction which is decoded next, if the buffer holds others; else the one behind
// the last, as long as the prefetch reaches it and it leaves that line where it is.
int64_t Sequencer::lineToFetch() const {
  if (fetchPc_ >= flow_.instructions()) // behind a branch, or past the end
    return -1;
  const int64_t line = lineOf(fetchPc_);
  if (!isHeld(line))
    return line;
  const int64_t last =
      lineOf(std::min(fetchPc_ + static_cast<uint64_t>(ahead_), flow_.instructions() - 1));
  const bool fits = nextLine_ - line < static_cast<int64_t>(arrivals_.size());
  return nextLine_ <= last && fits ? nextLine_ : -1;
}

void Sequencer::forgetArrived(int64_t t) {
  while (!arriving_.empty() && arriving_.front() < t)
    arriving_.pop_front();
}

void Sequencer::fetch(int64_t t) {
  const int64_t line = lineToFetch();
  if (line < 0)
    return;
  forgetArrived(t);
  if (arriving_.size() >= outstanding_)
    return;
  if (line != nextLine_) // the buffer is emptied
    held_ = 0;
  held_ = std::min(held_ + 1, arrivals_.size());
  nextLine_ = line + 1;
  const uint64_t address = static_cast<uint64_t>(line * lineBytes_);
  arrival(line) = shared_.bus.read(t, address, lineBytes_).last;
  arriving_.push_back(arrival(line));
  shared_.readAddressUsed = true;
  if (shared_.sink != nullptr)
    shared_.sink->access({t, 0, noInstruction, isa::Space::Dram, false, address, lineBytes_});
  fetchBytes_ += static_cast<uint64_t>(lineBytes_);
}

InstructionRecord *Sequencer::current() {
  if (current_ != nullptr)
    return current_;
  if (records_.size() < records_.capacity()) {
    current_ = &records_.emplace_back();
  } else if (!trace_) {
    current_ = &records_[oldest_];
    oldest_ = (oldest_ + 1) % records_.size();
    *current_ = {};
  } else {
    flow_.checkTrace(records_.size() + more_.size());
    current_ = &more_.emplace_back();
  }
  current_->pc = flow_.pc();
  return current_;
}

std::vector<InstructionRecord> Sequencer::takeTrace() {
  records_.reserve(records_.size() + more_.size());
  for (; !more_.empty(); more_.pop_front()) // piece by piece: a long trace is not held twice
    records_.push_back(more_.front());
  return std::move(records_);
}

Activity Sequencer::execute(int64_t t) {
  const DecodeCache::Entry &entry = decoded_.at(flow_);
  if (!entry.reason.empty())
    fault(shared_.program, flow_.pc(), entry.reason);
  const isa::DecodedInstruction &decoded = entry.decoded;
  const timing::InstructionTiming &timing = timings_[static_cast<size_t>(decoded.instruction)];
  if (timing.instruction->control == isa::Control::None) {
    if (queues_[static_cast<size_t>(timing.unit->index)]->full())
      return Activity::stalled(Stall::QueueFull, current());
    dispatch(decoded, timing, t);
    return Activity::busy();
  }
  Activity activity;
  if (control(decoded, timing, t, activity))
    return Activity::busy();
  return activity;
}

void Sequencer::dispatch(const isa::DecodedInstruction &decoded,
                         const timing::InstructionTiming &timing, int64_t t) {
  staged_.decoded = decoded;
  staged_.timing = &timing;
  staged_.record = current();
  for (size_t i = 0; i < timing.instruction->operands.size(); ++i)
    if (timing.instruction->operands[i].kind == isa::Operand::Kind::Memory)
      staged_.addresses[i] = decoded.values[i] + base_[decoded.bases[i]];
  stagedUnit_ = timing.unit->index;
  dispatched_ = true;
  staged_.record->dispatch = t;
  ++instructions_;
  current_ = nullptr;
  flow_.advance(base_);
}

void Sequencer::next() {
  if (dispatched_)
    queues_[static_cast<size_t>(stagedUnit_)]->push(staged_);
  dispatched_ = false;
}

// False, with the cause, when it must wait.
bool Sequencer::control(const isa::DecodedInstruction &decoded,
                        const timing::InstructionTiming &timing, int64_t t, Activity &activity) {
  const isa::Instruction &instruction = *timing.instruction;
  const bool waitsForUnits =
      instruction.control == isa::Control::Fence || instruction.control == isa::Control::Halt;
  if (waitsForUnits && !unitsIdle_()) {
    activity = Activity::stalled(Stall::Dependence, current());
    return false;
  }
  if (!shared_.semaphores.canGrant(decoded.wait, decoded.signal)) {
    activity = Activity::stalled(Stall::Semaphore, current());
    return false;
  }
  shared_.semaphores.acquire(decoded.wait);
  shared_.semaphores.release(decoded.signal);
  InstructionRecord *executed = current();
  executed->dispatch = executed->start = executed->end = t;
  current_ = nullptr;
  ++instructions_;

  if (instruction.control == isa::Control::Halt)
    halted_ = true;
  else
    flow_.execute(decoded, base_);
  return true;
}

int64_t Sequencer::steadyCycles(int64_t t) {
  if (!isDecoded_ && fetchPc_ >= flow_.instructions())
    return 0;
  int64_t n = forever;
  if (lineToFetch() >= 0) {
    forgetArrived(t + 1);
    if (arriving_.size() < outstanding_)
      return 0;
    n = arriving_.front() - t;
  }
  if (!isDecoded_) {
    if (isThere(t + 1))
      return 0;
    steadyActivity_ = Activity::stalled(Stall::Fetch, current());
    const int64_t line = lineOf(fetchPc_);
    return isHeld(line) ? std::min(n, arrival(line) - t) : n;
  }
  const DecodeCache::Entry &entry = decoded_.at(flow_);
  if (!entry.reason.empty())
    return 0;
  const isa::DecodedInstruction &decoded = entry.decoded;
  const timing::InstructionTiming &timing = timings_[static_cast<size_t>(decoded.instruction)];
  if (timing.instruction->control == isa::Control::None) {
    if (!queues_[static_cast<size_t>(timing.unit->index)]->full())
      return 0;
    steadyActivity_ = Activity::stalled(Stall::QueueFull, current());
    return n;
  }
  const bool waitsForUnits = timing.instruction->control == isa::Control::Fence ||
                             timing.instruction->control == isa::Control::Halt;
  if (waitsForUnits && !unitsIdle_())
    steadyActivity_ = Activity::stalled(Stall::Dependence, current());
  else if (!shared_.semaphores.canGrant(decoded.wait, decoded.signal))
    steadyActivity_ = Activity::stalled(Stall::Semaphore, current());
  else
    return 0;
  return n;
}

isa::DecodedInstruction Sequencer::decode(uint64_t pc) const {
  isa::DecodedInstruction decoded;
  std::string reason;
  const auto *code = reinterpret_cast<const uint8_t *>(shared_.program.code.data());
  shared_.isa.decode(code + pc * static_cast<uint64_t>(instructionBytes_), decoded, reason);
  return decoded;
}

Unit::Blocked Sequencer::blocked() {
  Unit::Blocked result;
  if (current_ == nullptr || !isDecoded_)
    return result;
  result.record = current_;
  const DecodeCache::Entry &entry = decoded_.at(flow_);
  if (entry.reason.empty() &&
      timings_[static_cast<size_t>(entry.decoded.instruction)].instruction->control !=
          isa::Control::None) {
    result.wait = entry.decoded.wait;
    result.signal = entry.decoded.signal;
  }
  return result;
}

} // namespace tilewright::cycle

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
      lineBytes_(shared.isa.timing().at("sequencer.fetch_bytes")),
      instructionBytes_(shared.isa.instructionBytes()),
      ahead_(shared.isa.timing().at("sequencer.ahead")),
      outstanding_(static_cast<size_t>(shared.isa.timing().at("sequencer.outstanding"))),
      decoded_(shared.isa), base_(static_cast<size_t>(shared.isa.param("base_registers"))) {
  lines_.resize(static_cast<size_t>(shared.isa.timing().at("sequencer.buffer") * instructionBytes_ /
                                    lineBytes_));
  records_.reserve(trace ? std::min<uint64_t>(flow_.instructions(), 1 << 23) : liveRecords);
}

void Sequencer::step(int64_t t) {
  fetch(t);
  charge(execute(t), t, 1);
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

int64_t Sequencer::lineToFetch() const {
  for (int64_t line = firstWanted_; line <= lastWanted_; ++line)
    if (slot(line).number != line)
      return line;
  return -1;
}

void Sequencer::forgetArrived(int64_t t) {
  while (!arriving_.empty() && arriving_.front() < t)
    arriving_.pop_front();
}

// The last line that the instructions in reach of the prefetch stand in.
int64_t Sequencer::lastWanted() const {
  return lineOf(std::min(flow_.pc() + static_cast<uint64_t>(ahead_), flow_.instructions() - 1));
}

void Sequencer::fetch(int64_t t) {
  flow_.checkPc();
  const int64_t first = lineOf(flow_.pc()), last = lastWanted();
  if (first != firstWanted_ || last != lastWanted_) {
    firstWanted_ = first;
    lastWanted_ = last;
    toFetch_ = lineToFetch();
  }
  if (toFetch_ < 0)
    return;
  forgetArrived(t);
  Line &line = slot(toFetch_);
  if (arriving_.size() >= outstanding_ || line.last >= t)
    return;
  const uint64_t address = static_cast<uint64_t>(toFetch_ * lineBytes_);
  line.number = toFetch_;
  line.last = shared_.bus.read(t, address, lineBytes_).last;
  arriving_.push_back(line.last);
  shared_.readAddressUsed = true;
  if (shared_.sink != nullptr)
    shared_.sink->access({t, 0, noInstruction, isa::Space::Dram, false, address, lineBytes_});
  fetchBytes_ += static_cast<uint64_t>(lineBytes_);
  toFetch_ = lineToFetch();
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
    checkTraceLength(shared_.program, flow_.pc(), records_.size() + more_.size());
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
  const Line &line = slot(firstWanted_);
  if (line.number != firstWanted_ || line.last >= t)
    return Activity::stalled(Stall::Fetch, current());
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
  flow_.advance();
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
  if (!shared_.semaphores.canAcquire(decoded.wait) ||
      !shared_.semaphores.canRelease(decoded.signal)) {
    activity = Activity::stalled(Stall::Semaphore, current());
    return false;
  }
  const bool waitsForUnits =
      instruction.control == isa::Control::Fence || instruction.control == isa::Control::Halt;
  if (waitsForUnits && !unitsIdle_()) {
    activity = Activity::stalled(Stall::Dependence, current());
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
  if (flow_.pc() >= flow_.instructions() || lineOf(flow_.pc()) != firstWanted_ ||
      lastWanted() != lastWanted_)
    return 0;
  int64_t n = forever;
  if (toFetch_ >= 0) {
    forgetArrived(t + 1);
    if (arriving_.size() >= outstanding_)
      n = arriving_.front() - t;
    else if (slot(toFetch_).last > t)
      n = slot(toFetch_).last - t;
    else
      return 0;
  }
  const Line &line = slot(firstWanted_);
  if (line.number != firstWanted_ || line.last > t) {
    steadyActivity_ = Activity::stalled(Stall::Fetch, current());
    return line.number == firstWanted_ ? std::min(n, line.last - t) : n;
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
  if (!shared_.semaphores.canAcquire(decoded.wait) ||
      !shared_.semaphores.canRelease(decoded.signal)) {
    steadyActivity_ = Activity::stalled(Stall::Semaphore, current());
    return n;
  }
  const bool waitsForUnits = timing.instruction->control == isa::Control::Fence ||
                             timing.instruction->control == isa::Control::Halt;
  if (!waitsForUnits || unitsIdle_())
    return 0;
  steadyActivity_ = Activity::stalled(Stall::Dependence, current());
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
  if (current_ == nullptr)
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

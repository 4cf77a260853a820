#include "tilewright/simulator/engine/attribution.h"

#include <algorithm>

namespace tilewright {

std::vector<int> layerOfInstruction(const Program &program, const isa::Isa &isa) {
  std::vector<int> layers(program.code.size() / static_cast<size_t>(isa.instructionBytes()), -1);
  for (size_t i = 0; i < program.runs.size(); ++i) {
    size_t end = i + 1 < program.runs.size() ? program.runs[i + 1].firstInstruction : layers.size();
    std::fill(layers.begin() + static_cast<std::ptrdiff_t>(program.runs[i].firstInstruction),
              layers.begin() + static_cast<std::ptrdiff_t>(end), program.runs[i].layer);
  }
  return layers;
}

std::vector<int> unitOfInstruction(const Program &program, const isa::Isa &isa) {
  auto size = static_cast<size_t>(isa.instructionBytes());
  std::vector<int> units(program.code.size() / size, 0);
  for (size_t i = 0; i < units.size(); ++i) {
    isa::DecodedInstruction decoded;
    std::string reason;
    const auto *bits = reinterpret_cast<const uint8_t *>(program.code.data()) + i * size;
    if (isa.decode(bits, decoded, reason))
      units[i] = isa.instructions()[static_cast<size_t>(decoded.instruction)].unit;
  }
  return units;
}

ExecutedSpans spansOf(const RunRecord &record) {
  ExecutedSpans executed;
  executed.cycles = record.cycles;
  for (const InstructionRecord &each : record.trace)
    executed.spans.push_back({each.start, each.end, static_cast<uint32_t>(each.pc)});
  return executed;
}

namespace {

constexpr size_t noRecord = SIZE_MAX;

// What one unit executes, in time order and without overlap.
class Lane {
public:
  // `laneOf`: by instruction of the program.
  Lane(const ExecutedSpans &executed, const std::vector<int> &laneOf, int lane)
      : executed_(executed), laneOf_(laneOf), lane_(lane) {
    advance(0);
  }

  // The record of what covers `cycle`, or none. Cycles are asked in ascending order.
  size_t find(int64_t cycle) {
    while (record_ != noRecord && end_ <= cycle)
      advance(record_ + 1);
    return record_ != noRecord && begin_ <= cycle ? record_ : noRecord;
  }
  // The first cycle after `cycle` at which this lane changes.
  int64_t nextChange(int64_t cycle, int64_t none) const {
    if (record_ == noRecord)
      return none;
    return begin_ > cycle ? begin_ : end_;
  }

private:
  // To the first record from `from` on that adds something.
  void advance(size_t from) {
    for (; from < executed_.spans.size(); ++from) {
      const ExecutedSpans::Span &span = executed_.spans[from];
      if (span.pc >= laneOf_.size() || laneOf_[span.pc] != lane_)
        continue;
      const int64_t begin = std::max(span.start, end_);
      if (begin >= span.end)
        continue;
      record_ = from;
      begin_ = begin;
      end_ = span.end;
      return;
    }
    record_ = noRecord;
  }

  const ExecutedSpans &executed_;
  const std::vector<int> &laneOf_;
  int lane_;
  size_t record_ = noRecord;
  int64_t begin_ = 0, end_ = 0;
};

class Sweep {
public:
  Sweep(const Program &program, const ExecutedSpans &executed, const isa::Isa &isa)
      : executed_(executed), layers_(layerOfInstruction(program, isa)),
        lanes_(unitOfInstruction(program, isa)) {
    for (int &lane : lanes_)
      lane = laneOf(isa, lane);
  }

  // Calls work(interval) for intervals in order, without gaps; neighbors may be alike.
  template <typename Work> void run(Work work) {
    Lane matrix(executed_, lanes_, Matrix), vector(executed_, lanes_, Vector),
        load(executed_, lanes_, Load), second(executed_, lanes_, SecondLoad),
        store(executed_, lanes_, Store);
    for (int64_t now = 0; now < executed_.cycles;) {
      const size_t product = matrix.find(now), run = vector.find(now),
                   moved = std::min({load.find(now), second.find(now), store.find(now)});
      int64_t next = executed_.cycles;
      for (const Lane *lane : {&matrix, &vector, &load, &second, &store})
        next = std::min(next, lane->nextChange(now, next));
      size_t owner = product != noRecord ? product : run != noRecord ? run : moved;
      if (owner == noRecord)
        owner = oldestIncomplete(now, next);
      work(LayerInterval{now, next, layerOf(owner), product != noRecord, run != noRecord,
                         moved != noRecord});
      now = next;
    }
  }

private:
  enum { Nothing, Matrix, Vector, Load, SecondLoad, Store };

  static int laneOf(const isa::Isa &isa, int unit) {
    const isa::UnitTemplate kind = isa.units()[static_cast<size_t>(unit)].kind;
    switch (kind) {
    case isa::UnitTemplate::Matrix:
      return Matrix;
    case isa::UnitTemplate::Vector:
      return Vector;
    case isa::UnitTemplate::DmaLoad:
      return std::any_of(isa.units().begin(), isa.units().begin() + unit,
                         [&](const isa::Unit &other) { return other.kind == kind; })
                 ? SecondLoad
                 : Load;
    case isa::UnitTemplate::DmaStore:
      return Store;
    case isa::UnitTemplate::Sequencer:
      break;
    }
    return Nothing;
  }

  // The earliest instruction that is not complete at `cycle`; `next` shrinks to its end, where that
  // changes.
  size_t oldestIncomplete(int64_t cycle, int64_t &next) {
    while (oldest_ < executed_.spans.size() && executed_.spans[oldest_].end <= cycle)
      ++oldest_;
    if (oldest_ == executed_.spans.size())
      return noRecord;
    next = std::min(next, executed_.spans[oldest_].end);
    return oldest_;
  }

  int layerOf(size_t record) const {
    if (record == noRecord || executed_.spans[record].pc >= layers_.size())
      return -1;
    return layers_[executed_.spans[record].pc];
  }

  const ExecutedSpans &executed_;
  std::vector<int> layers_, lanes_; // by instruction of the program
  size_t oldest_ = 0;
};

void append(std::vector<LayerInterval> &intervals, const LayerInterval &next) {
  if (!intervals.empty()) {
    LayerInterval &last = intervals.back();
    bool same = last.layer == next.layer && last.matrixBusy == next.matrixBusy &&
                last.vectorBusy == next.vectorBusy && last.dramBusy == next.dramBusy;
    if (same) {
      last.end = next.end;
      return;
    }
  }
  intervals.push_back(next);
}

} // namespace

std::vector<LayerInterval> attributeCycles(const Program &program, const RunRecord &record,
                                           const isa::Isa &isa) {
  std::vector<LayerInterval> intervals;
  const ExecutedSpans executed = spansOf(record);
  Sweep(program, executed, isa).run([&](const LayerInterval &each) { append(intervals, each); });
  return intervals;
}

std::vector<int64_t> cyclesOfLayers(const Program &program, const ExecutedSpans &executed,
                                    const isa::Isa &isa) {
  std::vector<int64_t> cycles(program.layers.size(), 0);
  Sweep(program, executed, isa).run([&](const LayerInterval &each) {
    if (each.layer >= 0)
      cycles[static_cast<size_t>(each.layer)] += each.end - each.begin;
  });
  return cycles;
}

} // namespace tilewright

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

namespace {
// What one unit executes, in time order and without overlap.
struct Lane {
  struct Piece {
    int64_t begin, end;
    size_t record;
  };
  std::vector<Piece> pieces;
  size_t at = 0;

  void add(const InstructionRecord &instruction, size_t index) {
    int64_t begin = std::max(instruction.start, pieces.empty() ? 0 : pieces.back().end);
    if (begin < instruction.end)
      pieces.push_back({begin, instruction.end, index});
  }
  // The piece that covers `cycle`, or null. Cycles are asked in ascending order.
  const Piece *find(int64_t cycle) {
    while (at < pieces.size() && pieces[at].end <= cycle)
      ++at;
    return at < pieces.size() && pieces[at].begin <= cycle ? &pieces[at] : nullptr;
  }
  // The first cycle after `cycle` at which this lane changes.
  int64_t nextChange(int64_t cycle, int64_t none) const {
    if (at >= pieces.size())
      return none;
    return pieces[at].begin > cycle ? pieces[at].begin : pieces[at].end;
  }
};

constexpr size_t noRecord = SIZE_MAX;

class Sweep {
public:
  Sweep(const Program &program, const RunRecord &record, const isa::Isa &isa)
      : record_(record), layers_(layerOfInstruction(program, isa)) {
    std::vector<int> units = unitOfInstruction(program, isa);
    for (size_t i = 0; i < record.trace.size(); ++i) {
      const InstructionRecord &instruction = record.trace[i];
      if (instruction.pc >= units.size())
        continue;
      Lane *lane = laneOf(isa, units[instruction.pc]);
      if (lane)
        lane->add(instruction, i);
    }
  }

  std::vector<LayerInterval> run() {
    std::vector<LayerInterval> intervals;
    for (int64_t now = 0; now < record_.cycles;) {
      const Lane::Piece *matrix = matrix_.find(now), *vector = vector_.find(now);
      const Lane::Piece *load = load_.find(now), *second = secondLoad_.find(now),
                        *store = store_.find(now);
      int64_t next = record_.cycles;
      for (const Lane *lane : {&matrix_, &vector_, &load_, &secondLoad_, &store_})
        next = std::min(next, lane->nextChange(now, next));
      size_t owner =
          matrix   ? matrix->record
          : vector ? vector->record
                   : std::min({load ? load->record : noRecord, second ? second->record : noRecord,
                               store ? store->record : noRecord});
      if (owner == noRecord)
        owner = oldestIncomplete(now, next);
      append(intervals, {now, next, layerOf(owner), matrix != nullptr, vector != nullptr,
                         load || second || store});
      now = next;
    }
    return intervals;
  }

private:
  Lane *laneOf(const isa::Isa &isa, int unit) {
    const isa::UnitTemplate kind = isa.units()[static_cast<size_t>(unit)].kind;
    switch (kind) {
    case isa::UnitTemplate::Matrix:
      return &matrix_;
    case isa::UnitTemplate::Vector:
      return &vector_;
    case isa::UnitTemplate::DmaLoad:
      return std::any_of(isa.units().begin(), isa.units().begin() + unit,
                         [&](const isa::Unit &other) { return other.kind == kind; })
                 ? &secondLoad_
                 : &load_;
    case isa::UnitTemplate::DmaStore:
      return &store_;
    case isa::UnitTemplate::Sequencer:
      break;
    }
    return nullptr;
  }

  // The earliest instruction that is not complete at `cycle`; `next` shrinks to its end, where that
  // changes.
  size_t oldestIncomplete(int64_t cycle, int64_t &next) {
    while (oldest_ < record_.trace.size() && record_.trace[oldest_].end <= cycle)
      ++oldest_;
    if (oldest_ == record_.trace.size())
      return noRecord;
    next = std::min(next, record_.trace[oldest_].end);
    return oldest_;
  }

  int layerOf(size_t record) const {
    if (record == noRecord || record_.trace[record].pc >= layers_.size())
      return -1;
    return layers_[record_.trace[record].pc];
  }

  static void append(std::vector<LayerInterval> &intervals, const LayerInterval &next) {
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

  const RunRecord &record_;
  std::vector<int> layers_;
  Lane matrix_, vector_, load_, secondLoad_, store_;
  size_t oldest_ = 0;
};
} // namespace

std::vector<LayerInterval> attributeCycles(const Program &program, const RunRecord &record,
                                           const isa::Isa &isa) {
  return Sweep(program, record, isa).run();
}

std::vector<int64_t> cyclesOfLayers(const Program &program, const RunRecord &record,
                                    const isa::Isa &isa) {
  std::vector<int64_t> cycles(program.layers.size(), 0);
  for (const LayerInterval &interval : attributeCycles(program, record, isa))
    if (interval.layer >= 0)
      cycles[static_cast<size_t>(interval.layer)] += interval.end - interval.begin;
  return cycles;
}

} // namespace tilewright

#include "tilewright/compiler/hazards.h"

#include <algorithm>

namespace tilewright {

static bool isWeightLoad(const isa::Isa &isa, const isa::Instruction &instruction) {
  return isa.units()[static_cast<size_t>(instruction.unit)].kind == isa::UnitTemplate::Matrix &&
         std::none_of(instruction.steps.begin(), instruction.steps.end(),
                      [](const isa::Step &step) { return step.kind == isa::StepKind::Reduce; });
}

int laneCount(const isa::Isa &isa) { return 2 * static_cast<int>(isa.units().size()); }

int laneOf(const isa::Isa &isa, const isa::Instruction &instruction) {
  return instruction.unit +
         (isWeightLoad(isa, instruction) ? static_cast<int>(isa.units().size()) : 0);
}

int unitOfLane(const isa::Isa &isa, int lane) {
  return lane % static_cast<int>(isa.units().size());
}

// Makes `at` a boundary; returns the first mark that begins at or after it.
HazardTracker::Marks::iterator HazardTracker::split(Marks &marks, int64_t at) {
  auto next = marks.lower_bound(at);
  if (next == marks.begin() || (next != marks.end() && next->first == at))
    return next;
  auto before = std::prev(next);
  if (before->second.end <= at)
    return next;
  Mark tail = before->second;
  before->second.end = at;
  return marks.emplace_hint(next, at, std::move(tail));
}

// Joins neighbors in [begin, end) that were touched by the same: reads that slide over a tile would
// leave ever smaller marks.
void HazardTracker::merge(Marks &marks, int64_t begin, int64_t end) {
  auto at = marks.lower_bound(begin);
  while (at != marks.end() && at->first < end) {
    auto next = std::next(at);
    if (next == marks.end() || next->first >= end)
      return;
    if (at->second.end == next->first && at->second.writers == next->second.writers &&
        at->second.readers == next->second.readers) {
      at->second.end = next->second.end;
      marks.erase(next);
    } else {
      at = next;
    }
  }
}

LaneClock HazardTracker::visit(int lane, int64_t sequence,
                               const std::vector<MemoryAccess> &accesses) {
  LaneClock needed(lanes_, 0);
  auto join = [&](const LaneClock &clock) {
    for (int i = 0; i < lanes_; ++i)
      needed[i] = std::max(needed[i], clock[i]);
  };
  for (const MemoryAccess &access : accesses) {
    if (access.range.empty())
      continue;
    Marks &marks = spaces_[static_cast<int>(access.space)];
    for (auto at = split(marks, access.range.begin);
         at != marks.end() && at->first < access.range.end; ++at) {
      join(at->second.writers);
      if (access.write)
        join(at->second.readers);
    }
  }
  for (const MemoryAccess &access : accesses) {
    if (access.range.empty())
      continue;
    Marks &marks = spaces_[static_cast<int>(access.space)];
    auto at = split(marks, access.range.begin);
    auto last = split(marks, access.range.end);
    if (access.write) {
      // Later conflicts with what this write replaces follow from the edge to this write.
      marks.erase(at, last);
      Mark mark{access.range.end, LaneClock(lanes_, 0), LaneClock(lanes_, 0)};
      mark.writers[lane] = sequence;
      marks.emplace(access.range.begin, std::move(mark));
      continue;
    }
    int64_t covered = access.range.begin;
    auto addReader = [&](int64_t begin, int64_t end) {
      Mark mark{end, LaneClock(lanes_, 0), LaneClock(lanes_, 0)};
      mark.readers[lane] = sequence;
      marks.emplace(begin, std::move(mark));
    };
    for (; at != last; ++at) {
      if (covered < at->first)
        addReader(covered, at->first);
      at->second.readers[lane] = sequence;
      covered = at->second.end;
    }
    if (covered < access.range.end)
      addReader(covered, access.range.end);
    merge(marks, access.range.begin, access.range.end);
  }
  return needed;
}

void HazardTracker::clear() {
  for (Marks &marks : spaces_)
    marks.clear();
}

std::vector<MemoryAccess> memoryAccesses(const isa::Isa &isa, const isa::Word &word,
                                         const int64_t *registers, const int64_t *addresses) {
  const isa::Instruction &instruction = isa.instructions()[word.instruction];
  std::vector<isa::Range> ranges = isa::operandRanges(instruction, isa, word, registers, addresses);
  std::vector<MemoryAccess> accesses;
  for (const isa::Operand &operand : instruction.operands) {
    if (operand.kind != isa::Operand::Kind::Memory)
      continue;
    accesses.push_back({operand.space, ranges[operand.index], operand.access != isa::Access::Read});
  }
  return accesses;
}

} // namespace tilewright

#include "tilewright/compiler/hazards.h"

#include <algorithm>

namespace tilewright {

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

UnitClock HazardTracker::visit(int unit, int64_t sequence,
                               const std::vector<MemoryAccess> &accesses) {
  UnitClock needed(units_, 0);
  auto join = [&](const UnitClock &clock) {
    for (int i = 0; i < units_; ++i)
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
      Mark mark{access.range.end, UnitClock(units_, 0), UnitClock(units_, 0)};
      mark.writers[unit] = sequence;
      marks.emplace(access.range.begin, std::move(mark));
      continue;
    }
    int64_t covered = access.range.begin;
    auto addReader = [&](int64_t begin, int64_t end) {
      Mark mark{end, UnitClock(units_, 0), UnitClock(units_, 0)};
      mark.readers[unit] = sequence;
      marks.emplace(begin, std::move(mark));
    };
    for (; at != last; ++at) {
      if (covered < at->first)
        addReader(covered, at->first);
      at->second.readers[unit] = sequence;
      covered = at->second.end;
    }
    if (covered < access.range.end)
      addReader(covered, access.range.end);
  }
  needed[unit] = 0; // a unit keeps its own order
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

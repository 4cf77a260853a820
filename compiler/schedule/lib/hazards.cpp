#include "tilewright/compiler/hazards.h"

#include <algorithm>
#include <limits>

namespace tilewright {

static constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                         greatest = std::numeric_limits<int64_t>::max();

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

// Pages of 8 KiB on chip and of 256 KiB in DRAM hold a few tiles each.
static constexpr int pageBits(isa::Space space) { return space == isa::Space::Dram ? 18 : 13; }
// What lies beyond so many pages belongs to the last of them, what lies before the memory to the
// first: programs that were not made here may reach anywhere.
static constexpr int64_t maximumPages = 1024;

// Calls work(page, begin, end) for each page that an access touches. A page's own ends stand as
// `least` and `greatest`.
template <typename Work> void HazardTracker::forEachPage(const MemoryAccess &access, Work work) {
  if (access.range.empty())
    return;
  std::vector<Page> &pages = spaces_[static_cast<size_t>(access.space)];
  auto pageOf = [&](int64_t at) {
    return std::clamp<int64_t>(at >> pageBits(access.space), 0, maximumPages - 1);
  };
  const auto [begin, end] = access.range;
  const int64_t first = pageOf(begin), last = pageOf(end - 1);
  const bool fromStart = pageOf(begin - 1) != first, toEnd = pageOf(end) != last;
  if (static_cast<int64_t>(pages.size()) <= last)
    pages.resize(static_cast<size_t>(last) + 1);
  for (int64_t i = first; i <= last; ++i)
    work(pages[static_cast<size_t>(i)], i == first && !fromStart ? begin : least,
         i == last && !toEnd ? end : greatest);
}

// Makes `at` a boundary; returns the first segment that begins there.
size_t HazardTracker::split(Page &page, int64_t at) {
  if (at == greatest)
    return page.size();
  const auto next =
      std::lower_bound(page.begin(), page.end(), at, [](const Segment &segment, int64_t address) {
        return segment.begin < address;
      });
  const auto index = static_cast<size_t>(next - page.begin());
  if (next != page.end() && next->begin == at)
    return index;
  Segment tail = *(next - 1);
  tail.begin = at;
  page.insert(next, tail);
  return index;
}

void HazardTracker::write(Page &page, int64_t begin, int64_t end, int lane, int32_t sequence) {
  const size_t first = split(page, begin), last = split(page, end);
  // Later conflicts with what this write replaces follow from the edge to this write.
  page[first] = {page[first].begin, sequence, lane, {}};
  page.erase(page.begin() + static_cast<std::ptrdiff_t>(first) + 1,
             page.begin() + static_cast<std::ptrdiff_t>(last));
}

void HazardTracker::read(Page &page, int64_t begin, int64_t end, int lane, int32_t sequence) {
  const size_t first = split(page, begin), last = split(page, end);
  // Joins neighbors that were touched by the same: reads that slide over a tile would leave ever
  // smaller segments.
  size_t kept = first;
  for (size_t i = first; i < last; ++i) {
    page[i].readers[static_cast<size_t>(lane)] = sequence;
    if (i == first || page[i].isTouchedAs(page[kept]))
      continue;
    if (++kept != i)
      page[kept] = page[i];
  }
  page.erase(page.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
             page.begin() + static_cast<std::ptrdiff_t>(last));
}

LaneClock HazardTracker::visit(int lane, int32_t sequence, const MemoryAccesses &accesses) {
  std::array<int32_t, maximumLanes> needed{};
  for (const MemoryAccess &access : accesses)
    forEachPage(access, [&](const Page &page, int64_t begin, int64_t end) {
      auto segment = std::upper_bound(
          page.begin(), page.end(), begin,
          [](int64_t address, const Segment &each) { return address < each.begin; });
      if (segment != page.begin())
        --segment;
      for (; segment != page.end() && segment->begin < end; ++segment) {
        int32_t &writer = needed[static_cast<size_t>(segment->writer)];
        writer = std::max(writer, segment->written);
        if (access.write)
          for (size_t i = 0; i < maximumLanes; ++i)
            needed[i] = std::max(needed[i], segment->readers[i]);
      }
    });
  for (const MemoryAccess &access : accesses)
    forEachPage(access, [&](Page &page, int64_t begin, int64_t end) {
      if (page.empty())
        page.push_back({least, 0, 0, {}});
      (access.write ? write : read)(page, begin, end, lane, sequence);
    });
  LaneClock result;
  result.assign(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(lanes_));
  return result;
}

void HazardTracker::clear() {
  for (std::vector<Page> &pages : spaces_)
    for (Page &page : pages)
      page.clear();
}

MemoryAccesses memoryAccesses(const isa::Isa &isa, const isa::Word &word, const int64_t *registers,
                              const int64_t *addresses) {
  const isa::Instruction &instruction = isa.instructions()[static_cast<size_t>(word.instruction)];
  std::array<isa::Range, isa::maximumOperands> ranges;
  isa::operandRanges(instruction, isa, word, registers, addresses, ranges.data());
  MemoryAccesses accesses;
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory)
      accesses.push_back({operand.space, ranges[static_cast<size_t>(operand.index)],
                          operand.access != isa::Access::Read});
  return accesses;
}

} // namespace tilewright

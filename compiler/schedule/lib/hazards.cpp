#include "tilewright/compiler/schedule/hazards.h"

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

// Pages of 16 KiB on chip and of 256 KiB in DRAM hold a few tiles each.
static constexpr int pageBits(isa::Space space) { return space == isa::Space::Dram ? 18 : 14; }
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

// The segment that holds a byte. Without branches: nobody foretells where accesses begin.
size_t HazardTracker::segmentAt(const Page &page, int64_t at) {
  const Segment *first = page.data();
  for (size_t count = page.size(); count > 1;) {
    const size_t half = count / 2;
    first += first[half].begin <= at ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(first - page.data());
}

// Enters whom an access of the bytes from those of segment `first` up to `end` waits for; the first
// segment beyond them.
size_t HazardTracker::collect(const Page &page, size_t first, int64_t end, bool isWrite,
                              Sequences &needed) {
  size_t i = first;
  for (; i < page.size() && page[i].begin < end; ++i) {
    const Segment &segment = page[i];
    int32_t &writer = needed[static_cast<size_t>(segment.writer)];
    writer = std::max(writer, segment.written);
    if (isWrite)
      for (size_t lane = 0; lane < maximumLanes; ++lane)
        needed[lane] = std::max(needed[lane], segment.readers[lane]);
  }
  return i;
}

// Makes room for `wanted` segments where there are `count`.
static void resizeAt(std::vector<HazardTracker::Segment> &page, size_t at, size_t count,
                     size_t wanted) {
  const auto place = page.begin() + static_cast<std::ptrdiff_t>(at);
  if (count < wanted)
    page.insert(place, wanted - count, {});
  else
    page.erase(place, place + static_cast<std::ptrdiff_t>(count - wanted));
}

// Segments [first, last) are those that [begin, end) touches.
void HazardTracker::write(Page &page, size_t first, size_t last, int64_t begin, int64_t end,
                          const Segment &written) {
  first += page[first].begin < begin ? 1 : 0;
  const bool hasTail = end < (last < page.size() ? page[last].begin : greatest);
  Segment tail = page[last - 1];
  tail.begin = end;
  resizeAt(page, first, last - first, hasTail ? 2 : 1);
  // Later conflicts with what this write replaces follow from the edge to this write.
  page[first] = written;
  page[first].begin = begin;
  if (hasTail)
    page[first + 1] = tail;
}

void HazardTracker::read(Page &page, size_t first, size_t last, int64_t begin, int64_t end,
                         int lane, int32_t sequence) {
  const bool hasTail = end < (last < page.size() ? page[last].begin : greatest);
  if (last - first == 1 && page[first].begin == begin && !hasTail) { // as it was before
    page[first].readers[static_cast<size_t>(lane)] = sequence;
    return;
  }
  Segment tail = page[last - 1];
  tail.begin = end;
  if (page[first].begin < begin) {
    page.insert(page.begin() + static_cast<std::ptrdiff_t>(first), page[first]);
    page[++first].begin = begin;
    ++last;
  }
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
  if (const size_t next = kept + 1; hasTail || next != last)
    resizeAt(page, next, last - next, hasTail ? 1 : 0);
  if (hasTail)
    page[kept + 1] = tail;
}

// Whether no access touches what another one does: each may then be entered before the next is
// looked at.
static bool areApart(const MemoryAccesses &accesses) {
  for (size_t i = 1; i < accesses.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (const MemoryAccess &a = accesses[i], &b = accesses[j];
          a.space == b.space && a.range.begin < b.range.end && b.range.begin < a.range.end)
        return false;
  return true;
}

LaneClock HazardTracker::visit(int lane, int32_t sequence, const MemoryAccesses &accesses) {
  Sequences needed{};
  const bool isOnce = areApart(accesses);
  auto visitPages = [&](const MemoryAccess &access, bool collects, bool enters) {
    forEachPage(access, [&](Page &page, int64_t begin, int64_t end) {
      if (page.empty())
        page.push_back({least, 0, 0, {}});
      const size_t first = segmentAt(page, begin);
      Sequences unused{};
      const size_t last =
          collect(page, first, end, collects && access.write, collects ? needed : unused);
      if (enters && access.write)
        write(page, first, last, begin, end, {begin, sequence, lane, {}});
      else if (enters)
        read(page, first, last, begin, end, lane, sequence);
    });
  };
  for (const MemoryAccess &access : accesses)
    visitPages(access, true, isOnce);
  if (!isOnce)
    for (const MemoryAccess &access : accesses)
      visitPages(access, false, true);
  LaneClock result;
  result.assign(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(lanes_));
  return result;
}

void HazardTracker::clear() {
  for (std::vector<Page> &pages : spaces_)
    for (Page &page : pages)
      page.clear();
}

AccessFinder::AccessFinder(const isa::Isa &isa) : isa_(isa), forms_(isa.instructions().size()) {}

AccessFinder::Form &AccessFinder::formOf(int instruction) {
  Form &form = forms_[static_cast<size_t>(instruction)];
  if (form.isKnown)
    return form;
  form.isKnown = true;
  for (const isa::Operand &operand :
       isa_.instructions()[static_cast<size_t>(instruction)].operands) {
    const bool isMemory = operand.kind == isa::Operand::Kind::Memory;
    form.decides.push_back(isMemory ? 0 : -1);
    if (isMemory)
      form.memories.push_back({static_cast<size_t>(operand.index),
                               isa_.memory(operand.space).addressBytes, operand.space,
                               operand.access != isa::Access::Read});
  }
  if (!form.memories.empty())
    form.found.resize(size_t(1) << foundBits);
  return form;
}

// What was found for these values and registers, or is found now, with all addresses 0.
const AccessFinder::Found &AccessFinder::find(Form &form, const isa::DecodedInstruction &decoded,
                                              const std::vector<int64_t> &registers) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;
  uint64_t hash = 0;
  Values values;
  values.resize(decoded.values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = decoded.values[i] & form.decides[i];
    hash = (hash ^ static_cast<uint64_t>(values[i])) * odd;
  }
  Found &found = form.found[hash >> (64 - foundBits)];
  if (found.isKnown && found.values == values && found.registers == registers)
    return found;
  found.isKnown = true;
  found.values = values;
  found.registers = registers;
  isa::DecodedInstruction still = decoded;
  still.values = values;
  std::array<isa::Range, isa::limits::operands.count()> ranges;
  isa::operandRanges(isa_.instructions()[static_cast<size_t>(decoded.instruction)], isa_, still,
                     registers.data(), values.data(), ranges.data());
  found.ranges.clear();
  for (const Memory &memory : form.memories)
    found.ranges.push_back(ranges[memory.operand]);
  return found;
}

MemoryAccesses AccessFinder::of(const isa::DecodedInstruction &decoded,
                                const std::vector<int64_t> &registers) {
  MemoryAccesses accesses;
  Form &form = formOf(decoded.instruction);
  if (form.memories.empty())
    return accesses;
  const Found &found = find(form, decoded, registers);
  for (size_t i = 0; i < form.memories.size(); ++i) {
    const Memory &memory = form.memories[i];
    const int64_t address = decoded.values[memory.operand] * memory.addressBytes;
    isa::Range range = found.ranges[i];
    if (!range.empty())
      range = {range.begin + address, range.end + address};
    accesses.push_back({memory.space, range, memory.write});
  }
  return accesses;
}

} // namespace tilewright

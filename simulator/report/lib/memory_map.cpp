// What lives in the memories over time, as far as instructions tell: no plan of the compiler is
// asked.
//
// 1. A memory is cut into blocks (64 bytes, or 1/4096 of it). A block is written, read, and at some
//    time written anew: from the first write to the last read it holds one thing.
// 2. A write begins a new thing when the block was read since its last write, when it was updated
// by
//    another layer, or when what is put there comes from elsewhere.
// 3. Neighbors that begin and end nearly together are one live range.
// 4. Constants and inputs stand in DRAM from the beginning; outputs stay until the end.
// 5. Too many live ranges are thinned out: by turns, those of one layer that follow each other in
// the same place are joined over longer gaps, and addresses are widened to larger granules.
#include "drawings.h"
#include "tilewright/simulator/engine/attribution.h"
#include "touches.h"

#include <algorithm>
#include <tuple>

namespace tilewright::report {

const char *name(Content content) {
  switch (content) {
  case Content::Constant:
    return "constant";
  case Content::Loaded:
    return "loaded";
  case Content::Computed:
    return "computed";
  case Content::Input:
    return "input";
  case Content::Count:
    break;
  }
  return "";
}

namespace {

constexpr int64_t blocksOfAMemory = 4096;
constexpr int64_t leastBlock = 64;
constexpr int64_t momentsOfARun = 2000; // births and ends less than one apart are the same
constexpr size_t mostResidents = 10000; // of one memory

class Occupancy {
public:
  Occupancy(std::string name, int64_t bytes, int64_t cycles)
      : blockBytes_(std::max(leastBlock, (bytes + blocksOfAMemory - 1) / blocksOfAMemory)),
        moment_(std::max<int64_t>(1, cycles / momentsOfARun)),
        blocks_(static_cast<size_t>((bytes + blockBytes_ - 1) / blockBytes_)) {
    space_.name = std::move(name);
    space_.bytes = bytes;
  }

  // What stands there from the beginning.
  void preset(int64_t begin, int64_t end, Content content) {
    forEach(begin, end, [&](Block &block) { block = {true, false, 0, 0, -1, content}; });
  }

  void read(isa::Range range, int64_t end) {
    forEach(range.begin, range.end, [&](Block &block) {
      block.isRead = true;
      block.stop = std::max(block.stop, end);
    });
  }

  void write(isa::Range range, bool isUpdate, int64_t start, int64_t end, int layer,
             Content content) {
    auto isNew = [&](const Block &block) {
      const bool isSame = block.layer == layer && block.content == content;
      return !block.isUsed || !isSame || (block.isRead && !isUpdate);
    };
    closeWhere(range.begin, range.end, isNew);
    forEach(range.begin, range.end, [&](Block &block) {
      if (!block.isUsed)
        block = {true, false, start, end, layer, content};
      block.stop = std::max(block.stop, end);
    });
  }

  // What was put there in the run stays until its end.
  void keep(int64_t begin, int64_t end, int64_t cycles) { read({begin, end}, cycles); }

  MemorySpace finish(int64_t cycles) {
    closeWhere(0, space_.bytes, [](const Block &) { return true; });
    space_.resolution = moment_;
    space_.granule = blockBytes_;
    thinOut(space_, cycles, mostResidents);
    return std::move(space_);
  }

private:
  struct Block {
    bool isUsed = false, isRead = false;
    int64_t start = 0, stop = 0;
    int layer = -1;
    Content content = Content::Loaded;
  };

  template <typename Visit> void forEach(int64_t begin, int64_t end, const Visit &visit) {
    for (int64_t at = begin / blockBytes_; at * blockBytes_ < end; ++at)
      visit(blocks_[static_cast<size_t>(at)]);
  }

  bool isAlike(const Block &a, const Block &b) const {
    return a.layer == b.layer && a.content == b.content && std::abs(a.start - b.start) < moment_ &&
           std::abs(a.stop - b.stop) < moment_;
  }

  template <typename Chosen> void closeWhere(int64_t begin, int64_t end, const Chosen &chosen) {
    const Block *last = nullptr; // closed, right before
    Block previous;
    int64_t index = begin / blockBytes_;
    forEach(begin, end, [&](Block &block) {
      const bool closes = block.isUsed && chosen(block);
      // Constants that nobody read are of no use to a reader of the map either.
      const bool counts = closes && block.stop > block.start;
      if (counts && last && isAlike(previous, block))
        space_.liveRanges.back().end = std::min(space_.bytes, (index + 1) * blockBytes_);
      else if (counts)
        space_.liveRanges.push_back({index * blockBytes_,
                                     std::min(space_.bytes, (index + 1) * blockBytes_), block.start,
                                     block.stop, block.layer, block.content});
      previous = block;
      last = counts ? &previous : nullptr;
      if (closes)
        block = Block();
      ++index;
    });
  }

  MemorySpace space_;
  int64_t blockBytes_, moment_;
  std::vector<Block> blocks_;
};

// Those that stand in the same place one after the other become one; so do those of which one lies
// inside the other.
void join(std::vector<LiveRange> &liveRanges, int64_t gap) {
  auto place = [](const LiveRange &each) {
    return std::make_tuple(each.layer, each.content, each.begin, each.end, each.start, each.stop);
  };
  std::sort(liveRanges.begin(), liveRanges.end(),
            [&](const LiveRange &a, const LiveRange &b) { return place(a) < place(b); });
  size_t kept = 0;
  for (const LiveRange &next : liveRanges) {
    LiveRange *last = kept > 0 ? &liveRanges[kept - 1] : nullptr;
    if (last && last->layer == next.layer && last->content == next.content &&
        last->begin == next.begin && last->end == next.end && next.start - last->stop <= gap)
      last->stop = std::max(last->stop, next.stop);
    else
      liveRanges[kept++] = next;
  }
  liveRanges.resize(kept);
}

} // namespace

void thinOut(MemorySpace &space, int64_t cycles, size_t most) {
  for (bool isGapsTurn = true; space.liveRanges.size() > most; isGapsTurn = !isGapsTurn) {
    int64_t &coarser = isGapsTurn ? space.resolution : space.granule;
    coarser = std::min(std::max<int64_t>(1, coarser * 2),
                       std::max<int64_t>(1, isGapsTurn ? cycles : space.bytes));
    for (LiveRange &each : space.liveRanges) {
      each.begin = each.begin / space.granule * space.granule;
      each.end =
          std::min(space.bytes, (each.end + space.granule - 1) / space.granule * space.granule);
    }
    join(space.liveRanges, space.resolution);
    if (space.resolution >= cycles && space.granule >= space.bytes)
      break; // one a layer and kind is left
  }
  std::sort(space.liveRanges.begin(), space.liveRanges.end(),
            [](const LiveRange &a, const LiveRange &b) {
              return std::tie(a.start, a.begin, a.layer) < std::tie(b.start, b.begin, b.layer);
            });
}

MemoryMap makeMemoryMap(const Program &program, const RunRecord &record, const isa::Isa &isa,
                        const std::vector<int> &rows) {
  MemoryMap map;
  std::vector<Occupancy> memories;
  for (isa::Space space : {isa::Space::Dram, isa::Space::Spad, isa::Space::Acc}) {
    const isa::Memory &memory = isa.memory(space);
    const uint64_t bytes = space == isa::Space::Dram ? program.dramBytes : memory.bytes;
    memories.emplace_back(memory.name, static_cast<int64_t>(bytes), record.cycles);
  }
  Occupancy &dram = memories[0];
  for (const Segment &segment : program.data)
    dram.preset(static_cast<int64_t>(segment.address),
                static_cast<int64_t>(segment.address + segment.bytes.size()), Content::Constant);
  auto placed = [](const TensorInfo &tensor) {
    const auto begin = static_cast<int64_t>(tensor.address);
    return PlacedTensor{tensor.name, begin, begin + bytesOf(tensor)};
  };
  for (const TensorInfo &input : program.inputs) {
    map.tensors.push_back(placed(input));
    dram.preset(map.tensors.back().begin, map.tensors.back().end, Content::Input);
  }

  TouchReader reader(program, isa);
  const std::vector<int> layers = layerOfInstruction(program, isa);
  auto isConstant = [&](int64_t address) {
    return std::any_of(program.data.begin(), program.data.end(), [&](const Segment &segment) {
      const auto begin = static_cast<int64_t>(segment.address);
      return address >= begin && address < begin + static_cast<int64_t>(segment.bytes.size());
    });
  };
  for (const InstructionRecord &instruction : record.trace) {
    const std::vector<Touch> &touches = reader.next(instruction);
    if (instruction.end <= 0 || touches.empty())
      continue;
    const int number = layers[instruction.pc];
    const int layer = number < 0 ? -1 : rows[static_cast<size_t>(number)];
    const int64_t end = instruction.end + 1;
    Content content = Content::Computed;
    for (const Touch &touch : touches)
      if (touch.space == isa::Space::Dram && touch.access == isa::Access::Read)
        content = isConstant(touch.range.begin) ? Content::Constant : Content::Loaded;
    for (const Touch &touch : touches)
      if (touch.access != isa::Access::Write)
        memories[static_cast<size_t>(touch.space)].read(touch.range, end);
    for (const Touch &touch : touches)
      if (touch.access != isa::Access::Read)
        memories[static_cast<size_t>(touch.space)].write(touch.range,
                                                         touch.access == isa::Access::Update,
                                                         instruction.start, end, layer, content);
  }
  for (const TensorInfo &output : program.outputs) {
    map.tensors.push_back(placed(output));
    dram.keep(map.tensors.back().begin, map.tensors.back().end, record.cycles);
  }
  for (Occupancy &memory : memories)
    map.spaces.push_back(memory.finish(record.cycles));
  return map;
}

} // namespace tilewright::report

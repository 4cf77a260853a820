#include "tilewright/compiler/schedule/bank_places.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tilewright {

namespace {

constexpr int sweeps = 10;  // at most
constexpr double least = 1; // cycles that are worth a move
constexpr size_t nobody = SIZE_MAX;

// Buffers on the same bytes.
struct Block {
  int64_t begin, end;
  std::vector<size_t> buffers;
  int64_t bytes() const { return end - begin; }
};

class Mover {
public:
  Mover(const BankedMemory &memory, const std::vector<BankConflict> &conflicts,
        std::vector<PlacedBuffer> &buffers)
      : memory_(memory), buffers_(buffers) {
    makeBlocks();
    std::vector<size_t> blockOf(buffers.size());
    for (size_t i = 0; i < blocks_.size(); ++i)
      for (size_t buffer : blocks_[i].buffers)
        blockOf[buffer] = i;
    std::map<std::pair<size_t, size_t>, double> cycles;
    for (const BankConflict &each : conflicts)
      if (const size_t a = blockOf[each.first], b = blockOf[each.second]; a != b)
        cycles[std::minmax(a, b)] += each.cycles;
    conflicts_.resize(blocks_.size());
    for (const auto &[pair, count] : cycles) {
      conflicts_[pair.first].push_back({pair.second, count});
      conflicts_[pair.second].push_back({pair.first, count});
    }
  }

  bool run() {
    bool hasMoved = false;
    for (int i = 0; i < sweeps && sweep(); ++i)
      hasMoved = true;
    return hasMoved;
  }

private:
  struct Conflict {
    size_t other; // block
    double cycles;
  };

  int64_t alignedUp(int64_t address) const {
    return (address + memory_.alignment - 1) / memory_.alignment * memory_.alignment;
  }
  int64_t bankOf(int64_t address) const { return address / memory_.bankBytes; }
  bool straddles(int64_t address, int64_t bytes) const {
    return bytes <= memory_.bankBytes && bankOf(address) != bankOf(address + bytes - 1);
  }

  void makeBlocks() {
    std::vector<size_t> byAddress(buffers_.size());
    std::iota(byAddress.begin(), byAddress.end(), 0);
    std::sort(byAddress.begin(), byAddress.end(), [&](size_t a, size_t b) {
      return std::make_pair(buffers_[a].address, a) < std::make_pair(buffers_[b].address, b);
    });
    for (size_t i : byAddress) {
      const auto [address, bytes] = buffers_[i];
      if (blocks_.empty() || address >= blocks_.back().end)
        blocks_.push_back({address, address, {}});
      Block &block = blocks_.back();
      block.end = std::max(block.end, address + alignedUp(std::max<int64_t>(bytes, 1)));
      block.buffers.push_back(i);
    }
  }

  // Of all that two ranges have to do, the part in common banks.
  double shared(int64_t a, int64_t bytesA, int64_t b, int64_t bytesB) const {
    const int64_t endA = a + bytesA, endB = b + bytesB, first = bankOf(std::max(a, b)),
                  last = bankOf(std::min(endA, endB) - 1);
    if (first > last)
      return 0;
    double both = 0;
    for (int64_t bank = first; bank <= last; ++bank) {
      const int64_t begin = bank * memory_.bankBytes, end = begin + memory_.bankBytes;
      both += static_cast<double>(std::min(endA, end) - std::max(a, begin)) *
              static_cast<double>(std::min(endB, end) - std::max(b, begin));
    }
    return both / (static_cast<double>(bytesA) * static_cast<double>(bytesB));
  }

  // Of a block at an address, but for what it shares with one other.
  double costAt(size_t block, int64_t address, size_t without = nobody) const {
    double cost = 0;
    for (const Conflict &each : conflicts_[block])
      if (each.other != without)
        cost += each.cycles * shared(address, blocks_[block].bytes(), blocks_[each.other].begin,
                                     blocks_[each.other].bytes());
    return cost;
  }

  // Whether a range is free but for two blocks.
  bool isFree(int64_t address, int64_t bytes, size_t one, size_t other) const {
    if (address < 0 || address + bytes > memory_.bytes)
      return false;
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (i != one && i != other && blocks_[i].begin < address + bytes && blocks_[i].end > address)
        return false;
    return true;
  }

  // Both ends of the gaps beside the other blocks, and those of banks within them.
  std::vector<int64_t> placesOf(size_t block) const {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (i != block)
        taken.emplace_back(blocks_[i].begin, blocks_[i].end);
    taken.emplace_back(memory_.bytes, memory_.bytes);
    std::sort(taken.begin(), taken.end());
    const int64_t bytes = blocks_[block].bytes();
    std::vector<int64_t> places;
    int64_t gap = 0;
    for (const auto &[begin, end] : taken) {
      const int64_t last = begin - bytes;
      for (int64_t at = gap; at <= last; at = (bankOf(at) + 1) * memory_.bankBytes) {
        const int64_t bankEnd = std::min(begin, (bankOf(at) + 1) * memory_.bankBytes);
        for (int64_t place :
             {alignedUp(at), (bankEnd - bytes) / memory_.alignment * memory_.alignment})
          if (place >= gap && place <= last)
            places.push_back(place);
      }
      gap = std::max(gap, end);
    }
    return places;
  }

  void move(size_t block, int64_t to) {
    const int64_t by = to - blocks_[block].begin;
    blocks_[block].begin += by, blocks_[block].end += by;
    for (size_t buffer : blocks_[block].buffers)
      buffers_[buffer].address += by;
  }

  bool improve(size_t block) {
    const int64_t from = blocks_[block].begin, bytes = blocks_[block].bytes();
    const double now = costAt(block, from);
    double best = -least;
    int64_t to = from;
    size_t with = nobody;
    for (int64_t place : placesOf(block))
      if (straddles(place, bytes) <= straddles(from, bytes))
        if (const double gain = costAt(block, place) - now; gain < best)
          best = gain, to = place;
    for (size_t other = 0; other < blocks_.size(); ++other) {
      if (!fitsInPlaceOf(block, other))
        continue;
      const double gain = gainOfSwap(block, other);
      if (gain < best && areFreeBut(block, other))
        best = gain, to = blocks_[other].begin, with = other;
    }
    if (to == from)
      return false;
    move(block, to);
    if (with != nobody)
      move(with, from);
    return true;
  }

  // Whether two blocks may change places, as far as these two go.
  bool fitsInPlaceOf(size_t a, size_t b) const {
    const int64_t atA = blocks_[a].begin, atB = blocks_[b].begin, bytesA = blocks_[a].bytes(),
                  bytesB = blocks_[b].bytes();
    const bool overlap = atB < atA + bytesB && atA < atB + bytesA;
    return bankOf(atA) != bankOf(atB) && !overlap && !straddles(atB, bytesA) &&
           !straddles(atA, bytesB);
  }

  // And as far as others go.
  bool areFreeBut(size_t a, size_t b) const {
    return isFree(blocks_[b].begin, blocks_[a].bytes(), a, b) &&
           isFree(blocks_[a].begin, blocks_[b].bytes(), a, b);
  }

  double gainOfSwap(size_t a, size_t b) const {
    const int64_t atA = blocks_[a].begin, atB = blocks_[b].begin;
    return costAt(a, atB, b) + costAt(b, atA, a) - costAt(a, atA, b) - costAt(b, atB, a);
  }

  bool sweep() {
    std::vector<std::pair<double, size_t>> worstFirst;
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (const double cost = costAt(i, blocks_[i].begin); cost > least)
        worstFirst.emplace_back(-cost, i);
    std::sort(worstFirst.begin(), worstFirst.end());
    bool hasMoved = false;
    for (const auto &[cost, block] : worstFirst)
      hasMoved |= improve(block);
    return hasMoved;
  }

  const BankedMemory memory_;
  std::vector<PlacedBuffer> &buffers_;
  std::vector<Block> blocks_;
  std::vector<std::vector<Conflict>> conflicts_; // by block
};

} // namespace

bool moveApart(const BankedMemory &memory, const std::vector<BankConflict> &conflicts,
               std::vector<PlacedBuffer> &buffers) {
  return Mover(memory, conflicts, buffers).run();
}

} // namespace tilewright

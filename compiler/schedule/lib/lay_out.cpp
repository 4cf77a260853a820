#include "tilewright/compiler/schedule/lay_out.h"

#include <algorithm>
#include <optional>

namespace tilewright {

namespace {

struct Piece {
  size_t buffer;
  int64_t bytes;
  int64_t from = INT64_MAX, to = -1; // steps
  int64_t address = -1;
};

bool meet(int64_t begin, int64_t end, int64_t otherBegin, int64_t otherEnd) {
  return begin < otherEnd && otherBegin < end;
}

class Places {
public:
  Places(const isa::Memory &memory, int64_t alignment)
      : bytes_(static_cast<int64_t>(memory.bytes)),
        bankBytes_(static_cast<int64_t>(memory.bankBytes())), alignment_(alignment) {}

  // Largest first. False where one finds none.
  bool place(std::vector<Piece> &pieces, bool byBanks) const {
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::optional<int64_t> address = find(pieces, i, byBanks);
      if (!address)
        return false;
      pieces[i].address = *address;
    }
    return true;
  }

private:
  int64_t roundUp(int64_t address) const {
    return (address + alignment_ - 1) / alignment_ * alignment_;
  }
  std::optional<int64_t> find(const std::vector<Piece> &pieces, size_t number, bool byBanks) const {
    const Piece &piece = pieces[number];
    std::vector<const Piece *> others;
    for (size_t i = 0; i < number; ++i)
      if (meet(piece.from, piece.to + 1, pieces[i].from, pieces[i].to + 1))
        others.push_back(&pieces[i]);
    std::vector<int64_t> candidates{0};
    for (const Piece *other : others)
      candidates.push_back(roundUp(other->address + other->bytes));
    for (int64_t bank = bankBytes_; byBanks && bank < bytes_; bank += bankBytes_)
      candidates.push_back(roundUp(bank));
    std::sort(candidates.begin(), candidates.end());
    std::optional<int64_t> best;
    int64_t fewest = INT64_MAX;
    for (const int64_t address : candidates) {
      const int64_t end = address + piece.bytes, firstBank = address / bankBytes_ * bankBytes_,
                    lastBank = (end + bankBytes_ - 1) / bankBytes_ * bankBytes_;
      int64_t shared = 0;
      bool isFree = end <= bytes_;
      for (const Piece *other : others) {
        const int64_t otherEnd = other->address + other->bytes;
        isFree &= !meet(address, end, other->address, otherEnd);
        shared += byBanks && meet(firstBank, lastBank, other->address, otherEnd);
      }
      if (isFree && shared < fewest)
        best = address, fewest = shared;
    }
    return best;
  }

  int64_t bytes_, bankBytes_, alignment_;
};

} // namespace

int64_t alignmentOf(const isa::Isa &isa, const isa::Memory &memory) {
  constexpr int64_t sumBytes = 4;
  return std::max<int64_t>(memory.addressBytes,
                           memory.space == isa::Space::Spad ? isa.param("bus_bytes") : sumBytes);
}

std::vector<int64_t> layOut(const Steps &steps, const isa::Isa &isa) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < steps.buffers.size(); ++i)
    pieces.push_back({i, steps.buffers[i].bytes});
  int64_t at = 0;
  steps.forEachStep([&](const Step &step) {
    auto visit = [&](const std::vector<Task> &tasks, int64_t from, int64_t to) {
      for (const Task &task : tasks)
        for (const int buffer : task.buffers)
          if (buffer >= 0) {
            Piece &piece = pieces[static_cast<size_t>(buffer)];
            piece.from = std::min(piece.from, from);
            piece.to = std::max(piece.to, to);
          }
    };
    visit(step.constants, at - 1, at);
    visit(step.loads, at - 1, at);
    visit(step.compute, at, at);
    visit(step.stores, at, at);
    ++at;
  });
  auto isElsewhere = [&](const Piece &piece) {
    return steps.buffers[piece.buffer].space != isa::Space::Spad || piece.to < 0;
  };
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), isElsewhere), pieces.end());
  for (Piece &piece : pieces)
    piece.to +=
        piece.from >= 0 && piece.from == piece.to; // is written while the one before is read
  std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer;
  });
  const isa::Memory &memory = isa.memory(isa::Space::Spad);
  const Places places(memory, alignmentOf(isa, memory));
  if (!places.place(pieces, true) && !places.place(pieces, false))
    return {};
  std::vector<int64_t> layout(steps.buffers.size(), -1);
  for (const Piece &piece : pieces)
    layout[piece.buffer] = piece.address;
  return layout;
}

} // namespace tilewright

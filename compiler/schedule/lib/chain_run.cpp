#include "chain_run.h"

#include "conv_stage.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tilewright::chains {

namespace {

// What is selected already (a block of parameters, a table) is not selected again: pieces were made
// without knowing what comes before them.
class Selections {
public:
  explicit Selections(const isa::Isa &isa) {
    auto indexOf = [&](const char *name) {
      const isa::Instruction *instruction = isa.find(name);
      return instruction ? instruction->index : -1;
    };
    block_ = indexOf("vchannel");
    tables_[0] = indexOf("vtable.load"), tables_[1] = indexOf("vtable16.load");
  }
  bool isRepeated(const Task &task) {
    if (task.instruction == block_)
      return repeats(selectedBlock_, task);
    if (task.instruction == tables_[0] || task.instruction == tables_[1])
      return repeats(selectedTable_, task);
    return false;
  }

private:
  static bool repeats(std::optional<Task> &selected, const Task &task) {
    if (selected && selected->instruction == task.instruction && selected->values == task.values &&
        selected->buffers == task.buffers)
      return true;
    selected = task;
    return false;
  }
  int block_, tables_[2];
  std::optional<Task> selectedBlock_, selectedTable_;
};

} // namespace

// Buffers that serve the whole run get their places here, the largest first: spread over the banks,
// or, where that leaves gaps, one behind the other. `placed`: read beside all else; they have the
// last banks.
void Run::layOut(const isa::Isa &isa, const std::set<int> &placed) {
  std::set<int> lasting = weights;
  for (const Turns *ring :
       {&inputs, &results, &windows, &between, &windowResults, &stripeResults, &images})
    for (const Turn &turn : ring->turns)
      lasting.insert(turn.buffer);
  lasting.erase(-1);
  auto bufferAt = [&](int buffer) -> Buffer & {
    return steps.buffers[static_cast<size_t>(buffer)];
  };
  for (int buffer : weights) // the array's
    bufferAt(buffer).traffic = Traffic::Matrix;
  std::vector<int> largestFirst(lasting.begin(), lasting.end());
  std::sort(largestFirst.begin(), largestFirst.end(), [&](int a, int b) {
    return std::make_pair(-bufferAt(a).bytes, a) < std::make_pair(-bufferAt(b).bytes, b);
  });
  const isa::Memory &spad = isa.memory(isa::Space::Spad);
  const int64_t alignment = std::max<int64_t>(spad.addressBytes, isa.param("bus_bytes"));
  auto rounded = [&](int64_t bytes) {
    return std::max<int64_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  };
  steps.layout.assign(steps.buffers.size(), -1);
  Arena arena(static_cast<int64_t>(spad.bytes), static_cast<int64_t>(spad.bankBytes()), alignment);
  int64_t top = static_cast<int64_t>(spad.bytes) / alignment * alignment;
  for (int buffer : placed) {
    top -= rounded(bufferAt(buffer).bytes);
    steps.layout[static_cast<size_t>(buffer)] = top;
    if (!arena.allocateAt(top, bufferAt(buffer).bytes, Traffic::Rare))
      return;
  }
  bool isSpread = true;
  for (int buffer : largestFirst) {
    const std::optional<int64_t> address =
        arena.allocate(bufferAt(buffer).bytes, bufferAt(buffer).traffic);
    isSpread &= address.has_value();
    steps.layout[static_cast<size_t>(buffer)] = address.value_or(-1);
  }
  int64_t end = 0;
  if (!isSpread)
    for (int buffer : largestFirst) {
      steps.layout[static_cast<size_t>(buffer)] = end;
      end += rounded(bufferAt(buffer).bytes);
    }
}

// Accumulators: tiles that serve by turns stand in banks by turns, as far as there is room.
void Run::layOutSums(const isa::Isa &isa) {
  const isa::Memory &memory = isa.memory(isa::Space::Acc);
  const auto bankBytes = static_cast<int64_t>(memory.bankBytes());
  std::vector<int64_t> used(static_cast<size_t>(memory.banks), 0);
  size_t next = 0;
  auto place = [&](const Turn &turn) {
    if (turn.buffer < 0)
      return;
    const int64_t bytes = steps.buffers[static_cast<size_t>(turn.buffer)].bytes;
    for (size_t i = 0; i < used.size(); ++i) {
      const size_t bank = (next + i) % used.size();
      if (used[bank] + bytes > bankBytes)
        continue;
      steps.layout[static_cast<size_t>(turn.buffer)] =
          static_cast<int64_t>(bank) * bankBytes + used[bank];
      used[bank] += bytes;
      next = bank + 1;
      return;
    }
  };
  for (const Turns *ring : {&headSums, &windowSums, &tailSums})
    for (const Turn &turn : ring->turns)
      place(turn);
  for (const auto &[tile, turn] : stripeSums)
    place(turn);
}

// Of the accumulators that a piece fills or empties.
int Run::bankOf(const isa::Isa &isa, const Piece &piece) const {
  for (const Task &task : piece.tasks)
    for (int buffer : task.buffers)
      if (buffer >= 0 && steps.buffers[static_cast<size_t>(buffer)].space == isa::Space::Acc) {
        const int64_t address = steps.layout[static_cast<size_t>(buffer)];
        return address < 0
                   ? -1
                   : static_cast<int>(
                         address / static_cast<int64_t>(isa.memory(isa::Space::Acc).bankBytes()));
      }
  return -1;
}

std::vector<int64_t> Run::startsOfPieces() const {
  if (matrixOrder == 0 && vectorOrder == 0)
    return startTimes(order, actors);
  std::vector<int> ranks(actors.size()); // by stream
  std::iota(ranks.begin(), ranks.end(), 0);
  auto reorder = [&](size_t first, size_t count, int64_t number) {
    const std::vector<size_t> streams = permutation(number, count);
    for (size_t i = 0; i < count; ++i)
      ranks[first + streams[i]] = static_cast<int>(first + i);
  };
  reorder(0, matrixStreams, matrixOrder);
  reorder(matrixStreams, vectorStreams, vectorOrder);
  std::vector<PieceToOrder> ranked = order; // streams of a unit of the machine change among them
  for (PieceToOrder &piece : ranked)
    piece.stream = ranks[static_cast<size_t>(piece.stream)];
  return startTimes(ranked, actors);
}

// What the first unit loads comes before all else, so that it may come in under the layers before.
// The first pieces of units begin steps.
void Run::list(const isa::Isa &isa) {
  for (size_t i = 0; i < pieces.size(); ++i)
    order[i].bank = bankOf(isa, pieces[i]);
  const std::vector<int64_t> starts = startsOfPieces();
  steps.steps.emplace_back();
  steps.steps.back().constants = std::move(constants);
  const size_t ofFirst = firstPieces.size() > 1 ? firstPieces[1] : pieces.size();
  std::vector<size_t> listed; // pieces, by their times
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto stream = static_cast<Stream>(order[i].stream);
    const bool isInput = stream == Stream::Inputs,
               isLoad = isInput || stream == Stream::HeadWeights ||
                        stream == Stream::WindowWeights || stream == Stream::TailWeights;
    if (i < ofFirst && isLoad && order[i].after.empty())
      append(isInput ? steps.steps[0].loads : steps.steps[0].constants, pieces[i].tasks);
    else
      listed.push_back(i);
  }
  std::sort(listed.begin(), listed.end(), [&](size_t a, size_t b) {
    return std::make_pair(starts[a], a) < std::make_pair(starts[b], b);
  });
  struct Place {
    int64_t time;
    size_t rank, task; // of a piece in `listed`
    bool operator<(const Place &other) const {
      return std::tie(time, rank, task) < std::tie(other.time, other.rank, other.task);
    }
  };
  std::vector<Place> places;
  for (size_t rank = 0; rank < listed.size(); ++rank) {
    const size_t i = listed[rank];
    constexpr int64_t fine = 1024; // parts of a cycle
    const auto count = static_cast<int64_t>(pieces[i].tasks.size());
    for (int64_t task = 0; task < count; ++task)
      places.push_back({starts[i] * fine + order[i].cycles * task * fine / count, rank,
                        static_cast<size_t>(task)});
  }
  std::sort(places.begin(), places.end());
  Selections selections(isa);
  size_t unit = 1;
  for (const Place &place : places) {
    const size_t piece = listed[place.rank];
    while (unit < firstPieces.size() && piece >= firstPieces[unit]) {
      steps.steps.emplace_back();
      ++unit;
    }
    Task &task = pieces[piece].tasks[place.task];
    if (!selections.isRepeated(task))
      steps.steps.back().compute.push_back(std::move(task));
  }
}

} // namespace tilewright::chains

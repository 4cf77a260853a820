#include "chain_run.h"

#include "bank_sharing.h"
#include "conv_stage.h"
#include "tilewright/compiler/schedule/lay_out.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>

namespace tilewright::chains {

namespace {

// What is selected already (a block of parameters, a table) is not selected again: pieces were made
// without knowing what comes before them.
class Selections {
public:
  explicit Selections(const isa::Isa &isa) {
    auto indexOf = [&](isa::Role role) {
      const isa::Instruction *instruction = isa.withRole(role);
      return instruction ? instruction->index : -1;
    };
    block_ = indexOf(isa::Role::LoadChannels);
    tables_[0] = indexOf(isa::Role::LoadTable8), tables_[1] = indexOf(isa::Role::LoadTable16);
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

void KeptRows::read(Stream stream, int64_t begin, int64_t end, size_t piece) {
  std::vector<size_t> &rows = readers[stream];
  if (static_cast<int64_t>(rows.size()) < end)
    rows.resize(static_cast<size_t>(end), nothing);
  std::fill(rows.begin() + begin, rows.begin() + end, piece);
}

After KeptRows::replaced(int64_t begin, int64_t end) const {
  After after;
  for (const auto &[stream, rows] : readers) {
    size_t last = nothing;
    for (int64_t row = begin; row < std::min(end, static_cast<int64_t>(rows.size())); ++row)
      if (const size_t piece = rows[static_cast<size_t>(row)]; piece != nothing)
        last = last == nothing ? piece : std::max(last, piece);
    after.push_back(last);
  }
  return after;
}

void Run::holdParameters(const std::vector<Task> &loads) {
  for (const Task &task : loads)
    parameters.insert(task.buffers.begin(), task.buffers.end());
  parameters.erase(-1);
}

// Buffers that serve the whole run get their places here, the largest first: spread over the banks,
// or, where that leaves gaps, one behind the other. Parameters, which are read beside all else,
// have the last banks.
void Run::layOut(const isa::Isa &isa) {
  std::set<int> lasting = weights;
  for (const Turns *ring :
       {&inputs, &results, &windows, &between, &windowResults, &stripeResults, &images})
    for (const Turn &turn : ring->turns)
      lasting.insert(turn.buffer);
  for (const auto &[chunk, rows] : kept)
    lasting.insert(rows.turn.buffer);
  lasting.insert(imageSumResult.buffer);
  lasting.erase(-1);
  auto bufferAt = [&](int buffer) -> Buffer & {
    return steps.buffers[static_cast<size_t>(buffer)];
  };
  for (int buffer : weights) // the array's
    bufferAt(buffer).traffic = Traffic::Weights;
  const isa::Memory &spad = isa.memory(isa::Space::Spad);
  // Rows of more chunks than there are banks find what the array reads all the time in its place.
  std::set<int> rows;
  if (kept.size() > static_cast<size_t>(spad.banks))
    for (const auto &[chunk, each] : kept)
      rows.insert(each.turn.buffer);
  std::vector<int> largestFirst(lasting.begin(), lasting.end());
  std::sort(largestFirst.begin(), largestFirst.end(), [&](int a, int b) {
    return std::make_tuple(rows.count(a), -bufferAt(a).bytes, a) <
           std::make_tuple(rows.count(b), -bufferAt(b).bytes, b);
  });
  const int64_t alignment = alignmentOf(isa, spad);
  auto rounded = [&](int64_t bytes) {
    return std::max<int64_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  };
  steps.layout.assign(steps.buffers.size(), -1);
  Arena arena(static_cast<int64_t>(spad.bytes), static_cast<int64_t>(spad.bankBytes()), alignment);
  int64_t top = static_cast<int64_t>(spad.bytes) / alignment * alignment;
  for (int buffer : parameters) {
    top -= rounded(bufferAt(buffer).bytes);
    steps.layout[static_cast<size_t>(buffer)] = top;
    if (!arena.allocateAt(top, bufferAt(buffer).bytes, bufferAt(buffer).traffic))
      return;
  }
  bool isSpread = true;
  for (int buffer : largestFirst) {
    const std::optional<int64_t> address =
        arena.allocate(bufferAt(buffer).bytes, bufferAt(buffer).traffic);
    isSpread &= address.has_value();
    steps.layout[static_cast<size_t>(buffer)] = address.value_or(-1);
  }
  if (isSpread)
    return;
  // Chunks that follow each other are at work at the same time: their rows lie apart.
  constexpr size_t apart = 3;
  std::vector<int> byTurns;
  for (size_t first = 0; first < apart; ++first)
    for (size_t chunk = first; chunk < kept.size(); chunk += apart)
      byTurns.push_back(kept.at(static_cast<int64_t>(chunk)).turn.buffer);
  auto next = byTurns.begin();
  for (int &buffer : largestFirst)
    if (std::find(byTurns.begin(), byTurns.end(), buffer) != byTurns.end())
      buffer = *next++;
  int64_t end = 0;
  for (int buffer : largestFirst) {
    steps.layout[static_cast<size_t>(buffer)] = end;
    end += rounded(bufferAt(buffer).bytes);
  }
}

// Accumulators: tiles that serve by turns stand in banks by turns, as far as there is room. Or else
// the head's have the first banks, and the others the last. False where those have no room.
bool Run::layOutSums(const isa::Isa &isa, bool isApart) {
  const isa::Memory &memory = isa.memory(isa::Space::Acc);
  const auto bankBytes = static_cast<int64_t>(memory.bankBytes());
  const auto banks = static_cast<size_t>(memory.banks), half = isApart ? banks / 2 : 0;
  std::vector<int64_t> used(banks, 0);
  struct Banks {
    size_t first, count, next = 0;
  };
  Banks ofHead{0, isApart ? half : banks}, others{half, banks - half};
  bool isPlaced = ofHead.count > 0;
  auto place = [&](const Turn &turn, Banks &among) {
    if (turn.buffer < 0)
      return;
    const int64_t bytes = steps.buffers[static_cast<size_t>(turn.buffer)].bytes;
    for (size_t i = 0; i < among.count; ++i) {
      const size_t bank = among.first + (among.next + i) % among.count;
      if (used[bank] + bytes > bankBytes)
        continue;
      steps.layout[static_cast<size_t>(turn.buffer)] =
          static_cast<int64_t>(bank) * bankBytes + used[bank];
      used[bank] += bytes;
      among.next = bank - among.first + 1;
      return;
    }
    steps.layout[static_cast<size_t>(turn.buffer)] = -1;
    isPlaced = false;
  };
  Banks &rest = isApart ? others : ofHead;
  for (const Turn &turn : headSums.turns)
    place(turn, ofHead);
  for (const Turns *ring : {&windowSums, &tailSums})
    for (const Turn &turn : ring->turns)
      place(turn, rest);
  for (const auto &[tile, turn] : stripeSums)
    place(turn, rest);
  place(imageSums, rest);
  return isPlaced;
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

// By instruction: the operand that streams in, -1: none.
static std::vector<int> streamedOperands(const isa::Isa &isa) {
  std::vector<int> operands;
  for (const isa::Instruction &instruction : isa.instructions())
    operands.push_back(instruction.operandIndex("a"));
  return operands;
}

// Of the scratchpad: where the products or windows of a piece begin to read.
int Run::sourceOf(const isa::Isa &isa, const std::vector<int> &operands, const Piece &piece) const {
  const int64_t bankBytes = static_cast<int64_t>(isa.memory(isa::Space::Spad).bankBytes());
  for (const Task &task : piece.tasks) {
    const int operand = operands[static_cast<size_t>(task.instruction)];
    const int buffer = operand < 0 ? -1 : task.buffers[static_cast<size_t>(operand)];
    if (buffer < 0 || steps.buffers[static_cast<size_t>(buffer)].space != isa::Space::Spad)
      continue;
    const int64_t address = steps.layout[static_cast<size_t>(buffer)];
    return address < 0 ? -1
                       : static_cast<int>((address + task.values[static_cast<size_t>(operand)]) /
                                          bankBytes);
  }
  return -1;
}

// What ends first of a few orders in which products are preferred where several may come. Orders
// that are given: permutations' numbers, or 0. Without starts where none ends before `enough`.
static Order bestOrder(const std::vector<PieceToOrder> &pieces, int64_t matrixOrder,
                       int64_t vectorOrder, int64_t enough) {
  Order best{{}, enough};
  std::array<bool, matrixStreams> hasPieces{};
  for (const PieceToOrder &piece : pieces)
    if (static_cast<size_t>(piece.stream) < matrixStreams)
      hasPieces[static_cast<size_t>(piece.stream)] = true;
  std::vector<size_t> preference(actors.size());
  std::iota(preference.begin(), preference.end(), 0);
  const std::vector<size_t> ofVector = permutation(vectorOrder, vectorStreams);
  for (size_t i = 0; i < vectorStreams; ++i)
    preference[matrixStreams + i] = matrixStreams + ofVector[i];
  constexpr auto tail = static_cast<size_t>(Stream::TailProducts),
                 window = static_cast<size_t>(Stream::WindowProducts),
                 head = static_cast<size_t>(Stream::HeadProducts);
  std::vector<std::vector<size_t>> orders{
      {tail, window, head}, {tail, head, window}, {window, tail, head}};
  if (matrixOrder > 0)
    orders = {permutation(matrixOrder, matrixStreams)};
  // Orders that differ in streams without pieces alone are one.
  std::set<std::vector<size_t>> tried;
  for (const std::vector<size_t> &products : orders) {
    std::vector<size_t> present;
    std::copy_if(products.begin(), products.end(), std::back_inserter(present),
                 [&](size_t stream) { return hasPieces[stream]; });
    if (!tried.insert(std::move(present)).second)
      continue;
    std::copy(products.begin(), products.end(), preference.begin());
    std::vector<int64_t> starts = startTimes(pieces, actors, preference, best.end);
    if (starts.size() == pieces.size())
      best.end = lastEnd(pieces, starts), best.starts = std::move(starts);
  }
  return best;
}

// When each piece is listed: at its start, or, a load, as soon as what it replaces has been read:
// the load unit's queue holds it until its turn comes. Loads keep their order.
static std::vector<int64_t> listingTimes(const std::vector<PieceToOrder> &pieces,
                                         const std::vector<int64_t> &starts) {
  std::vector<int64_t> times = starts;
  std::vector<size_t> loads;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (actors[static_cast<size_t>(pieces[i].stream)] == load)
      loads.push_back(i);
  std::sort(loads.begin(), loads.end(), [&](size_t a, size_t b) {
    return std::make_pair(starts[a], a) < std::make_pair(starts[b], b);
  });
  int64_t before = 0;
  for (size_t i : loads) {
    for (size_t each : pieces[i].after)
      before = std::max(before, starts[each] + pieces[each].cycles);
    times[i] = before;
  }
  return times;
}

namespace {

// A task in the order.
struct Place {
  size_t rank, task; // of a piece in `listed`
};

} // namespace

// The tasks of pieces that are listed by their starts: those of a piece are spread over its time.
// Of tasks at one time, those of the piece that began first.
static std::vector<Place> byTimes(const std::vector<Piece> &pieces,
                                  const std::vector<PieceToOrder> &order,
                                  const std::vector<size_t> &listed,
                                  const std::vector<int64_t> &starts) {
  constexpr int64_t fine = 1024; // parts of a cycle
  struct Active {
    int64_t time; // of its next task
    size_t rank;
    int64_t start, cycles, task, count;
  };
  std::vector<Active> active; // by rank: as many as are at work at a time
  size_t count = 0;
  for (size_t i : listed)
    count += pieces[i].tasks.size();
  std::vector<Place> places;
  places.reserve(count);
  for (size_t next = 0; next < listed.size() || !active.empty();) {
    auto first = std::min_element(active.begin(), active.end(),
                                  [](const Active &a, const Active &b) { return a.time < b.time; });
    if (next < listed.size()) {
      const size_t piece = listed[next];
      if (const int64_t start = starts[piece] * fine;
          first == active.end() || start < first->time) {
        if (const auto tasks = static_cast<int64_t>(pieces[piece].tasks.size()); tasks > 0)
          active.push_back({start, next, start, order[piece].cycles * fine, 0, tasks});
        ++next;
        continue;
      }
    }
    places.push_back({first->rank, static_cast<size_t>(first->task)});
    if (++first->task == first->count)
      active.erase(first);
    else
      first->time = first->start + first->cycles * first->task / first->count;
  }
  return places;
}

void Run::findSources(const isa::Isa &isa) {
  const std::vector<int> streamed = streamedOperands(isa);
  for (size_t i = 0; i < pieces.size(); ++i)
    order[i].source = sourceOf(isa, streamed, pieces[i]);
}

// Whether any piece works in another bank than before.
bool Run::findBanks(const isa::Isa &isa) {
  bool isNew = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int bank = bankOf(isa, pieces[i]);
    isNew |= bank != order[i].bank;
    order[i].bank = bank;
  }
  return isNew;
}

std::optional<Order> Run::orderByRules(const isa::Isa &isa, int64_t enough) {
  layOut(isa);
  findSources(isa);
  Order best{{}, enough};
  bool isTried = false;
  for (bool isApart : {true, false}) {
    if (!layOutSums(isa, isApart) && isApart)
      continue;
    const bool isNew = findBanks(isa) || !isTried; // or else in the same banks: no other order
    isTried = true;
    Order found{{}, best.end};
    if (isNew)
      found = bestOrder(order, matrixOrder, vectorOrder, best.end);
    if (found.end < best.end)
      best = std::move(found);
    else if (!isApart)
      layOutSums(isa, true);
  }
  return best.end < enough ? std::optional(std::move(best)) : std::nullopt;
}

Order Run::orderAsPlaced(const isa::Isa &isa) {
  findSources(isa);
  findBanks(isa);
  return bestOrder(order, matrixOrder, vectorOrder, INT64_MAX);
}

bool Run::movesApart(const LoweringContext &context, const Order &order) {
  const std::vector<BankConflict> all = conflictsOf(context, *this, order.starts);
  bool hasMoved = false;
  for (isa::Space space : {isa::Space::Spad, isa::Space::Acc}) {
    const isa::Memory &memory = context.isa.memory(space);
    std::vector<size_t> placed, indexOf(steps.buffers.size(), nothing);
    std::vector<PlacedBuffer> places;
    for (size_t i = 0; i < steps.buffers.size(); ++i)
      if (steps.buffers[i].space == space && steps.layout[i] >= 0) {
        indexOf[i] = placed.size();
        placed.push_back(i);
        places.push_back({steps.layout[i], steps.buffers[i].bytes});
      }
    std::vector<BankConflict> conflicts;
    for (const BankConflict &each : all)
      if (indexOf[each.first] != nothing && indexOf[each.second] != nothing)
        conflicts.push_back({indexOf[each.first], indexOf[each.second], each.cycles});
    hasMoved |=
        moveApart({static_cast<int64_t>(memory.bytes), static_cast<int64_t>(memory.bankBytes()),
                   alignmentOf(context.isa, memory)},
                  conflicts, places);
    for (size_t i = 0; i < placed.size(); ++i)
      steps.layout[placed[i]] = places[i].address;
  }
  return hasMoved;
}

// What the first unit loads comes before all else, so that it may come in under the layers before.
// The first pieces of units begin steps.
void Run::list(const isa::Isa &isa, const Order &best) {
  const std::vector<int64_t> starts = listingTimes(order, best.starts);
  steps.steps.emplace_back();
  steps.steps.back().constants = std::move(constants);
  steps.steps.back().loads = std::move(computed);
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
  const std::vector<Place> places = byTimes(pieces, order, listed, starts);
  Selections selections(isa);
  size_t unit = 1;
  auto beginsUnit = [&](const Place &place) {
    return unit < firstPieces.size() && listed[place.rank] >= firstPieces[unit];
  };
  for (auto place = places.begin(); place != places.end();) {
    for (; beginsUnit(*place); ++unit)
      steps.steps.emplace_back();
    const auto end = std::find_if(place, places.end(), beginsUnit);
    std::vector<Task> &compute = steps.steps.back().compute;
    compute.reserve(static_cast<size_t>(end - place));
    for (; place != end; ++place)
      if (Task &task = pieces[listed[place->rank]].tasks[place->task]; !selections.isRepeated(task))
        compute.push_back(std::move(task));
  }
}

} // namespace tilewright::chains

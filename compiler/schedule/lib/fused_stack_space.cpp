#include "tilewright/compiler/schedule/fused_stack_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of an accumulator tile: any that the accumulators may hold, of at most `whole`.
static std::vector<int64_t> tileRows(const ConvProblem &conv, const ConvMachine &m, int64_t whole) {
  const int64_t pixels =
      std::min(m.accBytes / (m.cols * (4 + conv.accBytesPerElement)), m.rowLimit);
  std::vector<int64_t> rows;
  for (int64_t each = 1; each <= std::min(whole, std::max<int64_t>(1, pixels / conv.outputWidth));
       ++each)
    rows.push_back(each);
  return rows;
}

static std::vector<int64_t> numbers(int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// As `assess` has it: windows slide where they can.
static FusedStackPlan assessed(const FusedStackProblem &p, FusedStackPlan plan) {
  plan.slidingParts = p.sliding && plan.arrayUnits > 0 ? 1 : 0;
  return plan;
}

std::vector<int64_t> FusedStackSpace::copies(const PlanPoint &point, Copies which) const {
  FusedStackPlan plan = planned(point);
  if (hasCopies(problem_, plan, which)) {
    std::vector<int64_t> all = numbers(mostCopies);
    for (int64_t &count : all)
      ++count;
    return all;
  }
  plan.copies = {};
  return {copiesOf(problem_, assessed(problem_, plan), which)};
}

// Numbers of the permutations of `count` streams in which those that a plan does not have keep
// their places, by the set of those that it has.
static std::vector<std::vector<int64_t>> ordersOfSets(size_t count) {
  std::vector<std::vector<int64_t>> orders(size_t(1) << count);
  int64_t numbers = 1;
  for (size_t i = 2; i <= count; ++i)
    numbers *= static_cast<int64_t>(i);
  for (int64_t number = 0; number < numbers; ++number) {
    size_t moved = 0;
    const std::vector<size_t> order = permutation(number, count);
    for (size_t i = 0; i < count; ++i)
      moved |= size_t(order[i] != i) << i;
    for (size_t set = 0; set < orders.size(); ++set)
      if ((moved & ~set) == 0)
        orders[set].push_back(number);
  }
  return orders;
}

static const std::vector<int64_t> &orders(std::initializer_list<bool> streams) {
  static const std::vector<std::vector<int64_t>> ofMatrix = ordersOfSets(3),
                                                 ofVector = ordersOfSets(5);
  size_t set = 0, bit = 1;
  for (bool isThere : streams) {
    set += isThere ? bit : 0;
    bit *= 2;
  }
  return (streams.size() == 3 ? ofMatrix : ofVector)[set];
}

std::vector<int64_t> FusedStackSpace::choices(const PlanPoint &point, size_t d) const {
  const FusedStackProblem &p = problem_;
  const ConvMachine &m = machine_;
  auto upTo = [](int64_t most) {
    std::vector<int64_t> all = numbers(std::max<int64_t>(1, most) + 1);
    all.erase(all.begin());
    return all;
  };
  auto windowRows = [&] { return tileRows(p, {0, point[TileRows]}).window.size(); };
  if (d >= FirstCopies && d < MatrixOrder)
    return copies(point, static_cast<Copies>(d - FirstCopies));
  switch (d) {
  case TileRows:
    return upTo(resultHeight(p));
  case FirstRows:
    return upTo(point[TileRows]);
  case ChunkChannels: {
    // Parts of the channels begin at a column tile of the head and at a fold of the tail; they have
    // their per-channel parameters in one block, or in whole blocks.
    const int64_t channels = chunkedChannels(p), part = std::lcm(m.rows, m.cols);
    std::vector<int64_t> sizes;
    if (p.headIsAdded)
      return {channels};
    for (int64_t size = part; size < channels && size <= m.channels; size += part)
      sizes.push_back(size);
    const int64_t blocks = std::lcm(part, m.channels);
    for (int64_t size = blocks; size < channels; size += blocks)
      if (size > m.channels)
        sizes.push_back(size);
    sizes.push_back(channels);
    return sizes;
  }
  case HeadMerge: {
    std::vector<int64_t> merges;
    if (p.head)
      for (TapMerge merge : mergesOf(*p.head, m))
        merges.push_back(static_cast<int64_t>(merge));
    return p.head ? merges : std::vector<int64_t>{0};
  }
  case HeadRows:
    return p.head ? tileRows(*p.head, m, tileRows(p, {0, point[TileRows]}).head.size())
                  : std::vector<int64_t>{0};
  case TailRows:
    return p.tail ? tileRows(*p.tail, m, point[TileRows]) : std::vector<int64_t>{0};
  case TailChannels: {
    std::vector<int64_t> sizes;
    for (int64_t size = m.cols; p.tail && size <= m.channels; size += m.cols) {
      sizes.push_back(std::min(size, p.tail->outputChannels));
      if (size >= p.tail->outputChannels)
        break;
    }
    return p.tail ? sizes : std::vector<int64_t>{0};
  }
  case KeepsWeights:
    if (point[FirstRows] < resultHeight(p))
      return {0, 1};
    return {1};
  case TailComesLast:
    if (mayComeLast(p) && point[ChunkChannels] < chunkedChannels(p))
      return {0, 1};
    return {0};
  case ArrayUnits:
    if (!p.mayReduceOnArray)
      return {0};
    return numbers(arrayShares + 1);
  case CachedTiles: {
    const int64_t stripes =
        1 + ceilDiv(std::max<int64_t>(0, resultHeight(p) - point[FirstRows]), point[TileRows]);
    std::vector<int64_t> sizes;
    for (int64_t segments = sharesRows(p) ? stripes : 1; segments >= 1; --segments)
      if (const int64_t size = sharesRows(p) ? ceilDiv(stripes, segments) : 1;
          sizes.empty() || sizes.back() < size)
        sizes.push_back(size);
    return sizes;
  }
  case ArrayPartOf:
    if (point[ArrayUnits] > 0 && point[ArrayUnits] < arrayShares)
      return {static_cast<int64_t>(ArrayPart::Units), static_cast<int64_t>(ArrayPart::FirstRows),
              static_cast<int64_t>(ArrayPart::LastRows)};
    return {static_cast<int64_t>(ArrayPart::Units)};
  case HeadChannels: {
    if (!p.head)
      return {0};
    FusedStackPlan usual{};
    usual.chunkChannels = point[ChunkChannels];
    std::vector<int64_t> sizes;
    // A chunk begins where a tile's parameters do.
    for (int64_t size = m.cols; size <= headTileChannels(m, usual); size += m.cols)
      if (point[ChunkChannels] % size == 0 || point[ChunkChannels] == chunkedChannels(p) ||
          size == headTileChannels(m, usual))
        sizes.push_back(size);
    return sizes;
  }
  case WindowRows:
    return point[ArrayUnits] > 0 && !p.sliding ? upTo(windowRows()) : std::vector<int64_t>{0};
  case LaneRows:
    return p.window && point[ArrayUnits] < arrayShares ? numbers(windowRows() + 1)
                                                       : std::vector<int64_t>{0};
  case MatrixOrder:
    return orders({p.tail.has_value(), point[ArrayUnits] > 0, p.head.has_value()});
  case VectorOrder:
    return orders({p.tail.has_value(), point[ArrayUnits] > 0, p.head.has_value(),
                   point[HeadMerge] == static_cast<int64_t>(TapMerge::All),
                   p.window && point[ArrayUnits] < arrayShares});
  default:
    return {};
  }
}

bool FusedStackSpace::fits(const PlanPoint &point) const {
  const FusedStackPlan plan = this->plan(point);
  return plan.spadBytes <= machine_.spadBytes && plan.accBytes <= machine_.accBytes &&
         isBearable(problem_, plan);
}

FusedStackPlan FusedStackSpace::plan(const PlanPoint &point) const {
  FusedStackPlan plan = planned(point);
  assess(problem_, machine_, plan);
  return plan;
}

FusedStackPlan FusedStackSpace::planned(const PlanPoint &point) const {
  FusedStackPlan plan{};
  plan.tileRows = point[TileRows], plan.firstRows = point[FirstRows];
  plan.chunkChannels = point[ChunkChannels];
  plan.headMerge = static_cast<TapMerge>(point[HeadMerge]);
  plan.headRows = point[HeadRows];
  plan.tailRows = point[TailRows], plan.tailChannels = point[TailChannels];
  plan.keepsWeights = point[KeepsWeights] != 0;
  plan.tailComesLast = point[TailComesLast] != 0;
  plan.arrayUnits = point[ArrayUnits];
  plan.cachedTiles = point[CachedTiles];
  plan.arrayPart = static_cast<ArrayPart>(point[ArrayPartOf]);
  plan.headChannels = point[HeadChannels];
  plan.windowRows = point[WindowRows], plan.laneRows = point[LaneRows];
  for (size_t i = 0; i < plan.copies.size(); ++i)
    plan.copies[i] = point[FirstCopies + i];
  plan.matrixOrder = point[MatrixOrder], plan.vectorOrder = point[VectorOrder];
  return plan;
}

PlanPoint FusedStackSpace::point(const FusedStackPlan &plan) const {
  const FusedStackProblem &p = problem_;
  PlanPoint point(DimensionCount);
  point[TileRows] = plan.tileRows;
  point[FirstRows] = plan.firstRows > 0 ? plan.firstRows : plan.tileRows;
  point[ChunkChannels] = plan.chunkChannels;
  point[HeadMerge] = static_cast<int64_t>(plan.headMerge);
  point[HeadRows] = plan.headRows;
  point[TailRows] = plan.tailRows, point[TailChannels] = plan.tailChannels;
  point[KeepsWeights] = plan.keepsWeights;
  point[TailComesLast] = plan.tailComesLast;
  point[ArrayUnits] = plan.arrayUnits;
  point[CachedTiles] = plan.cachedTiles;
  point[ArrayPartOf] = static_cast<int64_t>(plan.arrayPart);
  point[HeadChannels] = p.head ? headTileChannels(machine_, plan) : 0;
  if (plan.arrayUnits > 0 && !p.sliding)
    point[WindowRows] =
        std::min(tileRows(p, {0, plan.tileRows}).window.size(),
                 arrayTileRows(p, plan, std::min(plan.chunkChannels, machine_.channels)));
  point[LaneRows] = plan.laneRows;
  for (size_t i = 0; i < plan.copies.size(); ++i)
    point[FirstCopies + i] = copiesOf(p, assessed(p, plan), static_cast<Copies>(i));
  point[MatrixOrder] = plan.matrixOrder, point[VectorOrder] = plan.vectorOrder;
  return point;
}

double FusedStackSpace::analyticCycles(const PlanPoint &point) const {
  return plan(point).estimatedCycles;
}

std::vector<float> FusedStackSpace::features(const PlanPoint &point) const {
  const FusedStackProblem &p = problem_;
  const ConvMachine &m = machine_;
  const FusedStackPlan plan = this->plan(point);
  std::vector<float> features;
  auto add = [&](double value) { features.push_back(static_cast<float>(value)); };
  auto size = [&](int64_t value) {
    add(std::log2(static_cast<double>(std::max<int64_t>(1, value))));
  };
  for (size_t d :
       {TileRows, FirstRows, ChunkChannels, HeadRows, TailRows, TailChannels, CachedTiles})
    size(point[d]);
  add(static_cast<double>(point[HeadMerge]));
  add(static_cast<double>(point[KeepsWeights]));
  add(static_cast<double>(point[TailComesLast]));
  for (size_t d = ArrayUnits; d < DimensionCount; ++d)
    if (d != CachedTiles)
      add(static_cast<double>(point[d]));
  for (auto [order, count] : {std::pair(point[MatrixOrder], 3), std::pair(point[VectorOrder], 5)}) {
    const std::vector<size_t> streams = permutation(order, static_cast<size_t>(count));
    std::vector<size_t> ranks(streams.size());
    for (size_t i = 0; i < streams.size(); ++i)
      ranks[streams[i]] = i;
    for (size_t rank : ranks)
      add(static_cast<double>(rank));
  }
  const int64_t height = resultHeight(p), stripes = ceilDiv(height, plan.tileRows),
                chunks = ceilDiv(chunkedChannels(p), plan.chunkChannels);
  size(stripes);
  size(chunks);
  size(stripes * chunks);
  auto share = [&](int64_t part, int64_t whole) {
    add(static_cast<double>(part) / static_cast<double>(whole));
  };
  share(height, stripes * plan.tileRows);
  share(chunkedChannels(p), chunks * plan.chunkChannels);
  share(plan.spadBytes, m.spadBytes);
  share(plan.accBytes, m.accBytes);
  // Rows that are made: segments share some of them.
  auto layer = [&](const std::optional<ConvProblem> &conv, int64_t rows, int64_t tile) {
    const int64_t pixels = conv ? tile * conv->outputWidth : 1;
    size(pixels);
    add(conv ? static_cast<double>(std::max(pixels, m.rows + m.matrixOverhead) + m.matrixOverhead) /
                   static_cast<double>(pixels)
             : 0);
    share(rows, conv ? ceilDiv(rows, tile) * tile : 1);
  };
  const int64_t headRows = tileRows(p, {0, plan.tileRows}).head.size();
  int64_t rowsMade = 0;
  for (const Stripe &stripe : stripesOf(p, plan))
    rowsMade += stripe.made.size();
  layer(p.head, p.head ? headRows : 1, plan.headRows);
  layer(p.tail, p.tail ? plan.tileRows : 1, plan.tailRows);
  share(rowsMade, std::max<int64_t>(1, p.head     ? p.head->outputHeight
                                       : p.window ? p.window->height
                                                  : height));
  add(std::log2(std::max(1.0, plan.estimatedCycles)));
  return features;
}

} // namespace tilewright

#include "tilewright/compiler/chain_space.h"

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

std::vector<int64_t> ChainSpace::choices(const PlanPoint &point, size_t d) const {
  const ChainProblem &p = problem_;
  const ConvMachine &m = machine_;
  switch (d) {
  case StripeRows: {
    std::vector<int64_t> sizes = stripeSizes(resultHeight(p));
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
  }
  case FirstRows: {
    std::vector<int64_t> sizes;
    for (int64_t parts : {4, 2, 1})
      if (const int64_t size = ceilDiv(point[StripeRows], parts);
          sizes.empty() || sizes.back() < size)
        sizes.push_back(size);
    return sizes;
  }
  case ChunkChannels: {
    // Parts of the channels begin at a column tile of the head and at a fold of the tail; they have
    // their per-channel parameters in one block.
    const int64_t channels = chunkedChannels(p), part = std::lcm(m.rows, m.cols);
    std::vector<int64_t> sizes;
    for (int64_t size = part; size < channels && size <= m.channels; size += part)
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
    return p.head ? tileRows(*p.head, m, stripeRows(p, {0, point[StripeRows]}).head.size())
                  : std::vector<int64_t>{0};
  case TailRows:
    return p.tail ? tileRows(*p.tail, m, point[StripeRows]) : std::vector<int64_t>{0};
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
  case ArrayUnits:
    if (!p.mayReduceOnArray)
      return {0};
    return numbers(arrayShares + 1);
  case SegmentStripes: {
    const int64_t stripes =
        1 + ceilDiv(std::max<int64_t>(0, resultHeight(p) - point[FirstRows]), point[StripeRows]);
    std::vector<int64_t> sizes;
    for (int64_t segments = sharesRows(p) ? stripes : 1; segments >= 1; --segments)
      if (const int64_t size = sharesRows(p) ? ceilDiv(stripes, segments) : 1;
          sizes.empty() || sizes.back() < size)
        sizes.push_back(size);
    return sizes;
  }
  default:
    return {};
  }
}

bool ChainSpace::fits(const PlanPoint &point) const {
  const ChainPlan plan = this->plan(point);
  return plan.spadBytes <= machine_.spadBytes && plan.accBytes <= machine_.accBytes &&
         isBearable(problem_, plan);
}

ChainPlan ChainSpace::plan(const PlanPoint &point) const {
  ChainPlan plan{};
  plan.stripeRows = point[StripeRows], plan.firstRows = point[FirstRows];
  plan.chunkChannels = point[ChunkChannels];
  plan.headMerge = static_cast<TapMerge>(point[HeadMerge]);
  plan.headRows = point[HeadRows];
  plan.tailRows = point[TailRows], plan.tailChannels = point[TailChannels];
  plan.keepsWeights = point[KeepsWeights] != 0;
  plan.arrayUnits = point[ArrayUnits];
  plan.segmentStripes = point[SegmentStripes];
  assess(problem_, machine_, plan);
  return plan;
}

PlanPoint ChainSpace::point(const ChainPlan &plan) {
  PlanPoint point(DimensionCount);
  point[StripeRows] = plan.stripeRows;
  point[FirstRows] = plan.firstRows > 0 ? plan.firstRows : plan.stripeRows;
  point[ChunkChannels] = plan.chunkChannels;
  point[HeadMerge] = static_cast<int64_t>(plan.headMerge);
  point[HeadRows] = plan.headRows;
  point[TailRows] = plan.tailRows, point[TailChannels] = plan.tailChannels;
  point[KeepsWeights] = plan.keepsWeights;
  point[ArrayUnits] = plan.arrayUnits;
  point[SegmentStripes] = plan.segmentStripes;
  return point;
}

double ChainSpace::analyticCycles(const PlanPoint &point) const {
  return plan(point).estimatedCycles;
}

std::vector<float> ChainSpace::features(const PlanPoint &point) const {
  const ChainProblem &p = problem_;
  const ConvMachine &m = machine_;
  const ChainPlan plan = this->plan(point);
  std::vector<float> features;
  auto add = [&](double value) { features.push_back(static_cast<float>(value)); };
  auto size = [&](int64_t value) {
    add(std::log2(static_cast<double>(std::max<int64_t>(1, value))));
  };
  for (size_t d :
       {StripeRows, FirstRows, ChunkChannels, HeadRows, TailRows, TailChannels, SegmentStripes})
    size(point[d]);
  add(static_cast<double>(point[HeadMerge]));
  add(static_cast<double>(point[KeepsWeights]));
  add(static_cast<double>(point[ArrayUnits]));
  const int64_t height = resultHeight(p), stripes = ceilDiv(height, plan.stripeRows),
                chunks = ceilDiv(chunkedChannels(p), plan.chunkChannels);
  size(stripes);
  size(chunks);
  size(stripes * chunks);
  auto share = [&](int64_t part, int64_t whole) {
    add(static_cast<double>(part) / static_cast<double>(whole));
  };
  share(height, stripes * plan.stripeRows);
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
  const int64_t headRows = stripeRows(p, {0, plan.stripeRows}).head.size();
  int64_t rowsMade = 0;
  for (const Stripe &stripe : stripesOf(p, plan))
    rowsMade += stripe.made.size();
  layer(p.head, p.head ? headRows : 1, plan.headRows);
  layer(p.tail, p.tail ? plan.stripeRows : 1, plan.tailRows);
  share(rowsMade, std::max<int64_t>(1, p.head     ? p.head->outputHeight
                                       : p.window ? p.window->height
                                                  : height));
  add(std::log2(std::max(1.0, plan.estimatedCycles)));
  return features;
}

} // namespace tilewright

#include "tilewright/compiler/schedule/fused_stack_plan.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tilewright {

// What a cycle of a unit that is not the slowest costs, on the average.
static constexpr double contention = 0.05;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t chunkedChannels(const FusedStackProblem &p) {
  return p.window ? p.window->inputChannels : p.tail->inputChannels;
}

bool mayComeLast(const FusedStackProblem &p) { return p.window && p.tail && !p.headIsAdded; }

bool addsChunks(const FusedStackProblem &p, const FusedStackPlan &plan) {
  return p.tail && !plan.tailComesLast && plan.chunkChannels < chunkedChannels(p);
}

// Input rows inside the tensor that output rows need.
static Rows inputRows(Rows outputs, int64_t stride, int64_t kernel, int64_t dilation, int64_t pad,
                      int64_t height) {
  return {std::max<int64_t>(0, outputs.begin * stride - pad),
          std::min(height, (outputs.end - 1) * stride - pad + (kernel - 1) * dilation + 1)};
}

TileRows tileRows(const FusedStackProblem &p, Rows result) {
  TileRows rows{result, result, result};
  if (p.tail)
    rows.window = rows.head = inputRows(result, p.tail->strideY, p.tail->kernelHeight,
                                        p.tail->dilationY, p.tail->padTop, p.tail->height);
  if (p.window)
    rows.head = inputRows(rows.window, p.window->strideY, p.window->kernelHeight,
                          p.window->dilationY, p.window->padTop, p.window->height);
  return rows;
}

int64_t resultHeight(const FusedStackProblem &p) {
  return p.tail ? p.tail->outputHeight : p.window->outputHeight;
}

// Of stripesOf.
static int64_t stripeCount(const FusedStackProblem &p, const FusedStackPlan &plan) {
  const int64_t height = resultHeight(p),
                first = plan.firstRows > 0 ? plan.firstRows : plan.tileRows;
  return 1 + ceilDiv(std::max<int64_t>(0, height - first), std::max<int64_t>(1, plan.tileRows));
}

std::vector<Stripe> stripesOf(const FusedStackProblem &p, const FusedStackPlan &plan) {
  std::vector<Stripe> stripes;
  stripes.reserve(static_cast<size_t>(stripeCount(p, plan)));
  int64_t first = 0, made = 0;
  for (int64_t y = 0, end = 0; y < resultHeight(p); y = end) {
    end = y + (y == 0 && plan.firstRows > 0 ? plan.firstRows : plan.tileRows);
    end = std::min(end, resultHeight(p));
    const TileRows needed = tileRows(p, {y, end});
    if (static_cast<int64_t>(stripes.size()) % plan.cachedTiles == 0)
      first = made = needed.head.begin;
    stripes.push_back({needed, {made, std::max(made, needed.head.end)}, first});
    made = stripes.back().made.end;
  }
  return stripes;
}

int64_t keptRows(const std::vector<Stripe> &stripes) {
  int64_t most = 0;
  for (const Stripe &stripe : stripes)
    most = std::max(most, stripe.made.end - stripe.first);
  return most;
}

bool makesAllRows(const FusedStackProblem &p) {
  const bool isBeside = resultHeight(p) == p.head->outputHeight;
  int64_t made = 0;
  for (int64_t y = 0; y < resultHeight(p); ++y) {
    const Rows rows = tileRows(p, {y, y + 1}).head;
    if (rows.begin > made || (isBeside && (rows.begin > y || rows.end <= y)))
      return false;
    made = std::max(made, rows.end);
  }
  return made == p.head->outputHeight;
}

bool sharesRows(const FusedStackProblem &p) {
  if (!p.head)
    return false;
  return p.window
             ? inputExtent(1, 1, p.window->kernelHeight, p.window->dilationY) > p.window->strideY
             : inputExtent(1, 1, p.tail->kernelHeight, p.tail->dilationY) > p.tail->strideY;
}

static int64_t batchOf(const FusedStackProblem &p) {
  return p.tail ? p.tail->batch : p.window->batch;
}

// Whether a window of several taps comes first and last.
static bool isAlone(const FusedStackProblem &p) {
  return p.window && !p.head && !p.tail && p.window->kernelHeight * p.window->kernelWidth > 1;
}

// Where the window is alone, each chunk has buffers of its own: the array and the vector unit,
// which have one each, read different ones.
static int64_t partOf(const FusedStackProblem &p, const FusedStackPlan &plan) {
  constexpr int64_t run = 128; // bytes in DRAM: shorter ones take the bus longer
  const int64_t least = p.sum ? run : plan.chunkChannels,
                part = ceilDiv(least, plan.chunkChannels) * plan.chunkChannels;
  return std::min(part, p.window->channels);
}

int64_t inputPart(const FusedStackProblem &p, const FusedStackPlan &plan) {
  return isAlone(p) || plan.tailComesLast ? partOf(p, plan) : p.window->channels;
}

int64_t resultPart(const FusedStackProblem &p, const FusedStackPlan &plan) {
  return isAlone(p) || p.sum ? partOf(p, plan) : p.window->channels;
}

SumSlots sumSlots(int64_t parts) { return {parts, false}; }

SumSlots sumSlots(const FusedStackProblem &p, const ConvMachine &m, const FusedStackPlan &plan) {
  const int64_t stripes = stripeCount(p, plan);
  if (!p.tail)
    return sumSlots(stripes);
  const int64_t parts = stripes * ceilDiv(plan.tileRows, plan.tailRows);
  constexpr int64_t share = 32; // one part in so many of the accumulators
  const int64_t atOnce = std::max<int64_t>(2, m.accBytes / share / 4 / p.tail->outputChannels - 2);
  return {std::min(parts, atOnce), parts > atOnce};
}

namespace {

// Of the windows of a column tile: cycles of the array, and tiles.
struct SlidingCost {
  int64_t matrix = 0, tiles = 0;
};

SlidingCost slidingCost(const FusedStackProblem &p, const ConvMachine &m, const SlidingTile &tile,
                        int64_t rows) {
  const int64_t width = p.window->outputWidth;
  SlidingCost cost;
  WindowProblem part = *p.window;
  // Whole tiles and what is left, along both axes.
  for (auto [count, height] : {std::pair(rows / tile.rows, tile.rows), {1, rows % tile.rows}})
    for (auto [across, columns] :
         {std::pair(width / tile.columns, tile.columns), {1, width % tile.columns}}) {
      if (height == 0 || columns == 0)
        continue;
      part.outputWidth = columns;
      cost.tiles += count * across;
      cost.matrix += count * across *
                     (p.sliding->cycles(part, height) + p.sliding->count(part) * m.matrixOverhead);
    }
  return cost;
}

// Stripes by the sizes that decide what they cost.
class StripeKinds {
public:
  struct Kind {
    Stripe stripe; // one of them
    int64_t count = 0;
  };
  explicit StripeKinds(const std::vector<Stripe> &stripes)
      : count_(static_cast<int64_t>(stripes.size())), keptRows_(tilewright::keptRows(stripes)) {
    for (const Stripe &stripe : stripes) {
      auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind &each) {
        return sizesOf(each.stripe) == sizesOf(stripe);
      });
      if (kind == kinds_.end())
        kind = kinds_.insert(kind, {stripe});
      ++kind->count;
    }
  }
  const std::vector<Kind> &kinds() const { return kinds_; } // the first stripe's first
  int64_t count() const { return count_; }
  int64_t keptRows() const { return keptRows_; }

private:
  static std::array<int64_t, 4> sizesOf(const Stripe &stripe) {
    return {stripe.made.size(), stripe.needed.head.size(), stripe.needed.window.size(),
            stripe.needed.result.size()};
  }
  std::vector<Kind> kinds_;
  int64_t count_, keptRows_;
};

// Fills in what a plan takes: the bytes of its highest stripe, the time of all stripes.
class Costs {
public:
  Costs(const FusedStackProblem &p, const ConvMachine &m, FusedStackPlan &plan,
        const StripeKinds &stripes)
      : p_(p), m_(m), plan_(plan), chunks_(ceilDiv(chunkedChannels(p), plan.chunkChannels)),
        stripes_(batchOf(p) * stripes.count()), keptRows_(stripes.keptRows()) {
    for (const auto &[stripe, count] : stripes.kinds()) {
      count_ = static_cast<double>(count);
      add(stripe);
    }
    finish();
  }

private:
  void add(const Stripe &stripe) {
    if (p_.head && stripe.made.size() > 0)
      addHead(stripe.made.size());
    if (p_.window)
      addWindow(stripe.needed);
    if (p_.tail)
      addTail(stripe.needed.result.size());
    isFirst_ = false;
  }

  void finish() {
    double weights = 0;
    // `parts`: that are there one after the other, where weights do not stay; `times`: each.
    auto kept = [&](const ConvProblem &conv, int64_t parts, int64_t times) {
      const bool stay = plan_.keepsWeights && stripes_ > 1;
      const int64_t bytes =
          conv.kernelHeight * conv.kernelWidth * conv.inputChannels * conv.outputChannels;
      weights += static_cast<double>(bytes) * static_cast<double>(stay ? 1 : times);
      // In a single stripe a chunk's weights are done with after the chunk.
      spad_ += stay || parts == 1 ? bytes : copies(Copies::Weights) * ceilDiv(bytes, parts);
      spad_ += conv.residentBytes;
    };
    if (p_.head)
      kept(*p_.head, chunks_, stripes_);
    if (p_.tail && plan_.tailComesLast)
      kept(*p_.tail, ceilDiv(p_.tail->outputChannels, plan_.tailChannels),
           stripes_ * ceilDiv(plan_.tileRows, plan_.tailRows));
    else if (p_.tail)
      kept(*p_.tail, chunks_, stripes_);
    if (p_.window)
      spad_ += p_.windowResidentBytes;
    if (p_.sum)
      addSum(*p_.sum);
    if (plan_.arrayUnits > 0)
      addDiagonals();
    for (double *time : {&matrix_, &vector_, &dram_, &load_})
      *time *= static_cast<double>(batchOf(p_));
    dram_ += weights / m_.dramBytesPerCycle;
    const double longest = std::max({matrix_, vector_, dram_, load_});
    plan_.estimatedCycles =
        longest + contention * (matrix_ + vector_ + std::max(dram_, load_) - longest) + first_;
    plan_.spadBytes = spad_ + stripeSpad_;
    plan_.accBytes = accBytes_;
  }

  // Copies of what lives for a stripe, and of what lives for a unit: the next one is on its way, if
  // there is one.
  int64_t copies(Copies which) const { return copiesOf(p_, plan_, which); }
  int64_t stripeCopies(int64_t most) const { return std::min(stripes_, most); }
  int64_t unitCopies(Copies which) const { return std::min(stripes_ * chunks_, copies(which)); }
  double arrayShare() const {
    return static_cast<double>(plan_.arrayUnits) / static_cast<double>(arrayShares);
  }

  // Cycles of the array for tiles of `rows` rows, `tileRows` at a time.
  double products(const ConvProblem &conv, int64_t rows, int64_t tileRows, int64_t folds,
                  int64_t channels) const {
    const int64_t pixels = tileRows * conv.outputWidth, least = m_.rows + m_.matrixOverhead;
    const double tiles = static_cast<double>(rows) / static_cast<double>(tileRows);
    return tiles * conv.filled *
           static_cast<double>(folds * ceilDiv(channels, m_.cols) *
                               (std::max(pixels, least) + m_.matrixOverhead));
  }
  static int64_t foldsOf(const ConvProblem &conv, int64_t inputChannels, int64_t arrayRows) {
    return conv.kernelHeight * conv.kernelWidth * ceilDiv(inputChannels, arrayRows);
  }
  double beats(int64_t pixels, int64_t channels) const {
    return static_cast<double>(pixels * ceilDiv(channels, m_.lanes));
  }
  // Of parameters and tables for tiles of the channels between the layers.
  double selections(int64_t bytes, int64_t rows, int64_t tileRows, int64_t tileChannels) const {
    return static_cast<double>(chunks_ * ceilDiv(plan_.chunkChannels, tileChannels) *
                               ceilDiv(rows, tileRows) *
                               ceilDiv(bytes, static_cast<int64_t>(m_.spadPort)));
  }
  double moved(int64_t bytes) const { return static_cast<double>(bytes) / m_.dramBytesPerCycle; }
  // Of a window's pixels, of each so many channels at once.
  double movedByRuns(int64_t bytes, int64_t run) const {
    const bool isWhole = run == p_.window->channels;
    const auto length = static_cast<double>(run);
    return moved(bytes) * (isWhole ? 1 : m_.streamedFor(length) / length);
  }
  // Of a stripe.
  void take(double &time, double cycles) const { time += count_ * cycles; }

  void addHead(int64_t rows) {
    const ConvProblem &h = *p_.head;
    const int64_t pixels = rows * h.outputWidth, chunk = plan_.chunkChannels;
    const int64_t tileRows = std::min(rows, plan_.headRows);
    const int64_t input =
        std::min(h.height, inputExtent(rows, h.strideY, h.kernelHeight, h.dilationY)) * h.width *
        h.inputChannels;
    // Rows that the stripe before has as well are copied where loads take an element a cycle, if
    // its input is still there.
    const bool copiesRows =
        h.inputScattered && m_.mayGather && !isFirst_ && copies(Copies::Inputs) > 1;
    const int64_t loaded =
        copiesRows ? std::min(input, rows * h.strideY * h.width * h.inputChannels) : input;
    const double inputTime = inputCycles(h, m_, loaded);
    const Gathered windows = gathered(h, m_, plan_.headMerge, tileRows, h.outputWidth);
    take(vector_,
         static_cast<double>(chunks_ * windows.beats * rows) / static_cast<double>(tileRows));
    take(matrix_, static_cast<double>(chunks_) *
                      products(h, rows, tileRows, foldCount(h, m_, plan_.headMerge), chunk));
    take(vector_, beats(pixels, h.outputChannels) * static_cast<double>(p_.headOperations));
    take(vector_, selections(p_.headSelectedBytes, rows, tileRows, headTileChannels(m_, plan_)));
    take(load_, inputTime);
    take(dram_, moved(loaded + pixels * h.outputChannels *
                                   (h.spadBytesPerElement + (p_.headIsStored ? 1 : 0))));
    if (isFirst_)
      first_ += inputTime;
    const int64_t row = p_.window ? p_.window->width + 2 * p_.window->padLeft : h.outputWidth,
                  between = plan_.cachedTiles > 1
                                ? keptRows_ * row * chunks_ * chunk
                                : unitCopies(Copies::Between) * rows * row * chunk;
    note(0,
         stripeCopies(copies(Copies::Inputs)) * input + between +
             copies(Copies::Windows) * windows.elements,
         copies(Copies::HeadSums) * tileRows * h.outputWidth *
             std::min(chunk, plan_.headChannels > 0 ? plan_.headChannels : m_.channels) *
             (4 + h.accBytesPerElement));
  }

  // Returns the accumulators that windows on the array take.
  int64_t addSlidingWindows(int64_t rows, double share) {
    const WindowProblem &w = *p_.window;
    const SlidingTile tile = slidingTile(p_, m_, plan_, rows);
    const double groups = share * static_cast<double>(ceilDiv(w.channels, m_.cols));
    const SlidingCost cost = slidingCost(p_, m_, tile, rows);
    take(matrix_, groups * static_cast<double>(cost.matrix));
    take(vector_, groups * static_cast<double>(cost.tiles * 2 * m_.vectorOverhead));
    return copies(Copies::WindowSums) * tile.rows * tile.columns * m_.cols *
           (4 + p_.windowAccBytesPerElement);
  }

  int64_t addArrayWindows(int64_t rows, double share) {
    if (p_.sliding)
      return addSlidingWindows(rows, share);
    const WindowProblem &w = *p_.window;
    const int64_t group = groupChannels(m_), block = std::min(plan_.chunkChannels, m_.channels),
                  last = w.channels - (chunks_ - 1) * plan_.chunkChannels,
                  groups =
                      (chunks_ - 1) * ceilDiv(plan_.chunkChannels, group) + ceilDiv(last, group),
                  tile = std::min(rows, arrayTileRows(p_, plan_, block));
    const int64_t least = m_.rows + m_.matrixOverhead;
    take(matrix_,
         share * static_cast<double>(rows) / static_cast<double>(tile) *
             static_cast<double>(w.kernelHeight * w.kernelWidth * groups *
                                 (std::max(tile * w.outputWidth, least) + m_.matrixOverhead)));
    return tileBytes(tile, block);
  }

  // Of tiles of accumulators of windows.
  int64_t tileBytes(int64_t rows, int64_t channels) const {
    return copies(Copies::WindowSums) * rows * p_.window->outputWidth * channels *
           (4 + p_.windowAccBytesPerElement);
  }

  void addWindow(const TileRows &rows) {
    const WindowProblem &w = *p_.window;
    const int64_t pixels = rows.window.size() * w.outputWidth;
    const double share = arrayShare(),
                 perBeat = (1 - share) * static_cast<double>(w.kernelHeight * w.kernelWidth) +
                           share + static_cast<double>(p_.windowOperations);
    int64_t acc = share > 0 ? addArrayWindows(rows.window.size(), share) : 0;
    const int64_t block = std::min(plan_.chunkChannels, m_.channels),
                  tile = lanesTileRows(p_, plan_, rows.window.size(), block);
    if (p_.windowHasSums)
      acc = std::max(acc, tileBytes(tile, block));
    take(vector_, beats(pixels, w.channels) * perBeat +
                      selections(p_.windowSelectedBytes, rows.window.size(), tile, block));
    int64_t bytes =
        pixels * (plan_.tailComesLast ? stripeCopies(copies(Copies::WindowResults)) * w.channels
                  : p_.tail           ? unitCopies(Copies::WindowResults) * plan_.chunkChannels
                                      : resultBytes());
    bytes += pixels * plan_.chunkChannels * p_.windowSpadBytesPerElement;
    if (!p_.head) {
      const int64_t pixelsRead = rows.head.size() * (w.width + 2 * w.padLeft),
                    part = inputPart(p_, plan_), parts = ceilDiv(w.channels, part);
      take(dram_, movedByRuns(pixelsRead * w.channels, part));
      if (isFirst_)
        first_ += movedByRuns(pixelsRead * part, part);
      bytes += std::min(stripes_ * parts, copies(Copies::Inputs)) * pixelsRead * part;
    }
    if (!p_.tail && (!p_.sum || p_.sum->isImageStored))
      take(dram_, movedByRuns(pixels * w.channels, resultPart(p_, plan_)));
    if (p_.sum && !p_.tail)
      take(vector_, beats(pixels, w.channels));
    note(1, bytes, acc);
  }

  // For a pixel of the window's result, where it comes last.
  int64_t resultBytes() const {
    const int64_t part = resultPart(p_, plan_);
    return part * std::min<int64_t>(stripes_ * ceilDiv(p_.window->channels, part), 2);
  }

  // Weights on diagonals come an element a cycle, onto squares that were cleared.
  void addDiagonals() {
    const int64_t taps = p_.window->kernelHeight * p_.window->kernelWidth;
    const bool stay = plan_.keepsWeights && stripes_ > 1;
    if (p_.sliding) {
      const int64_t each = m_.cols * p_.sliding->cells(*p_.window), // of a column tile
          whole = ceilDiv(p_.window->channels, m_.cols) * each;
      spad_ +=
          p_.windowResidentBytes +
          (stay ? whole : copies(Copies::Weights) * ceilDiv(plan_.chunkChannels, m_.cols) * each);
      dram_ += arrayShare() * moved(whole * (stay ? 1 : stripes_));
      return;
    }
    spad_ += squareBytes(
        m_, taps, stay ? p_.window->channels : copies(Copies::Weights) * plan_.chunkChannels);
    const double elements =
        arrayShare() * static_cast<double>(taps * p_.window->channels * (stay ? 1 : stripes_));
    load_ += elements;
    dram_ += elements / m_.dramBytesPerCycle;
  }

  void addTail(int64_t rows) {
    const ConvProblem &t = *p_.tail;
    const int64_t pixels = rows * t.outputWidth, tile = std::min(rows, plan_.tailRows);
    const bool addsUp = addsChunks(p_, plan_);
    take(matrix_, static_cast<double>(addsUp ? chunks_ : 1) *
                      products(t, rows, tile,
                               foldsOf(t, addsUp ? plan_.chunkChannels : t.inputChannels, m_.rows),
                               t.outputChannels));
    take(vector_, beats(pixels, t.outputChannels) * static_cast<double>(1 + t.spadBytesPerElement));
    const int64_t result = pixels * t.outputChannels;
    const bool isStored = !p_.sum || p_.sum->isImageStored;
    take(dram_, moved(result * ((isStored ? t.resultBytes : 0) + t.spadBytesPerElement)));
    if (p_.sum)
      take(vector_, beats(pixels, t.outputChannels));
    if (plan_.tailComesLast)
      take(matrix_, waitsForLanes(rows, tile));
    const int64_t tilePixels = tile * t.outputWidth;
    note(2, tilePixels * t.outputChannels * (copies(Copies::Results) + 2 * t.spadBytesPerElement),
         addsUp ? result * 4 + tilePixels * plan_.tailChannels * t.accBytesPerElement
                : copies(Copies::TailSums) * tilePixels * plan_.tailChannels *
                      (4 + t.accBytesPerElement));
  }

  // The array fills the tail's accumulators while the vector unit is at windows, and waits where
  // these take longer.
  double waitsForLanes(int64_t rows, int64_t tile) const {
    const ConvProblem &t = *p_.tail;
    const WindowProblem &w = *p_.window;
    const int64_t pixels = tile * t.outputWidth,
                  channels = std::min(plan_.chunkChannels, m_.channels),
                  lanes = lanesTileRows(p_, plan_, rows, channels),
                  pieces = ceilDiv(rows, lanes) * ceilDiv(w.channels, channels);
    const double piece = beats(lanes * w.outputWidth, channels) *
                         static_cast<double>(w.kernelHeight * w.kernelWidth + p_.windowOperations),
                 finish = beats(pixels, plan_.tailChannels) *
                          static_cast<double>(1 + t.spadBytesPerElement),
                 filled = static_cast<double>(copies(Copies::TailSums)) *
                          products(t, tile, tile, foldsOf(t, t.inputChannels, m_.rows),
                                   std::min(plan_.tailChannels, t.outputChannels));
    return (1 - arrayShare()) * static_cast<double>(pieces) *
           std::max(0.0, piece + finish - filled);
  }

  void addSum(const ImageSum &sum) {
    const int64_t channels = p_.tail ? p_.tail->outputChannels : p_.window->channels;
    spad_ += sum.residentBytes;
    note(3, channels * (1 + sum.spadBytesPerElement),
         sumSlots(p_, m_, plan_).count() * channels * 4 +
             std::min(channels, m_.channels) * sum.accBytesPerElement);
  }

  void note(int stage, int64_t spad, int64_t acc) {
    stageSpad_[stage] = std::max(stageSpad_[stage], spad);
    stageAcc_[stage] = std::max(stageAcc_[stage], acc);
    stripeSpad_ = std::accumulate(std::begin(stageSpad_), std::end(stageSpad_), int64_t(0));
    accBytes_ = std::accumulate(std::begin(stageAcc_), std::end(stageAcc_), int64_t(0));
  }

  const FusedStackProblem &p_;
  const ConvMachine &m_;
  FusedStackPlan &plan_;
  const int64_t chunks_, stripes_, keptRows_; // `stripes_`: of all images
  bool isFirst_ = true;
  double count_ = 0; // of stripes of the kind at hand
  int64_t spad_ = 0, stripeSpad_ = 0, accBytes_ = 0;
  int64_t stageSpad_[4] = {}, stageAcc_[4] = {};
  double matrix_ = 0, vector_ = 0, dram_ = 0, first_ = 0;
  double load_ = 0; // of the load unit, which moves scattered elements one by one
};

} // namespace

// Tiles of sliding windows are as large as the other layers' accumulators leave room.
static void assess(const FusedStackProblem &p, const ConvMachine &m, FusedStackPlan &plan,
                   const StripeKinds &stripes) {
  plan.slidingParts = 0;
  if (!p.sliding || plan.arrayUnits == 0) {
    Costs(p, m, plan, stripes);
    return;
  }
  for (int64_t parts : {5, 8, 16, 32}) {
    plan.slidingParts = parts;
    Costs(p, m, plan, stripes);
    if (plan.accBytes <= m.accBytes)
      return;
  }
}

void assess(const FusedStackProblem &p, const ConvMachine &m, FusedStackPlan &plan) {
  assess(p, m, plan, StripeKinds(stripesOf(p, plan)));
}

int64_t arrayTileRows(const FusedStackProblem &p, int64_t channels) {
  constexpr int64_t sums = 2048; // of a tile: the array's rows are hidden, others find room
  return std::max<int64_t>(1, sums / (channels * p.window->outputWidth));
}

// High tiles share the rows of taps, whole blocks of outputs the columns.
SlidingTile slidingTile(const FusedStackProblem &p, const ConvMachine &m,
                        const FusedStackPlan &plan, int64_t rows) {
  const int64_t width = p.window->outputWidth, block = p.sliding->outputs,
                pixels = std::max<int64_t>(block, m.accBytes / 4 / plan.slidingParts / m.cols);
  SlidingTile best{1, std::min(width, block)};
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t parts = 1; parts <= rows; ++parts) {
    const int64_t height = ceilDiv(rows, parts),
                  most = std::max(block, pixels / height / block * block);
    if (height * std::min(width, block) > pixels)
      continue;
    const SlidingTile tile{height, ceilDiv(ceilDiv(width, ceilDiv(width, most)), block) * block};
    const SlidingCost cost = slidingCost(p, m, tile, rows);
    const int64_t cycles = cost.matrix + cost.tiles * m.vectorOverhead;
    if (cycles >= least)
      continue;
    least = cycles;
    best = {height, std::min(width, tile.columns)};
  }
  return best;
}

std::optional<WindowPasses> slidingPasses(const WindowProblem &window, const ConvMachine &m) {
  constexpr int64_t usualRows = 8; // of a tile
  if (!m.window || m.channels < m.cols)
    return std::nullopt;
  return windowPasses(window, *m.window, std::min(window.outputHeight, usualRows));
}

int64_t lanesTileRows(const FusedStackProblem &p, int64_t rows, int64_t channels) {
  const int64_t tile = ceilDiv(rows, std::min<int64_t>(rows, 4));
  if (!p.windowHasSums)
    return tile;
  // Each piece selects parameters and tables of its own.
  constexpr int64_t pixels = 96;
  const int64_t least = std::min(rows, ceilDiv(pixels, p.window->outputWidth));
  return std::min(std::max(tile, least), arrayTileRows(p, channels));
}

int64_t arrayTileRows(const FusedStackProblem &p, const FusedStackPlan &plan, int64_t channels) {
  return plan.windowRows > 0 ? plan.windowRows : arrayTileRows(p, channels);
}

int64_t lanesTileRows(const FusedStackProblem &p, const FusedStackPlan &plan, int64_t rows,
                      int64_t channels) {
  return plan.laneRows > 0 ? std::min(rows, plan.laneRows) : lanesTileRows(p, rows, channels);
}

// Weights are packed by column tiles.
int64_t headTileChannels(const ConvMachine &m, const FusedStackPlan &plan) {
  const int64_t block = std::min(plan.chunkChannels, m.channels);
  return plan.headChannels > 0 ? plan.headChannels : std::max(m.cols, block / m.cols * m.cols);
}

bool isOnArray(const FusedStackPlan &plan, int64_t unit) {
  return (unit + 1) * plan.arrayUnits / arrayShares > unit * plan.arrayUnits / arrayShares;
}

bool mayHandOn(const FusedStackProblem &p) {
  return p.head && !p.tail && !p.sum && batchOf(p) == 1;
}

bool isWhole(const FusedStackProblem &p, const FusedStackPlan &plan) {
  const int64_t first = plan.firstRows > 0 ? plan.firstRows : plan.tileRows;
  return batchOf(p) == 1 && first >= resultHeight(p);
}

bool hasCopies(const FusedStackProblem &p, const FusedStackPlan &plan, Copies which) {
  const bool isOneStripe = isWhole(p, plan), isOneChunk = plan.chunkChannels == chunkedChannels(p),
             isOneUnit = isOneStripe && isOneChunk, stay = plan.keepsWeights && !isOneStripe;
  switch (which) {
  case Copies::Inputs:
    return !isOneStripe || (p.window && !p.head && inputPart(p, plan) < p.window->channels);
  case Copies::Windows:
    return plan.headMerge == TapMerge::All;
  case Copies::Between:
    return p.head && !isOneUnit && plan.cachedTiles <= 1;
  case Copies::WindowResults:
    return p.window && p.tail && !(plan.tailComesLast ? isOneStripe : isOneUnit);
  case Copies::HeadSums:
    return p.head.has_value();
  case Copies::WindowSums:
    return p.window && (p.windowHasSums || plan.arrayUnits > 0);
  case Copies::TailSums:
    return p.tail && !addsChunks(p, plan);
  case Copies::Results:
    return p.tail && !p.tail->resultInAccumulators;
  case Copies::Weights:
    return !stay && !isOneUnit;
  case Copies::Count:
    break;
  }
  return false;
}

Rows arrayRows(const FusedStackPlan &plan, int64_t unit, Rows window) {
  const int64_t part = window.size() * plan.arrayUnits / arrayShares;
  switch (plan.arrayPart) {
  case ArrayPart::FirstRows:
    return {window.begin, window.begin + part};
  case ArrayPart::LastRows:
    return {window.end - part, window.end};
  case ArrayPart::Units:
    break;
  }
  return {window.begin, isOnArray(plan, unit) ? window.end : window.begin};
}

// Units whose channels between two layers are on chip at once are three where the array makes
// windows, but does not slide all of them; a tail whose image is added up reads them later.
int64_t copiesOf(const FusedStackProblem &p, const FusedStackPlan &plan, Copies which) {
  if (const int64_t given = plan.copies[static_cast<size_t>(which)]; given > 0)
    return given;
  const bool isInputOfUnit =
      which == Copies::Inputs && !p.head &&
      ((!isAlone(p) && !plan.tailComesLast) || inputPart(p, plan) == plan.chunkChannels);
  // The vector unit's own sums are done with at the end of their piece.
  if (which == Copies::WindowSums && plan.tailComesLast && plan.arrayUnits == 0)
    return 1;
  const bool isResultOfUnit = which == Copies::WindowResults && !plan.tailComesLast;
  const bool isBetween = which == Copies::Between || isResultOfUnit || isInputOfUnit;
  const bool slideAll = plan.slidingParts > 0 && plan.arrayUnits == arrayShares;
  if (!isBetween || plan.arrayUnits == 0 || slideAll)
    return 2;
  return p.sum && p.tail && which == Copies::WindowResults ? 4 : 3;
}

std::vector<size_t> permutation(int64_t number, size_t count) {
  std::vector<size_t> rest(count), order;
  std::iota(rest.begin(), rest.end(), 0);
  int64_t orders = 1; // of what is left
  for (size_t i = 2; i <= count; ++i)
    orders *= static_cast<int64_t>(i);
  while (!rest.empty()) {
    orders /= static_cast<int64_t>(rest.size());
    const auto at = rest.begin() + number / orders % static_cast<int64_t>(rest.size());
    order.push_back(*at);
    rest.erase(at);
  }
  return order;
}

std::vector<int64_t> stripeSizes(int64_t height) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1; parts <= height; ++parts)
    if (const int64_t rows = ceilDiv(height, parts); sizes.empty() || rows < sizes.back())
      sizes.push_back(rows);
  return sizes;
}

std::string describe(const FusedStackProblem &p, const FusedStackPlan &plan) {
  const bool isShort = plan.firstRows > 0 && plan.firstRows < plan.tileRows;
  return fmt::format(
      "fused stack of {} layers: {} tiles of {} rows{}, {} of {} channels at a time{}; weights "
      "{}{}",
      (p.head ? 1 : 0) + (p.window ? 1 : 0) + (p.tail ? 1 : 0) + (p.sum ? 1 : 0),
      stripeCount(p, plan), plan.tileRows,
      (isShort ? fmt::format(", the first of {}", plan.firstRows) : "") +
          (plan.cachedTiles > 1 ? fmt::format(", overlap cached across {}", plan.cachedTiles) : ""),
      plan.chunkChannels, chunkedChannels(p),
      plan.arrayUnits > 0 ? fmt::format(", {} in {} of the depthwise products on the array",
                                        plan.arrayUnits, arrayShares)
                          : "",
      plan.keepsWeights ? "loaded once" : "loaded for each tile",
      std::string(plan.tailComesLast ? ", the last layer when all channels are there" : "") +
          describe(plan.headMerge));
}

// Whether each row of the result needs rows of every layer: none comes from padding alone.
static bool hasRowsThroughout(const FusedStackProblem &p) {
  for (int64_t y = 0; y < resultHeight(p); ++y) {
    const TileRows rows = tileRows(p, {y, y + 1});
    if (rows.window.size() < 1 || rows.head.size() < 1)
      return false;
  }
  return true;
}

bool isBearable(const FusedStackProblem &p, const FusedStackPlan &plan) {
  constexpr int64_t mostUnits = 4096; // of work: a program of more would be long in the making
  return batchOf(p) * stripeCount(p, plan) * ceilDiv(chunkedChannels(p), plan.chunkChannels) <=
         mostUnits;
}

namespace {

// Of plans of one chain, most of which differ in other things.
class KnownStripes {
public:
  explicit KnownStripes(const FusedStackProblem &p) : p_(p) {}
  const StripeKinds &of(const FusedStackPlan &plan) {
    const std::array<int64_t, 3> decides{plan.tileRows, plan.firstRows, plan.cachedTiles};
    auto known = known_.find(decides);
    if (known == known_.end())
      known = known_.emplace(decides, StripeKinds(stripesOf(p_, plan))).first;
    return known->second;
  }

private:
  const FusedStackProblem &p_;
  std::map<std::array<int64_t, 3>, StripeKinds> known_; // by what decides them
};

} // namespace

// Stripes of a segment for which there is room beside what the plan takes with segments of one;
// segments are as even as can be.
static int64_t cachedTiles(const FusedStackProblem &p, const ConvMachine &m, FusedStackPlan plan,
                           KnownStripes &stripes) {
  if (!sharesRows(p))
    return 1;
  const auto count = stripes.of(plan).count();
  for (int64_t segments = 1; segments < count; ++segments) {
    const int64_t each = ceilDiv(count, segments);
    if (segments > 1 && each == plan.cachedTiles)
      continue;
    plan.cachedTiles = each;
    assess(p, m, plan, stripes.of(plan));
    if (plan.spadBytes <= m.spadBytes - m.spadBytes / 32) // rounded up, buffers take more
      return plan.cachedTiles;
  }
  return 1;
}

// Adds a plan with each part of the windows on the array that may be the best one: the first that
// costs more than the one before is the last.
static void balance(const FusedStackProblem &p, const ConvMachine &m, FusedStackPlan plan,
                    KnownStripes &known, std::vector<FusedStackPlan> &plans) {
  double before = std::numeric_limits<double>::infinity();
  for (plan.arrayUnits = 0; plan.arrayUnits <= (p.mayReduceOnArray ? arrayShares : 0);
       plan.arrayUnits += 2) {
    assess(p, m, plan, known.of(plan));
    if (plan.spadBytes > m.spadBytes || plan.accBytes > m.accBytes)
      continue;
    plans.push_back(plan);
    double cycles = plan.estimatedCycles;
    if (const int64_t stripes = cachedTiles(p, m, plan, known); stripes > 1) {
      plans.push_back(plan);
      plans.back().cachedTiles = stripes;
      assess(p, m, plans.back(), known.of(plans.back()));
      cycles = std::min(cycles, plans.back().estimatedCycles);
    }
    if (cycles > before)
      return;
    before = cycles;
  }
}

static std::vector<FusedStackPlan> planOneWay(const FusedStackProblem &p, const ConvMachine &m,
                                              size_t most) {
  std::vector<FusedStackPlan> plans;
  if (!hasRowsThroughout(p))
    return plans;
  const int64_t channels = chunkedChannels(p), height = resultHeight(p);
  KnownStripes stripes(p);
  std::vector<int64_t> chunks;
  // Parts of the channels begin at a column tile of the head and at a fold of the tail.
  for (int64_t chunk = std::lcm(m.rows, m.cols);
       !p.headIsAdded && chunk < channels && chunk <= m.channels; chunk *= 2)
    chunks.push_back(chunk);
  chunks.push_back(channels);
  for (int64_t stripe : stripeSizes(height))
    for (int64_t chunk : chunks) {
      const TileRows rows = tileRows(p, {0, stripe});
      std::vector<int64_t> headRows{0}, tailRows{0}, tailChannels{0};
      std::vector<TapMerge> headMerges{TapMerge::None};
      auto rowsOf = [&](const ConvProblem &conv, int64_t whole) {
        std::vector<int64_t> sizes;
        for (int64_t pixels : {32, 64, 128, 256}) {
          const int64_t tile = std::min(whole, std::max<int64_t>(1, pixels / conv.outputWidth));
          if (sizes.empty() || sizes.back() != tile)
            sizes.push_back(tile);
        }
        return sizes;
      };
      if (p.head)
        headRows = rowsOf(*p.head, rows.head.size()), headMerges = mergesOf(*p.head, m);
      if (p.tail) {
        tailRows = rowsOf(*p.tail, stripe);
        tailChannels.clear();
        for (int64_t part = m.cols; part < 2 * p.tail->outputChannels && part <= m.channels;
             part *= 2)
          tailChannels.push_back(std::min(part, p.tail->outputChannels));
      }
      for (TapMerge merge : headMerges)
        for (int64_t head : headRows)
          for (int64_t tail : tailRows)
            for (int64_t tailPart : tailChannels)
              for (auto [keeps, comesLast] :
                   {std::pair(true, false), {false, false}, {true, true}, {false, true}}) {
                if ((!keeps && stripe >= height) ||
                    (comesLast && !(mayComeLast(p) && !p.head && chunk < channels)))
                  continue;
                FusedStackPlan plan{};
                plan.tailComesLast = comesLast;
                plan.tileRows = stripe, plan.chunkChannels = chunk;
                plan.headMerge = merge, plan.headRows = head;
                plan.tailRows = tail, plan.tailChannels = tailPart;
                plan.keepsWeights = keeps;
                if (isBearable(p, plan))
                  balance(p, m, plan, stripes, plans);
              }
    }
  auto key = [](const FusedStackPlan &plan) {
    return std::make_tuple(plan.estimatedCycles, plan.spadBytes, plan.chunkChannels, plan.headMerge,
                           plan.headRows, plan.tailRows, plan.tailChannels, plan.arrayUnits,
                           plan.cachedTiles, plan.tailComesLast);
  };
  std::sort(plans.begin(), plans.end(),
            [&](const FusedStackPlan &a, const FusedStackPlan &b) { return key(a) < key(b); });
  // Of plans with the same stripes, chunks and merges, the best one alone.
  std::vector<FusedStackPlan> chosen;
  for (const FusedStackPlan &plan : plans)
    if (chosen.size() < most &&
        std::none_of(chosen.begin(), chosen.end(), [&](const FusedStackPlan &c) {
          return c.tileRows == plan.tileRows && c.chunkChannels == plan.chunkChannels &&
                 c.arrayUnits == plan.arrayUnits && c.headMerge == plan.headMerge &&
                 c.tailComesLast == plan.tailComesLast &&
                 (c.cachedTiles > 1) == (plan.cachedTiles > 1);
        }))
      chosen.push_back(plan);
  return chosen;
}

// Plans whose tail comes last and others in turn, each the best ones first: estimates of the two
// kinds cannot be compared closely.
static std::vector<FusedStackPlan> inTurn(const std::vector<FusedStackPlan> &plans) {
  std::array<std::vector<FusedStackPlan>, 2> kinds;
  for (const FusedStackPlan &plan : plans)
    kinds[plan.tailComesLast].push_back(plan);
  std::vector<FusedStackPlan> turns;
  const size_t first = !plans.empty() && plans.front().tailComesLast;
  for (size_t i = 0; turns.size() < plans.size(); ++i)
    for (const size_t kind : {first, 1 - first})
      if (i < kinds[kind].size())
        turns.push_back(kinds[kind][i]);
  return turns;
}

// Where an instruction slides windows, what would be done without it is tried, too.
std::vector<FusedStackPlan> planFusedStack(const FusedStackProblem &p, const ConvMachine &m,
                                           size_t most) {
  std::vector<FusedStackPlan> plans = planOneWay(p, m, most);
  if (!p.sliding)
    return inTurn(plans);
  FusedStackProblem without = p;
  without.sliding.reset();
  for (const FusedStackPlan &plan : planOneWay(without, m, most))
    if (plan.arrayUnits > 0 ||
        std::none_of(plans.begin(), plans.end(), [&](const FusedStackPlan &other) {
          return other.arrayUnits == 0 && other.tileRows == plan.tileRows &&
                 other.chunkChannels == plan.chunkChannels && other.headMerge == plan.headMerge &&
                 other.tailComesLast == plan.tailComesLast;
        }))
      plans.push_back(plan);
  auto key = [](const FusedStackPlan &plan) {
    return std::make_tuple(plan.estimatedCycles, plan.tileRows, plan.chunkChannels, plan.headMerge,
                           plan.arrayUnits, plan.slidingParts, plan.tailComesLast);
  };
  std::sort(plans.begin(), plans.end(),
            [&](const FusedStackPlan &a, const FusedStackPlan &b) { return key(a) < key(b); });
  return inTurn(plans);
}

} // namespace tilewright

#include "tilewright/compiler/schedule/conv_plan.h"

#include "tilewright/compiler/schedule/standing_plan.h"
#include "tilewright/isa/diagonal.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace tilewright {

// What a cycle of one unit costs another that is busy, on the average over many layers
// (docs/performance.md).
static constexpr double contention = 0.1;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

int64_t groupChannels(const ConvMachine &m) {
  return isa::diagonalChannels(m.rows, m.cols, m.channels);
}

int64_t squareBytes(const ConvMachine &m, int64_t taps, int64_t channels) {
  const int64_t group = groupChannels(m);
  return ceilDiv(channels, group) * taps * group * (group + 1);
}

int64_t inputExtent(int64_t outputs, int64_t stride, int64_t kernel, int64_t dilation) {
  return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

int64_t foldCount(const ConvProblem &p, const ConvMachine &m, TapMerge merge) {
  const int64_t merged =
      (merge == TapMerge::All ? p.kernelHeight : 1) * (merge != TapMerge::None ? p.kernelWidth : 1);
  return p.kernelHeight * p.kernelWidth / merged * ceilDiv(merged * p.inputChannels, m.rows);
}

std::vector<TapMerge> mergesOf(const ConvProblem &p, const ConvMachine &m) {
  std::vector<TapMerge> merges{TapMerge::None};
  if (p.kernelWidth > 1 && p.dilationX == 1 && !p.weightsAreActivations)
    for (TapMerge merge : {TapMerge::Columns, TapMerge::All})
      if (foldCount(p, m, merge) < foldCount(p, m, merges.back()) &&
          (merge == TapMerge::Columns || m.mayGather))
        merges.push_back(merge);
  return merges;
}

int64_t usualInputParts(const ConvProblem &p, const ConvMachine &m, TapMerge merge) {
  constexpr int64_t most = 4;
  // Bytes of a run: with shorter ones, all buffers of bursts wait for DRAM at the same time.
  const auto least = static_cast<int64_t>(m.burstBytes / 2);
  if (p.weightsAreActivations || p.inputScattered || merge != TapMerge::None)
    return 1;
  for (int64_t parts = most; parts > 1; --parts)
    if (p.inputChannels % (parts * m.rows) == 0 && p.inputChannels / parts >= least)
      return parts;
  return 1;
}

int64_t inputPartsOf(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  return plan.inputParts > 0 ? plan.inputParts : usualInputParts(p, m, plan.merge);
}

bool firstInputIsApart(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  const int64_t parts = inputPartsOf(p, m, plan);
  return parts > 1 && plan.streamFolds == 0 && p.kernelHeight == 1 && p.kernelWidth == 1 &&
         p.padTop == 0 && p.padLeft == 0 && !p.inputScattered && !p.weightsAreActivations &&
         plan.stands == Stands::Weights && plan.merge == TapMerge::None &&
         p.inputChannels % (parts * m.rows) == 0; // a fold reads one of them
}

double inputCycles(const ConvProblem &p, const ConvMachine &m, int64_t elements) {
  return static_cast<double>(elements) / (p.inputScattered ? 1 : m.dramBytesPerCycle);
}

bool hasColumnsOfTaps(const ConvProblem &p) { return p.inputScattered && p.dilationY == 1; }

Gathered gathered(const ConvProblem &p, const ConvMachine &m, TapMerge merge, int64_t outputRows,
                  int64_t outputColumns) {
  if (merge != TapMerge::All)
    return {0, 0};
  const int64_t pixels =
      outputRows * inputExtent(outputColumns, p.strideX, p.kernelWidth, p.dilationX);
  const int64_t beats = hasColumnsOfTaps(p) ? ceilDiv(p.kernelHeight * p.inputChannels, m.lanes)
                                            : p.kernelHeight * ceilDiv(p.inputChannels, m.lanes);
  return {pixels * p.kernelHeight * p.inputChannels, pixels * beats};
}

// Parts of nearly equal size, none above `most`.
static int64_t evenPart(int64_t whole, int64_t most) {
  most = std::max<int64_t>(most, 1);
  return ceilDiv(whole, ceilDiv(whole, most));
}

// Divides `whole` by 1, 2, 3, 4, 6, 8, ...: sizes to try.
static std::vector<int64_t> divisions(int64_t whole, int64_t multiple) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1;; parts = parts < 4 ? parts + 1 : parts * 3 / 2) {
    int64_t size = std::min(whole, roundUp(ceilDiv(whole, parts), multiple));
    if (sizes.empty() || sizes.back() != size)
      sizes.push_back(size);
    if (size <= multiple)
      return sizes;
  }
}

int64_t depthOfPart(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  return roundUp(ceilDiv(p.inputChannels, plan.depthParts), m.rows);
}

int64_t passesOf(const ConvProblem &p, const ConvPlan &plan) {
  const int64_t chunks = ceilDiv(p.outputChannels, plan.stepChannels);
  return plan.residentSteps > 0 ? ceilDiv(chunks, plan.residentSteps) : 1;
}

// Time of a plan if every unit runs at its own pace, and on-chip bytes. 1. Count loads of input and
// weights by loop order. 2. The array takes folds x pixels, the vector unit a pass per result
// element, DRAM its bytes. 3. What is not double-buffered adds up instead of overlapping.
void assess(const ConvProblem &p, const ConvMachine &m, ConvPlan &plan) {
  const int64_t firstHeight = plan.firstHeight > 0 ? plan.firstHeight : plan.stepHeight;
  int64_t tilesY = 1 + ceilDiv(std::max<int64_t>(0, p.outputHeight - firstHeight), plan.stepHeight),
          tilesX = ceilDiv(p.outputWidth, plan.stepWidth);
  int64_t pixelTiles = p.batch * tilesY * tilesX;
  int64_t chunks = ceilDiv(p.outputChannels, plan.stepChannels);
  int64_t inputTile =
      inputExtent(std::min(plan.stepHeight, p.outputHeight), p.strideY, p.kernelHeight,
                  p.dilationY) *
      inputExtent(std::min(plan.stepWidth, p.outputWidth), p.strideX, p.kernelWidth, p.dilationX) *
      std::min(p.inputChannels, depthOfPart(p, m, plan));
  const Gathered windows = gathered(p, m, plan.merge, plan.tileHeight, plan.tileWidth);
  int64_t depth = p.kernelHeight * p.kernelWidth * p.inputChannels;
  int64_t weightChunk = depth * plan.stepChannels;
  int64_t weightSets = p.weightsAreActivations ? p.batch : 1;
  int64_t inputLoads = pixelTiles * (pixelTiles > 1 ? passesOf(p, plan) : 1);
  if (plan.depthParts > 1) // the last part of a chunk is the first one of the next
    inputLoads = pixelTiles * (chunks * (plan.depthParts - 1) + 1);
  int64_t folds = foldCount(p, m, plan.merge);
  int64_t weightPart =
      std::min(weightChunk, ceilDiv(folds, plan.weightParts) * m.rows * plan.stepChannels);
  int64_t weightLoads = plan.weightParts > 1     ? pixelTiles * chunks * plan.weightParts
                        : plan.residentSteps > 0 ? chunks * weightSets
                                                 : chunks * (chunks > 1 ? pixelTiles : weightSets);
  if (plan.turns) {
    if (plan.residentSteps > 0)
      inputLoads -= passesOf(p, plan) - 1;
    else if (plan.weightParts == 1)
      weightLoads -= pixelTiles - 1;
  }
  plan.inputLoads = inputLoads;
  plan.weightLoads = weightLoads;
  int64_t resultTile =
      p.resultInAccumulators ? 0 : plan.tileHeight * plan.tileWidth * plan.stepChannels;
  int64_t operandTile =
      plan.tileHeight * plan.tileWidth * plan.stepChannels * p.spadBytesPerElement;

  // Of several chunks, the next ones take the space of those that the last pixels have passed.
  const bool goesRound = plan.residentSteps > 1;
  const int64_t weightParts = goesRound ? std::min(plan.residentSteps, chunks)
                              : plan.weightsDoubled && weightLoads > 1 ? 2
                                                                       : 1;
  plan.spadBytes = inputTile * (plan.inputDoubled && inputLoads > 1 ? 2 : 1) +
                   weightPart * weightParts + 2 * resultTile + 2 * operandTile +
                   2 * windows.elements + p.residentBytes;
  // Buffers of different sizes leave gaps. The largest one must find a free range between the
  // others.
  int64_t largest = std::max({inputTile, weightPart, resultTile});
  plan.gapBytes = largest > m.spadBytes / 8 && !goesRound ? largest : 0;
  plan.spadBytes += plan.gapBytes;
  const int64_t together = tilesTogether(p, m, plan) * plan.tileChannels;
  plan.accBytes = plan.tileHeight * plan.tileWidth * together * (4 + p.accBytesPerElement);

  double pixels = static_cast<double>(p.batch * p.outputHeight * p.outputWidth);
  double columnTiles = static_cast<double>(ceilDiv(p.outputChannels, m.cols));
  int64_t tilePixels = plan.tileHeight * plan.tileWidth;
  double foldCycles =
      static_cast<double>(std::max(tilePixels, m.rows + m.matrixOverhead) + m.matrixOverhead);
  const bool sumsStand = plan.stands == Stands::Sums;
  if (sumsStand)
    foldCycles = static_cast<double>(standingCycles(p, m, plan.merge, tilePixels));
  // Instructions of the array for a column tile of an accumulator tile.
  const int64_t instructions = sumsStand ? 1 : 2 * folds;
  double matrix = static_cast<double>(sumsStand ? 1 : folds) * columnTiles * pixels /
                  static_cast<double>(tilePixels) * foldCycles;
  if (!sumsStand)
    matrix *= p.filled;
  double vectorTiles = pixels / static_cast<double>(tilePixels) *
                       static_cast<double>(ceilDiv(p.outputChannels, plan.tileChannels));
  double beats = static_cast<double>(tilePixels * ceilDiv(plan.tileChannels, m.lanes) *
                                     (1 + p.spadBytesPerElement));
  // A tile's parameters are three words a channel, at one port's width a cycle.
  double parameters = static_cast<double>(12 * plan.tileChannels) / m.spadPort;
  double vector =
      vectorTiles *
      (beats + parameters + static_cast<double>((2 + p.spadBytesPerElement) * m.vectorOverhead));
  vector += static_cast<double>(chunks * windows.beats) * pixels / static_cast<double>(tilePixels);
  // Every burst of the result costs its turnaround.
  const int64_t stored =
      p.resultInAccumulators ? std::min(together, plan.stepChannels) : plan.stepChannels;
  const bool joinsPixels = stored == p.outputChannels && !p.resultIsApart;
  double resultRun =
      static_cast<double>((joinsPixels ? plan.tileWidth : 1) * stored * p.resultBytes);
  double bursts = std::max(1.0, resultRun / m.burstBytes);
  double runCycles = m.streamedFor(resultRun) / m.peakBytesPerCycle + bursts * m.writeOverhead;
  double input = inputCycles(p, m, inputLoads * inputTile);
  const int64_t weightBytes = weightLoads * weightChunk / plan.weightParts;
  double weights = static_cast<double>(weightBytes) / m.dramBytesPerCycle;
  double result =
      pixels * static_cast<double>(p.outputChannels * p.resultBytes) / resultRun * runCycles;
  double operands =
      pixels * static_cast<double>(p.outputChannels * p.spadBytesPerElement) / m.dramBytesPerCycle;
  double code = static_cast<double>(instructions) * columnTiles * pixels /
                static_cast<double>(tilePixels) * static_cast<double>(m.instructionBytes) /
                m.dramBytesPerCycle;

  // Weights come in under the layer before; the input must wait for its end.
  const int64_t firstRows = inputExtent(std::min(firstHeight, p.outputHeight), p.strideY,
                                        p.kernelHeight, p.dilationY),
                allRows = inputExtent(std::min(plan.stepHeight, p.outputHeight), p.strideY,
                                      p.kernelHeight, p.dilationY);
  double first = inputCycles(p, m, inputTile / allRows * std::min(firstRows, allRows)) +
                 static_cast<double>(m.dramLatency);
  double last = static_cast<double>(resultTile) / m.dramBytesPerCycle;
  const bool waitsForInput = !plan.inputDoubled && inputLoads > 1,
             waitsForWeights = !plan.weightsDoubled && weightLoads > 1 && !goesRound;
  double overlapped =
      input * !waitsForInput + weights * !waitsForWeights + result + operands + code;
  double serial = input * waitsForInput + weights * waitsForWeights;
  // Units that work at the same time get in each other's way now and then.
  double longest = std::max({matrix, vector, overlapped});
  plan.estimatedCycles =
      longest + contention * (matrix + vector + overlapped - longest) + serial + first + last;
}

// Into how many parts a chunk of weights may be cut: one, or as far as a part is a few folds.
static std::vector<int64_t> partsOf(const ConvProblem &p, const ConvMachine &m,
                                    const ConvPlan &plan) {
  std::vector<int64_t> parts{1};
  bool isOneTile = plan.stepHeight == plan.tileHeight && plan.stepWidth == plan.tileWidth &&
                   plan.stepChannels == plan.tileChannels;
  int64_t folds = plan.stands == Stands::Sums ? 0 : foldCount(p, m, plan.merge);
  if (isOneTile && plan.weightsDoubled && !p.weightsAreActivations)
    for (int64_t count : {2, 4, 9, 18, 36})
      if (count * 4 <= folds)
        parts.push_back(count);
  return parts;
}

int64_t mostTilesTogether(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  // Of operands and values of its operations there is one tile.
  if (!p.resultInAccumulators || p.accBytesPerElement > 0 ||
      plan.stepChannels <= plan.tileChannels || plan.tileHeight * plan.tileWidth == 1)
    return 1;
  const int64_t tile = plan.tileHeight * plan.tileWidth * plan.tileChannels * 4;
  return std::clamp<int64_t>(m.accBytes / std::max<int64_t>(m.accBanks, 2) / tile, 1,
                             ceilDiv(plan.stepChannels, plan.tileChannels));
}

int64_t tilesTogether(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  const int64_t most = mostTilesTogether(p, m, plan);
  return plan.tilesTogether > 0 ? std::min(plan.tilesTogether, most) : most;
}

const char *describe(TapMerge merge) {
  return merge == TapMerge::None      ? ""
         : merge == TapMerge::Columns ? ", taps merged along x"
                                      : ", all taps merged";
}

std::string describe(const ConvProblem &p, const ConvPlan &plan) {
  auto buffers = [](int64_t loads, bool doubled) {
    return loads == 1 ? "loaded once" : doubled ? "double-buffered" : "single-buffered";
  };
  if (plan.streamFolds > 0)
    return fmt::format("{} steps of {} channels by {} folds; input-stationary", plan.weightLoads,
                       plan.tileChannels, plan.streamFolds);
  const bool isShort = plan.firstHeight > 0 && plan.firstHeight < plan.stepHeight;
  return fmt::format(
      "{} steps of {}x{}x{} (y, x, channels) by {}{}{}, accumulator tiles of {}x{}x{}; input {}, "
      "weights {}{}{}{}{}",
      p.batch *
          (1 + ceilDiv(p.outputHeight - (isShort ? plan.firstHeight : plan.stepHeight),
                       plan.stepHeight)) *
          ceilDiv(p.outputWidth, plan.stepWidth) * ceilDiv(p.outputChannels, plan.stepChannels),
      std::min(plan.stepHeight, p.outputHeight), std::min(plan.stepWidth, p.outputWidth),
      std::min(plan.stepChannels, p.outputChannels),
      plan.residentSteps > 1 ? fmt::format("{} steps of channels, then pixels", plan.residentSteps)
      : plan.residentSteps == 1 ? "channels, then pixels"
                                : "pixels, then channels",
      plan.turns ? ", serpentine" : "",
      isShort ? fmt::format(", the first of {} rows", plan.firstHeight) : "",
      std::min(plan.tileHeight, plan.stepHeight), plan.tileWidth,
      std::min(plan.tileChannels, plan.stepChannels), buffers(plan.inputLoads, plan.inputDoubled),
      buffers(plan.weightLoads, plan.weightsDoubled), describe(plan.merge),
      plan.stands == Stands::Sums ? ", output-stationary" : "",
      plan.depthParts > 1 ? fmt::format(", by {} parts of the depth", plan.depthParts)
      : plan.firstTiles > 1
          ? fmt::format(", the first {} steps of channels by turns", plan.firstTiles)
          : "",
      plan.tilesTogether > 0 ? fmt::format(", {} tiles stored together", plan.tilesTogether) : "");
}

// Buffers of different sizes leave gaps: a sixteenth is kept for them.
bool isSafe(const ConvPlan &plan, const ConvMachine &m) {
  return plan.spadBytes <= m.spadBytes - m.spadBytes / 16;
}

// Choices that make no difference are made one way.
static bool isPlain(const ConvProblem &p, const ConvPlan &plan) {
  bool isOneChunk = plan.stepChannels >= p.outputChannels;
  bool isOnePlace =
      p.batch == 1 && plan.stepHeight >= p.outputHeight && plan.stepWidth >= p.outputWidth;
  return !((isOneChunk || isOnePlace) && plan.residentSteps > 0) &&
         !(plan.inputLoads == 1 && plan.inputDoubled) &&
         !(plan.weightLoads == 1 && plan.weightsDoubled);
}

// What makes two plans differ in kind. Of those whose weights go round, one is enough.
using Kind = std::tuple<bool, TapMerge, bool, bool, bool, bool, bool, int64_t>;
static Kind kindOf(const ConvPlan &plan) {
  const bool goesRound = plan.residentSteps > 1;
  return {plan.residentSteps > 0,
          plan.merge,
          goesRound,
          plan.weightParts > 1,
          plan.depthParts > 1,
          plan.inputLoads == 1,
          plan.weightLoads == 1 && !goesRound,
          goesRound ? 0 : plan.tileChannels};
}

// Of parts of the depth: tiles as large as half of the accumulators, so that inputs come as seldom
// as can be.
static std::vector<ConvPlan> plansByDepth(const ConvProblem &p, const ConvMachine &m,
                                          Stands stands) {
  std::vector<ConvPlan> plans;
  constexpr int64_t fewestFolds = 4; // of a part of the weights
  if (stands != Stands::Weights || p.weightsAreActivations || p.inputScattered)
    return plans;
  const int64_t elements = m.accBytes / 2 / (4 + p.accBytesPerElement);
  for (int64_t channels = m.cols; channels <= std::min(m.channels, p.outputChannels);
       channels *= 2) {
    const int64_t pixels = std::min(elements / channels, m.rowLimit);
    if (pixels < 1)
      break;
    ConvPlan plan{};
    plan.stepWidth = plan.tileWidth = evenPart(p.outputWidth, pixels);
    plan.stepHeight = plan.tileHeight =
        plan.tileWidth < p.outputWidth ? 1 : evenPart(p.outputHeight, pixels / plan.tileWidth);
    plan.stepChannels = plan.tileChannels = channels;
    plan.inputDoubled = plan.weightsDoubled = true;
    plan.merge = TapMerge::None;
    plan.inputParts = 1;
    for (int64_t parts : {2, 4}) {
      plan.depthParts = parts;
      const int64_t depth = depthOfPart(p, m, plan),
                    folds = p.kernelHeight * p.kernelWidth * depth / m.rows;
      if ((parts - 1) * depth >= p.inputChannels)
        continue;
      for (int64_t ofPart : {1, 2, 4, 9, 18})
        if (folds >= fewestFolds * ofPart) {
          plan.weightParts = parts * ofPart;
          plans.push_back(plan);
        }
    }
  }
  return plans;
}

std::vector<ConvPlan> planConvolution(const ConvProblem &p, const ConvMachine &m, size_t most,
                                      int64_t *smallest, Stands stands) {
  std::optional<ConvPlan> safest;
  std::map<Kind, ConvPlan> kinds; // the cheapest of each
  *smallest = INT64_MAX;
  const std::vector<TapMerge> merge = mergesOf(p, m);
  const int merges = static_cast<int>(merge.size());
  auto take = [&](ConvPlan plan) {
    assess(p, m, plan);
    *smallest = std::min(*smallest, plan.spadBytes);
    const bool goesRound = plan.residentSteps > 1; // beside others of its own kind alone
    if (!goesRound && isSafe(plan, m) &&
        (!safest || plan.estimatedCycles < safest->estimatedCycles))
      safest = plan;
    if (most < 2 || !isPlain(p, plan) || plan.spadBytes - plan.gapBytes > m.spadBytes)
      return;
    auto [known, isNew] = kinds.emplace(kindOf(plan), plan);
    if (!isNew && plan.estimatedCycles < known->second.estimatedCycles)
      known->second = plan;
  };
  int64_t accElements = m.accBytes / std::max<int64_t>(m.accBanks, 2) / (4 + p.accBytesPerElement);
  for (int64_t columns = 1;
       columns == 1 || columns * m.cols <= std::min(m.channels, roundUp(p.outputChannels, m.cols));
       columns *= 2) {
    int64_t tileChannels = std::min(p.outputChannels, columns * m.cols);
    int64_t mostPixels = std::min(accElements / tileChannels, m.rowLimit);
    if (mostPixels < 1)
      continue;
    int64_t tileWidth = evenPart(p.outputWidth, mostPixels);
    int64_t tileHeight =
        tileWidth < p.outputWidth ? 1 : evenPart(p.outputHeight, mostPixels / tileWidth);
    for (int64_t narrower : {1, 2, 4, 16, 64})
      for (int64_t shorter : {1, 2, 3, 4, 16}) {
        if ((narrower > tileWidth && narrower > 1) || (shorter > tileHeight && shorter > 1))
          continue;
        int64_t width = ceilDiv(tileWidth, narrower), height = ceilDiv(tileHeight, shorter);
        for (int64_t stepHeight : divisions(p.outputHeight, height))
          for (int64_t stepChannels : divisions(p.outputChannels, tileChannels))
            for (int mode = 0; mode < 8 * merges; ++mode) {
              ConvPlan plan{};
              plan.stepHeight = stepHeight;
              plan.stepWidth = plan.tileWidth = width;
              plan.tileHeight = height;
              plan.stepChannels = stepChannels;
              plan.tileChannels = tileChannels;
              plan.residentSteps = mode & 1;
              plan.inputDoubled = (mode & 2) != 0;
              plan.weightsDoubled = (mode & 4) != 0;
              plan.merge = merge[static_cast<size_t>(mode / 8)];
              plan.stands = stands;
              plan.inputParts = stands == Stands::Sums ? 1 : 0; // all channels are needed at once
              for (int64_t parts : partsOf(p, m, plan)) {
                plan.weightParts = parts;
                take(plan);
              }
              plan.weightParts = 1;
              if (plan.residentSteps == 1 && !plan.weightsDoubled && !p.weightsAreActivations)
                for (int64_t passes : {1, 2, 3, 4, 6}) {
                  plan.residentSteps = ceilDiv(ceilDiv(p.outputChannels, stepChannels), passes);
                  if (plan.residentSteps > 1)
                    take(plan);
                }
            }
      }
  }
  if (most > 1)
    for (const ConvPlan &plan : plansByDepth(p, m, stands))
      take(plan);
  std::vector<ConvPlan> plans;
  for (const auto &[kind, plan] : kinds)
    if (!safest || kind != kindOf(*safest) || plan.estimatedCycles < safest->estimatedCycles)
      plans.push_back(plan);
  std::sort(plans.begin(), plans.end(), [](const ConvPlan &a, const ConvPlan &b) {
    return std::make_pair(a.estimatedCycles, kindOf(a)) <
           std::make_pair(b.estimatedCycles, kindOf(b));
  });
  if (safest && most > 0) {
    plans.resize(std::min(plans.size(), most - 1));
    plans.insert(plans.begin(), *safest);
  }
  return plans;
}

} // namespace tilewright

#include "tilewright/compiler/schedule/conv_space.h"

#include "tilewright/compiler/schedule/weight_stream_plan.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// For each number of parts the least size that makes so few, ascending; none above `most`.
static std::vector<int64_t> evenSizes(int64_t whole, int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t parts = whole; parts >= 1; --parts) {
    const int64_t size = ceilDiv(whole, parts);
    if (size <= most && (sizes.empty() || sizes.back() != size))
      sizes.push_back(size);
  }
  return sizes;
}

// One or more tiles, at the end all of them.
static std::vector<int64_t> multiples(int64_t tile, int64_t whole) {
  std::vector<int64_t> sizes;
  for (int64_t size = tile; size < whole; size += tile)
    sizes.push_back(size);
  sizes.push_back(whole);
  return sizes;
}

// Every number from `least` to `most`.
static std::vector<int64_t> every(int64_t least, int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t size = least; size <= most; ++size)
    sizes.push_back(size);
  return sizes;
}

static TapMerge mergeOf(const PlanPoint &point) {
  return static_cast<TapMerge>(point[ConvSpace::Merge]);
}

int64_t ConvSpace::mostPixels(int64_t channels) const {
  return std::min(machine_.accBytes / (channels * (4 + problem_.accBytesPerElement)),
                  machine_.rowLimit);
}

std::vector<int64_t> ConvSpace::tileChannels(const PlanPoint &point) const {
  const ConvProblem &p = problem_;
  if (point[StreamFolds] > 0)
    return streamTiles(p, machine_);
  const int64_t least = std::min(p.outputChannels, machine_.cols);
  std::vector<int64_t> sizes;
  for (int64_t size = least; size <= std::max(least, machine_.channels); size += machine_.cols) {
    const int64_t channels = std::min(size, p.outputChannels);
    if (mostPixels(channels) < point[TileHeight] * point[TileWidth])
      break;
    sizes.push_back(channels);
    if (channels == p.outputChannels)
      break;
  }
  return sizes;
}

static bool isOneTile(const PlanPoint &point) {
  return point[ConvSpace::StepHeight] == point[ConvSpace::TileHeight] &&
         point[ConvSpace::StepWidth] == point[ConvSpace::TileWidth] &&
         point[ConvSpace::StepChannels] == point[ConvSpace::TileChannels];
}

int64_t ConvSpace::foldsOfPart(const ConvPlan &plan) const {
  const ConvProblem &p = problem_;
  return plan.depthParts > 1
             ? p.kernelHeight * p.kernelWidth * depthOfPart(p, machine_, plan) / machine_.rows
             : foldCount(p, machine_, plan.merge);
}

std::vector<int64_t> ConvSpace::choices(const PlanPoint &point, size_t d) const {
  const ConvProblem &p = problem_;
  const int64_t most = mostPixels(std::min(p.outputChannels, machine_.cols)); // of a tile
  switch (d) {
  case StreamFolds:
    return every(0, isOnePixel(p) ? ceilDiv(p.inputChannels, machine_.rows) : 0);
  case TileHeight:
    return every(1, std::min(p.outputHeight, most));
  case TileWidth:
    return every(1, std::min(p.outputWidth, most / point[TileHeight]));
  case TileChannels:
    return tileChannels(point);
  case StepHeight:
    return every(point[TileHeight], p.outputHeight);
  case StepWidth:
    return every(point[TileWidth], p.outputWidth);
  case StepChannels:
    return point[StreamFolds] > 0 ? every(point[TileChannels], point[TileChannels])
                                  : multiples(point[TileChannels], p.outputChannels);
  case FirstHeight:
    return every(1, point[StepHeight]);
  case ResidentSteps:
  case Turns: {
    // An order of one is no order.
    const bool isOneChunk = point[StepChannels] == p.outputChannels,
               isOnePlace = p.batch == 1 && point[FirstHeight] == p.outputHeight &&
                            point[StepWidth] == p.outputWidth;
    if (isOneChunk || isOnePlace)
      return {0};
    const int64_t chunks = ceilDiv(p.outputChannels, point[StepChannels]);
    return every(0, d == Turns || p.weightsAreActivations ? 1 : chunks);
  }
  case Merge: {
    if (point[StreamFolds] > 0)
      return {static_cast<int64_t>(TapMerge::None)};
    std::vector<int64_t> merges;
    for (TapMerge merge : mergesOf(p, machine_))
      merges.push_back(static_cast<int64_t>(merge));
    return merges;
  }
  case InputParts: {
    std::vector<int64_t> parts{1};
    if (!p.weightsAreActivations && !p.inputScattered && mergeOf(point) == TapMerge::None &&
        point[StreamFolds] == 0)
      for (int64_t count = 2; count <= 8; ++count)
        if (p.inputChannels % (count * machine_.rows) == 0)
          parts.push_back(count);
    return parts;
  }
  case DepthParts: {
    std::vector<int64_t> parts{1};
    if (!isOneTile(point) || p.weightsAreActivations || p.inputScattered ||
        point[StreamFolds] > 0 || point[ResidentSteps] > 0 || point[InputParts] > 1 ||
        mergeOf(point) != TapMerge::None)
      return parts;
    ConvPlan plan{};
    for (plan.depthParts = 2; plan.depthParts <= 8; ++plan.depthParts)
      if ((plan.depthParts - 1) * depthOfPart(p, machine_, plan) < p.inputChannels)
        parts.push_back(plan.depthParts);
    return parts;
  }
  case WeightParts: {
    if (!isOneTile(point) || p.weightsAreActivations || point[StreamFolds] > 0 ||
        point[ResidentSteps] > 1)
      return {1};
    ConvPlan plan{};
    plan.merge = mergeOf(point);
    plan.depthParts = point[DepthParts];
    const int64_t folds = foldsOfPart(plan);
    std::vector<int64_t> parts;
    for (int64_t size : evenSizes(folds, folds))
      parts.insert(parts.begin(), plan.depthParts * ceilDiv(folds, size));
    return parts;
  }
  case FirstTiles: {
    ConvPlan plan{};
    plan.inputParts = point[InputParts];
    plan.merge = mergeOf(point);
    plan.streamFolds = point[StreamFolds];
    const bool mayBeMore = isOneTile(point) && point[ResidentSteps] == 0 &&
                           point[WeightParts] >= point[InputParts] &&
                           firstInputIsApart(p, machine_, plan);
    const int64_t tile =
        point[TileHeight] * point[TileWidth] * point[TileChannels] * (4 + p.accBytesPerElement);
    return every(1, mayBeMore ? std::clamp<int64_t>(machine_.accBytes / tile, 1,
                                                    ceilDiv(p.outputChannels, point[StepChannels]))
                              : 1);
  }
  case TilesTogether: {
    ConvPlan plan{};
    plan.tileHeight = point[TileHeight], plan.tileWidth = point[TileWidth];
    plan.stepChannels = point[StepChannels], plan.tileChannels = point[TileChannels];
    return every(1, mostTilesTogether(p, machine_, plan));
  }
  default:
    return {};
  }
}

// mload and mmul pairs.
int64_t ConvSpace::products(const PlanPoint &point) const {
  const ConvProblem &p = problem_;
  if (point[StreamFolds] > 0)
    return ceilDiv(p.outputChannels, point[TileChannels]) * ceilDiv(p.inputChannels, machine_.rows);
  return p.batch * ceilDiv(p.outputHeight, point[TileHeight]) *
         ceilDiv(p.outputWidth, point[TileWidth]) * ceilDiv(p.outputChannels, machine_.cols) *
         foldCount(p, machine_, mergeOf(point));
}

bool ConvSpace::fits(const PlanPoint &point) const {
  // Products of a program, at most: more than a short one, and many more than with large tiles.
  constexpr int64_t always = 1 << 15, factor = 16;
  const ConvProblem &p = problem_;
  const double pixels = static_cast<double>(p.batch * p.outputHeight * p.outputWidth),
               most = static_cast<double>(mostPixels(std::min(p.outputChannels, machine_.cols)));
  const double fewest =
      std::max(1.0, pixels / most) * static_cast<double>(ceilDiv(p.outputChannels, machine_.cols) *
                                                         foldCount(p, machine_, mergeOf(point)));
  if (products(point) > always && static_cast<double>(products(point)) > factor * fewest)
    return false;
  ConvPlan single = plan(point);
  if (point[StreamFolds] > 0)
    return single.spadBytes - single.gapBytes <= machine_.spadBytes;
  single.inputDoubled = single.weightsDoubled = false;
  assess(p, machine_, single);
  return single.spadBytes - single.gapBytes <= machine_.spadBytes;
}

ConvPlan ConvSpace::plan(const PlanPoint &point) const {
  if (point[StreamFolds] > 0)
    return streamPlan(problem_, machine_, point[TileChannels], point[StreamFolds]);
  ConvPlan plan{};
  plan.stepHeight = point[StepHeight], plan.stepWidth = point[StepWidth];
  plan.tileHeight = point[TileHeight], plan.tileWidth = point[TileWidth];
  plan.stepChannels = point[StepChannels], plan.tileChannels = point[TileChannels];
  plan.weightParts = point[WeightParts];
  plan.residentSteps = point[ResidentSteps];
  plan.firstHeight = point[FirstHeight];
  plan.inputParts = point[InputParts];
  plan.depthParts = point[DepthParts];
  plan.firstTiles = point[FirstTiles];
  if (point[TilesTogether] < mostTilesTogether(problem_, machine_, plan))
    plan.tilesTogether = point[TilesTogether];
  plan.turns = point[Turns] != 0;
  plan.merge = mergeOf(point);
  for (bool input : {true, false})
    for (bool weights : {true, false}) {
      plan.inputDoubled = input, plan.weightsDoubled = weights;
      assess(problem_, machine_, plan);
      if (plan.spadBytes - plan.gapBytes <= machine_.spadBytes)
        return plan;
    }
  return plan;
}

PlanPoint ConvSpace::point(const ConvPlan &plan) const {
  PlanPoint point(DimensionCount);
  const ConvProblem &p = problem_;
  point[StreamFolds] = plan.streamFolds;
  // A step of more than the tensor is the tensor.
  point[StepHeight] = std::min(plan.stepHeight, p.outputHeight);
  point[StepWidth] = std::min(plan.stepWidth, p.outputWidth);
  point[StepChannels] = std::min(plan.stepChannels, p.outputChannels);
  point[TileHeight] = std::min(plan.tileHeight, point[StepHeight]);
  point[TileWidth] = std::min(plan.tileWidth, point[StepWidth]);
  point[TileChannels] = std::min(plan.tileChannels, point[StepChannels]);
  point[Merge] = static_cast<int64_t>(plan.merge);
  point[DepthParts] = plan.depthParts;
  const int64_t folds = foldsOfPart(plan);
  point[WeightParts] =
      plan.streamFolds > 0
          ? 1
          : plan.depthParts * ceilDiv(folds, ceilDiv(folds, plan.weightParts / plan.depthParts));
  point[FirstTiles] = plan.firstTiles;
  const int64_t together = choices(point, TilesTogether).back();
  point[TilesTogether] = plan.tilesTogether > 0 ? std::min(plan.tilesTogether, together) : together;
  point[FirstHeight] =
      plan.firstHeight > 0 ? std::min(plan.firstHeight, point[StepHeight]) : point[StepHeight];
  point[InputParts] = plan.streamFolds > 0  ? 1
                      : plan.inputParts > 0 ? plan.inputParts
                                            : usualInputParts(p, machine_, plan.merge);
  point[Turns] = plan.turns;
  const std::vector<int64_t> residents = choices(point, ResidentSteps);
  point[ResidentSteps] = std::min(plan.residentSteps, residents.back());
  return point;
}

double ConvSpace::analyticCycles(const PlanPoint &point) const {
  return plan(point).estimatedCycles;
}

std::vector<float> ConvSpace::features(const PlanPoint &point) const {
  const ConvProblem &p = problem_;
  const ConvMachine &m = machine_;
  const ConvPlan plan = this->plan(point);
  std::vector<float> features;
  auto add = [&](double value) { features.push_back(static_cast<float>(value)); };
  auto size = [&](int64_t value) { add(std::log2(static_cast<double>(value))); };
  add(std::log2(static_cast<double>(1 + point[StreamFolds])));
  for (size_t d = TileHeight; d < ResidentSteps; ++d)
    size(point[d]);
  add(std::log2(static_cast<double>(1 + point[ResidentSteps])));
  add(static_cast<double>(point[Turns]));
  add(static_cast<double>(point[Merge]));
  for (size_t d = InputParts; d < DimensionCount; ++d)
    size(point[d]);
  const int64_t pixels = point[TileHeight] * point[TileWidth],
                places = p.batch * ceilDiv(p.outputHeight, point[StepHeight]) *
                         ceilDiv(p.outputWidth, point[StepWidth]),
                chunks = ceilDiv(p.outputChannels, point[StepChannels]);
  size(pixels);
  size(pixels * point[TileChannels]);
  size(places);
  size(chunks);
  size(places * chunks);
  size(plan.inputLoads);
  size(plan.weightLoads);
  size(products(point));
  // What the array waits for where a tile is shorter than its weights take to load.
  add(static_cast<double>(std::max(pixels, m.rows + m.matrixOverhead) + m.matrixOverhead) /
      static_cast<double>(pixels));
  auto share = [&](int64_t part, int64_t whole) {
    add(static_cast<double>(part) / static_cast<double>(whole));
  };
  share(plan.spadBytes, m.spadBytes);
  share(plan.gapBytes, m.spadBytes);
  share(plan.accBytes, m.accBytes);
  add(plan.inputDoubled);
  add(plan.weightsDoubled);
  // What of the last tile and step is there.
  share(p.outputHeight, ceilDiv(p.outputHeight, point[TileHeight]) * point[TileHeight]);
  share(p.outputWidth, ceilDiv(p.outputWidth, point[TileWidth]) * point[TileWidth]);
  share(p.outputChannels, ceilDiv(p.outputChannels, point[TileChannels]) * point[TileChannels]);
  share(p.outputHeight, ceilDiv(p.outputHeight, point[StepHeight]) * point[StepHeight]);
  share(p.outputChannels, chunks * point[StepChannels]);
  share(point[TileChannels] % m.cols, m.cols);
  // Bytes of a run of the result in DRAM.
  size((point[StepChannels] == p.outputChannels ? point[TileWidth] : 1) * point[StepChannels] *
       p.resultBytes);
  add(std::log2(std::max(1.0, plan.estimatedCycles)));
  return features;
}

} // namespace tilewright

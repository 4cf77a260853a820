#include "tilewright/compiler/schedule/conv_bound.h"

#include "tilewright/compiler/schedule/standing_plan.h"
#include "tilewright/compiler/schedule/taps.h"

#include <algorithm>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Steps along one axis of the output.
struct AxisStep {
  // By accumulator tile, by tap: the outputs whose tap lies inside the tensor.
  std::vector<std::vector<int64_t>> tiles;
  int64_t inputs = 0; // inside the tensor, that the outputs need
};

// With merged taps, one tap has all outputs: padding is on chip.
std::vector<AxisStep> stepsOf(const WindowAxis &axis, bool isMerged, int64_t outputs, int64_t first,
                              int64_t step, int64_t tile) {
  std::vector<AxisStep> steps;
  for (int64_t begin = 0, end = 0; begin < outputs; begin = end) {
    end = std::min(outputs, begin + (begin == 0 ? first : step));
    AxisStep &made = steps.emplace_back();
    const int64_t last = (end - 1) * axis.stride - axis.pad + (axis.kernel - 1) * axis.dilation;
    made.inputs = std::max<int64_t>(0, std::min(axis.size, last + 1) -
                                           std::max<int64_t>(0, begin * axis.stride - axis.pad));
    for (int64_t at = begin; at < end; at += tile) {
      const int64_t stop = std::min(end, at + tile);
      std::vector<int64_t> &counts = made.tiles.emplace_back();
      if (isMerged) {
        counts.push_back(stop - at);
        continue;
      }
      counts.assign(static_cast<size_t>(axis.kernel), 0);
      for (int64_t output = at; output < stop; ++output) {
        const Taps taps = tapsInside(axis, output);
        for (int64_t tap = taps.first; tap < taps.first + taps.count; ++tap)
          ++counts[static_cast<size_t>(tap)];
      }
    }
  }
  return steps;
}

// Of a column tile of the array.
struct Products {
  int64_t instructions = 0, cycles = 0;
  void add(int64_t pixels, int64_t folds, int64_t weightRows) {
    if (pixels == 0)
      return;
    instructions += 2 * folds;
    cycles += std::max(folds * pixels, weightRows + folds);
  }
};

} // namespace

int64_t leastProducts(const ConvProblem &p, const ConvMachine &m) {
  auto taps = [](const WindowAxis &axis, int64_t outputs) {
    int64_t count = 0;
    for (int64_t output = 0; output < outputs; ++output)
      count += tapsInside(axis, output).count;
    return count;
  };
  const int64_t rows = taps({p.kernelHeight, p.strideY, p.dilationY, p.padTop, p.height},
                            p.outputHeight),
                columns = taps({p.kernelWidth, p.strideX, p.dilationX, p.padLeft, p.width},
                               p.outputWidth);
  const int64_t cycles =
      p.batch * rows * columns * p.inputChannels * p.outputChannels / (m.rows * m.cols);
  return static_cast<int64_t>(p.filled * static_cast<double>(cycles));
}

int64_t leastCycles(const ConvProblem &p, const ConvMachine &m, const ConvPlan &plan) {
  if (plan.streamFolds > 0)
    return 0;
  const bool sumsStand = plan.stands == Stands::Sums;
  const bool mergesX = sumsStand || plan.merge != TapMerge::None,
             mergesY = sumsStand || plan.merge == TapMerge::All;
  const std::vector<AxisStep> rows = stepsOf(
                                  {p.kernelHeight, p.strideY, p.dilationY, p.padTop, p.height},
                                  mergesY, p.outputHeight,
                                  plan.firstHeight > 0 ? plan.firstHeight : plan.stepHeight,
                                  plan.stepHeight, plan.tileHeight),
                              columns = stepsOf(
                                  {p.kernelWidth, p.strideX, p.dilationX, p.padLeft, p.width},
                                  mergesX, p.outputWidth, plan.stepWidth, plan.stepWidth,
                                  plan.tileWidth);
  const int64_t weightRows = // of a fold's taps
      (mergesY ? p.kernelHeight : 1) * (mergesX ? p.kernelWidth : 1) * p.inputChannels;
  const int64_t folds = ceilDiv(weightRows, m.rows);
  Products products;
  int64_t input = 0, largestInput = 0;
  for (const AxisStep &y : rows)
    for (const AxisStep &x : columns) {
      const int64_t elements = y.inputs * x.inputs * p.inputChannels;
      input += p.batch * elements;
      largestInput = std::max(largestInput, elements);
      for (const std::vector<int64_t> &tileRows : y.tiles)
        for (const std::vector<int64_t> &tileColumns : x.tiles)
          for (int64_t ofRow : tileRows)
            for (int64_t ofColumn : tileColumns)
              if (sumsStand) {
                ++products.instructions;
                products.cycles += standingCycles(p, m, plan.merge, ofRow * ofColumn);
              } else {
                products.add(ofRow * ofColumn, folds, weightRows);
              }
    }
  const int64_t columnTiles = p.batch * ceilDiv(p.outputChannels, m.cols);
  const int64_t places = p.batch * static_cast<int64_t>(rows.size() * columns.size()),
                chunks = ceilDiv(p.outputChannels, plan.stepChannels),
                depth = p.kernelHeight * p.kernelWidth * p.inputChannels;
  int64_t weights = depth * p.outputChannels;
  if (plan.weightParts > 1 || (plan.residentSteps == 0 && chunks > 1)) {
    weights *= places;
    if (plan.turns)
      weights -= (places - 1) * depth * plan.stepChannels;
  } else if (places > 1) {
    input *= passesOf(p, plan);
    if (plan.turns)
      input -= (passesOf(p, plan) - 1) * largestInput;
  }
  // Where taps are merged, squares of zeros may be fewer.
  if (!sumsStand && p.filled < 1) {
    const double share = plan.merge == TapMerge::None ? p.filled : 0;
    products.cycles = static_cast<int64_t>(share * static_cast<double>(products.cycles));
    products.instructions =
        static_cast<int64_t>(share * static_cast<double>(products.instructions));
  }
  const auto access = static_cast<int64_t>(m.accessBytes);
  const int64_t read = std::max<int64_t>(0, weights) + input +
                       columnTiles * products.instructions * m.instructionBytes;
  const auto streamed = static_cast<double>(read - read % access);
  return std::max(columnTiles * products.cycles,
                  static_cast<int64_t>(streamed / m.peakBytesPerCycle));
}

} // namespace tilewright

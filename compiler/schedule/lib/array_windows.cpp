#include "array_windows.h"

#include <algorithm>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

ArrayWindows::ArrayWindows(LoweringContext &context, kernel::DepthwiseOp anchor,
                           const WindowProblem &problem, const WindowPasses &passes)
    : context_(context), anchor_(anchor), p_(problem), passes_(passes),
      pattern_(*context.machine.windowPattern) {}

void ArrayWindows::placeWeights(bool isTrial) {
  weightAddress_ = isTrial ? context_.constants.end() : context_.constants.add(packedWeights());
}

int64_t ArrayWindows::weightBytes(int64_t channels) const {
  return ceilDiv(channels, context_.cols) * context_.cols * passes_.cells(p_);
}

// Column tile by column tile, pass by pass, a row a cell; the last tile is filled up.
std::string ArrayWindows::packedWeights() {
  const std::string source = constantBytes(anchor_.getWeight()); // [ky][kx][channel]
  std::string packed;
  packed.reserve(static_cast<size_t>(weightBytes(p_.channels)));
  for (int64_t first = 0; first < p_.channels; first += context_.cols)
    for (int64_t pass = 0; pass < passes_.count(p_); ++pass)
      for (int64_t cell = 0; cell < passes_.cells(p_, pass); ++cell) {
        const int64_t ky = pass * passes_.tapRows + cell / passes_.period,
                      kx = cell % passes_.period;
        for (int64_t channel = first; channel < first + context_.cols; ++channel)
          packed +=
              kx < p_.kernelWidth && channel < p_.channels
                  ? source[static_cast<size_t>((ky * p_.kernelWidth + kx) * p_.channels + channel)]
                  : '\0';
      }
  return packed;
}

ConvStage::Weights ArrayWindows::loadWeights(std::vector<Task> &loads, int buffer, Span channels) {
  copyStrided(context_, loads, Direction::Load, weightAddress_ + channels.begin * passes_.cells(p_),
              1, Signedness::Signed, {isa::Space::Spad, buffer, 0, 0, 0, 1},
              {{weightBytes(channels.size()), 1, 1}});
  return {buffer, channels, {0, passes_.count(p_)}};
}

std::vector<ArrayWindows::Group> ArrayWindows::groupsOf(Span y) const {
  const int64_t most = context_.machine.window->outputs[0];
  std::vector<Group> groups;
  for (int64_t row = y.begin; row < y.end; ++row) {
    const Taps taps = tapsInside(p_.rows(), row);
    if (groups.empty() || !(groups.back().taps == taps) || groups.back().y.size() == most)
      groups.push_back({{row, row}, taps});
    groups.back().y.end = row + 1;
  }
  return groups;
}

void ArrayWindows::fill(std::vector<Task> &out, const ConvStage::Input &input,
                        const ConvStage::Weights &weights, Span y, Span x, Span channels,
                        const Tile &acc) {
  const std::vector<Group> groups = groupsOf(y);
  int64_t weightRow = (channels.begin - weights.channels.begin) / context_.cols * passes_.cells(p_);
  const TaskForm &load = context_.form(isa::Role::LoadWeights),
                 &slide = context_.form(*pattern_.instruction);
  for (int64_t pass = 0; pass < passes_.count(p_); ++pass) {
    const int64_t firstTap = pass * passes_.tapRows, cells = passes_.cells(p_, pass);
    int64_t loaded = -1; // the row of taps in the first cells
    for (const Group &group : groups) {
      const Span taps{
          std::max(firstTap, group.taps.first),
          std::min(firstTap + passes_.tapRowsOf(p_, pass), group.taps.first + group.taps.count)};
      if (taps.empty())
        continue;
      const bool swaps = loaded != taps.begin;
      const int64_t skipped = (taps.begin - firstTap) * passes_.period;
      if (swaps)
        out.push_back(load.build()
                          .buffer("w", weights.buffer, (weightRow + skipped) * context_.cols)
                          .imm("k", cells - skipped)
                          .imm("n", channels.size())
                          .reg("w_s0", context_.cols)
                          .reg("w_zp", static_cast<int64_t>(anchor_.getWeightZp())));
      loaded = taps.begin;
      const int64_t row = group.y.begin * p_.strideY + taps.begin - p_.padTop - input.y.begin;
      for (int64_t first = x.begin; first < x.end; first += passes_.outputs) {
        const int64_t column = first * p_.strideX - p_.padLeft - input.x.begin;
        auto at = [](int number) { return static_cast<size_t>(number); };
        out.push_back(slide.build()
                          .bufferAt(at(pattern_.activations), input.buffer,
                                    row * input.rowPitch + column * input.columnPitch +
                                        channels.begin - input.firstChannel)
                          .bufferAt(at(pattern_.sums), acc.buffer,
                                    acc.offset + (group.y.begin - y.begin) * acc.s1 +
                                        (first - x.begin) * acc.s0)
                          .immAt(at(pattern_.outputs[0]), group.y.size())
                          .immAt(at(pattern_.outputs[1]), std::min(passes_.outputs, x.end - first))
                          .immAt(at(pattern_.columns), channels.size())
                          .immAt(at(pattern_.taps[0]), taps.size())
                          .immAt(at(pattern_.taps[1]), p_.kernelWidth)
                          .immAt(at(pattern_.strides[0]), p_.strideY)
                          .immAt(at(pattern_.strides[1]), p_.strideX)
                          .immAt(at(pattern_.period), passes_.period)
                          .immAt(at(pattern_.accumulate), group.taps.first < firstTap)
                          .immAt(at(pattern_.swap), swaps && first == x.begin)
                          .regAt(pattern_.tapRegisters[0], input.rowPitch)
                          .regAt(pattern_.tapRegisters[1], input.columnPitch)
                          .regAt(pattern_.outputRegisters[0], acc.s1)
                          .regAt(pattern_.outputRegisters[1], acc.s0)
                          .regAt(pattern_.zeroPoint, static_cast<int64_t>(anchor_.getInputZp())));
      }
    }
    weightRow += cells;
  }
}

} // namespace tilewright

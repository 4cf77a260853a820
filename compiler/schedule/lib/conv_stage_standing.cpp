// Tiles whose sums stand in the array: an instruction for each column tile (standing_plan.h).
#include "conv_stage.h"

#include "tilewright/compiler/schedule/standing_plan.h"

#include <algorithm>

namespace tilewright {

void ConvStage::fillStanding(std::vector<Task> &out, const Input &input, const Weights &weights,
                             Span y, Span x, Span channels, const Tile &acc) {
  const patterns::StationaryPattern &pattern = *context_.machine.standingPattern;
  const TaskForm &form = context_.form(*pattern.instruction);
  const StandingTaps taps = standingTaps(p_, merge_);
  const int64_t depth = taps.rows * taps.columns * taps.depth;
  const bool isGathered = merge_ == TapMerge::All;
  const int64_t row = isGathered ? y.begin - input.y.begin
                                 : y.begin * p_.strideY - p_.padTop - input.y.begin,
                column = x.begin * p_.strideX - p_.padLeft - input.x.begin;
  auto at = [](int number) { return static_cast<size_t>(number); };
  for (int64_t first = channels.begin; first < channels.end; first += columnTile_) {
    const int64_t count = std::min(columnTile_, channels.end - first),
                  weightColumn = first - weights.channels.begin;
    const bool isDense = !p_.weightsAreActivations; // column tile by column tile
    const int64_t weightRow = isDense ? count : weights.channels.size();
    TaskForm::Builder task = form.build();
    task.bufferAt(at(pattern.activations), input.buffer,
                  row * input.rowPitch + column * input.columnPitch)
        .bufferAt(at(pattern.weights), weights.buffer, weightColumn * (isDense ? depth : 1))
        .bufferAt(at(pattern.sums), acc.buffer, acc.offset + first - channels.begin)
        .immAt(at(pattern.outputs[0]), y.size())
        .immAt(at(pattern.outputs[1]), x.size())
        .immAt(at(pattern.columns), count)
        .regAt(pattern.depth, taps.depth)
        .regAt(pattern.taps[0], taps.rows)
        .regAt(pattern.taps[1], taps.columns)
        .regAt(pattern.weightStride, weightRow)
        .regAt(pattern.activationZeroPoint, inputZeroPoint_)
        .regAt(pattern.weightZeroPoint, weightZeroPoint_);
    // Strides of what there is one of are left as they are.
    auto stride = [&](int64_t extent, std::initializer_list<std::pair<int, int64_t>> values) {
      if (extent > 1)
        for (const auto &[reg, value] : values)
          task.regAt(reg, value);
    };
    stride(y.size(), {{pattern.pixelStrides[0], (isGathered ? 1 : p_.strideY) * input.rowPitch},
                      {pattern.sumStrides[0], acc.s1}});
    stride(x.size(), {{pattern.pixelStrides[1], p_.strideX * input.columnPitch},
                      {pattern.sumStrides[1], acc.s0}});
    stride(taps.rows, {{pattern.tapStrides[0], p_.dilationY * input.rowPitch},
                       {pattern.weightTapStrides[0], taps.columns * taps.depth * weightRow}});
    stride(taps.columns, {{pattern.tapStrides[1], p_.dilationX * input.columnPitch},
                          {pattern.weightTapStrides[1], taps.depth * weightRow}});
    out.push_back(task);
  }
}

} // namespace tilewright

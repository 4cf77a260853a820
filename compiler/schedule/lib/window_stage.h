// A depthwise convolution or a pool as work of the vector unit: what an input tile holds and the
// instructions that reduce its taps. Which tiles there are and in which order they are made is up
// to the caller.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/window_problem.h"

#include <vector>

namespace tilewright {

class WindowStage {
public:
  // `anchor`: kernel.depthwise, kernel.max_pool, kernel.avg_pool or kernel.sum_pool.
  WindowStage(LoweringContext &context, mlir::Operation *anchor, Steps &steps);

  const WindowProblem &problem() const { return p_; }
  bool isDepthwise() const { return llvm::isa<kernel::DepthwiseOp>(anchor_); }
  bool isSum() const { return llvm::isa<kernel::SumPoolOp>(anchor_); }
  // Of the instructions one of which computes the window.
  llvm::SmallVector<isa::Role, 2> roles() const {
    if (isDepthwise())
      return {isa::Role::Depthwise, isa::Role::DepthwiseI8};
    return {llvm::isa<kernel::MaxPoolOp>(anchor_) ? isa::Role::MaxPool : isa::Role::SumPool};
  }
  int64_t weightBytes() const; // on chip for the whole layer

  // Whether another layer computes the weights: they come with the input, not before it.
  bool computesWeights() const { return isDepthwise() && !isConstant(anchor_->getOperand(1)); }
  void loadWeights(std::vector<Task> &tasks);
  // By parts, each some chunks of so many channels: of a reduction all are in one chunk. Weights
  // are constants.
  void loadWeights(ChannelParts &parts, int64_t chunkChannels);

  // Input rows [y][x][channel] on chip: rows are clipped to the tensor (the taps outside are left
  // out of the reduction), columns are padded.
  struct Input {
    int buffer = -1;
    int64_t firstRow = 0;                  // of the tensor
    int64_t rowPitch = 0, columnPitch = 0; // bytes
  };
  // Columns of an input tile for so many output columns, padding included.
  int64_t inputColumns(int64_t outputs) const;
  // `buffer` as of `reuse` (conv_stage.h).
  Input loadInput(std::vector<Task> &loads, const Box &box, int buffer = -1);
  // Sets columns [column, column + columns) of `rows` rows to what padding counts as.
  void padColumns(std::vector<Task> &loads, const Input &input, int64_t rows, int64_t column,
                  int64_t columns);
  // Reduces the taps of the output pixels of `box` for extent.nc channels, which are at `channel`
  // of the input tile and, of a depthwise convolution, at `weightChannel` of the weights.
  void reduce(std::vector<Task> &out, isa::Role role, const Box &box, const Extent &extent,
              const Tile &d, const Input &input, int64_t channel, int64_t weightChannel,
              kernel::RescaleOp rescale = nullptr);

private:
  void loadComputedWeights(std::vector<Task> &tasks);

  LoweringContext &context_;
  mlir::Operation *anchor_;
  Steps &steps_;
  WindowProblem p_{};
  int64_t inputZeroPoint_ = 0, weightZeroPoint_ = 0;
  int weightBuffer_ = -1;
  int64_t chunkChannels_ = 0; // that stand together among the weights: [chunk][ky][kx][channel]
};

} // namespace tilewright

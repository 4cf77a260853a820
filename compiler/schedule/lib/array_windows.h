// A depthwise convolution as work of the matrix unit, by an instruction that slides windows over
// activations: its passes (window_passes.h), its weights in the order of the passes, and the
// instructions that fill a tile of accumulators from rows on chip.
#pragma once

#include "conv_stage.h"

#include "tilewright/compiler/patterns/column_broadcast_pattern.h"
#include "tilewright/compiler/schedule/window_passes.h"

namespace tilewright {

class ArrayWindows {
public:
  // `problem`: of the depthwise convolution; as many result channels as input channels.
  ArrayWindows(LoweringContext &context, kernel::DepthwiseOp anchor, const WindowProblem &problem,
               const WindowPasses &passes);

  // Gives the weights their place in DRAM. In a trial they get an address and no bytes.
  void placeWeights(bool isTrial);
  int64_t weightBytes(int64_t channels) const; // on chip
  // The weights of channels from a column tile's first on.
  ConvStage::Weights loadWeights(std::vector<Task> &loads, int buffer, Span channels);
  // The windows of output pixels (y, x) of channels of one column tile. Columns of the input are
  // padded; `acc` begins at the first of y, x and channels.
  void fill(std::vector<Task> &out, const ConvStage::Input &input,
            const ConvStage::Weights &weights, Span y, Span x, Span channels, const Tile &acc);

private:
  // Rows of outputs whose windows have the same rows of taps inside the tensor.
  struct Group {
    Span y;
    Taps taps;
  };
  std::vector<Group> groupsOf(Span y) const;
  std::string packedWeights();

  LoweringContext &context_;
  kernel::DepthwiseOp anchor_;
  const WindowProblem p_;
  const WindowPasses passes_;
  const patterns::ColumnBroadcastPattern pattern_;
  int64_t weightAddress_ = 0; // DRAM
};

} // namespace tilewright

// Products of one pixel (fully connected layers), whose every weight is used once, so that DRAM
// sets the pace: the pixel stays in one column of the array and the weights stream through it, an
// output channel a row. One instruction takes a slice of thousands of channels; with weights in the
// array it takes `rows` times `cols` of them, and its code comes from DRAM beside them.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/weight_stream_plan.h"

namespace tilewright {

// What a stream needs to know of its convolution, beside the element-wise operations on its result.
struct StreamedProduct {
  kernel::GroupOp group;
  kernel::Conv2DOp conv;
  ConvProblem problem;
};

// For each tile of channels and each slice of `rows` inputs: channels, of each the inputs.
std::string streamedWeights(const std::string &weights, int64_t inputs, int64_t tileChannels,
                            int64_t rows);

void lowerWeightStream(LoweringContext &context, const StreamedProduct &product,
                       const ConvPlan &plan, ElementChain &operations, bool isTrial, Steps &steps);

} // namespace tilewright

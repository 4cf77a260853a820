// The sum of an image's pixels, a part of its rows at a time: the parts that are on chip are added
// into slots of accumulators, and the slots in the end.
#pragma once

#include "conv_stage.h"

namespace tilewright {

// Whether it adds up all pixels of its image.
bool sumsImage(mlir::Operation *anchor);

// Accumulators of all channels, one slot behind the other: one for each part, and the sum behind
// them where there are several.
struct ImageSlots {
  Tile sums;
  int64_t parts = 1;
  Tile sum() const; // of the first channel
};

// Adds the pixels of `rows` x `columns` of a tile, for channels by blocks, into the slot of a part.
void addPixels(LoweringContext &context, std::vector<Task> &out, kernel::SumPoolOp sum,
               const Tile &image, int64_t rows, int64_t columns, Span channels, int64_t block,
               const ImageSlots &slots, int64_t part);
// Adds `parts` slots, of which `slots` is the first, into `sum`, for channels [channel, channel +
// count).
void addSlots(LoweringContext &context, std::vector<Task> &out, const Tile &slots, int64_t parts,
              const Tile &sum, int64_t channel, int64_t count);

// A group that begins with such a sum, by itself: the image is loaded by rows, under what is added.
// False where it cannot be: it is no such group, or parts and slots do not fit.
bool lowerImageSum(LoweringContext &context, kernel::GroupOp group, Steps &steps);

} // namespace tilewright

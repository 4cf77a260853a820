// The steps of `kernel-fuse`. Each works on one block of kernel operations, constants and a return.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace tilewright {

class Selection;

// Element-wise operations and reductions that no instruction computes are written by others.
void legalize(mlir::Block &body, Selection &selection);

// A rescale that only clamps joins the rescale before it.
void foldClamps(mlir::Block &body);

// An image times one factor a channel, narrowed to 8 bits, becomes a depthwise convolution of one
// tap whose weights are computed: it may stand in a fused stack. Only what an instruction computes
// in one pass, where `selection` is given.
void fuseChannelProducts(mlir::Block &body, Selection *selection);

// Rescales around a 32-bit addition or multiplication of 8-bit tensors become one add_i8 or mul_i8.
// Only what an instruction computes, where `selection` is given.
void fuseArithmetic(mlir::Block &body, Selection *selection);

// A reduction and the element-wise operations before it that one instruction computes together
// become one group.
void fuseReductions(mlir::Block &body, Selection &selection);

// Sums of 8-bit images over both spatial axes become one sum_pool, which reads the 8 bits. Large
// ones only where partial sums can be added up, of parts that the memories of `selection` hold.
void fuseSums(mlir::Block &body, const Selection *selection);

// A move of what another move makes, as one region of its source, reads that source itself.
void composeMoves(mlir::Block &body);

// A product of one row and a transposed matrix is that of the matrix and a column.
void transposeProducts(mlir::Block &body);

// A slice or transpose of an image that only convolutions or pools read becomes a strided view:
// their loads do the moving.
void viewStrided(mlir::Block &body);

// A picture that comes channel by channel is put in order by the array, where loads would take
// longer than the convolution that reads it.
void transposeOnArray(mlir::Block &body, const Selection &selection);

// Channels between two convolutions get an order in which more of the array's squares are zero.
void orderChannels(mlir::Block &body, const Selection &selection);

// Every operation that computes or moves goes into a group; only what instructions compute
// together, where `selection` is given.
void formGroups(mlir::Block &body, Selection *selection);

// Convolutions of channels that leave columns of the array empty make several pixels of a row at
// once, whose channels fill them.
void putPixelsTogether(mlir::Block &body, const Selection &selection);

// Whether one operation reads the value, in one place or several.
bool hasOneReader(mlir::Value value);

} // namespace tilewright

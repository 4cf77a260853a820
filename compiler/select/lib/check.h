// What TOSA 1.0 forbids and MLIR's verifier lets through. Every check emits one diagnostic at the
// operator.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace tilewright {

// Static shapes without zero sizes, of at most 6 dimensions and 2^31 - 1 bytes; elements i1, i8,
// i16 or i32; constants with their data.
mlir::LogicalResult checkTensor(mlir::Operation *op, mlir::Type type);
mlir::LogicalResult checkConstant(mlir::tosa::ConstOp op);

// Channel and batch counts; windows within TOSA's level 8K.
mlir::LogicalResult checkWindow(mlir::tosa::Conv2DOp op);
mlir::LogicalResult checkWindow(mlir::tosa::DepthwiseConv2DOp op);
mlir::LogicalResult checkWindow(mlir::tosa::MaxPool2dOp op);
mlir::LogicalResult checkWindow(mlir::tosa::AvgPool2dOp op);

// Multiplier and shift ranges, signedness.
mlir::LogicalResult checkRescale(mlir::tosa::RescaleOp op);
mlir::LogicalResult checkMul(mlir::tosa::MulOp op);
mlir::LogicalResult checkTable(mlir::tosa::TableOp op);

// Positions and sizes within the tensors.
mlir::LogicalResult checkSlice(mlir::tosa::SliceOp op);
mlir::LogicalResult checkPad(mlir::tosa::PadOp op);
mlir::LogicalResult checkTile(mlir::tosa::TileOp op);
mlir::LogicalResult checkResize(mlir::tosa::ResizeOp op);
mlir::LogicalResult checkGather(mlir::tosa::GatherOp op);
// Operators whose result has the type of its only tensor operand.
mlir::LogicalResult checkSameType(mlir::Operation *op);

} // namespace tilewright

// One TOSA operator to one kernel operation: what the parts of `tosa-to-kernel` share.
#pragma once

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include <optional>

namespace tilewright {

// What became of an operator: its replacement, or null after one diagnostic.
using Selected = mlir::Value;

// The diagnostic of an operator without kernel form: "'tosa.x' op has no kernel form: <reason>".
// Always null.
Selected unsupported(mlir::Operation *op, const llvm::Twine &reason);

// "i8", "i32": the element type of a tensor, as written.
std::string elementName(mlir::Value value);
bool hasElement(mlir::Value value, unsigned bits); // signless, of this width

// Each function takes operators of its kind; the insertion point stands before the operator.
Selected selectConvolution(mlir::tosa::Conv2DOp op, mlir::OpBuilder &builder);
Selected selectConvolution(mlir::tosa::DepthwiseConv2DOp op, mlir::OpBuilder &builder);
Selected selectMatMul(mlir::tosa::MatMulOp op, mlir::OpBuilder &builder);
Selected selectPool(mlir::tosa::MaxPool2dOp op, mlir::OpBuilder &builder);
Selected selectPool(mlir::tosa::AvgPool2dOp op, mlir::OpBuilder &builder);

Selected selectRescale(mlir::tosa::RescaleOp op, mlir::OpBuilder &builder);
Selected selectClamp(mlir::tosa::ClampOp op, mlir::OpBuilder &builder);
Selected selectCast(mlir::tosa::CastOp op, mlir::OpBuilder &builder);
Selected selectTable(mlir::tosa::TableOp op, mlir::OpBuilder &builder);
Selected selectNegate(mlir::tosa::NegateOp op, mlir::OpBuilder &builder);
// An operator that kernel_functions.def has a row for; any other one has no kernel form.
Selected selectFunction(mlir::Operation *op, mlir::OpBuilder &builder);

Selected selectPad(mlir::tosa::PadOp op, mlir::OpBuilder &builder);
Selected selectConcat(mlir::tosa::ConcatOp op, mlir::OpBuilder &builder);
Selected selectSlice(mlir::tosa::SliceOp op, mlir::OpBuilder &builder);
Selected selectTranspose(mlir::tosa::TransposeOp op, mlir::OpBuilder &builder);
Selected selectTile(mlir::tosa::TileOp op, mlir::OpBuilder &builder);
Selected selectReverse(mlir::tosa::ReverseOp op, mlir::OpBuilder &builder);
Selected selectReshape(mlir::tosa::ReshapeOp op, mlir::OpBuilder &builder);
Selected selectResize(mlir::tosa::ResizeOp op, mlir::OpBuilder &builder);
Selected selectGather(mlir::tosa::GatherOp op, mlir::OpBuilder &builder);

// Moves `regions` of the sources into a tensor of this type; a constant when the sources are.
Selected createAssemble(mlir::Location location, mlir::Type type, mlir::ValueRange sources,
                        std::optional<int64_t> fill, llvm::ArrayRef<kernel::Region> regions,
                        mlir::OpBuilder &builder);
// A copy of a whole tensor, for results that need memory of their own.
Selected createCopy(mlir::Value source, mlir::Location location, mlir::OpBuilder &builder);

} // namespace tilewright

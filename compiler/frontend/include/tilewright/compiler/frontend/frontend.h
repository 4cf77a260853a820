// Reads a model into TOSA 1.0.
//
// The module that comes back holds one function @main of static shapes. Argument i carries
// `tilewright.name` (the tensor's name in the model), result i too (as a result attribute). ONNX
// I/O keeps the model's own shapes (NCHW): transposes to TOSA's NHWC stand in the graph, where the
// layout passes move and cancel them. Every op's location is a `layerLocation`, so that reports
// speak of the user's operators.
#pragma once

#include "tilewright/support/npy.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilewright/onnx/model.h"
#include "tilewright/onnx/take_pictures.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct ImportOptions {
  // Bound shapes of inputs with dynamic dimensions, by input name (`--shape NAME=1x3x48x192`).
  std::map<std::string, std::vector<int64_t>> shapes;
  // Values of inputs that always have these (`--constant NAME=FILE.npy`): no inputs any longer.
  std::map<std::string, Tensor> constants;
  // Inputs that are pictures (`--image`); their shapes are those of pictures.
  std::map<std::string, onnx::Normalization> pictures = {};
};

// Reads a file of any of the formats (model_formats.h), told apart by the ends of their names.
// Throws UserError naming the file and the node: unknown ending, malformed file, unsupported
// operator, shape that does not fit.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context);
// `bytes`: at most 2^31 - 1, which is protobuf's limit; given back as soon as they are decoded.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const std::string &path, std::string bytes,
                                             const ImportOptions &options,
                                             mlir::MLIRContext &context);
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const std::string &path, const onnx::Model &model,
                                             const ImportOptions &options,
                                             mlir::MLIRContext &context);
// TOSA 1.0 as text or bytecode. Bytecode must be our own: what a user gives goes through
// importForeignTosa, which reads it in a process of its own.
mlir::OwningOpRef<mlir::ModuleOp> importTosa(const std::string &path, const std::string &bytes,
                                             mlir::MLIRContext &context);
mlir::OwningOpRef<mlir::ModuleOp>
importForeignTosa(const std::string &path, const std::string &bytes, mlir::MLIRContext &context);

} // namespace tilewright

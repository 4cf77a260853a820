// Reads a model into TOSA 1.0.
//
// The module that comes back holds one function @main of static shapes. Argument i carries
// `tilewright.name` (the tensor's name in the model), result i too (as a result attribute). ONNX
// I/O keeps the model's own shapes (NCHW): transposes to TOSA's NHWC stand in the graph, where the
// layout passes move and cancel them. Every op's location is a `layerLocation`, so that reports
// speak of the user's operators.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct ImportOptions {
  // Bound shapes of inputs with dynamic dimensions, by input name (`--shape NAME=1x3x48x192`).
  std::map<std::string, std::vector<int64_t>> shapes;
};

// Reads `.onnx` (float32; ai.onnx opsets 7 and later) or `.mlir` (TOSA 1.0 text or bytecode), told
// apart by content. Throws UserError naming the file and the node: malformed file, unsupported
// operator, shape that does not fit.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context);
// `bytes`: at most 2^31 - 1, which is protobuf's limit.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const std::string &path, const std::string &bytes,
                                             const ImportOptions &options,
                                             mlir::MLIRContext &context);
// Bytecode must be our own: what a user gives goes through importModel.
mlir::OwningOpRef<mlir::ModuleOp> importTosa(const std::string &path, const std::string &bytes,
                                             mlir::MLIRContext &context);

} // namespace tilewright

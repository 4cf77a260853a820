// ONNX among the formats of models (model_formats.h).
#pragma once

#include "tilewright/compiler/frontend/frontend.h"

namespace tilewright::onnx_import {

std::string served();
std::string operatorTable();
// Begins as a model's message does, with the version of its format.
bool recognizes(const std::string &bytes);
// importOnnx (frontend.h), which refuses text by what it is.
mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &path, std::string bytes,
                                       const ImportOptions &options, mlir::MLIRContext &context);

} // namespace tilewright::onnx_import

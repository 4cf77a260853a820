// importOnnx (frontend.h) of bytes that nobody else needs: they are given back as soon as they are
// decoded.
#pragma once

#include "tilewright/compiler/frontend/frontend.h"

namespace tilewright::onnx_import {

mlir::OwningOpRef<mlir::ModuleOp> importBytes(const std::string &path, std::string bytes,
                                              const ImportOptions &options,
                                              mlir::MLIRContext &context);

} // namespace tilewright::onnx_import

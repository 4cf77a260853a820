// TOSA among the formats of models (model_formats.h).
#pragma once

#include "tilewright/compiler/frontend/frontend.h"

namespace tilewright::tosa_import {

std::string served();
// Bytecode of MLIR, or text.
bool recognizes(const std::string &bytes);
// importTosa (frontend.h) of text, or of bytecode that may be damaged. Refuses shapes of inputs.
mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &path, std::string bytes,
                                       const ImportOptions &options, mlir::MLIRContext &context);

} // namespace tilewright::tosa_import

// The formats of models that are read. To add one: a folder in lib with its reader, and its row in
// lib/model_formats.cpp.
#pragma once

#include "tilewright/compiler/frontend/frontend.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tilewright {

struct ModelFormat {
  const char *name;
  std::vector<std::string> endings; // of file names: ".onnx"
  // Whether a file is of this format by its first bytes, where its name does not tell.
  bool (*recognizes)(const std::string &bytes);
  // What of the format is served, its operators among it: lines of text.
  std::string (*served)();
  // As importModel does. `bytes`: not empty; given away, so that the reader can drop them early.
  mlir::OwningOpRef<mlir::ModuleOp> (*read)(const std::string &path, std::string bytes,
                                            const ImportOptions &options,
                                            mlir::MLIRContext &context);
};

llvm::ArrayRef<ModelFormat> modelFormats();
// The one that a file's name tells, else its content, which is not empty; null: none.
const ModelFormat *modelFormatOf(const std::string &path, const std::string &bytes);
// "ONNX (.onnx), or TOSA (.mlir, .mlirbc)": for messages and help.
std::string modelFormatList();

// A table of ONNX's operators, in Markdown: since which operator set, and where each can run.
std::string onnxOperatorTable();

} // namespace tilewright

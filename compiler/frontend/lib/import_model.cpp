#include "tilewright/compiler/frontend/frontend.h"

#include "onnx/import_bytes.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tosa/bytecode_text.h"

#include <algorithm>
#include <climits>

namespace tilewright {

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A protobuf message of a model has control characters among its first bytes: field tags and
// lengths.
static bool looksLikeText(const std::string &bytes) {
  const auto count = std::min<ptrdiff_t>(static_cast<ptrdiff_t>(bytes.size()), 4096);
  return std::none_of(bytes.begin(), bytes.begin() + count, [](char byte) {
    auto code = static_cast<unsigned char>(byte);
    return code < 0x20 && code != '\n' && code != '\r' && code != '\t' && code != '\f';
  });
}

mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context) {
  std::string bytes = readFile(path, INT_MAX); // protobuf's own limit
  if (bytes.empty())
    throw UserError({path, 0, 0, ""}, "the file is empty", "give a model: .onnx, or TOSA as .mlir");
  bool bytecode = bytes.rfind("ML\xefR", 0) == 0;
  bool text = looksLikeText(bytes);
  if (text && endsWith(path, ".onnx"))
    throw UserError({path, 0, 0, ""}, "the file is not an ONNX model: it is text",
                    "name TOSA text .mlir, or export the model as binary ONNX");
  if (!bytecode && !text)
    return onnx_import::importBytes(path, std::move(bytes), options, context);
  if (!options.shapes.empty())
    throw UserError({path, 0, 0, ""}, "the shapes of a TOSA model are in its text",
                    "leave out --shape");
  return importTosa(path, bytecode ? textOfBytecode(path, bytes) : bytes, context);
}

} // namespace tilewright

#include "onnx_format.h"

#include "../looks_like_text.h"
#include "operators.h"
#include "tilewright/compiler/frontend/model_formats.h"
#include "tilewright/onnx/schema.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

std::string served() {
  std::vector<std::string> built, folded;
  for (const Operator &op : allOperators())
    (op.build ? built : folded).emplace_back(op.name);
  return fmt::format("float32, of operator sets {} to {} of ai.onnx\n"
                     "operators: {}\n"
                     "of values that are known when the model is read: {}\n",
                     oldestOpset, newestOpset, fmt::join(built, ", "), fmt::join(folded, ", "));
}

bool recognizes(const std::string &bytes) {
  constexpr char irVersion = 1 << 3; // the tag of field 1, a number
  return bytes[0] == irVersion;
}

mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &path, std::string bytes,
                                       const ImportOptions &options, mlir::MLIRContext &context) {
  if (looksLikeText(bytes))
    throw UserError({path, 0, 0, ""}, "the file is not an ONNX model: it is text",
                    "name a model by what it is: " + modelFormatList());
  return importOnnx(path, std::move(bytes), options, context);
}

} // namespace tilewright::onnx_import

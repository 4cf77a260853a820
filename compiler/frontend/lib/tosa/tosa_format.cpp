#include "tosa_format.h"

#include "../looks_like_text.h"
#include "bytecode_text.h"
#include "tilewright/support/error.h"

namespace tilewright {

mlir::OwningOpRef<mlir::ModuleOp>
importForeignTosa(const std::string &path, const std::string &bytes, mlir::MLIRContext &context) {
  return importTosa(path, isBytecode(bytes) ? textOfBytecode(path, bytes) : bytes, context);
}

namespace tosa_import {

std::string served() {
  return "TOSA 1.0 as MLIR, text or bytecode, on integers or float32\n"
         "operators: all of the profile and of EXT-INT16; one without a kernel is refused by "
         "name\n";
}

bool recognizes(const std::string &bytes) { return isBytecode(bytes) || looksLikeText(bytes); }

// All readers are given the bytes.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &path, std::string bytes,
                                       const ImportOptions &options, mlir::MLIRContext &context) {
  if (!options.shapes.empty())
    throw UserError({path, 0, 0, ""}, "the shapes of a TOSA model are in its text",
                    "leave out --shape");
  if (!options.constants.empty())
    throw UserError({path, 0, 0, ""}, "the constants of a TOSA model are in its text",
                    "leave out --constant");
  if (!options.pictures.empty())
    throw UserError({path, 0, 0, ""}, "the inputs of a TOSA model are in its text",
                    "leave out --image");
  return importForeignTosa(path, bytes, context);
}

} // namespace tosa_import

} // namespace tilewright

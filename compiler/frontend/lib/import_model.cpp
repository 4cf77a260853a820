#include "tilewright/compiler/frontend/frontend.h"

#include "tilewright/compiler/frontend/model_formats.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <climits>

namespace tilewright {

mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context) {
  std::string bytes = readFile(path, INT_MAX); // protobuf's own limit
  if (bytes.empty())
    throw UserError({path, 0, 0, ""}, "the file is empty", "give a model: " + modelFormatList());
  const ModelFormat *format = modelFormatOf(path, bytes);
  if (!format)
    throw UserError({path, 0, 0, ""}, "the file is of no format that is read",
                    "give a model: " + modelFormatList());
  return format->read(path, std::move(bytes), options, context);
}

} // namespace tilewright

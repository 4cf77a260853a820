// From MLIR's locations to those of diagnostics.
#pragma once

#include "tilewright/support/error.h"

#include "mlir/IR/Location.h"

namespace tilewright {

// The file, line and column behind `location`; just `path` when it has none.
inline SourceLocation sourceLocationOf(mlir::Location location, const std::string &path) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return {file.getFilename().str(), static_cast<int>(file.getLine()),
            static_cast<int>(file.getColumn()), ""};
  return {path, 0, 0, ""};
}

} // namespace tilewright

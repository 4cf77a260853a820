#include "tilewright/compiler/tosa/operator_location.h"

#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/IR/Location.h"

#include <fmt/format.h>

namespace tilewright {

SourceLocation operatorLocation(mlir::Location location) {
  SourceLocation source;
  if (Layer layer = layerOf(location); !layer.name.empty() || !layer.op.empty())
    source.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>()) {
    source.file = file.getFilename().str();
    source.line = static_cast<int>(file.getLine());
    source.column = static_cast<int>(file.getColumn());
  }
  return source;
}

} // namespace tilewright

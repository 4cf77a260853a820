#include "tilewright/compiler/tosa/operator_place.h"

#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/IR/Location.h"

#include <fmt/format.h>

namespace tilewright {

Place operatorPlace(mlir::Location location) {
  Place place;
  if (Layer layer = layerOf(location); !layer.name.empty() || !layer.op.empty())
    place.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>()) {
    place.file = file.getFilename().str();
    place.line = static_cast<int>(file.getLine());
    place.column = static_cast<int>(file.getColumn());
  }
  return place;
}

} // namespace tilewright

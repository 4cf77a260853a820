#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/frontend/operator_place.h"

#include "mlir/IR/Location.h"

#include <fmt/format.h>

namespace tilewright {

mlir::Location layerLocation(mlir::MLIRContext &context, llvm::StringRef name, llvm::StringRef op) {
  auto kind = mlir::NameLoc::get(mlir::StringAttr::get(&context, op));
  return mlir::NameLoc::get(mlir::StringAttr::get(&context, name), kind);
}

Layer layerOf(mlir::Location location) {
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location part : fused.getLocations())
      if (Layer layer = layerOf(part); !layer.op.empty())
        return layer;
    return {};
  }
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    if (auto kind = llvm::dyn_cast<mlir::NameLoc>(name.getChildLoc()))
      return {name.getName().str(), kind.getName().str()};
  return {};
}

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

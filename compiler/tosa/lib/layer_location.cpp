#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace tilewright {

static constexpr const char *layoutOp = "layout";

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

mlir::Location fusedLocation(mlir::Location first, mlir::Location second) {
  constexpr size_t maxParts = 8;
  llvm::SmallVector<mlir::Location> parts;
  for (mlir::Location location : {first, second}) {
    if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
      llvm::append_range(parts, fused.getLocations());
    else
      parts.push_back(location);
  }
  if (parts.size() > maxParts)
    parts.truncate(maxParts);
  return mlir::FusedLoc::get(parts, {}, first.getContext());
}

mlir::Location layoutLocation(mlir::Location location) {
  const Layer layer = layerOf(location);
  return layer.op.empty() ? location : layerLocation(*location.getContext(), layer.name, layoutOp);
}

bool isLayout(mlir::Location location) { return layerOf(location).op == layoutOp; }

} // namespace tilewright

#include "tilewright/compiler/frontend/layout_location.h"

#include "tilewright/compiler/frontend/frontend.h"

namespace tilewright {

static constexpr const char *layoutOp = "layout";

mlir::Location layoutLocation(mlir::Location location) {
  const Layer layer = layerOf(location);
  return layer.op.empty() ? location : layerLocation(*location.getContext(), layer.name, layoutOp);
}

bool isLayout(mlir::Location location) { return layerOf(location).op == layoutOp; }

} // namespace tilewright

#include "tilewright/compiler/tosa/shape.h"

#include "tilewright/compiler/tosa/tensor_types.h"

namespace tilewright {

Shape sizesOf(mlir::Value value) { return shapeOf(value).vec(); }

} // namespace tilewright

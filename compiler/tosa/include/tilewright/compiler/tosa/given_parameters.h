// What a model that is quantized already says of its tensors: the importer leaves it on clamps to
// what their integers can stand for, on which the float graph computes all the same. Rounding is
// the quantizer's.
#pragma once

#include "tilewright/compiler/tosa/quantization_parameters.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace tilewright {

// The result of `clamp` is stored as these integers, whatever samples would say.
void setGivenParameters(mlir::Operation *clamp, const quantization::Parameters &parameters);
// None of another operator, or where the model leaves them open.
std::optional<quantization::Parameters> givenParameters(mlir::Operation *op);
std::optional<quantization::Parameters> givenParameters(mlir::Value value); // of what yields it
// The parameters that all readers of `value` store it with, or what they choose of it: rounded
// before, elements that are moved, and the greatest and the least of some, are what they would be
// rounded behind. None where one reads it as it is.
std::optional<quantization::Parameters> givenBehind(mlir::Value value);

// Weights of `module` are multiples of steps that the model chose: they are to stay what they are.
void setGivenWeights(mlir::ModuleOp module);
bool hasGivenWeights(mlir::ModuleOp module);

} // namespace tilewright

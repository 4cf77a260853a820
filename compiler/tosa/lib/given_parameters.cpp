#include "tilewright/compiler/tosa/given_parameters.h"

#include "tilewright/compiler/tosa/tensor_attributes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

using quantization::Parameters;

constexpr llvm::StringLiteral bitsAttribute = "tilewright.bits";
constexpr llvm::StringLiteral weightsAttribute = "tilewright.given_weights";

void setGivenParameters(Operation *clamp, const Parameters &parameters) {
  Builder builder(clamp->getContext());
  clamp->setAttr(scaleAttribute, builder.getF64FloatAttr(parameters.scale));
  clamp->setAttr(zeroPointAttribute, builder.getI64IntegerAttr(parameters.zeroPoint));
  clamp->setAttr(bitsAttribute, builder.getI64IntegerAttr(parameters.bits));
}

std::optional<Parameters> givenParameters(Operation *op) {
  if (!op)
    return std::nullopt;
  auto scale = op->getAttrOfType<FloatAttr>(scaleAttribute);
  auto zeroPoint = op->getAttrOfType<IntegerAttr>(zeroPointAttribute),
       bits = op->getAttrOfType<IntegerAttr>(bitsAttribute);
  if (!scale || !zeroPoint || !bits)
    return std::nullopt;
  return Parameters{scale.getValueAsDouble(), zeroPoint.getInt(), static_cast<int>(bits.getInt())};
}

std::optional<Parameters> givenParameters(Value value) {
  return givenParameters(value.getDefiningOp());
}

void setGivenWeights(ModuleOp module) {
  module->setAttr(weightsAttribute, UnitAttr::get(module.getContext()));
}

bool hasGivenWeights(ModuleOp module) { return module->hasAttr(weightsAttribute); }

} // namespace tilewright

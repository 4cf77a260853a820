#include "tilewright/compiler/tosa/given_parameters.h"

#include "tilewright/compiler/tosa/tensor_attributes.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
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

static bool chooses(Operation *op) {
  auto resize = dyn_cast<tosa::ResizeOp>(op);
  return isa<tosa::ConcatOp, tosa::GatherOp, tosa::MaxPool2dOp, tosa::MaximumOp, tosa::MinimumOp,
             tosa::PadOp, tosa::ReshapeOp, tosa::ReverseOp, tosa::SelectOp, tosa::SliceOp,
             tosa::TileOp, tosa::TransposeOp>(op) ||
         (resize && resize.getMode() == tosa::ResizeMode::NEAREST_NEIGHBOR);
}

// `known`: what was found of values before, each of which may be met on many ways.
static std::optional<Parameters>
givenBehind(Value value, llvm::DenseMap<Value, std::optional<Parameters>> &known) {
  if (const auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Parameters> common;
  for (Operation *user : value.getUsers()) {
    std::optional<Parameters> own = givenParameters(user);
    if (!own && chooses(user))
      own = givenBehind(user->getResult(0), known);
    if (!own || (common && !(*common == *own))) {
      common.reset();
      break;
    }
    common = own;
  }
  known[value] = common;
  return common;
}

std::optional<Parameters> givenBehind(Value value) {
  llvm::DenseMap<Value, std::optional<Parameters>> known;
  return givenBehind(value, known);
}

void setGivenWeights(ModuleOp module) {
  module->setAttr(weightsAttribute, UnitAttr::get(module.getContext()));
}

bool hasGivenWeights(ModuleOp module) { return module->hasAttr(weightsAttribute); }

} // namespace tilewright

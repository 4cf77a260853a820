// What holds for every npu.program, whatever its ISA.
#include "tensor_type.h"
#include "tilewright/compiler/emit/npu_dialect.h"

using namespace mlir;

namespace tilewright::npu {

static LogicalResult verifyTensor(Operation *op, StringRef name, Type type,
                                  std::optional<APFloat> scale) {
  if (name.empty())
    return op->emitOpError("must have a name");
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getEncoding() || !dtypeOf(tensor.getElementType()))
    return op->emitOpError() << "cannot have type " << type
                             << ": elements are integers of 1, 8, 16, 32 or 64 bits or floats of "
                                "16, 32 or 64, without an encoding";
  for (int64_t size : tensor.getShape())
    if (size < 1)
      return op->emitOpError("must have sizes of at least 1");
  if (scale && (!scale->isFiniteNonZero() || scale->isNegative()))
    return op->emitOpError("must have a positive scale");
  return success();
}

LogicalResult InputOp::verify() { return verifyTensor(*this, getName(), getType(), getScale()); }
LogicalResult OutputOp::verify() { return verifyTensor(*this, getName(), getType(), getScale()); }

LogicalResult DataOp::verify() {
  DenseResourceElementsAttr bytes = getBytes();
  auto type = dyn_cast<RankedTensorType>(bytes.getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isSignlessInteger(8))
    return emitOpError() << "must be a list of i8, not " << bytes.getType();
  AsmResourceBlob *blob = bytes.getRawHandle().getBlob();
  if (!blob)
    return emitOpError() << "names a resource '" << bytes.getRawHandle().getKey()
                         << "' that the module does not have";
  if (static_cast<int64_t>(blob->getData().size()) != type.getNumElements())
    return emitOpError() << "is of " << type.getNumElements() << " bytes, but the resource '"
                         << bytes.getRawHandle().getKey() << "' has " << blob->getData().size();
  return success();
}

LogicalResult LayerOp::verify() {
  const bool hasPlan = getRunnerUp().has_value();
  if (hasPlan != getRunnerUpCycles().has_value() || hasPlan != getChosenCycles().has_value())
    return emitOpError("must have the plan and both costs of its runner-up, or none of them");
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  int64_t layers = 0;
  for (LayerOp layer : getBody().getOps<LayerOp>())
    if (layer.getNumber() != layers++)
      return layer.emitOpError() << "is number " << layers - 1 << " in the program, not "
                                 << layer.getNumber();
  for (Operation &op : getBody().front()) {
    if (!isa<InputOp, OutputOp, DataOp, LayerOp, InstOp>(op))
      return op.emitOpError("has no place in a program");
    if (auto inst = dyn_cast<InstOp>(op); inst && inst.getLayer() >= layers)
      return inst.emitOpError() << "names layer " << inst.getLayer() << ", but there are "
                                << layers;
  }
  return success();
}

} // namespace tilewright::npu

#include "check.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/fixed_point.h"

using namespace mlir;

namespace tilewright {

static ShapedType typeOf(Value value) { return cast<ShapedType>(value.getType()); }
static bool isWide(Value value) { return typeOf(value).getElementTypeBitWidth() == 32; }

LogicalResult checkRescale(tosa::RescaleOp op) {
  if (typeOf(op.getInput()).getShape() != typeOf(op.getOutput()).getShape())
    return op.emitOpError("result must have the shape of the input");
  if (op.getInputUnsigned() && op.getOutputUnsigned())
    return op.emitOpError("input and result cannot both be unsigned");
  if ((op.getInputUnsigned() || op.getOutputUnsigned()) &&
      (isWide(op.getInput()) || isWide(op.getOutput())))
    return op.emitOpError("cannot be unsigned when input or result is i32");
  if (auto shifts = constantIntegers(op.getShift()))
    for (int64_t shift : *shifts)
      if (shift < FixedPoint::leastShift || shift > FixedPoint::greatestShift)
        return op.emitOpError() << "shift must be from 2 to 62, not " << shift;
  if (auto multipliers = constantIntegers(op.getMultiplier()))
    for (int64_t multiplier : *multipliers)
      if (multiplier < 0)
        return op.emitOpError() << "multiplier must not be negative, but one is " << multiplier;
  return success();
}

LogicalResult checkMul(tosa::MulOp op) {
  ArrayRef<int64_t> a = typeOf(op.getInput1()).getShape(), b = typeOf(op.getInput2()).getShape();
  SmallVector<int64_t> shape;
  for (auto [left, right] : llvm::zip_equal(a, b))
    shape.push_back(std::max(left, right));
  if (!isWide(op.getOutput()) || typeOf(op.getOutput()).getShape() != ArrayRef<int64_t>(shape))
    return op.emitOpError() << "result must be "
                            << RankedTensorType::get(shape, IntegerType::get(op.getContext(), 32))
                            << ", not " << op.getType();
  auto shift = constantIntegers(op.getShift());
  int64_t largest = isWide(op.getInput1()) ? 63 : 0;
  if (shift && (shift->front() < 0 || shift->front() > largest))
    return op.emitOpError() << "shift must be from 0 to " << largest << " for its operands, not "
                            << shift->front();
  return success();
}

LogicalResult checkTable(tosa::TableOp op) {
  unsigned bits = typeOf(op.getInput1()).getElementTypeBitWidth();
  if (bits != 8 && bits != 16)
    return success(); // selection says that there is no such table
  int64_t entries = bits == 8 ? 256 : 513;
  if (typeOf(op.getTable()).getNumElements() != entries ||
      typeOf(op.getTable()).getElementTypeBitWidth() != bits)
    return op.emitOpError() << "table for i" << bits << " must have " << entries << " entries of i"
                            << bits;
  unsigned result = bits == 8 ? 8 : 32;
  if (typeOf(op.getOutput()).getElementTypeBitWidth() != result)
    return op.emitOpError() << "result of a table for i" << bits << " must have elements of i"
                            << result;
  return success();
}

} // namespace tilewright

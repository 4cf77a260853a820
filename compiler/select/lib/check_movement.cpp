#include "check.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

using namespace mlir;

namespace tilewright {

LogicalResult checkSlice(tosa::SliceOp op) {
  auto start = constantIntegers(op.getStart()), size = constantIntegers(op.getSize());
  if (!start || !size)
    return success(); // selection says that they must be constant
  ArrayRef<int64_t> input = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  for (size_t axis = 0; axis < input.size(); ++axis) {
    int64_t from = (*start)[axis], count = (*size)[axis];
    if (from < 0)
      return op.emitOpError() << "start must not be negative, but is " << from << " on axis "
                              << axis;
    if (count < 1)
      return op.emitOpError() << "size must be at least 1, but is " << count << " on axis " << axis;
    if (count > input[axis] || from > input[axis] - count)
      return op.emitOpError() << "leaves its input on axis " << axis << ": " << count
                              << " elements from " << from << " of " << input[axis];
    if (count != result[axis])
      return op.emitOpError() << "size on axis " << axis << " is " << count
                              << ", but the result has " << result[axis];
  }
  return success();
}

LogicalResult checkPad(tosa::PadOp op) {
  auto padding = constantIntegers(op.getPadding());
  if (!padding)
    return success();
  ArrayRef<int64_t> input = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  for (size_t axis = 0; axis < input.size(); ++axis) {
    int64_t before = (*padding)[2 * axis], after = (*padding)[2 * axis + 1];
    if (before < 0 || after < 0)
      return op.emitOpError() << "padding must not be negative, but is " << std::min(before, after)
                              << " on axis " << axis;
    if (before > result[axis] || after > result[axis] ||
        before + input[axis] + after != result[axis])
      return op.emitOpError() << "padding on axis " << axis
                              << " does not give the result's size of " << result[axis];
  }
  return success();
}

LogicalResult checkTile(tosa::TileOp op) {
  auto multiples = constantIntegers(op.getMultiples());
  if (!multiples)
    return success();
  ArrayRef<int64_t> input = shapeOf(op.getInput1()), result = shapeOf(op.getOutput());
  for (size_t axis = 0; axis < input.size(); ++axis)
    if (result[axis] % input[axis] != 0 || result[axis] / input[axis] != (*multiples)[axis])
      return op.emitOpError() << "multiple on axis " << axis << " is " << (*multiples)[axis]
                              << ", which does not give " << result[axis] << " from "
                              << input[axis];
  return success();
}

// TOSA 1.0, RESIZE: numerator, denominator, offset and border of one axis.
static LogicalResult checkResizeAxis(tosa::ResizeOp op, StringRef axis, int64_t numerator,
                                     int64_t denominator, int64_t offset, int64_t border) {
  if (numerator > 2048)
    return op.emitOpError() << "numerator of the " << axis << "'s scale must be at most 2048, not "
                            << numerator;
  if (denominator >= 16 * numerator)
    return op.emitOpError() << "denominator of the " << axis << "'s scale must be below "
                            << 16 * numerator << ", not " << denominator;
  if (offset < -numerator || offset >= 16 * numerator)
    return op.emitOpError() << "offset of the " << axis << " must be from " << -numerator
                            << " to below " << 16 * numerator << ", not " << offset;
  if (border < -16 * numerator || border >= numerator)
    return op.emitOpError() << "border of the " << axis << " must be from " << -16 * numerator
                            << " to below " << numerator << ", not " << border;
  return success();
}

LogicalResult checkResize(tosa::ResizeOp op) {
  constexpr int64_t sizeEnd = 16384;
  ArrayRef<int64_t> input = shapeOf(op.getInput()), result = shapeOf(op.getOutput());
  if (input[0] != result[0] || input[3] != result[3])
    return op.emitOpError() << "result must have " << input[0] << " batches and " << input[3]
                            << " channels as the input, not " << result[0] << " and " << result[3];
  for (int64_t size : {input[1], input[2], result[1], result[2]})
    if (size >= sizeEnd)
      return op.emitOpError() << "height and width must be below " << sizeEnd << ", not " << size;
  auto scale = constantIntegers(op.getScale()), offset = constantIntegers(op.getOffset()),
       border = constantIntegers(op.getBorder());
  if (!scale || !offset || !border)
    return success(); // selection says that they must be constant
  if (failed(checkResizeAxis(op, "height", (*scale)[0], (*scale)[1], (*offset)[0], (*border)[0])))
    return failure();
  return checkResizeAxis(op, "width", (*scale)[2], (*scale)[3], (*offset)[1], (*border)[1]);
}

LogicalResult checkGather(tosa::GatherOp op) {
  ArrayRef<int64_t> values = shapeOf(op.getValues());
  auto positions = constantIntegers(op.getIndices());
  if (!positions)
    return success();
  for (int64_t position : *positions)
    if (position < 0 || position >= values[1])
      return op.emitOpError() << "index " << position << " is not within the " << values[1]
                              << " values";
  return success();
}

LogicalResult checkSameType(Operation *op) {
  if (op->getOperand(0).getType() == op->getResult(0).getType())
    return success();
  return op->emitOpError() << "result must be " << op->getOperand(0).getType()
                           << " as its operand, not " << op->getResult(0).getType();
}

} // namespace tilewright

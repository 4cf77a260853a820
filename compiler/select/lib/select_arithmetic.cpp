#include "select.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/fixed_point.h"

using namespace mlir;

namespace tilewright {

constexpr FixedPoint identity;

static unsigned elementBits(Value value) {
  return cast<ShapedType>(value.getType()).getElementTypeBitWidth();
}

static bool isScalable(Value value) {
  return hasElement(value, 8) || hasElement(value, 16) || hasElement(value, 32);
}

static int64_t lowest(unsigned bits) { return -(int64_t(1) << (bits - 1)); }
static int64_t highest(unsigned bits) { return (int64_t(1) << (bits - 1)) - 1; }

static Value createList(OpBuilder &builder, Location location, unsigned bits,
                        ArrayRef<int64_t> values) {
  auto type =
      RankedTensorType::get(static_cast<int64_t>(values.size()), builder.getIntegerType(bits));
  return makeConstant(builder, location, integerElements(type, values));
}

// x in another width or clamped, without scaling.
static kernel::RescaleOp createIdentity(Location location, Type type, Value x, int64_t lo,
                                        int64_t hi, OpBuilder &builder) {
  Value multiplier = createList(builder, location, 32, identity.multiplier);
  Value shift = createList(builder, location, 8, identity.shift);
  return kernel::RescaleOp::create(builder, location, type, x, multiplier, shift, 0, 0, lo, hi,
                                   false);
}

static Selected createIdentity(Operation *op, Value x, int64_t lo, int64_t hi, OpBuilder &builder) {
  return createIdentity(op->getLoc(), op->getResult(0).getType(), x, lo, hi, builder);
}

Selected selectRescale(tosa::RescaleOp op, OpBuilder &builder) {
  if (!isScalable(op.getInput()) || !isScalable(op.getOutput()))
    return unsupported(op, "rescaling from " + elementName(op.getInput()) + " to " +
                               elementName(op.getOutput()) + " is not supported yet");
  if (op.getRoundingMode() != tosa::RoundingMode::SINGLE_ROUND)
    return unsupported(op, "the only supported rounding mode is SINGLE_ROUND");
  auto multiplier = constantIntegers(op.getMultiplier()), shift = constantIntegers(op.getShift());
  if (!multiplier || !shift)
    return unsupported(op, "its multiplier and shift are not constant");
  FailureOr<int64_t> inputZp = op.getInputZeroPoint(), outputZp = op.getOutputZeroPoint();
  if (failed(inputZp) || failed(outputZp))
    return unsupported(op, "its zero points are not constant");
  unsigned bits = elementBits(op.getOutput());
  int64_t lo = op.getOutputUnsigned() ? 0 : lowest(bits);
  int64_t hi = op.getOutputUnsigned() ? 2 * highest(bits) + 1 : highest(bits);
  Value multipliers = op.getMultiplier();
  // 16-bit multipliers scale by the same formula.
  if (elementBits(multipliers) != 32)
    multipliers = createList(builder, op.getLoc(), 32, *multiplier);
  return kernel::RescaleOp::create(builder, op.getLoc(), op.getType(), op.getInput(), multipliers,
                                   op.getShift(), *inputZp, *outputZp, lo, hi,
                                   op.getInputUnsigned());
}

Selected selectClamp(tosa::ClampOp op, OpBuilder &builder) {
  if (!hasElement(op.getInput(), 8) && !hasElement(op.getInput(), 16))
    return unsupported(op, "clamping " + elementName(op.getInput()) +
                               " is not supported yet, only i8 and i16");
  return createIdentity(op, op.getInput(),
                        cast<IntegerAttr>(op.getMinVal()).getValue().getSExtValue(),
                        cast<IntegerAttr>(op.getMaxVal()).getValue().getSExtValue(), builder);
}

Selected selectCast(tosa::CastOp op, OpBuilder &builder) {
  unsigned bits = elementBits(op.getOutput());
  if (!isScalable(op.getInput()) || !isScalable(op.getOutput()) ||
      bits < elementBits(op.getInput()))
    return unsupported(op, "casting " + elementName(op.getInput()) + " to " +
                               elementName(op.getOutput()) +
                               " is not supported yet, only signed widening");
  return createIdentity(op, op.getInput(), lowest(bits), highest(bits), builder);
}

Selected selectTable(tosa::TableOp op, OpBuilder &builder) {
  if (!hasElement(op.getInput1(), 8) && !hasElement(op.getInput1(), 16))
    return unsupported(op, "tables of " + elementName(op.getInput1()) + " are not supported");
  if (!constantElements(op.getTable()))
    return unsupported(op, "its table is not constant");
  return kernel::TableOp::create(builder, op.getLoc(), op.getType(), op.getInput1(), op.getTable());
}

Selected selectNegate(tosa::NegateOp op, OpBuilder &builder) {
  if (!hasElement(op.getInput1(), 32))
    return unsupported(op, "negation of " + elementName(op.getInput1()) +
                               " is not supported yet, only i32");
  FailureOr<int64_t> inputZp = op.getInput1ZeroPoint(), outputZp = op.getOutputZeroPoint();
  if (failed(inputZp) || failed(outputZp) || *inputZp != 0 || *outputZp != 0)
    return unsupported(op, "its zero points are not constant zeros");
  auto type = cast<RankedTensorType>(op.getType());
  Value zero = makeIntegers(builder, op.getLoc(), SmallVector<int64_t>(type.getRank(), 1), 32, 0);
  return kernel::BinaryOp::create(builder, op.getLoc(), type, zero, op.getInput1(),
                                  kernel::BinaryFunction::Sub, 0);
}

// The function that an operator is selected for.
template <typename Function> static std::optional<Function> functionOf(Operation *op) {
  return kernel::findFunction<Function>([&](const kernel::FunctionInfo &row) {
    if (row.tosaOperator != op->getName().getStringRef())
      return false;
    return row.flag.empty() || op->getAttrOfType<BoolAttr>(row.flag).getValue() == row.flagValue;
  });
}

static Selected selectBinary(Operation *op, kernel::BinaryFunction function, OpBuilder &builder) {
  const kernel::FunctionInfo &info = kernel::infoOf(function);
  Value a = op->getOperand(0), b = op->getOperand(1);
  for (Value operand : {a, b})
    if (info.isWidening ? !isScalable(operand) : !hasElement(operand, 32))
      return unsupported(op, "operands of " + elementName(operand) +
                                 " are not supported yet, only " +
                                 (info.isWidening ? "i8, i16 and i32" : "i32"));
  int64_t shift = 0;
  if (info.takesShift()) {
    auto amount = constantIntegers(op->getOperand(2));
    if (!amount)
      return unsupported(op, "its shift is not constant");
    shift = amount->front();
  }
  return kernel::BinaryOp::create(builder, op->getLoc(), op->getResult(0).getType(), a, b, function,
                                  shift);
}

static Selected selectUnary(Operation *op, kernel::UnaryFunction function, OpBuilder &builder) {
  Value x = op->getOperand(0);
  if (!hasElement(x, 32))
    return unsupported(op, "operands of " + elementName(x) + " are not supported yet, only i32");
  return kernel::UnaryOp::create(builder, op->getLoc(), x.getType(), x, function);
}

static Selected selectReduction(Operation *op, kernel::ReduceFunction function,
                                OpBuilder &builder) {
  Value input = op->getOperand(0);
  const bool isNarrow = kernel::infoOf(function).isNarrow;
  if (!hasElement(input, 32) && !(isNarrow && isScalable(input)))
    return unsupported(op, "reductions of " + elementName(input) + " are not supported yet");
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto reduce = [&](Value x) {
    auto reduced = type.clone(cast<RankedTensorType>(x.getType()).getElementType());
    return kernel::ReduceOp::create(builder, op->getLoc(), reduced, x, function,
                                    op->getAttrOfType<IntegerAttr>("axis").getInt());
  };
  if (!hasElement(input, 16))
    return reduce(input);
  // Instructions reduce 8 and 32 bits: the greatest of 16 is that of their 32, and fits again.
  Value wide = createIdentity(op->getLoc(),
                              cast<RankedTensorType>(input.getType()).clone(builder.getI32Type()),
                              input, lowest(32), highest(32), builder);
  return createIdentity(op, reduce(wide), lowest(16), highest(16), builder);
}

Selected selectFunction(Operation *op, OpBuilder &builder) {
  if (auto binary = functionOf<kernel::BinaryFunction>(op))
    return selectBinary(op, *binary, builder);
  if (auto unary = functionOf<kernel::UnaryFunction>(op))
    return selectUnary(op, *unary, builder);
  if (auto reduce = functionOf<kernel::ReduceFunction>(op))
    return selectReduction(op, *reduce, builder);
  return unsupported(op, "the operator is not supported yet");
}

} // namespace tilewright

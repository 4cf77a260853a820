#include "fuse.h"
#include "scale.h"

#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/fixed_point.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {
namespace {

bool hasElement(Value value, unsigned bits) {
  return cast<ShapedType>(value.getType()).getElementType().isSignlessInteger(bits);
}

// An 8-bit tensor as the 32-bit operand of an addition or multiplication.
struct Widened {
  Value source;
  int64_t zeroPoint = 0;
  FixedPoint scale;
  kernel::RescaleOp op;
};

// Nothing unless the value is one scale times (8-bit source - zero point), neither offset nor
// clamped.
std::optional<Widened> widened(Value value) {
  auto rescale = value.getDefiningOp<kernel::RescaleOp>();
  if (!rescale || !hasElement(rescale.getX(), 8) || !hasElement(rescale.getResult(), 32) ||
      rescale.getInputUnsigned() || rescale.getOutputZp() != 0 || !keepsRange(rescale))
    return std::nullopt;
  std::optional<FixedPoint> scale = constantFixedPoint(rescale.getMultiplier(), rescale.getShift());
  if (!scale)
    return std::nullopt;
  return Widened{rescale.getX(), rescale.getInputZp(), *scale, rescale};
}

// The scale with which the 32-bit sum or product becomes 8 bits; nothing when another operation has
// to follow it.
std::optional<FixedPoint> narrowing(kernel::RescaleOp rescale) {
  if (!hasElement(rescale.getResult(), 8) || rescale.getInputZp() != 0 ||
      rescale.getInputUnsigned())
    return std::nullopt;
  return constantFixedPoint(rescale.getMultiplier(), rescale.getShift());
}

Location locationOf(ArrayRef<Operation *> ops) {
  SmallVector<Location> locations;
  for (Operation *op : ops)
    if (op)
      locations.push_back(op->getLoc());
  return FusedLoc::get(ops.front()->getContext(), locations);
}

void replace(kernel::RescaleOp rescale, kernel::BinaryOp binary, Value fused,
             ArrayRef<kernel::RescaleOp> inputs, Selection *selection) {
  if (selection && !selection->computes(fused.getDefiningOp())) {
    fused.getDefiningOp()->erase();
    return;
  }
  rescale.replaceAllUsesWith(fused);
  rescale.erase();
  binary.erase();
  for (kernel::RescaleOp input : inputs)
    if (input && input->use_empty())
      input.erase();
}

void fuseAddition(kernel::RescaleOp rescale, kernel::BinaryOp binary, FixedPoint scale,
                  Selection *selection) {
  std::optional<Widened> a = widened(binary.getA()), b = widened(binary.getB());
  if (!a || !b)
    return;
  OpBuilder builder(rescale);
  Value fused = kernel::AddI8Op::create(
      builder, locationOf({binary, a->op, b->op, rescale}), rescale.getType(), a->source, b->source,
      a->zeroPoint, a->scale.multiplier, a->scale.shift, b->zeroPoint, b->scale.multiplier,
      b->scale.shift, scale.multiplier, scale.shift, rescale.getOutputZp(), rescale.getLo(),
      rescale.getHi());
  replace(rescale, binary, fused, {a->op, a->op == b->op ? kernel::RescaleOp() : b->op}, selection);
}

void fuseMultiplication(kernel::RescaleOp rescale, kernel::BinaryOp binary, FixedPoint scale,
                        Selection *selection) {
  // A factor is an 8-bit tensor itself or with its zero point taken off.
  auto factor = [](Value value) -> std::optional<Widened> {
    if (hasElement(value, 8))
      return Widened{value, 0, {}, nullptr};
    std::optional<Widened> wide = widened(value);
    return wide && wide->scale.isIdentity() ? wide : std::nullopt;
  };
  std::optional<Widened> a = factor(binary.getA()), b = factor(binary.getB());
  if (!a || !b || binary.getShift() != 0)
    return;
  OpBuilder builder(rescale);
  Value fused = kernel::MulI8Op::create(builder, locationOf({binary, a->op, b->op, rescale}),
                                        rescale.getType(), a->source, b->source, a->zeroPoint,
                                        b->zeroPoint, scale.multiplier, scale.shift,
                                        rescale.getOutputZp(), rescale.getLo(), rescale.getHi());
  replace(rescale, binary, fused, {a->op, a->op == b->op ? kernel::RescaleOp() : b->op}, selection);
}

} // namespace

void fuseArithmetic(Block &body, Selection *selection) {
  // A fusion erases its candidate, the binary operation and widening rescales: no other candidate.
  SmallVector<kernel::RescaleOp> candidates;
  for (auto rescale : body.getOps<kernel::RescaleOp>())
    if (rescale.getX().getDefiningOp<kernel::BinaryOp>() && narrowing(rescale))
      candidates.push_back(rescale);
  for (kernel::RescaleOp rescale : candidates) {
    auto binary = rescale.getX().getDefiningOp<kernel::BinaryOp>();
    if (!binary->hasOneUse())
      continue;
    FixedPoint scale = *narrowing(rescale);
    if (binary.getFunction() == kernel::BinaryFunction::Add)
      fuseAddition(rescale, binary, scale, selection);
    else if (binary.getFunction() == kernel::BinaryFunction::Mul)
      fuseMultiplication(rescale, binary, scale, selection);
  }
}

} // namespace tilewright

#include "expression_emitter.h"

#include <algorithm>

namespace tilewright::kernels {

using isa::Expr;
using isa::ExprKind;
using llvm::Value;

namespace {

llvm::Constant *constantOf(llvm::Type *type, __int128 value) {
  uint64_t words[] = {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)};
  return llvm::ConstantInt::get(type, llvm::APInt(128, words).trunc(type->getScalarSizeInBits()));
}

} // namespace

Value *ExpressionEmitter::constantLike(Value *like, __int128 value) {
  return constantOf(like->getType(), value);
}

Value *ExpressionEmitter::splat(Value *value) {
  if (position.lanes == 1 || value->getType()->isVectorTy())
    return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(position.lanes), value);
}

void ExpressionEmitter::unify(Value *&a, Value *&b) {
  if (a->getType()->isVectorTy() || b->getType()->isVectorTy()) {
    a = splat(a);
    b = splat(b);
  }
}

Value *ExpressionEmitter::resize(Value *value, int from, int to, bool isSigned) {
  if (from == to)
    return value;
  llvm::Type *type = builder_.getIntNTy(static_cast<unsigned>(to));
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
    type = llvm::FixedVectorType::get(type, vector->getNumElements());
  return isSigned ? builder_.CreateSExtOrTrunc(value, type)
                  : builder_.CreateZExtOrTrunc(value, type);
}

Value *ExpressionEmitter::wrap(Value *value, int bits, const isa::Type &type) {
  if (type.bits >= bits)
    return value;
  if (!type.isSigned)
    return builder_.CreateAnd(value, constantLike(value, type.greatest()));
  Value *distance = constantLike(value, bits - type.bits);
  return builder_.CreateAShr(builder_.CreateShl(value, distance), distance);
}

Value *ExpressionEmitter::emitLanes(const Expr &expr, int bits) { return splat(emit(expr, bits)); }

Value *ExpressionEmitter::emitWrapped(const Expr &expr, const isa::Type &type, int bits) {
  Value *value = emit(expr, bits);
  return ranges_.of(expr).within(rangeOf(type)) ? value : wrap(value, bits, type);
}

Value *ExpressionEmitter::emit(const Expr &expr, int bits) {
  auto key = std::make_pair(numbering_.of(expr), bits);
  auto found = known_.find(key);
  if (found != known_.end())
    return found->second;
  // Twice the lanes fit a register at 32 bits as at 64, so values widen as late as they can.
  Container container = containerOf(ranges_.of(expr));
  Value *value = bits > 32 && container.bits <= 32
                     ? resize(emit(expr, 32), 32, bits, container.isSigned || container.bits < 32)
                     : compute(expr, bits);
  known_[key] = value;
  return value;
}

Value *ExpressionEmitter::emitCondition(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Equal:
  case ExprKind::NotEqual:
  case ExprKind::Less:
  case ExprKind::LessEqual:
  case ExprKind::Greater:
  case ExprKind::GreaterEqual:
    return compare(expr);
  case ExprKind::Not:
    return builder_.CreateNot(emitCondition(*expr.args[0]));
  case ExprKind::And:
  case ExprKind::Or: {
    if (expr.type.bits != 1)
      break;
    Value *a = emitCondition(*expr.args[0]), *b = emitCondition(*expr.args[1]);
    unify(a, b);
    return expr.kind == ExprKind::And ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
  }
  default:
    break;
  }
  Value *value = emit(expr, std::max(8, containerOf(ranges_.of(expr)).bits));
  return builder_.CreateICmpNE(value, constantLike(value, 0));
}

Value *ExpressionEmitter::compare(const Expr &expr) {
  Container both = containerOf(unite(ranges_.of(*expr.args[0]), ranges_.of(*expr.args[1])));
  Value *a = emit(*expr.args[0], both.bits), *b = emit(*expr.args[1], both.bits);
  unify(a, b);
  switch (expr.kind) {
  case ExprKind::Equal:
    return builder_.CreateICmpEQ(a, b);
  case ExprKind::NotEqual:
    return builder_.CreateICmpNE(a, b);
  case ExprKind::Less:
    return both.isSigned ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b);
  case ExprKind::LessEqual:
    return both.isSigned ? builder_.CreateICmpSLE(a, b) : builder_.CreateICmpULE(a, b);
  case ExprKind::Greater:
    return both.isSigned ? builder_.CreateICmpSGT(a, b) : builder_.CreateICmpUGT(a, b);
  default:
    return both.isSigned ? builder_.CreateICmpSGE(a, b) : builder_.CreateICmpUGE(a, b);
  }
}

Value *ExpressionEmitter::compute(const Expr &expr, int bits) {
  switch (expr.kind) {
  case ExprKind::Literal:
    return constantOf(builder_.getIntNTy(static_cast<unsigned>(bits)), expr.value);
  case ExprKind::Iterator:
    return iterator(expr.index, bits);
  case ExprKind::Immediate:
    return resize(kernel_.immediate(expr.index), 64, bits, true);
  case ExprKind::State:
    return resize(kernel_.registerValue(expr.index), 64, bits, true);
  case ExprKind::BaseRegister:
    // The sequencer's own; unit instructions have none (the loader says so).
    return constantOf(builder_.getIntNTy(static_cast<unsigned>(bits)), 0);
  case ExprKind::Result: {
    Container container = containerOf(rangeOf(position.resultType));
    return resize(position.result, container.bits, bits, container.isSigned);
  }
  case ExprKind::MemoryRead:
  case ExprKind::ArrayRead:
    return read(expr, bits);
  case ExprKind::Add:
  case ExprKind::Subtract:
  case ExprKind::Multiply:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Xor:
  case ExprKind::Negate:
    return arithmetic(expr, bits);
  case ExprKind::Minimum:
  case ExprKind::Maximum:
    return extreme(expr, bits);
  case ExprKind::ShiftLeft:
    return shiftLeft(expr, bits);
  case ExprKind::ShiftRight:
    return shiftRight(expr, bits);
  case ExprKind::Not:
  case ExprKind::Equal:
  case ExprKind::NotEqual:
  case ExprKind::Less:
  case ExprKind::LessEqual:
  case ExprKind::Greater:
  case ExprKind::GreaterEqual:
    return resize(emitCondition(expr), 1, bits, false);
  case ExprKind::Select: {
    Value *condition = emitCondition(*expr.args[0]);
    Value *yes = emit(*expr.args[1], bits), *no = emit(*expr.args[2], bits);
    unify(yes, no);
    if (condition->getType()->isVectorTy()) {
      yes = splat(yes);
      no = splat(no);
    }
    return builder_.CreateSelect(condition, yes, no);
  }
  case ExprKind::Cast: {
    const Expr &arg = *expr.args[0];
    if (bits <= expr.type.bits || ranges_.of(arg).within(rangeOf(expr.type)))
      return emit(arg, bits);
    Container container = containerOf(rangeOf(expr.type));
    return resize(wrap(emit(arg, container.bits), container.bits, expr.type), container.bits, bits,
                  expr.type.isSigned);
  }
  case ExprKind::Saturate:
    return saturate(expr, bits);
  case ExprKind::CountLeadingZeros:
    return countLeadingZeros(expr, bits);
  }
  llvm_unreachable("every kind of expression is handled above");
}

Value *ExpressionEmitter::arithmetic(const Expr &expr, int bits) {
  Value *a = emit(*expr.args[0], bits);
  if (expr.kind == ExprKind::Negate)
    return builder_.CreateNeg(a);
  Value *b = emit(*expr.args[1], bits);
  unify(a, b);
  switch (expr.kind) {
  case ExprKind::Add:
    return builder_.CreateAdd(a, b);
  case ExprKind::Subtract:
    return builder_.CreateSub(a, b);
  case ExprKind::Multiply:
    return builder_.CreateMul(a, b);
  case ExprKind::And:
    return builder_.CreateAnd(a, b);
  case ExprKind::Or:
    return builder_.CreateOr(a, b);
  default:
    return builder_.CreateXor(a, b);
  }
}

Value *ExpressionEmitter::extreme(const Expr &expr, int bits) {
  Container both = containerOf(unite(ranges_.of(*expr.args[0]), ranges_.of(*expr.args[1])));
  Value *a = emit(*expr.args[0], both.bits), *b = emit(*expr.args[1], both.bits);
  unify(a, b);
  bool least = expr.kind == ExprKind::Minimum;
  auto intrinsic = both.isSigned ? (least ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                                 : (least ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
  return resize(builder_.CreateBinaryIntrinsic(intrinsic, a, b), both.bits, bits, both.isSigned);
}

// The amount clamped to [0, limit], as an integer of `bits` bits.
Value *ExpressionEmitter::amount(const Expr &expr, int limit, int bits) {
  const Range &range = ranges_.of(expr);
  Container container = containerOf(unite(range, {0, limit}));
  Value *value = emit(expr, container.bits);
  auto clampTo = [&](llvm::Intrinsic::ID intrinsic, int bound) {
    value = builder_.CreateBinaryIntrinsic(intrinsic, value, constantLike(value, bound));
  };
  if (range.least < 0)
    clampTo(llvm::Intrinsic::smax, 0);
  if (range.greatest > limit)
    clampTo(container.isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, limit);
  return resize(value, container.bits, bits, false);
}

Value *ExpressionEmitter::shiftLeft(const Expr &expr, int bits) {
  Container container = containerOf(rangeOf(expr.type));
  Value *value = emit(*expr.args[0], container.bits);
  Value *distance = amount(*expr.args[1], expr.type.bits - 1, container.bits);
  unify(value, distance);
  value = builder_.CreateShl(value, distance);
  if (bits > expr.type.bits)
    value = wrap(value, container.bits, expr.type);
  return resize(value, container.bits, bits, expr.type.isSigned);
}

Value *ExpressionEmitter::shiftRight(const Expr &expr, int bits) {
  const Expr &arg = *expr.args[0];
  const Range &range = ranges_.of(arg);
  Container container = containerOf(range);
  // A 64-bit sum that may overflow by its top bit alone (rounding before a shift) is still known in
  // 64 bits: what is below the least value is an overflow, and then the bits shifted in are those
  // of the greater range.
  constexpr __int128 least64 = std::numeric_limits<int64_t>::min();
  constexpr __int128 span64 = __int128(1) << 64;
  bool carries = container.bits == 128 && bits <= 64 && range.least >= least64 &&
                 range.greatest < span64 && range.greatest - range.least < span64;
  int width = carries ? 64 : container.bits;
  int limit = arg.type.bits - 1;
  if (limit >= width) {
    // A signed value is all sign beyond its container; an unsigned one needs a bit for the zeros.
    if (container.isSigned && !carries)
      limit = width - 1;
    else if (clampedAmount(ranges_.of(*expr.args[1]), arg.type).greatest >= width) {
      carries = false;
      width = std::min(128, 2 * width);
      container = {width, true};
      limit = std::min(limit, width - 1);
    }
  }
  Value *value = emit(arg, width);
  Value *distance = amount(*expr.args[1], limit, width);
  unify(value, distance);
  Value *shifted = container.isSigned ? builder_.CreateAShr(value, distance)
                                      : builder_.CreateLShr(value, distance);
  if (carries) {
    Value *overflow = builder_.CreateICmpSLT(value, constantLike(value, range.least));
    shifted = builder_.CreateSelect(overflow, builder_.CreateLShr(value, distance), shifted);
  }
  return resize(shifted, width, bits, container.isSigned);
}

Value *ExpressionEmitter::saturate(const Expr &expr, int bits) {
  const Range &range = ranges_.of(*expr.args[0]);
  Range type = rangeOf(expr.type);
  Container both = containerOf(unite(range, type));
  Value *value = emit(*expr.args[0], both.bits);
  auto clampTo = [&](llvm::Intrinsic::ID intrinsic, __int128 bound) {
    value = builder_.CreateBinaryIntrinsic(intrinsic, value, constantLike(value, bound));
  };
  if (range.least < type.least)
    clampTo(llvm::Intrinsic::smax, type.least);
  if (range.greatest > type.greatest)
    clampTo(both.isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, type.greatest);
  return resize(value, both.bits, bits, both.isSigned);
}

Value *ExpressionEmitter::countLeadingZeros(const Expr &expr, int bits) {
  const isa::Type type = expr.args[0]->type;
  const isa::Type pattern{false, type.bits};
  int width = containerOf(rangeOf(pattern)).bits;
  Value *value = wrap(emit(*expr.args[0], width), width, pattern);
  Value *count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, builder_.getFalse());
  count = builder_.CreateSub(count, constantLike(count, width - type.bits));
  return resize(count, width, bits, false);
}

Value *ExpressionEmitter::iterator(int index, int bits) {
  Value *value = resize(position.iterators[static_cast<size_t>(index)], 64, bits, false);
  if (index != position.vectorIterator || position.lanes == 1)
    return value;
  Value *steps = builder_.CreateStepVector(llvm::FixedVectorType::get(
      builder_.getIntNTy(static_cast<unsigned>(bits)), static_cast<unsigned>(position.lanes)));
  return builder_.CreateAdd(splat(value), steps);
}

} // namespace tilewright::kernels

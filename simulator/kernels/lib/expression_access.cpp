// The memory side of expressions: where an access stands, and its elements as a scalar or a vector.
#include "expression_emitter.h"

namespace tilewright::kernels {

using isa::Expr;
using llvm::Value;

const Access &ExpressionEmitter::access(const Expr &read) {
  auto found = accesses_.find(&read);
  if (found == accesses_.end())
    found = accesses_.emplace(&read, accessOf(read, kernel_.instruction, kernel_.isa)).first;
  return found->second;
}

const Access &ExpressionEmitter::access(const isa::Target &target) {
  auto found = accesses_.find(&target);
  if (found == accesses_.end())
    found = accesses_.emplace(&target, accessOf(target, kernel_.instruction, kernel_.isa)).first;
  return found->second;
}

Value *ExpressionEmitter::pointerTo(const Access &access) {
  Value *base =
      access.isMemory ? kernel_.operandPointer(access.index) : kernel_.arrayPointer(access.index);
  Value *element = access.form.constant ? emit(*access.form.constant, 64) : kernel_.constant(0);
  for (const auto &term : access.form.terms) {
    Value *index = position.iterators[static_cast<size_t>(term.iterator)];
    element = builder_.CreateAdd(element, builder_.CreateMul(emit(*term.coefficient, 64), index));
  }
  Value *offset = builder_.CreateMul(element, kernel_.constant(access.storageBits() / 8));
  return builder_.CreateGEP(builder_.getInt8Ty(), base, offset);
}

// An element at a place that is no linear function of the iterators. The loader has proved that it
// lies inside the array.
Value *ExpressionEmitter::lookUp(const Access &access) {
  const auto &array = kernel_.unit.arrays[static_cast<size_t>(access.index)];
  Value *element = kernel_.constant(0);
  for (size_t i = 0; i < access.where.size(); ++i)
    element = builder_.CreateAdd(builder_.CreateMul(element, kernel_.constant(array.sizes[i])),
                                 emit(*access.where[i], 64));
  Value *offset = builder_.CreateMul(element, kernel_.constant(access.storageBits() / 8));
  return builder_.CreateGEP(builder_.getInt8Ty(), kernel_.arrayPointer(access.index), offset);
}

Value *ExpressionEmitter::load(const Access &access, Value *pointer) {
  auto *element = builder_.getIntNTy(static_cast<unsigned>(access.storageBits()));
  if (position.lanes == 1 || position.vectorIterator < 0)
    return builder_.CreateAlignedLoad(element, pointer, llvm::Align(1));
  Stride stride = strideOf(access, position.vectorIterator);
  if (stride == Stride::None)
    return builder_.CreateAlignedLoad(element, pointer, llvm::Align(1));
  auto *type = llvm::FixedVectorType::get(element, static_cast<unsigned>(position.lanes));
  auto contiguous = [&]() -> Value * {
    if (position.mask)
      return builder_.CreateMaskedLoad(type, pointer, llvm::Align(1), position.mask,
                                       llvm::Constant::getNullValue(type));
    return builder_.CreateAlignedLoad(type, pointer, llvm::Align(1));
  };
  // A stride known at run time only is 1 here: step_emitter.cpp chose the vector form for that
  // case.
  if (stride != Stride::Bit)
    return contiguous();
  Value *moves = builder_.CreateICmpNE(emit(*coefficientOf(access, position.vectorIterator), 64),
                                       kernel_.constant(0));
  Value *many = nullptr, *one = nullptr;
  llvm::BasicBlock *manyBlock = nullptr, *oneBlock = nullptr;
  kernel_.branch(
      moves,
      [&] {
        many = contiguous();
        manyBlock = builder_.GetInsertBlock();
      },
      [&] {
        one = splat(builder_.CreateAlignedLoad(element, pointer, llvm::Align(1)));
        oneBlock = builder_.GetInsertBlock();
      });
  auto *phi = builder_.CreatePHI(type, 2);
  phi->addIncoming(many, manyBlock);
  phi->addIncoming(one, oneBlock);
  return phi;
}

Value *ExpressionEmitter::read(const Expr &expr, int bits) {
  const Access &from = access(expr);
  Value *pointer = from.affine ? pointerTo(from) : lookUp(from);
  return resize(load(from, pointer), from.storageBits(), bits, from.type.isSigned);
}

} // namespace tilewright::kernels

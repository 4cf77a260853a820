#include "check_emitter.h"

#include "expression_emitter.h"

#include <algorithm>

namespace tilewright::kernels {

using llvm::Value;

namespace {

// What an access to a memory may touch. An iterator without values counts as if it had one: enough
// for a sufficient test.
struct Reach {
  const isa::MemoryAccess *access = nullptr;
  Value *begin = nullptr; // bytes [begin, end)
  Value *end = nullptr;
  std::vector<Value *> lasts;        // by iterator: its last value, 0 when it does not count
  std::vector<Value *> coefficients; // by iterator
};

class CheckEmitter {
public:
  explicit CheckEmitter(KernelFunction &kernel)
      : kernel_(kernel), b_(kernel.builder), emitter_(kernel), zero_(kernel.constant(0)),
        passed_(b_.getTrue()) {}

  void emit() {
    std::vector<Reach> reaches;
    for (const auto &access : kernel_.instruction.accesses)
      reaches.push_back(reachOf(access));
    for (const auto &reach : reaches) {
      const auto &operand = operandOf(reach);
      require(b_.CreateICmpSGE(reach.begin, zero_));
      require(b_.CreateICmpSLE(reach.end, kernel_.memoryBytes(operand.space)));
    }
    for (const auto &write : reaches)
      for (const auto &read : reaches)
        if (write.access->write && !read.access->write &&
            operandOf(write).space == operandOf(read).space)
          require(apartOrSame(write, read));
    kernel_.finish(b_.CreateSelect(passed_, zero_, kernel_.constant(1)));
  }

private:
  const isa::Operand &operandOf(const Reach &reach) const {
    return kernel_.instruction.operands[static_cast<size_t>(reach.access->operand)];
  }

  Value *greater(Value *a, Value *b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  }
  Value *lesser(Value *a, Value *b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }
  Value *lastOf(const isa::ExprPtr &extent) {
    return greater(b_.CreateSub(emitter_.emit(*extent, 64), kernel_.constant(1)), zero_);
  }

  Reach reachOf(const isa::MemoryAccess &access) {
    const auto &step = kernel_.instruction.steps[static_cast<size_t>(access.step)];
    Reach reach;
    reach.access = &access;
    for (const auto &iterator : step.iterators)
      reach.lasts.push_back(lastOf(iterator.extent));
    for (const auto &iterator : step.reductions)
      reach.lasts.push_back(access.reductions ? lastOf(iterator.extent) : zero_);
    // A guarded step reads no farther than its guard lets it.
    if (access.guarded)
      for (size_t i = 0; i < step.guards.size(); ++i)
        if (step.guards[i])
          reach.lasts[i] = lesser(reach.lasts[i], lastOf(step.guards[i]));
    reach.coefficients.resize(reach.lasts.size(), zero_);
    Value *least = emitter_.emit(*access.index.constant, 64), *greatest = least;
    for (const auto &term : access.index.terms) {
      auto i = static_cast<size_t>(term.iterator);
      reach.coefficients[i] = emitter_.emit(*term.coefficient, 64);
      Value *far = b_.CreateMul(reach.coefficients[i], reach.lasts[i]);
      least = b_.CreateAdd(least, lesser(far, zero_));
      greatest = b_.CreateAdd(greatest, greater(far, zero_));
    }
    Value *bytes = kernel_.constant(access.elementBytes);
    Value *base = kernel_.byteAddress(access.operand);
    reach.begin = b_.CreateAdd(base, b_.CreateMul(least, bytes));
    reach.end =
        b_.CreateAdd(base, b_.CreateMul(b_.CreateAdd(greatest, kernel_.constant(1)), bytes));
    return reach;
  }

  Value *apartOrSame(const Reach &write, const Reach &read) {
    Value *apart = b_.CreateOr(b_.CreateICmpSLE(write.end, read.begin),
                               b_.CreateICmpSLE(read.end, write.begin));
    if (write.access->step != read.access->step || operandOf(write).type != operandOf(read).type)
      return apart;
    Value *same = b_.CreateAnd(b_.CreateICmpEQ(write.begin, read.begin),
                               b_.CreateICmpEQ(write.end, read.end));
    for (size_t i = 0; i < write.lasts.size(); ++i) {
      Value *once = b_.CreateICmpEQ(greater(write.lasts[i], read.lasts[i]), zero_);
      Value *equal = b_.CreateICmpEQ(write.coefficients[i], read.coefficients[i]);
      same = b_.CreateAnd(same, b_.CreateOr(once, equal));
    }
    return b_.CreateOr(apart, b_.CreateAnd(same, visitsOnce(write)));
  }

  // Whether no element is written twice: from the innermost iterator outwards, each stride is
  // beyond all that the ones before span.
  Value *visitsOnce(const Reach &write) {
    Value *once = b_.getTrue(), *span = zero_;
    for (size_t i = write.lasts.size(); i-- > 0;) {
      Value *stride =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, write.coefficients[i], b_.getFalse());
      Value *still = b_.CreateICmpEQ(write.lasts[i], zero_);
      once = b_.CreateAnd(once, b_.CreateOr(still, b_.CreateICmpSGT(stride, span)));
      span = b_.CreateAdd(span, b_.CreateMul(stride, write.lasts[i]));
    }
    return once;
  }

  void require(Value *condition) { passed_ = b_.CreateAnd(passed_, condition); }

  KernelFunction &kernel_;
  llvm::IRBuilder<> &b_;
  ExpressionEmitter emitter_;
  Value *zero_;
  Value *passed_;
};

} // namespace

void emitCheck(KernelFunction &kernel) { CheckEmitter(kernel).emit(); }

} // namespace tilewright::kernels

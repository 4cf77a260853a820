#include "check_emitter.h"

#include "step_emitter.h"

namespace tilewright::kernels {

using isa::Expr;
using llvm::Value;

namespace {

// The bytes [begin, end) that an access to a memory may touch.
struct Reach {
  int operand = 0;
  int where = 0; // number of the index expression
  bool writes = false;
  Value *begin = nullptr;
  Value *end = nullptr;
};

class CheckEmitter {
public:
  explicit CheckEmitter(KernelFunction &kernel)
      : kernel_(kernel), b_(kernel.builder), emitter_(kernel), memory_(b_.getTrue()),
        arrays_(b_.getTrue()) {}

  void emit() {
    for (const auto &step : kernel_.instruction.steps)
      visit(step);
    for (const auto &write : reaches_)
      if (write.writes)
        for (const auto &read : reaches_)
          if (!read.writes)
            checkApart(write, read);
    auto flag = [&](Value *passed, CheckResult result) {
      return b_.CreateSelect(passed, kernel_.constant(CheckPassed), kernel_.constant(result));
    };
    kernel_.finish(b_.CreateOr(flag(memory_, CheckMemory), flag(arrays_, CheckArray)));
  }

private:
  void visit(const isa::Step &step) {
    last_.clear();
    for (const auto *iterators : {&step.iterators, &step.reductions})
      for (const auto &iterator : *iterators)
        last_.push_back(lastOf(emitter_.emit(*iterator.extent, 64)));
    visit(step.out.isMemory, step.out.index, step.out.where, true);
    // A guarded step reads no farther than its guard lets it.
    for (size_t i = 0; i < step.guards.size(); ++i)
      if (step.guards[i])
        last_[i] = b_.CreateBinaryIntrinsic(
            llvm::Intrinsic::smin, last_[i], lastOf(emitter_.emit(*step.guards[i], 64)));
    for (const auto &expr : {step.when, step.otherwise, step.expr, step.init, step.post})
      if (expr)
        forEachRead(*expr, [&](const Expr &read) {
          visit(read.kind == isa::ExprKind::MemoryRead, read.index, read.args, false);
        });
  }

  // The last value of an iterator; 0 for an iterator without values, as if it had one.
  Value *lastOf(Value *extent) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                    b_.CreateSub(extent, kernel_.constant(1)),
                                    kernel_.constant(0));
  }

  void visit(bool isMemory, int index, const std::vector<isa::ExprPtr> &where, bool writes) {
    if (!isMemory) {
      const auto &array = kernel_.unit.arrays[static_cast<size_t>(index)];
      for (size_t i = 0; i < where.size(); ++i) {
        isa::AffineForm form;
        Value *least = nullptr, *greatest = nullptr;
        // An index by value stays inside by itself (ExpressionEmitter::lookUp).
        if (!span(where[i], form, least, greatest))
          continue;
        require(arrays_, b_.CreateICmpSGE(least, kernel_.constant(0)));
        require(arrays_, b_.CreateICmpSLT(greatest, kernel_.constant(array.sizes[i])));
      }
      return;
    }
    isa::AffineForm form;
    Value *least = nullptr, *greatest = nullptr;
    const auto &operand = kernel_.instruction.operands[static_cast<size_t>(index)];
    span(where[0], form, least, greatest);
    Value *bytes = kernel_.constant(storageBits(operand.type) / 8);
    Value *base = kernel_.byteAddress(index);
    Reach reach;
    reach.operand = index;
    reach.where = numbering_.of(*where[0]);
    reach.writes = writes;
    reach.begin = b_.CreateAdd(base, b_.CreateMul(least, bytes));
    reach.end = b_.CreateAdd(
        base, b_.CreateMul(b_.CreateAdd(greatest, kernel_.constant(1)), bytes));
    require(memory_, b_.CreateICmpSGE(reach.begin, kernel_.constant(0)));
    require(memory_, b_.CreateICmpSLE(reach.end, kernel_.memoryBytes(operand.space)));
    reaches_.push_back(reach);
  }

  // The least and greatest value of a linear index; false when it is not linear.
  bool span(const isa::ExprPtr &index, isa::AffineForm &form, Value *&least, Value *&greatest) {
    if (!isa::asAffine(index, form))
      return false;
    for (const auto &term : form.terms)
      if (!isUniform(*term.coefficient))
        return false;
    if (form.constant && !isUniform(*form.constant))
      return false;
    kept_.push_back(form);
    least = greatest = form.constant ? emitter_.emit(*form.constant, 64) : kernel_.constant(0);
    for (const auto &term : form.terms) {
      Value *far = b_.CreateMul(emitter_.emit(*term.coefficient, 64),
                                last_[static_cast<size_t>(term.iterator)]);
      auto add = [&](Value *sum, llvm::Intrinsic::ID intrinsic) {
        return b_.CreateAdd(sum, b_.CreateBinaryIntrinsic(intrinsic, far, kernel_.constant(0)));
      };
      least = add(least, llvm::Intrinsic::smin);
      greatest = add(greatest, llvm::Intrinsic::smax);
    }
    return true;
  }

  void checkApart(const Reach &write, const Reach &read) {
    const auto &operands = kernel_.instruction.operands;
    const auto &writes = operands[static_cast<size_t>(write.operand)];
    const auto &reads = operands[static_cast<size_t>(read.operand)];
    const bool sameElements = write.where == read.where && writes.type == reads.type;
    if (writes.space != reads.space || (write.operand == read.operand && sameElements))
      return;
    Value *fine = b_.CreateOr(b_.CreateICmpSLE(write.end, read.begin),
                              b_.CreateICmpSLE(read.end, write.begin));
    if (sameElements)
      fine = b_.CreateOr(fine, b_.CreateICmpEQ(kernel_.address(write.operand),
                                               kernel_.address(read.operand)));
    require(memory_, fine);
  }

  void require(Value *&all, Value *condition) { all = b_.CreateAnd(all, condition); }

  KernelFunction &kernel_;
  llvm::IRBuilder<> &b_;
  ExpressionEmitter emitter_;
  Numbering numbering_;
  std::vector<Value *> last_;
  std::vector<Reach> reaches_;
  std::vector<isa::AffineForm> kept_; // their expressions are known to the emitter by address
  Value *memory_, *arrays_;
};

} // namespace

void emitCheck(KernelFunction &kernel) { CheckEmitter(kernel).emit(); }

} // namespace tilewright::kernels

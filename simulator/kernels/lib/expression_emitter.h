// The scalar level as LLVM IR: an expression for one element, or for `lanes` neighbors along one
// iterator at once.
//
// A value is computed in the narrowest machine width that gives its wanted bits: sums, differences,
// products and logic need no more bits of their operands than are wanted of the result; all else is
// computed in a container of its full range.
#pragma once

#include "access.h"
#include "kernel_function.h"
#include "range.h"
#include "structure.h"

#include <map>

namespace tilewright::kernels {

class ExpressionEmitter {
public:
  explicit ExpressionEmitter(KernelFunction &kernel) : kernel_(kernel), builder_(kernel.builder) {}

  // Where the code being emitted stands. `iterators` hold i64 scalars; that of `vectorIterator` is
  // the value of lane 0.
  struct Position {
    std::vector<llvm::Value *> iterators;
    int vectorIterator = -1;
    int lanes = 1;
    llvm::Value *mask = nullptr;   // lanes that are active; null: all
    llvm::Value *result = nullptr; // of a reduction, in the container of `resultType`
    isa::Type resultType;
  };
  Position position;

  // The low `bits` bits of the value. A scalar when all lanes agree and the expression shows it,
  // else a vector.
  llvm::Value *emit(const isa::Expr &expr, int bits);
  // The truth value of a u1 expression, as i1.
  llvm::Value *emitCondition(const isa::Expr &expr);
  // `emit`, as a vector when there are lanes.
  llvm::Value *emitLanes(const isa::Expr &expr, int bits);
  // The value wrapped to `type` and widened to `bits` again, as it is stored.
  llvm::Value *emitWrapped(const isa::Expr &expr, const isa::Type &type, int bits);

  // The address of the access at the position (lane 0).
  llvm::Value *pointerTo(const Access &access);
  llvm::Value *splat(llvm::Value *value);
  llvm::Value *resize(llvm::Value *value, int from, int to, bool isSigned);
  llvm::Value *wrap(llvm::Value *value, int bits, const isa::Type &type);

  Ranges &ranges() { return ranges_; }
  // Kept as long as the emitter lives: its expressions are looked up by address.
  const Access &access(const isa::Expr &read);
  const Access &access(const isa::Target &target);

  // Values hold for one position in one block: runs `body`, which moves the position or leaves the
  // block, without those known before, and forgets what it computed.
  template <typename Body> void scope(const Body &body) {
    auto known = std::move(known_);
    known_.clear();
    body();
    known_ = std::move(known);
  }

private:
  llvm::Value *compute(const isa::Expr &expr, int bits);
  llvm::Value *arithmetic(const isa::Expr &expr, int bits);
  llvm::Value *extreme(const isa::Expr &expr, int bits);
  llvm::Value *shiftLeft(const isa::Expr &expr, int bits);
  llvm::Value *shiftRight(const isa::Expr &expr, int bits);
  llvm::Value *saturate(const isa::Expr &expr, int bits);
  llvm::Value *countLeadingZeros(const isa::Expr &expr, int bits);
  llvm::Value *compare(const isa::Expr &expr);
  llvm::Value *iterator(int index, int bits);
  llvm::Value *read(const isa::Expr &expr, int bits);
  llvm::Value *lookUp(const Access &access);
  llvm::Value *load(const Access &access, llvm::Value *pointer);
  llvm::Value *amount(const isa::Expr &expr, int limit, int bits);
  llvm::Value *constantLike(llvm::Value *like, __int128 value);
  void unify(llvm::Value *&a, llvm::Value *&b);

  KernelFunction &kernel_;
  llvm::IRBuilder<> &builder_;
  Ranges ranges_;
  Numbering numbering_;
  std::map<const void *, Access> accesses_; // by MemoryRead, ArrayRead or Target
  std::map<std::pair<int, int>, llvm::Value *> known_;
};

} // namespace tilewright::kernels

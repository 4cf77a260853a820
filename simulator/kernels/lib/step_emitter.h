// The tensor level as LLVM IR: loops over a step's iterators around its expression.
//
// The innermost spatial iterator runs in vectors when every access is linear in it with stride 1 or
// 0; strides known at run time only choose between that form and one element at a time. The rest of
// the last vector is masked.
#pragma once

#include "expression_emitter.h"

namespace tilewright::kernels {

// What the processor offers beyond what LLVM hides.
enum class PairProducts { None, Avx2, Avx512 };

// Emits a whole step at the builder's position.
void emitStep(KernelFunction &kernel, const isa::Step &step, PairProducts pairs);

// --- shared by the forms of steps ---

struct StepFrame {
  KernelFunction &kernel;
  const isa::Step &step;
  ExpressionEmitter emitter;
  std::vector<llvm::Value *> extents; // spatial, then reductions; i64

  StepFrame(KernelFunction &kernel, const isa::Step &step);
  int spatial() const { return static_cast<int>(step.iterators.size()); }
  int reductions() const { return static_cast<int>(step.reductions.size()); }

  // Nested loops over iterators [first, last).
  void nest(int first, int last, const std::function<void()> &body);
  // One loop over `iterator` in chunks of `lanes`, the last one masked.
  void chunks(int iterator, int lanes, const std::function<void()> &body);
  // Stores to the step's target at the position, for the active lanes.
  void store(llvm::Value *value);
  // The first value of the accumulator, and from its last the stored one.
  llvm::Value *initial(int bits);
  void finish(llvm::Value *accumulated, int bits);
};

// True when the step is emitted here: a sum of products that the processor multiplies in pairs
// (contraction.cpp).
bool emitContraction(StepFrame &frame, PairProducts pairs, const std::function<void()> &otherwise);

} // namespace tilewright::kernels

// Groups as a program of their own: on an empty chip, with tensors and constants at addresses that
// depend on the groups alone, not on the network that they are from.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/tuner.h"

#include <functional>
#include <optional>

namespace tilewright {

class Alone {
public:
  Alone(const LoweringContext &like, llvm::ArrayRef<kernel::GroupOp> groups);

  LoweringContext &context() { return context_; }
  // Each of `lowers` appends the steps of a trial, in this context. Nothing when they do not fit on
  // chip.
  std::optional<PlanAlone> emit(llvm::ArrayRef<std::function<void(Steps &)>> lowers);

private:
  struct Places {
    DramTensors tensors;
    int64_t end = 0, constantBytes = 0;
    explicit Places(llvm::ArrayRef<kernel::GroupOp> groups);
    void place(mlir::Value value);
  };
  Places places_;
  ConstantPool constants_;
  LoweringContext context_;
};

} // namespace tilewright

// The elements of a constant float tensor where they stand: weights are not copied to be looked at.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace tilewright {

class ConstantFloats {
public:
  ConstantFloats() = default;
  explicit ConstantFloats(llvm::ArrayRef<float> elements) : stored_(elements) {}
  // Nothing when `value` is no constant of f32.
  static std::optional<ConstantFloats> of(mlir::Value value);

  size_t size() const { return elements().size(); }
  float operator[](size_t index) const { return elements()[index]; }
  // Lives as long as this and the module's context.
  llvm::ArrayRef<float> elements() const {
    return same_.empty() ? stored_ : llvm::ArrayRef<float>(same_);
  }

private:
  llvm::ArrayRef<float> stored_;
  std::vector<float> same_; // where one stored element stands for all
};

bool isConstantFloats(mlir::Value value);

} // namespace tilewright

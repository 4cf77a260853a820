// The elements of a constant float tensor where they stand: weights are not copied to be looked at.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
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
  // Lives as long as this and the module's context, or until they are given up.
  llvm::ArrayRef<float> elements() const {
    return same_.empty() ? stored_ : llvm::ArrayRef<float>(same_);
  }

private:
  llvm::ArrayRef<float> stored_;
  std::vector<float> same_; // where one stored element stands for all
};

bool isConstantFloats(mlir::Value value);

// MLIR keeps elements of an attribute as long as its context. Many of them, which are given up
// before, stand in a resource.
mlir::ElementsAttr floatAttribute(mlir::RankedTensorType type, std::vector<float> values);
// Frees them, where they stand in a resource: nobody may read them any more.
void giveUp(mlir::ElementsAttr floats);

} // namespace tilewright

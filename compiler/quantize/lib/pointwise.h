// Sequences of element-wise operators on one tensor and scalar constants (hard-swish, sigmoid,
// leaky ReLU, ...): functions of one variable, which become one table. What a quantized model
// stores on the way is rounded in between.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <optional>

namespace tilewright::quantization {

// (factor * x + offset) ^ exponent
struct Power {
  double factor = 1;
  double offset = 0;
  double exponent = 1;
};

class PointwiseAnalysis {
public:
  // Takes note of `op`, whose operands' definitions were visited before. Returns whether it
  // continues or begins such a sequence; an operator that is not visited begins none, so its result
  // can only be a root.
  bool visit(mlir::Operation *op);

  // The tensor that `value` is a function of; null when `value` is not the result of such a
  // sequence.
  mlir::Value root(mlir::Value value) const { return roots_.lookup(value); }

  // `value` as a function of an element of `root`, from which a pointwise sequence leads to it
  // (`root` itself gives the identity).
  std::function<double(double)> function(mlir::Value value, mlir::Value root) const;

  // The same where it is an inverse, or the inverse of a square root, of x times a positive factor
  // and an offset of at least 0.
  std::optional<Power> power(mlir::Value value, mlir::Value root) const;

private:
  bool isRounded(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, mlir::Value> roots_;
};

} // namespace tilewright::quantization

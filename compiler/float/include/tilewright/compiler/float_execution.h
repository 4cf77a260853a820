// Runs a TOSA module (float, or the integer one that quantization makes) by MLIR's own lowerings
// (TOSA to linalg to LLVM) and its execution engine: for calibration, host fallback and checks.
// There is no second interpreter.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "tilewright/support/npy.h"

#include <memory>
#include <vector>

namespace tilewright {

class FloatExecutable {
public:
  // Compiles a clone of `module`'s @main. With `keepIntermediates`, every tensor that an op of
  // @main yields and that is not a constant is a result as well, in program order (see `values`).
  // Throws UserError naming the operator that cannot be lowered.
  static std::unique_ptr<FloatExecutable> create(mlir::ModuleOp module, bool keepIntermediates);
  virtual ~FloatExecutable() = default;

  // One run; inputs in argument order. Returns @main's results, then the intermediates when they
  // were asked for. Several threads may run one executable at a time.
  virtual std::vector<Tensor> run(const std::vector<Tensor> &inputs) = 0;
  // The same into `results`, whose storage of an earlier run is used again: fresh memory for every
  // intermediate costs more than computing it.
  virtual void run(const std::vector<Tensor> &inputs, std::vector<Tensor> &results) = 0;

  // The values of the module given to `create` that the intermediates stand for, in the order that
  // `run` returns them.
  virtual const std::vector<mlir::Value> &intermediates() const = 0;
};

} // namespace tilewright

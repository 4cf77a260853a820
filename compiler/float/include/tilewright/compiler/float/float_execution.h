// Runs a TOSA module (float, or the integer one that quantization makes) by MLIR's own lowerings
// (TOSA to linalg to LLVM) and LLVM's JIT: for calibration, host fallback and checks. There is no
// second interpreter.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "tilewright/support/npy.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tilewright {

// How many threads share a piece of work when `wanted` are asked for; 0: one a processor.
unsigned workThreads(unsigned wanted = 0);

class FloatExecutable {
public:
  // Compiles a clone of `module`'s @main, whose context must outlive the executable. `watched` are
  // values of it that a run shows on its way: arguments, or results of operators other than
  // constants. The first `inParts` of them may be shown in parts: blocks of rows, in order.
  // `threads` share the work of compiling (0: one a processor). Throws UserError naming the
  // operator that cannot be lowered.
  static std::unique_ptr<FloatExecutable> create(mlir::ModuleOp module,
                                                 const std::vector<mlir::Value> &watched = {},
                                                 unsigned threads = 0, size_t inParts = 0);
  virtual ~FloatExecutable() = default;

  // One run; inputs in argument order. Returns @main's results. Several threads may run one
  // executable at a time.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs) const {
    Workspace workspace;
    return run(inputs, workspace, nullptr);
  }

  // Buffers of earlier runs, for one thread at a time: fresh memory costs more than computing what
  // stands in it.
  struct Workspace {
    std::vector<Tensor> buffers;
    std::vector<Tensor> arguments; // copies of watched ones
  };
  // Is given the index of a watched value and the value, or a part of it, which lives until it
  // returns. Elements that it changes stay changed for what reads the value later in the run.
  using Visit = std::function<void(size_t index, Tensor &tensor)>;
  // The same; calls `visit` for each watched value as soon as it is known.
  virtual std::vector<Tensor> run(const std::vector<Tensor> &inputs, Workspace &workspace,
                                  const Visit &visit) const = 0;

  // Other data in place of a constant, of the same type and shape.
  using Replacement = std::pair<mlir::Value, Tensor>;
  // The same machine code on other constants. A constant that operators do not read from memory (of
  // a single element, or a shape) stays as it is.
  virtual std::unique_ptr<FloatExecutable>
  withConstants(std::vector<Replacement> replacements) const = 0;

  // The same of some watched values alone: a run shows these, does nothing else for others, and
  // has no results.
  virtual std::unique_ptr<FloatExecutable> showing(const std::vector<size_t> &watched) const = 0;
};

} // namespace tilewright

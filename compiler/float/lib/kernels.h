// Splits a TOSA function into kernels: one function per operator, in destination-passing form on
// buffers, equal ones shared.
//
//   1. Constants become buffers of the caller; those that an operator needs to know when it is
//   lowered (shapes, zero points,
//      scalars) are cloned into its kernel.
//   2. Every other operator becomes a call of a kernel @k0, @k1, ... whose arguments are its
//   operands' buffers, then its results'.
//   3. Element-wise operators become kernels of a short run of elements, which are called for one
//   run after the other: operators that differ in their shapes alone share a kernel.
//   4. Reshapes and identities share their operand's buffer.
//   5. Of products one behind the other, with what is between them row by row (attention), a block
//   of rows is made after the other: what they hand on is large as a whole.
//
// Small functions keep one-shot bufferization, which is super-linear, and LLVM's optimizer cheap,
// and the order of calls and the life of buffers stay with the caller, who may keep any
// intermediate.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright::float_kernels {

// How a kernel of a run of elements serves whole tensors, which are rows of elements to it. Runs
// may overlap: the last one of a row ends where the row does.
struct Runs {
  int64_t rows = 1;
  int64_t length = 1;         // elements of a row
  int64_t run = 1;            // elements that the kernel takes; at most `length`
  std::vector<bool> isOneRow; // of each operand: has one row, which serves all of the result's
};

// How a call makes a block of rows of its results, which are [..., batches, rows, columns].
struct Blocks {
  enum Step { All, ByBatch, ByBlock }; // of what it reads
  size_t sequence = 0;                 // of calls that stand one behind the other
  int64_t batches = 1;
  int64_t ofBatch = 1;     // blocks
  std::vector<Step> steps; // of operands
  bool isHandedOn = false; // results are read within the sequence alone
  int64_t count() const { return batches * ofBatch; }
};

struct KernelCall {
  std::string kernel;                // empty: the result shares the operand's buffer
  std::vector<mlir::Value> operands; // values of the function that was split
  std::vector<mlir::Value> results;
  std::optional<Runs> runs; // nothing: the kernel takes whole buffers, or blocks of them
  std::optional<Blocks> blocks;
};

struct Kernel {
  mlir::func::FuncOp function; // in the program's module
  std::string text;            // of the function, but for its name
};

struct KernelProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Kernel> kernels;   // all of `module`
  std::vector<KernelCall> calls; // in program order
};

// `whole`: values that must stand as a whole at some time.
KernelProgram splitIntoKernels(mlir::func::FuncOp main,
                               const llvm::DenseSet<mlir::Value> &whole = {});

} // namespace tilewright::float_kernels

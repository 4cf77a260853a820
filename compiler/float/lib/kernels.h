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
//
// Small functions keep one-shot bufferization, which is super-linear, and LLVM's optimizer cheap,
// and the order of calls and the life of buffers stay with the caller, who may keep any
// intermediate.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

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

struct KernelCall {
  std::string kernel;                // empty: the result shares the operand's buffer
  std::vector<mlir::Value> operands; // values of the function that was split
  std::vector<mlir::Value> results;
  std::optional<Runs> runs; // nothing: the kernel takes whole buffers
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

KernelProgram splitIntoKernels(mlir::func::FuncOp main);

} // namespace tilewright::float_kernels

#include "tilewright/compiler/select/kernel_functions.h"

namespace tilewright::kernel {

template <> llvm::ArrayRef<FunctionInfo> functionTable<BinaryFunction>() {
  static const FunctionInfo rows[] = {
#define KERNEL_BINARY(enumerator, row) FunctionInfo().row,
#include "tilewright/compiler/select/kernel_functions.def"
  };
  return rows;
}

template <> llvm::ArrayRef<FunctionInfo> functionTable<UnaryFunction>() {
  static const FunctionInfo rows[] = {
#define KERNEL_UNARY(enumerator, row) FunctionInfo().row,
#include "tilewright/compiler/select/kernel_functions.def"
  };
  return rows;
}

template <> llvm::ArrayRef<FunctionInfo> functionTable<ReduceFunction>() {
  static const FunctionInfo rows[] = {
#define KERNEL_REDUCE(enumerator, row) FunctionInfo().row,
#include "tilewright/compiler/select/kernel_functions.def"
  };
  return rows;
}

} // namespace tilewright::kernel

// The LLVM side: kernels in the LLVM dialect to machine code.
#pragma once

#include "register_blocks.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace tilewright::float_kernels {

// What this machine's registers hold.
BlockShape hostBlocks();

// The symbol of a kernel's entry, which takes an array of pointers: one to each of its buffers.
std::string entryOf(llvm::StringRef kernel);

// An object that holds an entry for each kernel of `kernels`. MLIR's context may not be used by two
// threads at a time, LLVM's are each module's own: the first step is for one thread, the second for
// any.
class Translation {
public:
  explicit Translation(mlir::ModuleOp kernels);
  std::string compile();

private:
  std::unique_ptr<llvm::LLVMContext> context_; // outlives the module
  std::unique_ptr<llvm::Module> module_;
};

// All that the code of a kernel depends on but the kernel itself.
std::string codeVersion();

} // namespace tilewright::float_kernels

#include "bytecode.h"

#include "tilewright/compiler/frontend/frontend.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/raw_ostream.h"

namespace tilewright::explore {

std::string bytecodeOf(const std::string &path, const std::string &text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  const mlir::OwningOpRef<mlir::ModuleOp> module = importTosa(path, text, context);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (mlir::failed(mlir::writeBytecodeToFile(*module, stream)))
    throw std::runtime_error("a module has no bytecode");
  return bytes;
}

} // namespace tilewright::explore

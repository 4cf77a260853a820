#include "run_passes.h"

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <stdexcept>

namespace tilewright {

static std::unique_ptr<mlir::Pass> passNamed(const std::string &name,
                                             const std::shared_ptr<Selection> &selection) {
  if (name == "tosa-check")
    return createTosaCheckPass();
  if (name == "tosa-to-kernel")
    return createTosaToKernelPass();
  if (name == "kernel-fuse")
    return createKernelFusePass(selection);
  throw std::invalid_argument(name);
}

PassResult runPasses(const std::string &text, const std::vector<std::string> &passes,
                     const std::shared_ptr<Selection> &selection) {
  PassResult result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect>();
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    std::string text =
        place ? std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) + ": "
              : "";
    result.diagnostics.push_back(text + diagnostic.str());
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return result;
  mlir::PassManager manager(&context);
  for (const std::string &pass : passes)
    manager.addPass(passNamed(pass, selection));
  result.succeeded = mlir::succeeded(manager.run(*module));
  if (result.succeeded) {
    llvm::raw_string_ostream stream(result.module);
    module->print(stream);
    llvm::raw_string_ostream located(result.withLocations);
    module->print(located, mlir::OpPrintingFlags().enableDebugInfo(true, false).useLocalScope());
  }
  return result;
}

std::string diagnosticOf(const std::string &text, const std::vector<std::string> &passes) {
  PassResult result = runPasses(text, passes);
  if (result.succeeded)
    return "[accepted]";
  if (result.diagnostics.size() != 1)
    return "[" + std::to_string(result.diagnostics.size()) + " diagnostics]";
  return result.diagnostics.front();
}

std::string mainOf(const std::string &arguments, const std::string &results,
                   const std::string &text) {
  return "func.func @main(" + arguments + ") -> (" + results + ") {" +
         R"( %z8 = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>)" +
         R"( %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>)" +
         "\n" + text + "\n}\n";
}

} // namespace tilewright

#include "phases.h"

#include "tilewright/compiler/tosa/operator_location.h"
#include "tilewright/support/error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

namespace tilewright {

std::string printed(mlir::ModuleOp module, bool locations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  module.print(stream, flags.enableDebugInfo(locations, false));
  stream << '\n';
  return text;
}

void Phases::run(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass) {
  std::string phase = pass->getArgument().str();
  mlir::PassManager manager(module->getContext());
  manager.addPass(std::move(pass));
  std::string message;
  mlir::Location where = mlir::UnknownLoc::get(module->getContext());
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      message = diagnostic.str();
      where = diagnostic.getLocation();
    }
    return mlir::success();
  });
  if (mlir::succeeded(manager.run(module)))
    return ended(phase, module);
  SourceLocation location = operatorLocation(where);
  location.file = model_;
  throw UserError(location, escape(message, 2000));
}

void Phases::ended(const std::string &phase, mlir::ModuleOp module, bool locations) {
  if (isAsked())
    give(phase, "mlir", printed(module, locations));
  ended(phase);
}

void Phases::ended(const std::string &phase, const std::string &assembly) {
  if (isAsked())
    give(phase, "s", assembly);
  ended(phase);
}

void Phases::ended(const std::string &phase) {
  if (times_)
    times_->ended(phase);
}

void Phases::give(const std::string &phase, const char *extension, const std::string &text) {
  taker_(fmt::format("{:02}-{}.{}", next_++, phase, extension), text);
}

} // namespace tilewright

#include "phases.h"

#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <filesystem>
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

Phases::Phases(std::string model, std::string directory)
    : model_(std::move(model)), directory_(std::move(directory)) {
  if (directory_.empty())
    return;
  std::error_code failure;
  std::filesystem::create_directories(directory_, failure);
  if (failure)
    throw UserError({directory_, 0, 0, ""},
                    fmt::format("cannot make the directory: {}", failure.message()),
                    "give another --dump-phases");
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
  Place place{model_, 0, 0, ""};
  Layer layer = layerOf(where);
  if (!layer.name.empty())
    place.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  else if (auto position = where->findInstanceOf<mlir::FileLineColLoc>()) {
    place.line = static_cast<int>(position.getLine());
    place.column = static_cast<int>(position.getColumn());
  }
  throw UserError(place, escape(message, 2000));
}

void Phases::ended(const std::string &phase, mlir::ModuleOp module, bool locations) {
  if (isWriting())
    write(phase, "mlir", printed(module, locations));
}

void Phases::ended(const std::string &phase, const std::string &assembly) {
  if (isWriting())
    write(phase, "s", assembly);
}

void Phases::write(const std::string &phase, const char *extension, const std::string &text) {
  writeFile(fmt::format("{}/{:02}-{}.{}", directory_, next_++, phase, extension), text);
}

} // namespace tilewright

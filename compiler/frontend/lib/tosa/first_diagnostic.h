// What MLIR says of a file, as the one message that a user gets.
#pragma once

#include "source_location.h"
#include "tilewright/support/error.h"

#include "mlir/IR/Diagnostics.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tilewright {

// The first diagnostic's place and text; MLIR may give several for one mistake, or one without a
// text.
class FirstDiagnostic {
public:
  FirstDiagnostic(mlir::MLIRContext &context, std::string path)
      : path_(std::move(path)), handler_(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && !location_)
            record(diagnostic);
          return mlir::success();
        }) {}

  // The text, or `fallback` where there is none.
  std::string message(const std::string &fallback) const {
    return message_.empty() ? fallback : escape(message_, 400);
  }

  [[noreturn]] void raise(const std::string &fallback) const {
    throw UserError(location_.value_or(SourceLocation{path_, 0, 0, ""}), message(fallback));
  }

private:
  void record(mlir::Diagnostic &diagnostic) {
    location_ = sourceLocationOf(diagnostic.getLocation(), path_);
    message_ = diagnostic.str();
    std::replace(message_.begin(), message_.end(), '\n', ' ');
    // What MLIR advises next are options of its own tools.
    message_.resize(std::min(message_.size(), message_.find(". If this is intended")));
  }

  std::string path_;
  std::optional<SourceLocation> location_;
  std::string message_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace tilewright

// A context for fuzz targets.
#pragma once

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tilewright::fuzz {

// To make one takes longer than most inputs, and one that stays keeps every attribute for good.
inline mlir::MLIRContext &renewedContext() {
  constexpr int inputs = 256;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int left = 0;
  if (left-- == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    left = inputs;
  }
  return *context;
}

} // namespace tilewright::fuzz

// What an operator reads and yields on its way to integers.
#pragma once

#include "tilewright/compiler/tosa/quantization_parameters.h"

#include "mlir/IR/Value.h"

#include <vector>

namespace tilewright::quantization {

struct Quantized {
  mlir::Value value;
  Parameters parameters;
};

// A 32-bit result before its rescale; scales: one, or one for each index of the last dimension.
struct Accumulator {
  mlir::Value value;
  std::vector<double> scales;
  std::vector<double> magnitudes; // |value| is at most these, one for each scale
};

} // namespace tilewright::quantization

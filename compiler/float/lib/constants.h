// The values of TOSA constants as plain tensors.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "tilewright/support/npy.h"

namespace tilewright::float_kernels {

// The NumPy type of a tensor's elements; nothing for those it has none for (f8, i4, i48, ...).
std::optional<DType> dtypeOf(mlir::Type elementType);

// The value of a `tosa.const`.
Tensor constantTensor(mlir::Operation *constant);

// Where its elements stand as a tensor has them, as long as its context lives or until they are
// given up (constant_floats.h); null where they stand otherwise.
const char *storedData(mlir::Operation *constant);

} // namespace tilewright::float_kernels

// The content of a `.npy` file, and what stands in one in the place of types that NumPy lacks.
#pragma once

#include "tilewright/support/npy.h"

#include <string>

namespace tilewright {

std::string npyBytes(const Tensor &tensor);

// How many bits an element needs: of ONNX's small types fewer than its byte has.
int bitsOf(DType type);

// What a file held, as a tensor of `type`: of a type that NumPy lacks, files hold integers of its
// width. Other types stay as they are.
Tensor storedAs(Tensor tensor, DType type);

} // namespace tilewright

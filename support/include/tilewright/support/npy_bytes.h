// The content of a `.npy` file.
#pragma once

#include "tilewright/support/npy.h"

#include <string>

namespace tilewright {

std::string npyBytes(const Tensor &tensor);

} // namespace tilewright

// Inputs of a model that always have one value.
#pragma once

#include "tilewright/onnx/model.h"

namespace tilewright::onnx {

// Makes initializers of the inputs of `model`, which was read from `path`, that `constants` names.
// A type that NumPy lacks is given as unsigned integers of its width, as `.npy` files have it.
// Throws UserError for a name that no input has, and for another type or shape than the input's.
void bindConstants(const std::string &path, Model &model,
                   const std::map<std::string, Tensor> &constants);

} // namespace tilewright::onnx

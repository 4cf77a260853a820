// Inputs of a model that are given as pictures of 8 bits.
#pragma once

#include "tilewright/onnx/model.h"

namespace tilewright::onnx {

// What the model takes is (pixel - mean) / deviation; one of each, or one for each channel.
struct Normalization {
  std::vector<double> means, deviations;
};

// Makes inputs of uint8 [N, height, width, channels] of the float inputs [N, channels, height,
// width] of `model`, which was read from `path`, that `pictures` names: nodes that normalize them,
// and put them in the model's order, come first. `shapes`: of the inputs as they are then. Throws
// UserError for what is no input, no picture, or has another number of channels.
void takePictures(const std::string &path, Model &model,
                  const std::map<std::string, Normalization> &pictures,
                  const std::map<std::string, std::vector<int64_t>> &shapes);

} // namespace tilewright::onnx

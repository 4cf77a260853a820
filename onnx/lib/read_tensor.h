// Decodes one TensorProto.
#pragma once

#include "tilewright/onnx/model.h"
#include "tilewright/onnx/size_limits.h"

#include <onnx/onnx_pb.h>

namespace tilewright::onnx {

// What decoding a tensor needs to know of its model.
struct TensorSource {
  std::string
      path; // the model's file, for messages and as the place that external data is relative to
  std::string subject; // "initializer 'w'"
};

int64_t dataTypeOf(DType type);

// The elements as raw_data holds them.
std::string packed(const Tensor &tensor);

// Throws UserError for a type that is no number, for data that disagrees with the shape, and for
// external data that is not safe to read.
ConstantTensor readTensor(const ::onnx::TensorProto &proto, const TensorSource &source);

} // namespace tilewright::onnx

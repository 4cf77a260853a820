// What a name in a graph stands for: a tensor, a sequence of tensors, or an optional that holds
// neither.
#pragma once

#include "tilewright/onnx/model.h"

namespace tilewright::onnx {

using Sequence = std::vector<ConstantTensor>;

class Value {
public:
  Value() = default; // nothing yet
  Value(std::nullptr_t) {}
  Value(ConstantTensor tensor) : tensor_(std::move(tensor)) {}
  Value(Sequence sequence) : sequence_(std::make_shared<const Sequence>(std::move(sequence))) {}
  static Value empty() {
    Value value;
    value.isEmpty_ = true;
    return value;
  }

  explicit operator bool() const { return tensor_ || sequence_ || isEmpty_; }
  bool isEmpty() const { return isEmpty_; }                    // an optional without a value
  const ConstantTensor &tensor() const { return tensor_; }     // null when it is none
  const Sequence *sequence() const { return sequence_.get(); } // null when it is none

private:
  ConstantTensor tensor_;
  std::shared_ptr<const Sequence> sequence_; // never changed, so that values are copied freely
  bool isEmpty_ = false;
};

// One value: the content of a file with a TensorProto, or with a SequenceProto or an OptionalProto
// where `type` is "sequence" or "optional". Throws UserError.
Value readValueFile(const std::string &path, const std::string &bytes, const std::string &type);

} // namespace tilewright::onnx

// Elements of tensors of any type, one by one, and copies of whole tensors.
#pragma once

#include "tilewright/support/npy.h"
#include "tilewright/support/shape.h"

#include <optional>

namespace tilewright::host {

bool isFloat(DType type);  // of any width
bool isSigned(DType type); // integers below zero

// The index of the first element that is infinite or no number; none of an integer tensor.
std::optional<int64_t> firstNotFinite(const Tensor &tensor);

// Integers of any width as int64 (uint64 wraps), floats as double.
int64_t integerAt(const Tensor &tensor, int64_t index);
double floatAt(const Tensor &tensor, int64_t index);           // of any type
void setInteger(Tensor &tensor, int64_t index, int64_t value); // the low bits; bool: not zero
// Rounded to the tensor's type, half to even. Of floats of 8 bits and less, what lies beyond the
// largest number becomes that number, or without `saturate` infinity or no number.
void setFloat(Tensor &tensor, int64_t index, double value, bool saturate = true);

// `shape` elements of `source`, where result index (i0, i1, ...) is source element offset + sum(ik
// * strides[k]).
Tensor stridedCopy(const Tensor &source, const Shape &shape, int64_t offset, const Shape &strides);
// The same into a tensor that is there.
void stridedFill(Tensor &result, const Tensor &source, int64_t offset, const Shape &strides);
Shape rowMajorStrides(const Shape &shape);
// Strides that read a tensor of shape `from` as `to`, which it broadcasts to.
Shape broadcastStrides(const Shape &from, const Shape &to);

// As ONNX's Cast: floats are truncated towards zero, bool is "not zero".
Tensor castTensor(const Tensor &source, DType type, bool saturate = true);
Tensor reshaped(const Tensor &source, Shape shape);

} // namespace tilewright::host

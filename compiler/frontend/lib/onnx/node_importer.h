// What the importer of one operator sees: the node's inputs, attributes and results, and a builder
// for TOSA ops.
#pragma once

#include "tilewright/compiler/tosa/float_builder.h"
#include "tilewright/host/elements.h"
#include "tilewright/onnx/node_view.h"

#include <unordered_map>

namespace tilewright::onnx_import {

using namespace onnx;
using namespace host;

// Integers of the model whose reals, (integer - zeroPoint) * scale, the graph computes with.
struct Quantization {
  double scale = 1;
  int64_t zeroPoint = 0;
  DType type = DType::U8;

  bool operator==(const Quantization &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint && type == other.type;
  }
};

// A value of the model: known at import (of any type), or an SSA value: floats of any width are
// float32 there, integers i32 and booleans i1.
struct Operand {
  ConstantTensor constant;
  mlir::Value value;
  DType type = DType::F32;                       // of `value`, in the model
  std::optional<Quantization> quantization = {}; // `value` has the reals that it stands for

  Shape shape() const { return constant ? constant->shape : sizesOf(value); }
};

// As reals that are whole, of an operand that is quantized.
mlir::Value integersOf(FloatBuilder &tosa, const Operand &operand);

using ValueMap = std::unordered_map<std::string, Operand>;

class NodeImporter : public NodeView {
public:
  NodeImporter(const Node &node, int64_t opset, const SourceLocation &location, ValueMap &values,
               FloatBuilder &builder);

  FloatBuilder &tosa() { return tosa_; }

  Shape shape(size_t input) const { return operand(input).shape(); }
  int64_t rank(size_t input) const { return static_cast<int64_t>(shape(input).size()); }
  const Operand &operand(size_t input) const;
  DType type(size_t input) const; // in the model; half and double precision are float32
  bool isFloats(size_t input) const { return isFloat(type(input)); }
  mlir::Value value(size_t input);      // as an SSA value of any type
  mlir::Value floatValue(size_t input); // as a float32 SSA value
  mlir::Value boolValue(size_t input);  // as an i1 SSA value
  // The same, of what may leave out elements of a row: minus infinity in a constant is a number so
  // far below all others that it counts for nothing in a softmax, and that two of them can be
  // added.
  mlir::Value maskedValue(size_t input);
  // The same in another shape, in which alone a constant then stands.
  mlir::Value floatValue(size_t input, const Shape &shape);
  const Tensor *constant(size_t input) const;                // null when it is not known at import
  const Tensor &known(size_t input, const char *what) const; // fails when it is not known at import
  // Of a known input. Lists have one dimension, scalars none (or one of 1, as exporters write
  // them), and all numbers are finite.
  using NodeView::integers;
  std::vector<int64_t> integers(size_t input, const char *what) const;
  std::vector<float> floats(size_t input, const char *what) const;
  float scalar(size_t input, const char *what) const;
  void checkFinite(const Tensor &tensor, size_t input) const;
  void checkScalar(size_t input, const char *what) const;

  // Results.
  // Integers are of the type that the operator's schema says, by the inputs' types.
  void setResult(mlir::Value value, size_t output = 0);
  void setResult(mlir::Value value, DType type, size_t output = 0);
  void setResult(Tensor tensor, size_t output = 0);
  void setResult(const Operand &operand, size_t output = 0);

private:
  DType resultType(size_t output) const;
  void checkVector(size_t input, const char *what) const;
  ValueMap &values_;
  FloatBuilder &tosa_;
};

} // namespace tilewright::onnx_import

// An ONNX model as plain data: what the importer and the host read, free of protobuf (which needs
// RTTI) and of MLIR (which is built without).
#pragma once

#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::onnx {

// By the numbers of TensorProto.DataType; nullopt of what is no number.
std::optional<DType> dtypeOf(int64_t dataType);
int64_t dataTypeOf(DType type);

// Constants are shared, never copied: a node may only pass one on.
using ConstantTensor = std::shared_ptr<const Tensor>;

struct Graph;

// A sparse tensor, a type and the like; no operator that is known here takes one.
struct UnsupportedAttribute {
  std::string kind;
};

using Attribute = std::variant<int64_t, float, std::string, ConstantTensor, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>,
                               std::shared_ptr<const Graph>, UnsupportedAttribute>;

struct Node {
  std::string name; // as the model gives it; the first output's name when it gives none
  std::string op;   // "Conv"
  std::string domain;
  std::vector<std::string> inputs;  // "" where an optional input is left out
  std::vector<std::string> outputs; // "" where an optional output is left out
  std::map<std::string, Attribute> attributes;

  std::string describe() const; // "node 'x' (Conv)", escaped
};

constexpr int64_t dynamicDimension = -1;

// An input or output of a graph.
struct GraphValue {
  std::string name;
  std::string type; // "float", as ONNX spells it, or "sequence", "optional" and "no tensor"
  std::optional<DType> dtype;                // none of what is no tensor of numbers
  std::optional<std::vector<int64_t>> shape; // as declared; none when the rank itself is unknown
};

// The model's own, or a body of an If, a Loop or a Scan, whose nodes see the values around it.
struct Graph {
  std::vector<GraphValue> inputs; // initializers left out
  std::vector<GraphValue> outputs;
  std::map<std::string, ConstantTensor> initializers;
  std::vector<Node> nodes;                              // in the order of the file
  std::map<std::string, std::vector<int64_t>> declared; // shapes of other values, as declared
  std::map<std::string, DType> types;                   // the same of their types
};

struct Model : Graph {
  int64_t opset = 0;                      // of ai.onnx
  std::map<std::string, int64_t> domains; // versions of the other operator sets
};

// The names that a node reads: its inputs, and what its graphs read of the values around them. Each
// once; "" is none of them.
std::vector<std::string> readsOf(const Node &node);

// Decodes and checks `bytes`, the content of the file `path`; tensors stored outside the file are
// read from beside it. No tensor is held twice on the way. With `tensorsOnly`, inputs that are no
// tensors are refused. Throws UserError.
Model readModel(const std::string &path, std::string bytes, bool tensorsOnly = true);

// One value: the content of a file with a TensorProto. Throws UserError.
Tensor readTensorFile(const std::string &path, const std::string &bytes);

// The bytes of a file that `readModel` reads as `model`, which was read from `path`. Throws
// Unsupported where an attribute is of a kind that no operator takes.
std::string writeModel(const Model &model, const std::string &path);

} // namespace tilewright::onnx

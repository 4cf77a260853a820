// An ONNX model as plain data: what the importer reads, free of protobuf (which needs RTTI) and of
// MLIR (which is built without).
#pragma once

#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::onnx_import {

// Constants are shared, never copied: a node may only pass one on.
using ConstantTensor = std::shared_ptr<const Tensor>;

// A subgraph, a sparse tensor and the like; no operator that the importer knows takes one.
struct UnsupportedAttribute {
  std::string kind;
};

using Attribute = std::variant<int64_t, float, std::string, ConstantTensor, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>, UnsupportedAttribute>;

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

struct GraphInput {
  std::string name;
  std::string type;                          // "float"
  std::optional<std::vector<int64_t>> shape; // none when the rank itself is unknown
};

struct GraphOutput {
  std::string name;
  std::optional<std::vector<int64_t>> shape; // as declared; none when the rank itself is unknown
};

struct Model {
  int64_t opset = 0;
  std::vector<GraphInput> inputs; // initializers left out
  std::vector<GraphOutput> outputs;
  std::map<std::string, ConstantTensor> initializers;
  std::vector<Node> nodes;                              // in the order of the file
  std::map<std::string, std::vector<int64_t>> declared; // shapes of other values, as declared
};

// Decodes and checks `bytes`, the content of the file `path`; tensors stored outside the file are
// read from beside it. No tensor is held twice on the way. Throws UserError.
Model readModel(const std::string &path, std::string bytes);

} // namespace tilewright::onnx_import

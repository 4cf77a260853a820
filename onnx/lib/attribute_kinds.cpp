#include "attribute_kinds.h"

#include <utility>

namespace tilewright::onnx {

const char *kindName(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Float:
    return "a number";
  case AttributeKind::Int:
    return "an integer";
  case AttributeKind::String:
    return "a string";
  case AttributeKind::Tensor:
    return "a tensor";
  case AttributeKind::Graph:
    return "a graph";
  case AttributeKind::Floats:
    return "a list of numbers";
  case AttributeKind::Ints:
    return "a list of integers";
  case AttributeKind::Strings:
    return "a list of strings";
  case AttributeKind::Graphs:
    return "a list of graphs";
  case AttributeKind::SparseTensor:
    return "a sparse tensor";
  case AttributeKind::TypeProto:
    return "a type";
  }
  return "";
}

std::vector<AttributeKind> heldKinds(const ::onnx::AttributeProto &proto) {
  std::pair<bool, AttributeKind> fields[] = {
      {proto.has_f(), AttributeKind::Float},
      {proto.has_i(), AttributeKind::Int},
      {proto.has_s(), AttributeKind::String},
      {proto.has_t(), AttributeKind::Tensor},
      {proto.has_g(), AttributeKind::Graph},
      {proto.has_sparse_tensor(), AttributeKind::SparseTensor},
      {proto.has_tp(), AttributeKind::TypeProto},
      {proto.floats_size() > 0, AttributeKind::Floats},
      {proto.ints_size() > 0, AttributeKind::Ints},
      {proto.strings_size() > 0, AttributeKind::Strings},
      {proto.graphs_size() > 0, AttributeKind::Graphs},
  };
  std::vector<AttributeKind> kinds;
  for (auto [held, kind] : fields)
    if (held)
      kinds.push_back(kind);
  return kinds;
}

bool maybeUnwritten(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Tensor:
  case AttributeKind::Graph:
  case AttributeKind::SparseTensor:
  case AttributeKind::TypeProto:
    return false;
  default:
    return true;
  }
}

} // namespace tilewright::onnx

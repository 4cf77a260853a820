#include "operators.h"

#include <algorithm>
#include <map>

namespace tilewright::onnx_import {

static const std::map<std::string, Operator> &operators() {
  static const std::map<std::string, Operator> all = [] {
    std::map<std::string, Operator> byName;
    for (auto table :
         {activationOperators, arithmeticOperators, attentionOperators, comparisonOperators,
          constantOperators, convolutionOperators, depthToSpaceOperators, indexOperators,
          matmulOperators, normalizationOperators, poolOperators, quantizationOperators,
          reductionOperators, resizeOperators, shapeOperators, sliceOperators, unaryOperators})
      for (const Operator &op : table())
        byName.emplace(op.name, op);
    return byName;
  }();
  return all;
}

const Operator *findOperator(const std::string &name) {
  auto found = operators().find(name);
  return found == operators().end() ? nullptr : &found->second;
}

std::vector<Operator> allOperators() {
  std::vector<Operator> all;
  for (const auto &[name, op] : operators())
    all.push_back(op);
  return all;
}

} // namespace tilewright::onnx_import

// The operators of ai.onnx that the importer knows. To add one: a function in the file of its kind,
// and its row in the table there.
#pragma once

#include "node_importer.h"

#include "llvm/ADT/ArrayRef.h"

namespace tilewright::onnx_import {

// What a node may look like is in the schemas; builders check what needs shapes and values.
struct Operator {
  const char *name;
  // Builds TOSA ops. Null for operators on shapes, which exist at import only.
  void (*build)(NodeImporter &) = nullptr;
  // Known inputs of any size are computed with at import: the results have as many elements.
  bool foldsAll = false;
};

// Null when there is no such operator.
const Operator *findOperator(const std::string &name);
// All of them, sorted by name.
std::vector<Operator> allOperators();

// Those of one file each.
llvm::ArrayRef<Operator> activationOperators();
llvm::ArrayRef<Operator> arithmeticOperators();
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> comparisonOperators();
llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> convolutionOperators();
llvm::ArrayRef<Operator> depthToSpaceOperators();
llvm::ArrayRef<Operator> indexOperators();
llvm::ArrayRef<Operator> matmulOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> poolOperators();
llvm::ArrayRef<Operator> quantizationOperators();
llvm::ArrayRef<Operator> reductionOperators();
llvm::ArrayRef<Operator> resizeOperators();
llvm::ArrayRef<Operator> shapeOperators();
llvm::ArrayRef<Operator> sliceOperators();
llvm::ArrayRef<Operator> unaryOperators();

} // namespace tilewright::onnx_import

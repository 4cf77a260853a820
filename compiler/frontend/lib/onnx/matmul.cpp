// Gemm and MatMul.
#include "operators.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

static mlir::Value matrix(NodeImporter &node, size_t input, bool transposed) {
  mlir::Value value = node.floatValue(input);
  if (sizesOf(value).size() != 2)
    node.fail(
        fmt::format("input {} has shape {}, and is no matrix", input, formatShape(sizesOf(value))));
  return transposed ? node.tosa().transpose(value, {1, 0}) : value;
}

static void buildGemm(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value a = matrix(node, 0, node.flag("transA", false));
  mlir::Value b = matrix(node, 1, node.flag("transB", false));
  Shape shapeA = sizesOf(a), shapeB = sizesOf(b);
  mlir::Value product = tosa.matmul(tosa.reshape(a, {1, shapeA[0], shapeA[1]}),
                                    tosa.reshape(b, {1, shapeB[0], shapeB[1]}));
  Shape result = {shapeA[0], shapeB[1]};
  product = tosa.reshape(product, result);
  if (float alpha = node.number("alpha", 1); alpha != 1)
    product = tosa.multiplyScalar(product, alpha);
  float beta = node.number("beta", 1);
  if (node.has(2) && beta != 0) {
    mlir::Value c = node.floatValue(2);
    if (broadcastShapes(sizesOf(c), result) != result)
      node.fail(fmt::format("an addend of shape {} does not fit a product of {}",
                            formatShape(sizesOf(c)), formatShape(result)));
    product = tosa.add(product, beta == 1 ? c : tosa.multiplyScalar(c, beta));
  }
  node.setResult(product);
}

// NumPy's rules: vectors count as a row on the left and as a column on the right, leading
// dimensions are a batch.
static void buildMatMul(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value a = node.floatValue(0);
  Shape shapeA = sizesOf(a), shapeB = node.shape(1);
  if (shapeA.empty() || shapeB.empty())
    node.fail("a scalar cannot be multiplied as a matrix");
  bool row = shapeA.size() == 1, column = shapeB.size() == 1;
  if (row)
    shapeA.insert(shapeA.begin(), 1);
  if (column)
    shapeB.push_back(1);
  int64_t m = shapeA[shapeA.size() - 2], k = shapeA.back(), n = shapeB.back();
  Shape batchA(shapeA.begin(), shapeA.end() - 2), batchB(shapeB.begin(), shapeB.end() - 2);
  std::optional<Shape> batch = broadcastShapes(batchA, batchB);
  if (!batch)
    node.fail(fmt::format("shapes {} and {} do not fit each other", formatShape(shapeA),
                          formatShape(shapeB)));

  mlir::Value product;
  if (elementCount(batchB) == 1) {
    // One matrix on the right: the batch on the left is more rows.
    int64_t rows = elementCount(batchA) * m;
    product = tosa.matmul(tosa.reshape(a, {1, rows, k}),
                          node.floatValue(1, {1, shapeB[shapeB.size() - 2], n}));
  } else {
    auto spread = [&](mlir::Value value, const Shape &shape) {
      Shape target = *batch;
      target.insert(target.end(), shape.end() - 2, shape.end());
      mlir::Value wide = tosa.broadcastTo(tosa.reshape(value, shape), target);
      return tosa.reshape(wide, {elementCount(*batch), target[target.size() - 2], target.back()});
    };
    product = tosa.matmul(spread(a, shapeA), spread(node.floatValue(1), shapeB));
  }
  Shape result = *batch;
  if (!row)
    result.push_back(m);
  if (!column)
    result.push_back(n);
  node.setResult(tosa.reshape(product, result));
}

llvm::ArrayRef<Operator> matmulOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Gemm", buildGemm},
      {"MatMul", buildMatMul},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

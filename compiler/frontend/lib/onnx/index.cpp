// Indices as results or as data: what compares positions with them.
#include "index.h"
#include "operators.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::onnx_import {

namespace {

using mlir::tosa::EqualOp;
using mlir::tosa::GreaterOp;

// The numbers of the positions along `axis`, which broadcast over a tensor of `rank` dimensions;
// `first` + `step` * number.
mlir::Value positions(FloatBuilder &tosa, int64_t rank, int64_t axis, int64_t length,
                      int64_t first = 0, int64_t step = 1) {
  Shape shape(rank, 1);
  shape[axis] = length;
  std::vector<int64_t> numbers(length);
  for (int64_t i = 0; i < length; ++i)
    numbers[i] = first + step * i;
  return tosa.integers(shape, numbers);
}

// The index of the greatest or least element along `axis`, which keeps length 1: of equal ones the
// first or the last one. Such elements weigh more the nearer they are to that end.
template <typename Reduce>
mlir::Value indexOf(FloatBuilder &tosa, mlir::Value value, int64_t axis, bool isLast) {
  const auto rank = static_cast<int64_t>(sizesOf(value).size());
  const int64_t length = sizesOf(value)[axis];
  mlir::Value isSuch = tosa.compare<EqualOp>(value, tosa.reduce<Reduce>(value, axis));
  mlir::Value weights = isLast ? positions(tosa, rank, axis, length, 1, 1)
                               : positions(tosa, rank, axis, length, length, -1);
  mlir::Value weighed = tosa.select(isSuch, weights, tosa.integerLike(value, 0));
  mlir::Value best = tosa.reduce<mlir::tosa::ReduceMaxOp>(weighed, axis);
  return isLast ? tosa.subtract(best, tosa.integerLike(best, 1))
                : tosa.subtract(tosa.integerLike(best, length), best);
}

template <typename Reduce> void buildIndexOf(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  const int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  mlir::Value index =
      indexOf<Reduce>(tosa, node.value(0), axis, node.flag("select_last_index", false));
  Shape shape = sizesOf(index);
  if (!node.flag("keepdims", true))
    shape.erase(shape.begin() + axis);
  node.setResult(tosa.reshape(index, shape));
}

// Where positions along `axis`, a new dimension of `length`, are the indices of an input; indices
// below zero count from the end.
mlir::Value isIndex(NodeImporter &node, mlir::Value indices, int64_t axis, int64_t length) {
  FloatBuilder &tosa = node.tosa();
  Shape shape = sizesOf(indices);
  shape.insert(shape.begin() + axis, 1);
  indices = tosa.reshape(indices, shape);
  const auto rank = static_cast<int64_t>(shape.size());
  mlir::Value isBelow = tosa.compare<GreaterOp>(tosa.integerLike(indices, 0), indices);
  mlir::Value fromEnd = tosa.add(indices, tosa.integerLike(indices, length));
  indices = tosa.select(isBelow, fromEnd, indices);
  return tosa.compare<EqualOp>(indices, positions(tosa, rank, axis, length));
}

// The dimensions before `axis`, that one and those behind it.
std::array<int64_t, 3> parted(const Shape &shape, int64_t axis) {
  auto dims = llvm::ArrayRef<int64_t>(shape);
  return {elementCount(dims.take_front(axis)), shape[axis],
          elementCount(dims.drop_front(axis + 1))};
}

// Comparisons of every index with every position.
void checkComparisons(NodeImporter &node, int64_t indices, int64_t length) {
  constexpr int64_t most = int64_t(64) << 10;
  if (indices > most / length)
    node.refuse(fmt::format(
        "{} indices that depend on the data, of {} positions, are not supported", indices, length));
}

// The sum, along dimension 2, of what of `data` is chosen.
mlir::Value sumOfChosen(FloatBuilder &tosa, mlir::Value isChosen, mlir::Value data) {
  const bool isFloat = mlir::getElementTypeOrSelf(data).isF32();
  mlir::Value chosen = isFloat ? tosa.multiply(tosa.castToFloat(isChosen), data)
                               : tosa.select(isChosen, data, tosa.integerLike(data, 0));
  return tosa.reduce<mlir::tosa::ReduceSumOp>(chosen, 2);
}

} // namespace

std::vector<int64_t> indicesOf(NodeImporter &node, size_t input, const char *what, int64_t length) {
  const Tensor &given = node.known(input, what);
  std::vector<int64_t> indices(given.elements());
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t &index = indices[i];
    index = integerAt(given, static_cast<int64_t>(i));
    if (index < -length || index >= length)
      node.fail(fmt::format("index {} is outside a dimension of {}", index, length));
    index = index < 0 ? index + length : index;
  }
  return indices;
}

mlir::Value gatherByComparison(NodeImporter &node, int64_t axis) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value data = node.value(0);
  const auto [outer, length, inner] = parted(sizesOf(data), axis);
  const int64_t count = elementCount(node.shape(1));
  checkComparisons(node, count, length);
  mlir::Value indices = tosa.reshape(node.value(1), {count});
  mlir::Value isChosen = isIndex(node, indices, 1, length); // count, length
  if (node.type(0) == DType::Bool)
    node.fail("booleans cannot be gathered by indices that depend on the data");
  if (!node.isFloats(0))
    return sumOfChosen(tosa, tosa.reshape(isChosen, {1, count, length, 1}),
                       tosa.reshape(data, {outer, 1, length, inner}));
  mlir::Value rows = tosa.transpose(tosa.reshape(data, {outer, length, inner}), {1, 0, 2});
  mlir::Value product = tosa.matmul(tosa.reshape(tosa.castToFloat(isChosen), {1, count, length}),
                                    tosa.reshape(rows, {1, length, outer * inner}));
  return tosa.transpose(tosa.reshape(product, {count, outer, inner}), {1, 0, 2});
}

// Index by index along an axis.
static void buildGatherElements(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value data = node.value(0);
  const int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const Shape shape = node.shape(1);
  if (shape.size() != sizesOf(data).size())
    node.fail("the indices have another rank than the data");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(i) == axis)
      continue;
    if (shape[i] > sizesOf(data)[i])
      node.fail(fmt::format("indices of shape {} reach beyond data of shape {} along axis {}",
                            formatShape(shape), formatShape(node.shape(0)), i));
    data = tosa.sliceAxis(data, static_cast<int64_t>(i), 0, shape[i]);
  }
  if (node.type(0) == DType::Bool)
    node.refuse("booleans are not supported");
  const auto [outer, count, inner] = parted(shape, axis);
  const int64_t length = sizesOf(data)[axis];
  checkComparisons(node, elementCount(shape), length);
  mlir::Value indices = tosa.reshape(node.value(1), {outer, count, inner});
  mlir::Value isChosen = isIndex(node, indices, 2, length);
  mlir::Value sum = sumOfChosen(tosa, isChosen, tosa.reshape(data, {outer, 1, length, inner}));
  node.setResult(tosa.reshape(sum, shape));
}

static void buildArgMax(NodeImporter &node) { buildIndexOf<mlir::tosa::ReduceMaxOp>(node); }
static void buildArgMin(NodeImporter &node) { buildIndexOf<mlir::tosa::ReduceMinOp>(node); }

static void buildHardmax(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.floatValue(0);
  const Shape shape = sizesOf(value);
  const bool flattens = node.opset() < 13;
  int64_t axis = node.axis(node.integer("axis", flattens ? 1 : -1), node.rank(0));
  if (flattens) {
    auto dims = llvm::ArrayRef<int64_t>(shape);
    value = tosa.reshape(
        value, {elementCount(dims.take_front(axis)), elementCount(dims.drop_front(axis))});
    axis = 1;
  }
  const auto rank = static_cast<int64_t>(sizesOf(value).size());
  mlir::Value index = indexOf<mlir::tosa::ReduceMaxOp>(tosa, value, axis, false);
  mlir::Value isOne =
      tosa.compare<EqualOp>(index, positions(tosa, rank, axis, sizesOf(value)[axis]));
  node.setResult(tosa.reshape(tosa.castToFloat(isOne), shape));
}

static void buildOneHot(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  const auto depth = static_cast<int64_t>(node.scalar(1, "depth"));
  if (depth < 1)
    node.fail(fmt::format("a depth of {} is not possible", depth));
  mlir::Value indices = node.value(0);
  if (node.isFloats(0))
    indices = tosa.castToInteger(indices);
  const int64_t rank = node.rank(0) + 1;
  const int64_t axis = node.axis(node.integer("axis", -1), rank);
  mlir::Value isOne = isIndex(node, indices, axis, depth);
  mlir::Value values = node.value(2); // off, on
  auto valueAt = [&](int64_t i) {
    return tosa.reshape(tosa.sliceAxis(values, 0, i, 1), Shape(rank, 1));
  };
  if (node.isFloats(2)) {
    mlir::Value on = tosa.castToFloat(isOne), off = valueAt(0);
    mlir::Value difference = tosa.subtract(valueAt(1), off);
    return node.setResult(tosa.add(tosa.multiply(on, difference), off));
  }
  node.setResult(tosa.select(isOne, valueAt(1), valueAt(0)));
}

// A product with a triangle of ones.
static void buildCumSum(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.floatValue(0);
  const Shape shape = sizesOf(value);
  const auto given = static_cast<int64_t>(node.scalar(1, "axis"));
  const int64_t axis = node.axis(given, node.rank(0)), length = shape[axis];
  const bool isReverse = node.flag("reverse", false), isExclusive = node.flag("exclusive", false);
  std::vector<float> triangle(length * length, 0);
  for (int64_t from = 0; from < length; ++from)
    for (int64_t to = 0; to < length; ++to) {
      const int64_t ahead = isReverse ? from - to : to - from;
      triangle[from * length + to] = ahead > 0 || (ahead == 0 && !isExclusive) ? 1 : 0;
    }
  auto dims = llvm::ArrayRef<int64_t>(shape);
  const int64_t outer = elementCount(dims.take_front(axis)),
                inner = elementCount(dims.drop_front(axis + 1));
  mlir::Value rows = tosa.transpose(tosa.reshape(value, {outer, length, inner}), {0, 2, 1});
  mlir::Value sums = tosa.matmul(tosa.reshape(rows, {1, outer * inner, length}),
                                 tosa.constant({1, length, length}, triangle));
  sums = tosa.transpose(tosa.reshape(sums, {outer, inner, length}), {0, 2, 1});
  node.setResult(tosa.reshape(sums, shape));
}

// A product with a mask of ones and zeros.
static void buildTrilu(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value value = node.value(0);
  const Shape shape = sizesOf(value);
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank < 2)
    node.fail(fmt::format("a tensor of shape {} has no matrices", formatShape(shape)));
  const auto diagonal = node.has(1) ? static_cast<int64_t>(node.scalar(1, "diagonal")) : 0;
  const bool isUpper = node.flag("upper", true);
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  std::vector<int64_t> mask(rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      mask[r * columns + c] = isUpper ? c - r >= diagonal : c - r <= diagonal;
  if (node.isFloats(0)) {
    std::vector<float> factors(mask.begin(), mask.end());
    return node.setResult(tosa.multiply(value, tosa.constant({rows, columns}, factors)));
  }
  if (node.type(0) == DType::Bool)
    node.refuse("booleans are not supported");
  node.setResult(tosa.multiply(value, tosa.integers({rows, columns}, mask)));
}

// --- Losses

// -weight[target] * logarithm[target] of each position, and their sum or mean.
static void setLoss(NodeImporter &node, mlir::Value logarithms) {
  FloatBuilder &tosa = node.tosa();
  const Shape shape = sizesOf(logarithms); // batch, classes, positions
  const auto rank = static_cast<int64_t>(shape.size());
  mlir::Value targets = node.value(1);
  const std::string reduction = node.choice("reduction", {"mean", "none", "sum"});
  Shape oneClass = shape, positionsOnly = shape;
  positionsOnly.erase(positionsOnly.begin() + 1);
  if (sizesOf(targets) != positionsOnly)
    node.fail(fmt::format("its target has the shape {}, and should have {}",
                          formatShape(sizesOf(targets)), formatShape(positionsOnly)));
  if (node.has(2) && elementCount(node.shape(2)) != shape[1])
    node.fail(fmt::format("it has {} weights, and there are {} classes",
                          elementCount(node.shape(2)), shape[1]));
  oneClass[1] = 1;
  targets = tosa.reshape(targets, oneClass);
  mlir::Value isTarget = tosa.compare<EqualOp>(targets, positions(tosa, rank, 1, shape[1]));
  const bool isWeighed = node.has(2), hasIgnored = node.hasAttribute("ignore_index");
  if (hasIgnored) {
    mlir::Value ignored = tosa.integerLike(targets, node.integer("ignore_index", 0));
    isTarget = tosa.binary<mlir::tosa::LogicalAndOp>(
        isTarget, tosa.logicalNot(tosa.compare<EqualOp>(targets, ignored)));
  }
  mlir::Value weights = tosa.castToFloat(isTarget);
  if (isWeighed) {
    Shape perClass(rank, 1);
    perClass[1] = shape[1];
    weights = tosa.multiply(weights, tosa.reshape(node.floatValue(2), perClass));
  }
  mlir::Value losses = tosa.multiply(logarithms, weights);
  losses = tosa.reduce<mlir::tosa::ReduceSumOp>(losses, 1);
  if (reduction == "none")
    return node.setResult(tosa.multiplyScalar(tosa.reshape(losses, positionsOnly), -1));
  auto sumOf = [&](mlir::Value value) {
    const int64_t count = elementCount(sizesOf(value));
    return tosa.reshape(tosa.reduce<mlir::tosa::ReduceSumOp>(tosa.reshape(value, {count}), 0), {});
  };
  mlir::Value sum = tosa.multiplyScalar(sumOf(losses), -1);
  if (reduction == "sum")
    return node.setResult(sum);
  if (!isWeighed && !hasIgnored)
    return node.setResult(
        tosa.multiplyScalar(sum, 1.0f / static_cast<float>(elementCount(positionsOnly))));
  node.setResult(tosa.multiply(sum, tosa.unary<mlir::tosa::ReciprocalOp>(sumOf(weights))));
}

static void requireClasses(NodeImporter &node) {
  if (node.shape(0).size() < 2)
    node.fail("its scores should have two dimensions or more");
}

static void buildNegativeLogLikelihoodLoss(NodeImporter &node) {
  requireClasses(node);
  setLoss(node, node.floatValue(0));
}

static void buildSoftmaxCrossEntropyLoss(NodeImporter &node) {
  requireClasses(node);
  FloatBuilder &tosa = node.tosa();
  mlir::Value scores = node.floatValue(0);
  mlir::Value shifted = tosa.subtract(scores, tosa.reduce<mlir::tosa::ReduceMaxOp>(scores, 1));
  mlir::Value sum = tosa.reduce<mlir::tosa::ReduceSumOp>(tosa.unary<mlir::tosa::ExpOp>(shifted), 1);
  mlir::Value logarithms = tosa.subtract(shifted, tosa.unary<mlir::tosa::LogOp>(sum));
  setLoss(node, logarithms);
  if (node.wants(1))
    node.setResult(logarithms, 1);
}

llvm::ArrayRef<Operator> indexOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"ArgMax", buildArgMax},
      {"ArgMin", buildArgMin},
      {"CumSum", buildCumSum},
      {"GatherElements", buildGatherElements},
      {"Hardmax", buildHardmax},
      {"NegativeLogLikelihoodLoss", buildNegativeLogLikelihoodLoss},
      {"OneHot", buildOneHot},
      {"SoftmaxCrossEntropyLoss", buildSoftmaxCrossEntropyLoss},
      {"Trilu", buildTrilu},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

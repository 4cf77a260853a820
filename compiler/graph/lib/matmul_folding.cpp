// A product with a constant matrix is a 1x1 convolution, over the image that its rows are the
// pixels of, else over one of one column: as a convolution it has a bias, weights that are
// quantized per channel, and one form for every later stage.
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/tosa/constants.h"

#include <algorithm>
#include <vector>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

// What the rows of a product stand for: of an image its pixels (so that element-wise work on either
// side of the product has its shape), else a column.
Dims imageOfRows(mlir::Value rows) {
  const Dims matrix = dimsOf(rows);
  if (auto reshape = rows.getDefiningOp<tosa::ReshapeOp>())
    if (Dims image = dimsOf(reshape.getInput1());
        image.size() == 4 && image[0] == 1 && image[3] == matrix[2])
      return image;
  return {1, matrix[1], 1, matrix[2]};
}

// A constant matrix as the weights of a convolution. At once: a context keeps each constant, and
// matrices are most of a transformer.
mlir::Value makeWeights(PatternRewriter &rewriter, mlir::Location location, mlir::Value matrix,
                        int64_t depth, int64_t columns) {
  mlir::DenseElementsAttr elements = constantElements(matrix);
  if (elements.isSplat())
    return makeConstant(rewriter, location,
                        elements.resizeSplat(mlir::RankedTensorType::get({columns, 1, 1, depth},
                                                                         rewriter.getF32Type())));
  const auto *from = reinterpret_cast<const float *>(elements.getRawData().data());
  std::vector<float> to(static_cast<size_t>(depth * columns));
  constexpr int64_t block = 64; // of rows, which stay in the cache
  for (int64_t first = 0; first < depth; first += block)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = first; row < std::min(first + block, depth); ++row)
        to[static_cast<size_t>(column * depth + row)] = from[row * columns + column];
  return makeFloats(rewriter, location, {columns, 1, 1, depth}, llvm::ArrayRef(to));
}

LogicalResult matmulToConv(tosa::MatMulOp op, PatternRewriter &rewriter) {
  Dims a = dimsOf(op.getA()), b = dimsOf(op.getB());
  if (!isFloat32(op.getOutput()) || !constantElements(op.getB()) || b[0] != 1)
    return failure();
  int64_t depth = a[2], columns = b[2];
  mlir::Location location = op.getLoc();
  mlir::Value weight = makeWeights(rewriter, location, op.getB(), depth, columns);
  mlir::Value bias = makeFloats(rewriter, location, {columns}, 0.0f);
  Dims dims = imageOfRows(op.getA());
  mlir::Value image = makeReshape(rewriter, location, op.getA(), dims);
  dims.back() = columns;
  auto type = mlir::RankedTensorType::get(dims, rewriter.getF32Type());
  mlir::Value product = tosa::Conv2DOp::create(
      rewriter, location, type, image, weight, bias, op.getAZp(), op.getBZp(),
      rewriter.getDenseI64ArrayAttr({0, 0, 0, 0}), rewriter.getDenseI64ArrayAttr({1, 1}),
      rewriter.getDenseI64ArrayAttr({1, 1}), mlir::TypeAttr::get(rewriter.getF32Type()),
      rewriter.getBoolAttr(false));
  rewriter.replaceOp(op, makeReshape(rewriter, location, product, dimsOf(op.getOutput())));
  return success();
}

// An image that is flattened channel by channel on its way into such a product need not be
// transposed: the rows of the constant matrix are instead.
LogicalResult foldFlattenTranspose(tosa::Conv2DOp op, PatternRewriter &rewriter) {
  auto reshape = op.getInput().getDefiningOp<tosa::ReshapeOp>();
  auto transpose = reshape ? reshape.getInput1().getDefiningOp<tosa::TransposeOp>() : nullptr;
  mlir::DenseElementsAttr weight = constantElements(op.getWeight());
  if (!transpose || !weight || !isFloat32(op.getOutput()))
    return failure();
  Dims dims = dimsOf(op.getWeight()), input = dimsOf(op.getInput());
  Dims image = dimsOf(transpose.getInput1()); // NHWC
  bool toNchw = transpose.getPerms() == llvm::ArrayRef<int32_t>({0, 3, 1, 2});
  bool pointwise = dims[1] == 1 && dims[2] == 1;
  if (!toNchw || !pointwise || dims[3] != image[1] * image[2] * image[3] ||
      input[0] * input[1] * input[2] != image[0])
    return failure();
  mlir::Location location = op.getLoc();
  // Depth is C, H, W; it becomes H, W, C.
  mlir::Value rows =
      makeReshape(rewriter, location, op.getWeight(), {dims[0], image[3], image[1], image[2]});
  rows =
      makeReshape(rewriter, location, makeTranspose(rewriter, location, rows, {0, 2, 3, 1}), dims);
  mlir::Value flat = makeReshape(rewriter, location, transpose.getInput1(), input);
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(flat);
    op.getWeightMutable().assign(rows);
  });
  return success();
}

} // namespace

void addMatmulFolding(mlir::RewritePatternSet &patterns) {
  patterns.add(matmulToConv).add(foldFlattenTranspose);
}

} // namespace tilewright

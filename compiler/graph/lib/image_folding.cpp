// What need not be done for every pixel of an image is done once.
//
//   avg_pool(conv(x, w, b)) = conv(avg_pool(x), w, b)     of one tap, over all pixels
//   add(x, mul(x, s)) = mul(x, add(s, 1))                 s: one value for many
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/layer_location.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

bool areAll(llvm::ArrayRef<int64_t> numbers, int64_t value) {
  return llvm::all_of(numbers, [&](int64_t each) { return each == value; });
}

// The image that the convolution reads is averaged: no more channels than it makes, and they need
// not wait for it.
LogicalResult averageBeforeConvolution(tosa::AvgPool2dOp op, PatternRewriter &rewriter) {
  auto conv = op.getInput().getDefiningOp<tosa::Conv2DOp>();
  if (!conv || !isFloat32(op.getOutput()) || !constantElements(conv.getWeight()) ||
      splatFloat(conv.getInputZp()) != 0.0f || splatFloat(conv.getWeightZp()) != 0.0f)
    return failure();
  const Dims image = dimsOf(conv.getInput()), made = dimsOf(conv.getOutput()),
             weight = dimsOf(conv.getWeight());
  const bool isOneTap =
      weight[1] == 1 && weight[2] == 1 && areAll(conv.getPad(), 0) && areAll(conv.getStride(), 1);
  if (!isOneTap || weight[3] > weight[0] || made[1] * made[2] == 1 ||
      op.getKernel() != llvm::ArrayRef<int64_t>{made[1], made[2]} || !areAll(op.getPad(), 0))
    return failure();
  const auto type = mlir::RankedTensorType::get({image[0], 1, 1, image[3]}, rewriter.getF32Type());
  auto pool = llvm::cast<tosa::AvgPool2dOp>(rewriter.clone(*op));
  pool.getInputMutable().assign(conv.getInput());
  pool.getOutput().setType(type);
  auto product = llvm::cast<tosa::Conv2DOp>(rewriter.clone(*conv));
  product.getInputMutable().assign(pool.getOutput());
  product.getOutput().setType(llvm::cast<mlir::TensorType>(op.getType()));
  product->setLoc(fusedLocation(conv.getLoc(), op.getLoc()));
  rewriter.replaceOp(op, product.getOutput());
  return success();
}

LogicalResult factorOfSum(tosa::AddOp op, PatternRewriter &rewriter) {
  for (const int side : {0, 1}) {
    const mlir::Value x = op->getOperand(1 - side);
    auto product = op->getOperand(side).getDefiningOp<tosa::MulOp>();
    if (!product || !product->hasOneUse() || !isFloat32(op.getOutput()) ||
        x.getType() != op.getType() ||
        !llvm::is_contained({product.getInput1(), product.getInput2()}, x))
      continue;
    const mlir::Value factor = product.getInput1() == x ? product.getInput2() : product.getInput1();
    if (elementsOf(factor) >= elementsOf(x) || constantElements(factor))
      continue;
    const mlir::Value one = makeFloats(rewriter, op.getLoc(), Dims(dimsOf(factor).size(), 1), 1.0f);
    const mlir::Value more =
        tosa::AddOp::create(rewriter, op.getLoc(), factor.getType(), factor, one);
    rewriter.replaceOpWithNewOp<tosa::MulOp>(op, op.getType(), x, more, product.getShift())
        ->setLoc(fusedLocation(product.getLoc(), op.getLoc()));
    return success();
  }
  return failure();
}

} // namespace

void addImageFolding(mlir::RewritePatternSet &patterns) {
  patterns.add(averageBeforeConvolution).add(factorOfSum);
}

} // namespace tilewright

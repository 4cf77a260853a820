// Reshapes that only add or drop unit dimensions move behind element-wise ops, so that a bias meets
// its convolution, a residual sum the product before it, and the reshapes around the op each other.
#include "dims.h"
#include "patterns.h"
#include "pointwise.h"
#include "tilewright/compiler/tosa/constants.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;

Dims withoutUnits(const Dims &dims) {
  Dims kept;
  llvm::copy_if(dims, std::back_inserter(kept), [](int64_t dim) { return dim != 1; });
  return kept;
}

tosa::ReshapeOp unitReshape(mlir::Value value) {
  auto reshape = value.getDefiningOp<tosa::ReshapeOp>();
  if (!reshape || withoutUnits(dimsOf(value)) != withoutUnits(dimsOf(reshape.getInput1())))
    return nullptr;
  return reshape;
}

// The shape of a constant that broadcasts to `from` in the view `to`, whose dimensions other than 1
// are the same.
std::optional<Dims> inView(const Dims &constant, const Dims &from, const Dims &to) {
  Dims lengths; // of the constant, along the dimensions of `from` that are not 1
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1)
      lengths.push_back(constant[i]);
    else if (constant[i] != 1)
      return std::nullopt;
  }
  Dims view;
  size_t next = 0;
  for (int64_t dim : to)
    view.push_back(dim == 1 ? 1 : lengths[next++]);
  return view;
}

// Whether the reshape alone reads a product, and is read once: what is behind it may be done where
// the product is made.
bool isOfProduct(tosa::ReshapeOp reshape) {
  return reshape.getInput1().getDefiningOp<tosa::Conv2DOp>() && reshape.getInput1().hasOneUse() &&
         reshape.getOutput().hasOneUse();
}

class ReshapeSinking : public mlir::RewritePattern {
public:
  explicit ReshapeSinking(mlir::MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  mlir::LogicalResult matchAndRewrite(mlir::Operation *op,
                                      mlir::PatternRewriter &rewriter) const override {
    unsigned count = pointwiseOperands(op);
    if (count == 0)
      return mlir::failure();
    tosa::ReshapeOp source;
    for (unsigned i = 0; i < count && !source; ++i)
      source = unitReshape(op->getOperand(i));
    auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    if (!source || Dims(type.getShape()) != dimsOf(source.getOutput()))
      return mlir::failure();

    const Dims outside = dimsOf(source.getOutput()), inside = dimsOf(source.getInput1());
    const bool isBehindProduct =
        llvm::any_of(op->getOperands().take_front(count), [](mlir::Value operand) {
          tosa::ReshapeOp reshape = unitReshape(operand);
          return reshape && isOfProduct(reshape);
        });
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    llvm::SmallVector<Dims> views(count); // of the constants
    for (unsigned i = 0; i < count; ++i) {
      auto reshape = operands[i].getDefiningOp<tosa::ReshapeOp>();
      std::optional<Dims> view;
      if (reshape && dimsOf(reshape.getOutput()) == outside &&
          dimsOf(reshape.getInput1()) == inside) {
        operands[i] = reshape.getInput1();
        view = inside;
      } else if (constantElements(operands[i])) {
        view = inView(dimsOf(operands[i]), outside, inside);
      } else if (isBehindProduct && dimsOf(operands[i]) == outside) {
        view = inside;
      }
      if (!view)
        return mlir::failure();
      views[i] = *view;
    }
    for (unsigned i = 0; i < count; ++i)
      operands[i] = makeReshape(rewriter, op->getLoc(), operands[i], views[i]);
    mlir::Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(type.clone(inside));
    rewriter.replaceOp(op, makeReshape(rewriter, op->getLoc(), moved->getResult(0), outside));
    return mlir::success();
  }
};

} // namespace

void addReshapeSinking(mlir::RewritePatternSet &patterns) {
  patterns.add<ReshapeSinking>(patterns.getContext());
}

} // namespace tilewright

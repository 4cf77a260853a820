// What stands between an argument and the first convolution in NCHW cannot sink: the transpose
// moves up to the argument, so that pads and scales meet their convolution.
#include "dims.h"
#include "patterns.h"
#include "permutation.h"
#include "pointwise.h"
#include "tilewright/compiler/tosa/constants.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;

unsigned dataOperands(mlir::Operation *op) {
  return llvm::isa<tosa::PadOp>(op) ? 1 : pointwiseOperands(op);
}

// The one data operand that is no constant; null when there are more.
mlir::Value onlyVariable(mlir::Operation *op) {
  mlir::Value found;
  for (mlir::Value operand : op->getOperands().take_front(dataOperands(op))) {
    if (constantElements(operand))
      continue;
    if (found && found != operand)
      return {};
    found = operand;
  }
  return found;
}

bool comesFromArgument(mlir::Value value) {
  while (value && !llvm::isa<mlir::BlockArgument>(value)) {
    if (!value.hasOneUse())
      return false;
    value = onlyVariable(value.getDefiningOp());
  }
  return static_cast<bool>(value);
}

bool isAtBorder(tosa::TransposeOp op) {
  return llvm::all_of(op->getUsers(), [](mlir::Operation *user) {
    return user->hasTrait<mlir::OpTrait::IsTerminator>();
  });
}

mlir::LogicalResult hoist(tosa::TransposeOp op, mlir::PatternRewriter &rewriter) {
  if (isAtBorder(op)) // on the other side of the graph: no gain
    return mlir::failure();
  mlir::Operation *source = op.getInput1().getDefiningOp();
  Permutation perm(op.getPerms());
  if (!source || movesOnlyUnits(dimsOf(op.getInput1()), perm) || !comesFromArgument(op.getInput1()))
    return mlir::failure();
  std::optional<Dims> padding;
  if (llvm::isa<tosa::PadOp>(source)) {
    padding = constantIntegers(source->getOperand(1));
    if (!padding)
      return mlir::failure();
  }
  llvm::SmallVector<mlir::Value> operands(source->getOperands());
  for (mlir::Value &operand : llvm::MutableArrayRef(operands).take_front(dataOperands(source)))
    operand = makeTranspose(rewriter, op.getLoc(), operand, perm);
  if (padding) {
    Dims moved;
    for (int32_t from : perm)
      moved.append({(*padding)[size_t{2} * from], (*padding)[size_t{2} * from + 1]});
    operands[1] = makeShape(rewriter, source->getLoc(), moved);
  }
  mlir::Operation *moved = rewriter.clone(*source);
  moved->setOperands(operands);
  moved->getResult(0).setType(op.getType());
  rewriter.replaceOp(op, moved);
  return mlir::success();
}

} // namespace

void addTransposeHoisting(mlir::RewritePatternSet &patterns) { patterns.add(hoist); }

} // namespace tilewright

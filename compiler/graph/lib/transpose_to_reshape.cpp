#include "dims.h"
#include "patterns.h"
#include "permutation.h"
#include "tilewright/compiler/tosa/constants.h"

namespace tilewright {

static mlir::LogicalResult toReshape(mlir::tosa::TransposeOp op, mlir::PatternRewriter &rewriter) {
  if (!movesOnlyUnits(dimsOf(op.getInput1()), Permutation(op.getPerms())))
    return mlir::failure();
  rewriter.replaceOp(op,
                     makeReshape(rewriter, op.getLoc(), op.getInput1(), dimsOf(op.getOutput())));
  return mlir::success();
}

void addTransposeToReshape(mlir::RewritePatternSet &patterns) { patterns.add(toReshape); }

} // namespace tilewright

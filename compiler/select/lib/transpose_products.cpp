// One row times a transposed matrix is the matrix times a column: the transpose need not happen.
#include "fuse.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/IR/Builders.h"

#include <optional>

using namespace mlir;

namespace tilewright {
namespace {

// What a move transposes to [N,C,W]: a tensor of as many elements, [N,W,C] in order; null: none.
Value transposedFrom(Value value) {
  auto move = kernel::memoryOf(value).getDefiningOp<kernel::AssembleOp>();
  if (!move || move.getFill() || move.getRegions().size() != 1)
    return nullptr;
  const ArrayRef<int64_t> shape = shapeOf(value);
  const int64_t batch = shape[0], depth = shape[1], columns = shape[2];
  kernel::Region expected;
  expected.sizes = {batch, depth, columns};
  expected.sourceStrides = {depth * columns, 1, depth};
  expected.resultStrides = {depth * columns, columns, 1};
  const kernel::Region region = kernel::coalesce(*kernel::decode(move.getRegions()[0])),
                       wanted = kernel::coalesce(expected);
  Value source = move.getSources()[0];
  const bool isTransposed =
      region.sizes == wanted.sizes && region.sourceStrides == wanted.sourceStrides &&
      region.resultStrides == wanted.resultStrides && region.sourceOffset == 0 &&
      region.resultOffset == 0 && elementsOf(source) == elementsOf(value);
  return isTransposed ? source : Value();
}

} // namespace

void transposeProducts(Block &body) {
  for (Operation &each : llvm::make_early_inc_range(body)) {
    auto op = dyn_cast<kernel::MatMulOp>(each);
    if (!op || shapeOf(op.getA())[1] != 1)
      continue;
    Value matrix = transposedFrom(op.getB());
    if (!matrix)
      continue;
    OpBuilder builder(op);
    const ArrayRef<int64_t> shape = shapeOf(op.getB());
    const int64_t batch = shape[0], depth = shape[1], columns = shape[2];
    auto view = [&](Value value, ArrayRef<int64_t> as) -> Value {
      if (shapeOf(value) == as)
        return value;
      return kernel::ViewOp::create(builder, op.getLoc(),
                                    RankedTensorType::get(as, elementOf(value)), value);
    };
    Value product = kernel::MatMulOp::create(
        builder, op.getLoc(), RankedTensorType::get({batch, columns, 1}, elementOf(op.getResult())),
        view(matrix, {batch, columns, depth}), view(op.getA(), {batch, depth, 1}), op.getBZp(),
        op.getAZp());
    op.getResult().replaceAllUsesWith(view(product, {batch, 1, columns}));
    op.erase();
  }
}

} // namespace tilewright

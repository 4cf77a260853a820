#include "fuse.h"
#include "scale.h"

#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {
namespace {

// 8-bit elements, from which the product takes off their zero point.
struct Factor {
  Value source;
  int64_t zeroPoint = 0;
};

std::optional<Factor> factorOf(Value value) {
  if (kernel::RescaleOp wide = wideningOf(value))
    return Factor{wide.getX(), static_cast<int64_t>(wide.getInputZp())};
  if (cast<ShapedType>(value.getType()).getElementType().isSignlessInteger(8))
    return Factor{value, 0};
  return std::nullopt;
}

ArrayRef<int64_t> shapeOf(const Factor &factor) {
  return cast<RankedTensorType>(factor.source.getType()).getShape();
}

bool isComputed(const Factor &factor) {
  return !kernel::memoryOf(factor.source).getDefiningOp<tosa::ConstOp>();
}

// Whether `factor` has one element for each channel of `image`, which has several pixels.
bool isByChannel(const Factor &image, const Factor &factor) {
  ArrayRef<int64_t> whole = shapeOf(image), part = shapeOf(factor);
  return whole.size() == 4 && part.size() == 4 && whole[1] * whole[2] > 1 && part[0] == 1 &&
         part[1] == 1 && part[2] == 1 && part[3] == whole[3];
}

// The rescale to 8 bits that alone reads a product.
kernel::RescaleOp narrowingOf(kernel::BinaryOp product) {
  if (!product->hasOneUse())
    return nullptr;
  auto rescale = dyn_cast<kernel::RescaleOp>(*product->user_begin());
  const bool isNarrow = rescale && rescale.getInputZp() == 0 && !rescale.getInputUnsigned() &&
                        givesSigned(rescale) &&
                        rescale.getResult().getType().getElementType().isSignlessInteger(8);
  return isNarrow ? rescale : nullptr;
}

// Whether a convolution alone reads the result: then the product is made in a fused stack with it.
// By itself it is no faster so, and takes more memory.
bool feedsConvolution(kernel::RescaleOp narrowed) {
  return narrowed->hasOneUse() && llvm::isa<kernel::Conv2DOp>(*narrowed->user_begin());
}

Value zeroBias(OpBuilder &builder, Location location) {
  return makeIntegers(builder, location, {1}, 32, 0);
}

void fuse(kernel::BinaryOp product, const Factor &image, const Factor &factor) {
  OpBuilder builder(product);
  const int64_t channels = shapeOf(factor)[3];
  auto type = RankedTensorType::get({1, 1, channels, 1}, builder.getI8Type());
  Value weight = kernel::ViewOp::create(builder, factor.source.getLoc(), type, factor.source);
  Value result = kernel::DepthwiseOp::create(
      builder, product.getLoc(), product.getType(), image.source, weight,
      zeroBias(builder, product.getLoc()), ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0, 0, 0},
      ArrayRef<int64_t>{1, 1}, image.zeroPoint, factor.zeroPoint);
  product.replaceAllUsesWith(result);
  product.erase();
}

} // namespace

void fuseChannelProducts(Block &body, Selection *selection) {
  // A machine that takes two passes has other instructions that do as well.
  if (selection &&
      (!selection->has(isa::Role::Depthwise) || !selection->has(isa::Role::DepthwiseI8)))
    return;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto product = dyn_cast<kernel::BinaryOp>(op);
    if (!product || product.getFunction() != kernel::BinaryFunction::Mul || product.getShift() != 0)
      continue;
    kernel::RescaleOp narrowed = narrowingOf(product);
    if (!narrowed || !feedsConvolution(narrowed))
      continue;
    std::optional<Factor> a = factorOf(product.getA()), b = factorOf(product.getB());
    // A constant has no place in DRAM before it is read.
    if (!a || !b || !isComputed(*a) || !isComputed(*b))
      continue;
    if (isByChannel(*a, *b))
      fuse(product, *a, *b);
    else if (isByChannel(*b, *a))
      fuse(product, *b, *a);
  }
}

} // namespace tilewright

// A picture that comes channel by channel (NCHW) and is read pixel by pixel: loads put it in order
// an element a cycle, which may take longer than the convolution that reads it. Then the array does
// it, and loads move whole runs.
//
// So many pixels of a row as the array has rows are a product's operand, one channel after the
// other; weights of 0 and 1 put each pixel's channels beside each other. That is a convolution of
// as many taps as there are channels, whose sums are the elements themselves.
#include "fuse.h"

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
namespace {

// What a picture's transpose would be as products.
struct Shape {
  int64_t pixels, channels; // of the picture
  int64_t together;         // pixels of a product
};

// Of a picture, or of a part of it that a view shows.
std::optional<Shape> shapeOf(kernel::StridedViewOp view, int64_t rows) {
  const ArrayRef<int64_t> image = tilewright::shapeOf(view.getResult()),
                          strides = view.getStrides();
  const int64_t pixels = strides[3];
  const bool isPlanar = image[0] == 1 && image[3] > 1 && strides[1] > 0 && strides[2] == 1 &&
                        pixels > 0 && elementsOf(view.getX()) == pixels * image[3] &&
                        pixels % strides[1] == 0 && image[2] <= strides[1] &&
                        static_cast<int64_t>(view.getOffset()) < pixels;
  int64_t together = rows;
  while (isPlanar && pixels % together != 0)
    --together;
  return isPlanar ? std::optional(Shape{pixels, image[3], together}) : std::nullopt;
}

int64_t tiles(int64_t count, int64_t size) { return llvm::divideCeilSigned(count, size); }

// The vector unit's cycles of depthwise convolutions and pools that read what is made of the value
// alone: a fused stack has them beside the loads of the picture.
int64_t windowCycles(Value value, int64_t lanes) {
  llvm::SetVector<Value> made;
  made.insert(value);
  int64_t cycles = 0;
  for (size_t i = 0; i < made.size(); ++i)
    for (Operation *op : made[i].getUsers()) {
      if (llvm::isa<kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp>(op)) {
        auto depthwise = llvm::dyn_cast<kernel::DepthwiseOp>(op);
        const ArrayRef<int64_t> kernel =
            depthwise ? tilewright::shapeOf(depthwise.getWeight()).take_front(2)
                      : op->getAttrOfType<DenseI64ArrayAttr>("kernel").asArrayRef();
        const int64_t channels = tilewright::shapeOf(op->getResult(0)).back();
        cycles += elementsOf(op->getResult(0)) / channels * tiles(channels, lanes) * kernel[0] *
                  kernel[1];
        continue;
      }
      const bool isOwn = llvm::all_of(op->getOperands(), [&](Value operand) {
        return made.contains(operand) || operand.getDefiningOp<tosa::ConstOp>();
      });
      if (isOwn && op->getNumResults() == 1 && !llvm::isa<kernel::Conv2DOp>(op))
        made.insert(op->getResult(0));
    }
  return cycles;
}

// Whether loads take longer than all else and a layer more.
bool isWorthIt(const Shape &shape, kernel::Conv2DOp reader, const isa::Isa &isa) {
  constexpr int64_t start = 2000; // until a layer's units are at work
  const int64_t rows = isa.param("rows"), cols = isa.param("cols"), lanes = isa.param("lanes"),
                elements = shape.pixels * shape.channels;
  const ArrayRef<int64_t> weight = tilewright::shapeOf(reader.getWeight()),
                          result = tilewright::shapeOf(reader.getResult());
  const int64_t height = weight[1], width = weight[2], channels = weight[3],
                products = result[1] * result[2] * tiles(weight[0], cols), // of a fold
      windows = windowCycles(reader.getResult(), lanes);
  // Rows that two tiles of a convolution read come twice.
  const int64_t loaded = windows > 0 ? elements : elements + elements / 10;
  // The taps of a row are a fold's, or all taps are, which the vector unit puts together.
  const int64_t gathered = result[1] * (result[2] * reader.getStride()[1] + width) * height *
                           tiles(channels, lanes),
                byRows = std::max(products * height * tiles(width * channels, rows), windows),
                byWindows =
                    std::max(products * tiles(height * width * channels, rows), windows + gathered);
  const int64_t transposed = shape.pixels / shape.together * shape.channels *
                             tiles(shape.channels * shape.together, cols),
                moved = 5 * elements /
                        (2 * isa.param("bus_bytes")); // there and back, with what it waits
  return std::min(byRows, byWindows) + std::max(transposed, moved) + start < loaded;
}

Value transposed(OpBuilder &builder, const Shape &shape, kernel::StridedViewOp view) {
  const Location location = view.getLoc();
  const auto type = [&](ArrayRef<int64_t> dims, unsigned bits) {
    return RankedTensorType::get(dims, builder.getIntegerType(bits));
  };
  const int64_t products = shape.pixels / shape.together, wide = shape.channels * shape.together;
  SmallVector<int64_t> weights(static_cast<size_t>(wide * wide),
                               0); // [pixel, channel][channel][pixel]
  for (int64_t i = 0; i < wide; ++i)
    weights[static_cast<size_t>(i * wide + i % shape.channels * shape.together +
                                i / shape.channels)] = 1;
  Value planes = kernel::ViewOp::create(
      builder, location, type({1, shape.channels, products, shape.together}, 8), view.getX());
  Value sums = kernel::Conv2DOp::create(
      builder, location, type({1, 1, products, wide}, 32), planes,
      makeIntegers(builder, location, {wide, shape.channels, 1, shape.together}, 8, weights),
      makeIntegers(builder, location, {1}, 32, 0), ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{0, 0, 0, 0}, ArrayRef<int64_t>{1, 1}, 0, 0);
  constexpr int64_t one = 30; // binary digits of a multiplier's fraction
  Value narrow = kernel::RescaleOp::create(
      builder, location, type({1, 1, products, wide}, 8), sums,
      makeIntegers(builder, location, {1}, 32, int64_t(1) << one),
      makeIntegers(builder, location, {1}, 8, one), 0, 0, INT8_MIN, INT8_MAX, false);
  const int64_t row = view.getStrides()[1];
  const auto whole = type({1, shape.pixels / row, row, shape.channels}, 8);
  Value picture = kernel::ViewOp::create(builder, location, whole, narrow);
  if (whole == view.getResult().getType())
    return picture;
  return kernel::StridedViewOp::create(
      builder, location, view.getResult().getType(), picture, view.getOffset() * shape.channels,
      ArrayRef<int64_t>{0, row * shape.channels, shape.channels, 1});
}

} // namespace

void transposeOnArray(Block &body, const Selection &selection) {
  const isa::Isa &isa = selection.isa();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto view = llvm::dyn_cast<kernel::StridedViewOp>(op);
    auto reader = view && view.getResult().hasOneUse()
                      ? llvm::dyn_cast<kernel::Conv2DOp>(*view.getResult().user_begin())
                      : kernel::Conv2DOp();
    const std::optional<Shape> shape =
        reader ? shapeOf(view, isa.param("rows")) : std::optional<Shape>();
    if (!shape || !isWorthIt(*shape, reader, isa))
      continue;
    OpBuilder builder(view);
    view.getResult().replaceAllUsesWith(transposed(builder, *shape, view));
    view.erase();
  }
}

} // namespace tilewright

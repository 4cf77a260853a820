// Channels that are no multiple of the array's columns leave some of them empty: 24 channels on 16
// columns take as long as 32. Several pixels of a row are then one pixel of as many times the
// channels, which stands where they stand. Its window holds theirs; outside a pixel's own window
// its weights are zero, and squares that hold only zeros are left out.
//
// Of two pixels of 24 channels the first square of columns is the first one's, the last one the
// second one's, and between them is one of both. Windows of 3 taps a row become one of 4, of which
// the squares need 3, 4 and 3: 10 in place of 12.
#include "fuse.h"

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return llvm::divideCeilSigned(a, b); }

// A convolution, and what is alike for any number of pixels.
struct Shape {
  int64_t pixels; // of the result
  int64_t height, width, inputChannels, outputChannels, stride;
  int64_t weightBytes(int64_t together) const {
    return together * outputChannels * height * kernelWidth(together) * inputChannels;
  }
  int64_t kernelWidth(int64_t together) const { return width + (together - 1) * stride; }
};

Shape describe(kernel::Conv2DOp conv) {
  const ArrayRef<int64_t> result = shapeOf(conv.getResult()), weight = shapeOf(conv.getWeight());
  return {result[0] * result[1] * result[2],
          weight[1],
          weight[2],
          weight[3],
          weight[0],
          conv.getStride()[1]};
}

// Cycles of the array: of each square of columns the squares of weights that are not all zero,
// where rows of the array are channels of a tap, or of taps beside each other.
int64_t arrayCycles(const Shape &shape, int64_t together, int64_t rows, int64_t cols) {
  const int64_t columns = together * shape.outputChannels,
                slices = ceilDiv(shape.inputChannels, rows);
  int64_t apart = 0, merged = 0;
  for (int64_t column = 0; column < columns; column += cols) {
    const int64_t last = std::min(columns, column + cols) - 1,
                  begin = column / shape.outputChannels * shape.stride,
                  end = last / shape.outputChannels * shape.stride + shape.width;
    apart += (end - begin) * slices;
    merged += ceilDiv(end * shape.inputChannels, rows) - begin * shape.inputChannels / rows;
  }
  return std::min(apart, merged) * shape.height * (shape.pixels / together);
}

bool isScattered(Value image) {
  auto view = image.getDefiningOp<kernel::StridedViewOp>();
  return view && view.getStrides()[3] != 1;
}

// How many pixels come together; 1: it stays as it is.
int64_t pixelsTogether(kernel::Conv2DOp conv, const Shape &shape, const isa::Isa &isa) {
  // Parts of the time: what is less is lost on weights and on edges.
  constexpr int64_t leastGain = 16;
  const int64_t rows = isa.param("rows"), cols = isa.param("cols"), bus = isa.param("bus_bytes"),
                width = shapeOf(conv.getResult())[2], before = arrayCycles(shape, 1, rows, cols);
  // What loads take: an element a cycle, or as many as the bus holds.
  const int64_t image = elementsOf(conv.getX()) / (isScattered(conv.getX()) ? 1 : bus),
                moved = image + elementsOf(conv.getResult()) / bus;
  if (before <= moved)
    return 1;
  int64_t best = 1, least = before;
  for (int64_t together = 2; together <= cols; ++together) {
    if (width % together != 0)
      continue;
    const int64_t cycles = arrayCycles(shape, together, rows, cols) +
                           (shape.weightBytes(together) - shape.weightBytes(1)) / bus;
    if (before - cycles >= ceilDiv(before, leastGain) && cycles < least)
      best = together, least = cycles;
  }
  return best;
}

// Whether the array leaves out squares of weights as they are: a convolution in groups.
bool hasZeroSquares(kernel::Conv2DOp conv, const Shape &shape, int64_t rows, int64_t cols) {
  const auto zero = static_cast<int8_t>(conv.getWeightZp());
  const int64_t taps = shape.height * shape.width, slices = ceilDiv(shape.inputChannels, rows);
  llvm::BitVector filled(
      static_cast<unsigned>(ceilDiv(shape.outputChannels, cols) * taps * slices));
  for (const auto &[at, weight] :
       llvm::enumerate(constantElements(conv.getWeight()).getValues<int8_t>())) {
    const auto place = static_cast<int64_t>(at), channel = place % shape.inputChannels,
               tap = place / shape.inputChannels % taps,
               column = place / (shape.inputChannels * taps) / cols;
    if (weight != zero)
      filled.set(static_cast<unsigned>((column * taps + tap) * slices + channel / rows));
  }
  return !filled.all();
}

// [channel][ky][kx][input channel]: each pixel's window at its place; `areChannels`: of one tap,
// the pixels' channels are the image's.
Value weightsOf(OpBuilder &builder, kernel::Conv2DOp conv, const Shape &shape, int64_t together,
                bool areChannels) {
  const SmallVector<int64_t> weights = *constantIntegers(conv.getWeight());
  const int64_t width = shape.kernelWidth(together), run = shape.width * shape.inputChannels,
                wide = width * shape.inputChannels, rows = shape.outputChannels * shape.height;
  SmallVector<int64_t> all(static_cast<size_t>(together * rows * wide),
                           static_cast<int64_t>(conv.getWeightZp()));
  for (int64_t pixel = 0; pixel < together; ++pixel)
    for (int64_t row = 0; row < rows; ++row)
      llvm::copy(ArrayRef(weights).slice(static_cast<size_t>(row * run), static_cast<size_t>(run)),
                 all.begin() + (pixel * rows + row) * wide +
                     pixel * shape.stride * shape.inputChannels);
  return makeIntegers(builder, conv.getLoc(),
                      {together * shape.outputChannels, shape.height, areChannels ? 1 : width,
                       areChannels ? wide : shape.inputChannels},
                      8, all);
}

class Group {
public:
  Group(kernel::GroupOp group, kernel::Conv2DOp conv)
      : group_(group), conv_(conv), type_(tensorType(conv.getResult())) {}

  // Whether its operations take each pixel and each channel by itself.
  bool mayBeTogether() {
    for (Operation &op : group_.getBody().front().without_terminator()) {
      if (&op == conv_.getOperation())
        continue;
      if (!llvm::isa<kernel::RescaleOp, kernel::TableOp, kernel::UnaryOp, kernel::BinaryOp,
                     kernel::AddI8Op, kernel::MulI8Op>(op) ||
          !isWhole(op.getResult(0)))
        return false;
      for (Value operand : op.getOperands())
        if (!isInside(operand) && !isWhole(operand) && !constantElements(operand))
          return false;
    }
    return true;
  }

  // Whether the result may stand in memory as pixels that come together make it. Behind another one
  // moves may take parts of its channels, as those of a transposed convolution do.
  bool mayBeStored(bool isBehind) {
    return llvm::all_of(group_.getResult().getUsers(),
                        [&](Operation *reader) { return goesOn(reader, isBehind); });
  }

  // The group that alone reads the result: a convolution of one tap, which may be in one fused
  // stack with this one.
  std::optional<Group> behind() {
    if (!group_.getResult().hasOneUse())
      return std::nullopt;
    auto conv = llvm::dyn_cast<kernel::Conv2DOp>(*group_.getResult().user_begin());
    const bool isPointwise =
        conv && shapeOf(conv.getWeight())[1] == 1 && shapeOf(conv.getWeight())[2] == 1 &&
        shapeOf(conv.getResult()).drop_back() == shapeOf(conv.getX()).drop_back() &&
        &conv->getBlock()->front() == conv;
    if (!isPointwise)
      return std::nullopt;
    return Group(llvm::cast<kernel::GroupOp>(conv->getParentOp()), conv);
  }

  kernel::Conv2DOp conv() const { return conv_; }

  // `image`: of as many pixels together; null: as it was.
  Value put(const Shape &shape, int64_t together, Value image = nullptr) {
    OpBuilder builder(group_);
    together_ = together;
    IRMapping known;
    auto created = kernel::GroupOp::create(builder, group_.getLoc(), wide(group_.getResult()));
    builder.setInsertionPointAfter(created);
    Value result = kernel::ViewOp::create(builder, group_.getLoc(), group_.getResult().getType(),
                                          created.getResult());
    OpBuilder inside(group_.getContext());
    inside.createBlock(&created.getBody());
    builder.setInsertionPoint(created);
    for (Operation &op : group_.getBody().front()) {
      for (Value operand : op.getOperands())
        if (!known.contains(operand) && &op != conv_.getOperation())
          known.map(operand, operandOf(builder, operand));
      if (&op == conv_.getOperation()) {
        known.map(conv_.getResult(), convolution(builder, inside, shape, image));
        continue;
      }
      Operation *clone = inside.clone(op, known);
      if (clone->getNumResults() == 1)
        clone->getResult(0).setType(wide(op.getResult(0)));
    }
    group_.getResult().replaceAllUsesWith(result);
    group_.erase();
    return created.getResult();
  }

private:
  bool isInside(Value value) {
    Operation *made = value.getDefiningOp();
    return made && made->getParentOp() == group_.getOperation();
  }
  bool isWhole(Value value) const { return shapeOf(value) == type_.getShape(); }

  // What is not stored where its pixels would be apart, and may be no layer of a fused stack.
  bool goesOn(Operation *reader, bool isBehind) const {
    if (llvm::isa<kernel::ViewOp>(reader))
      return llvm::all_of(reader->getUsers(),
                          [&](Operation *each) { return goesOn(each, isBehind); });
    if (auto move = llvm::dyn_cast<kernel::AssembleOp>(reader))
      return isBehind && llvm::all_of(move.getRegions(), [&](Attribute attribute) {
               const kernel::Region region = *kernel::decode(attribute);
               const int64_t channels = type_.getShape().back(), run = region.sizes.back();
               return region.sourceStrides.back() == 1 && region.resultStrides.back() == 1 &&
                      run < channels && channels % run == 0;
             });
    auto group = llvm::dyn_cast<kernel::GroupOp>(reader->getParentOp());
    return !group || !llvm::isa<kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp>(reader);
  }

  RankedTensorType wide(Value value) const {
    const RankedTensorType type = tensorType(value);
    const ArrayRef<int64_t> shape = type.getShape();
    return type.clone({shape[0], shape[1], shape[2] / together_, shape[3] * together_});
  }

  // Of each channel, or of all.
  Value repeated(OpBuilder &builder, Value constant) const {
    const RankedTensorType type = tensorType(constant);
    SmallVector<int64_t> shape(type.getShape());
    if (shape.empty() || shape.back() != type_.getShape().back() || shape.back() == 1)
      return constant;
    SmallVector<int64_t> all;
    for (int64_t pixel = 0; pixel < together_; ++pixel)
      llvm::append_range(all, *constantIntegers(constant));
    shape.back() *= together_;
    return makeConstant(builder, constant.getLoc(), integerElements(type.clone(shape), all));
  }

  Value operandOf(OpBuilder &builder, Value operand) const {
    if (isWhole(operand) && !constantElements(operand))
      return kernel::ViewOp::create(builder, operand.getLoc(), wide(operand), operand);
    return constantElements(operand) ? repeated(builder, operand) : operand;
  }

  Value convolution(OpBuilder &builder, OpBuilder &inside, const Shape &shape, Value image) {
    const int64_t stride[] = {conv_.getStride()[0], image ? 1 : shape.stride * together_};
    return kernel::Conv2DOp::create(
        inside, conv_.getLoc(), wide(conv_.getResult()), image ? image : conv_.getX(),
        weightsOf(builder, conv_, shape, together_, image != nullptr),
        repeated(builder, conv_.getBias()), stride, conv_.getPad(), conv_.getDilation(),
        conv_.getInputZp(), conv_.getWeightZp(), together_);
  }

  kernel::GroupOp group_;
  kernel::Conv2DOp conv_;
  RankedTensorType type_;
  int64_t together_ = 1;
};

} // namespace

void putPixelsTogether(Block &body, const Selection &selection) {
  const int64_t rows = selection.isa().param("rows"), cols = selection.isa().param("cols");
  const SmallVector<kernel::GroupOp> groups(body.getOps<kernel::GroupOp>());
  llvm::SmallPtrSet<Operation *, 4> gone; // with the convolution before them
  for (kernel::GroupOp group : groups) {
    if (gone.contains(group))
      continue;
    auto conv = llvm::dyn_cast<kernel::Conv2DOp>(group.getBody().front().front());
    if (!conv || conv.getDilation()[1] != 1)
      continue;
    const Shape shape = describe(conv);
    const int64_t together = pixelsTogether(conv, shape, selection.isa());
    if (together == 1 || hasZeroSquares(conv, shape, rows, cols))
      continue;
    Group maker(group, conv);
    std::optional<Group> reader = maker.behind();
    if (!maker.mayBeTogether() ||
        !(reader ? reader->mayBeTogether() && reader->mayBeStored(true) : maker.mayBeStored(false)))
      continue;
    if (!reader) {
      maker.put(shape, together);
      continue;
    }
    const Shape behind = describe(reader->conv());
    if (hasZeroSquares(reader->conv(), behind, rows, cols) ||
        arrayCycles(behind, together, rows, cols) > arrayCycles(behind, 1, rows, cols))
      continue;
    gone.insert(reader->conv()->getParentOp());
    const Value image = maker.put(shape, together);
    reader->put(behind, together, image);
  }
}

} // namespace tilewright

// Channels between two convolutions, in an order in which more of the array's squares hold nothing
// but zeros, which the schedule leaves out: a shuffle between groups fills nearly all squares of
// the convolution behind it where the channels stand as the one before makes them, and nearly all
// squares of that where they stand as the one behind reads them.
//
//  1. A convolution, what takes each channel by itself, and a convolution; nobody else reads what
//     is between them.
//  2. What squares a channel needs: those of the weights that make it, those of the weights that
//     read it.
//  3. All constants of each channel take the order.
#include "channel_tiles.h"
#include "fuse.h"

#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <numeric>

using namespace mlir;

namespace tilewright {
namespace {

// A part of so many of the cost: below it an order is chance, such as weights that happen to be 0.
constexpr int64_t leastGain = 32;

// A constant, and which dimension of it counts channels.
struct ByChannel {
  OpOperand *constant;
  unsigned dim;
};

// What stands between two convolutions.
struct Stretch {
  kernel::Conv2DOp maker, reader;
  SmallVector<ByChannel> constants; // the maker's and the reader's too
};

bool isConstantOf(Value value, unsigned dim, int64_t channels) {
  return constantElements(value) && shapeOf(value)[dim] == channels;
}

// Takes in a constant of each channel, or of all. False: it is something else.
bool take(Stretch &stretch, OpOperand &operand, unsigned dim, int64_t channels) {
  if (isConstantOf(operand.get(), dim, channels))
    stretch.constants.push_back({&operand, dim});
  else if (!constantElements(operand.get()) || shapeOf(operand.get())[dim] != 1)
    return false;
  return true;
}

// Takes in what reads `value`, channel by channel. Null: it does not go so.
Value pass(Stretch &stretch, Operation *op, Value value, int64_t channels) {
  if (op->getOperand(0) != value)
    return nullptr;
  bool passes =
      llvm::isa<kernel::TableOp, kernel::UnaryOp, kernel::MaxPoolOp, kernel::AvgPoolOp>(op);
  if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op))
    passes = take(stretch, rescale.getMultiplierMutable(), 0, channels) &&
             take(stretch, rescale.getShiftMutable(), 0, channels);
  if (auto depthwise = llvm::dyn_cast<kernel::DepthwiseOp>(op))
    passes = shapeOf(depthwise.getWeight())[3] == 1 &&
             take(stretch, depthwise.getWeightMutable(), 2, channels) &&
             take(stretch, depthwise.getBiasMutable(), 0, channels);
  return passes ? op->getResult(0) : Value();
}

std::optional<Stretch> stretchFrom(kernel::Conv2DOp maker) {
  const int64_t channels = shapeOf(maker.getResult())[3];
  Stretch stretch{maker, nullptr, {}};
  if (!isConstantOf(maker.getWeight(), 0, channels) ||
      !take(stretch, maker.getWeightMutable(), 0, channels) ||
      !take(stretch, maker.getBiasMutable(), 0, channels))
    return std::nullopt;
  for (Value value = maker.getResult(); value && value.hasOneUse();) {
    Operation *op = *value.user_begin();
    stretch.reader = llvm::dyn_cast<kernel::Conv2DOp>(op);
    if (!stretch.reader) {
      value = pass(stretch, op, value, channels);
      continue;
    }
    const bool ends = stretch.reader.getX() == value &&
                      isConstantOf(stretch.reader.getWeight(), 3, channels) &&
                      take(stretch, stretch.reader.getWeightMutable(), 3, channels);
    return ends ? std::optional(stretch) : std::nullopt;
  }
  return std::nullopt;
}

// By channel the squares of a convolution's weights [output][ky][kx][input] in which it has others
// than zeros. `across`: which other dimension is cut, into slices of so many.
ChannelNeeds squaresOf(kernel::Conv2DOp conv, unsigned dim, unsigned across, int64_t tile,
                       int64_t slice) {
  const ArrayRef<int64_t> shape = shapeOf(conv.getWeight());
  const int64_t taps = shape[1] * shape[2], slices = llvm::divideCeilSigned(shape[across], slice);
  ChannelNeeds needs{tile, elementsOf(conv.getResult()) / shape[0],
                     std::vector(static_cast<size_t>(shape[dim]),
                                 llvm::BitVector(static_cast<unsigned>(taps * slices)))};
  const auto zero = static_cast<int8_t>(conv.getWeightZp());
  int64_t at = 0;
  for (int8_t weight : constantElements(conv.getWeight()).getValues<int8_t>()) {
    const int64_t place[] = {at / (taps * shape[3]), 0, 0, at % shape[3]},
                  tap = at / shape[3] % taps;
    if (weight != zero)
      needs.of[static_cast<size_t>(place[dim])].set(
          static_cast<unsigned>(tap * slices + place[across] / slice));
    ++at;
  }
  return needs;
}

void put(const Stretch &stretch, ArrayRef<int64_t> order) {
  for (const ByChannel &each : stretch.constants) {
    OpBuilder builder(each.constant->getOwner());
    Value constant = each.constant->get();
    const RankedTensorType type = tensorType(constant);
    const SmallVector<int64_t> elements = *constantIntegers(constant);
    each.constant->set(makeConstant(
        builder, constant.getLoc(),
        integerElements(type, inOrder(ArrayRef(elements), type.getShape(), each.dim, order))));
  }
}

} // namespace

void orderChannels(Block &body, const Selection &selection) {
  const int64_t rows = selection.isa().param("rows"), cols = selection.isa().param("cols");
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto maker = llvm::dyn_cast<kernel::Conv2DOp>(op);
    const std::optional<Stretch> stretch = maker ? stretchFrom(maker) : std::nullopt;
    if (!stretch)
      continue;
    const ChannelNeeds needs[] = {squaresOf(stretch->maker, 0, 3, cols, rows),
                                  squaresOf(stretch->reader, 3, 0, rows, cols)};
    const std::vector<int64_t> order = cheapOrder(needs);
    std::vector<int64_t> own(order.size());
    std::iota(own.begin(), own.end(), 0);
    const int64_t cost = costOf(needs, own);
    if (cost - costOf(needs, order) >= llvm::divideCeilSigned(cost, leastGain))
      put(*stretch, order);
  }
}

} // namespace tilewright

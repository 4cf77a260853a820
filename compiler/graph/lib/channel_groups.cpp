// Convolutions in groups, and the shuffles between them.
//
//  1. Convolutions side by side, each of some channels of an image, become one whose weights are
//     zero between the groups: the schedule leaves zeros out. Where they would be many, groups are
//     put together as far as they may.
//  2. Reshapes and transposes that only put channels into another order go: the weights that read
//     these channels, past what takes each channel by itself, take the order; or else those that
//     make them.
#include "dims.h"
#include "patterns.h"
#include "permutation.h"
#include "pointwise.h"
#include "tilewright/compiler/tosa/constants.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;

constexpr int64_t mostWeights = 1 << 16; // of a convolution that groups are put together to

// The first channel of the slice of `whole` that a convolution reads, with all of its pixels.
std::optional<int64_t> firstChannelOf(tosa::Conv2DOp conv, mlir::Value whole) {
  auto slice = conv.getInput().getDefiningOp<tosa::SliceOp>();
  const std::optional<Dims> start = slice ? constantIntegers(slice.getStart()) : std::nullopt;
  if (!start || slice.getInput1() != whole)
    return std::nullopt;
  const Dims part = dimsOf(conv.getInput()), all = dimsOf(whole);
  if (llvm::ArrayRef(part).drop_back() != llvm::ArrayRef(all).drop_back())
    return std::nullopt;
  return start->back();
}

bool areAlike(tosa::Conv2DOp one, tosa::Conv2DOp other) {
  return one.getPad() == other.getPad() && one.getStride() == other.getStride() &&
         one.getDilation() == other.getDilation() && one.getInputZp() == other.getInputZp() &&
         one.getWeightZp() == other.getWeightZp() &&
         dimsOf(one.getWeight()) == dimsOf(other.getWeight());
}

template <typename Conv> bool hasConstants(Conv conv) {
  return constantElements(conv.getWeight()) && constantElements(conv.getBias());
}

// The convolutions that are put together, one for each group; none: they are something else.
std::vector<tosa::Conv2DOp> groupsOf(tosa::ConcatOp op) {
  std::vector<tosa::Conv2DOp> groups;
  mlir::Value whole;
  for (mlir::Value part : op.getInput1()) {
    auto conv = part.getDefiningOp<tosa::Conv2DOp>();
    auto slice = conv ? conv.getInput().getDefiningOp<tosa::SliceOp>() : nullptr;
    if (!slice || !part.hasOneUse() || !hasConstants(conv))
      return {};
    if (groups.empty())
      whole = slice.getInput1();
    const int64_t first = static_cast<int64_t>(groups.size()) * dimsOf(conv.getWeight()).back();
    if (firstChannelOf(conv, whole) != first || (!groups.empty() && !areAlike(groups[0], conv)))
      return {};
    groups.push_back(conv);
  }
  const bool areAll = groups.size() > 1 && op.getAxis() == 3 &&
                      static_cast<int64_t>(groups.size()) * dimsOf(groups[0].getWeight()).back() ==
                          dimsOf(whole).back();
  return areAll ? groups : std::vector<tosa::Conv2DOp>();
}

// Of so many groups the convolution that they are together.
mlir::Value merged(PatternRewriter &rewriter, llvm::ArrayRef<tosa::Conv2DOp> groups) {
  tosa::Conv2DOp like = groups.front();
  const Dims dims = dimsOf(like.getWeight()); // OC, KH, KW, IC of a group
  const auto count = static_cast<int64_t>(groups.size());
  Dims all = dims, image = dimsOf(like.getInput()), result = dimsOf(like.getOutput());
  all.front() *= count, all.back() *= count;
  std::vector<float> weights(static_cast<size_t>(
      std::accumulate(all.begin(), all.end(), int64_t(1), std::multiplies<>()))),
      bias;
  for (size_t group = 0; group < groups.size(); ++group) {
    tosa::Conv2DOp conv = groups[group];
    const std::vector<float> own = *constantFloats(conv.getWeight()),
                             ownBias = *constantFloats(conv.getBias());
    auto from = own.begin();
    for (int64_t row = 0; row < dims[0] * dims[1] * dims[2]; ++row, from += dims[3])
      std::copy(from, from + dims[3],
                weights.begin() +
                    ((static_cast<int64_t>(group) * dims[0] * dims[1] * dims[2] + row) * count +
                     static_cast<int64_t>(group)) *
                        dims[3]);
    for (int64_t channel = 0; channel < dims[0]; ++channel)
      bias.push_back(ownBias[ownBias.size() == 1 ? 0 : static_cast<size_t>(channel)]);
  }
  const mlir::Location location = like.getLoc();
  auto slice = like.getInput().getDefiningOp<tosa::SliceOp>();
  mlir::Value input = slice.getInput1();
  image.back() *= count, result.back() *= count;
  if (dimsOf(input) != image)
    input = tosa::SliceOp::create(rewriter, location,
                                  llvm::cast<mlir::RankedTensorType>(input.getType()).clone(image),
                                  input, slice.getStart(), makeShape(rewriter, location, image));
  return tosa::Conv2DOp::create(
      rewriter, location, mlir::RankedTensorType::get(result, rewriter.getF32Type()), input,
      makeFloats(rewriter, location, all, weights),
      makeFloats(rewriter, location, {static_cast<int64_t>(bias.size())}, bias), like.getInputZp(),
      like.getWeightZp(), like.getPadAttr(), like.getStrideAttr(), like.getDilationAttr(),
      like.getAccTypeAttr(), like.getLocalBoundAttr());
}

LogicalResult mergeGroups(tosa::ConcatOp op, PatternRewriter &rewriter) {
  if (!isFloat32(op.getOutput()))
    return failure();
  const std::vector<tosa::Conv2DOp> groups = groupsOf(op);
  if (groups.empty())
    return failure();
  const auto count = static_cast<int64_t>(groups.size());
  const int64_t weights =
      llvm::cast<mlir::ShapedType>(tosa::Conv2DOp(groups[0]).getWeight().getType())
          .getNumElements(); // of a group
  // Zeros between groups come from DRAM as well: no more of them than the image has elements.
  const int64_t image = llvm::cast<mlir::ShapedType>(op.getOutput().getType()).getNumElements();
  auto mayBe = [&](int64_t parts) {
    const int64_t together = count / parts, all = together * together * weights;
    return count % parts == 0 && all <= mostWeights && parts * (all - together * weights) <= image;
  };
  int64_t parts = 1;
  while (!mayBe(parts))
    if (++parts >= count)
      return failure();
  llvm::SmallVector<mlir::Value> results;
  for (int64_t part = 0; part < parts; ++part)
    results.push_back(
        merged(rewriter, llvm::ArrayRef(groups).slice(static_cast<size_t>(part * (count / parts)),
                                                      static_cast<size_t>(count / parts))));
  if (parts == 1)
    rewriter.replaceOp(op, results.front());
  else
    rewriter.modifyOpInPlace(op, [&] { op.getInput1Mutable().assign(results); });
  return success();
}

// What may be an image's channels in another order, [N,H,W,C] as before.
struct Shuffle {
  mlir::Value image;                              // null: it is none
  llvm::SmallVector<mlir::Operation *> pointwise; // on the way, the last one first
  std::vector<mlir::Operation *> moves;
};

// Element for element: where the result of reshapes and transposes comes from.
std::vector<int64_t> originsOf(const std::vector<mlir::Operation *> &moves, int64_t count) {
  std::vector<int64_t> origins(static_cast<size_t>(count));
  std::iota(origins.begin(), origins.end(), 0);
  for (mlir::Operation *op : moves) {
    auto transpose = llvm::dyn_cast<tosa::TransposeOp>(op);
    if (!transpose)
      continue;
    const Dims from = dimsOf(transpose.getInput1()), to = dimsOf(transpose.getOutput());
    Dims strides(from.size(), 1), place(to.size(), 0);
    for (size_t d = from.size() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * from[d];
    std::vector<int64_t> moved;
    moved.reserve(origins.size());
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < to.size(); ++d)
        at += place[d] * strides[static_cast<size_t>(transpose.getPerms()[d])];
      moved.push_back(origins[static_cast<size_t>(at)]);
      for (size_t d = to.size(); d > 0; --d) {
        if (++place[d - 1] < to[d - 1])
          break;
        place[d - 1] = 0;
      }
    }
    origins = std::move(moved);
  }
  return origins;
}

// What a value may be a shuffle of, backwards through what is read once.
Shuffle shuffleOf(mlir::Value value) {
  const Dims dims = dimsOf(value);
  Shuffle shuffle;
  bool divides = false; // the channels
  for (mlir::Value at = value; at == value || at.hasOneUse();) {
    mlir::Operation *op = at.getDefiningOp();
    if (llvm::isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp>(op))
      shuffle.moves.insert(shuffle.moves.begin(), op);
    else if (op && at != value && pointwiseOperands(op) == 1)
      shuffle.pointwise.push_back(op);
    else
      break;
    divides |= dimsOf(at).size() > dims.size();
    at = op->getOperand(0);
    if (dimsOf(at) == dims && divides && llvm::isa<tosa::TransposeOp>(op)) {
      shuffle.image = at;
      break;
    }
  }
  return shuffle;
}

// By channel of the result, the image's; nothing where more than channels move.
std::optional<llvm::SmallVector<int64_t>> orderOf(const Shuffle &shuffle) {
  const Dims dims = dimsOf(shuffle.image);
  const int64_t channels = dims.back(),
                count = std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
  const std::vector<int64_t> origins = originsOf(shuffle.moves, count);
  llvm::SmallVector<int64_t> from(origins.begin(), origins.begin() + channels);
  for (int64_t i = 0; i < count; ++i)
    if (origins[static_cast<size_t>(i)] !=
        i / channels * channels + from[static_cast<size_t>(i % channels)])
      return std::nullopt;
  return from;
}

mlir::Value inOrder(PatternRewriter &rewriter, mlir::Value constant, size_t dim,
                    llvm::ArrayRef<int64_t> from) {
  const Dims dims = dimsOf(constant);
  if (dims[dim] == 1)
    return constant;
  const std::vector<float> values = *constantFloats(constant);
  return makeFloats(rewriter, constant.getLoc(), dims,
                    tilewright::inOrder(llvm::ArrayRef(values), dims, dim, from));
}

// The channels that a convolution makes, which are dimension `dim` of its weights.
template <typename Conv>
void putInOrder(PatternRewriter &rewriter, Conv conv, size_t dim, llvm::ArrayRef<int64_t> from) {
  rewriter.setInsertionPoint(conv);
  mlir::Value weights = inOrder(rewriter, conv.getWeight(), dim, from),
              bias = inOrder(rewriter, conv.getBias(), 0, from);
  rewriter.modifyOpInPlace(conv, [&] {
    conv.getWeightMutable().assign(weights);
    conv.getBiasMutable().assign(bias);
  });
}

bool isPool(mlir::Operation *op) { return llvm::isa<tosa::MaxPool2dOp, tosa::AvgPool2dOp>(op); }

bool isDepthwise(mlir::Operation *op) {
  auto conv = llvm::dyn_cast<tosa::DepthwiseConv2DOp>(op);
  return conv && dimsOf(conv.getWeight()).back() == 1 && hasConstants(conv);
}

// Operands that are channel by channel what their operation's result is.
llvm::SmallVector<mlir::OpOperand *> dataOf(mlir::Operation *op) {
  llvm::SmallVector<mlir::OpOperand *> data;
  const unsigned count = isPool(op) || isDepthwise(op) ? 1 : pointwiseOperands(op);
  for (unsigned i = 0; i < count; ++i)
    data.push_back(&op->getOpOperand(i));
  return data;
}

// What reads a shuffled image, and takes another order instead.
class Readers {
public:
  explicit Readers(mlir::Value value) { values_.insert(value); }

  // Whether all that is read ends in weights.
  bool find() {
    for (size_t i = 0; i < values_.size(); ++i)
      for (mlir::OpOperand &use : values_[i].getUses()) {
        mlir::Operation *op = use.getOwner();
        auto conv = llvm::dyn_cast<tosa::Conv2DOp>(op);
        if (conv && use.getOperandNumber() == 0 && constantElements(conv.getWeight()))
          ends_.insert(conv);
        else if (llvm::is_contained(dataOf(op), &use))
          between_.insert(op), values_.insert(op->getResult(0));
        else
          return false;
      }
    return !ends_.empty() && llvm::all_of(between_, [&](mlir::Operation *op) {
      return llvm::all_of(dataOf(op), [&](mlir::OpOperand *operand) {
        return values_.contains(operand->get()) || dimsOf(operand->get()).back() == 1 ||
               constantElements(operand->get());
      });
    });
  }

  // `from`: where each channel of the shuffled image comes from.
  void rewrite(PatternRewriter &rewriter, llvm::ArrayRef<int64_t> from) {
    llvm::SmallVector<int64_t> back(from.size());
    for (auto [to, origin] : llvm::enumerate(from))
      back[static_cast<size_t>(origin)] = static_cast<int64_t>(to);
    for (tosa::Conv2DOp conv : ends_) {
      rewriter.setInsertionPoint(conv);
      mlir::Value weights = inOrder(rewriter, conv.getWeight(), 3, back);
      rewriter.modifyOpInPlace(conv, [&] { conv.getWeightMutable().assign(weights); });
    }
    for (mlir::Operation *op : between_)
      order(rewriter, op, back);
  }

private:
  // Constants of each channel.
  static void order(PatternRewriter &rewriter, mlir::Operation *op, llvm::ArrayRef<int64_t> back) {
    if (auto conv = llvm::dyn_cast<tosa::DepthwiseConv2DOp>(op))
      return putInOrder(rewriter, conv, 2, back);
    rewriter.setInsertionPoint(op);
    for (mlir::OpOperand *operand : dataOf(op))
      if (constantElements(operand->get())) {
        mlir::Value ordered =
            inOrder(rewriter, operand->get(), dimsOf(operand->get()).size() - 1, back);
        rewriter.modifyOpInPlace(op, [&] { operand->set(ordered); });
      }
  }

  llvm::SetVector<mlir::Value> values_;
  llvm::SetVector<mlir::Operation *> between_;
  llvm::SetVector<tosa::Conv2DOp> ends_;
};

// What makes an image that is read once, and may take another order instead; null: nothing.
tosa::Conv2DOp makerOf(mlir::Value image) {
  auto conv = image.getDefiningOp<tosa::Conv2DOp>();
  return conv && image.hasOneUse() && hasConstants(conv) ? conv : nullptr;
}

template <typename Op> LogicalResult foldShuffle(Op op, PatternRewriter &rewriter) {
  const Dims dims = dimsOf(op.getOutput());
  if (!isFloat32(op.getOutput()) || dims.size() != 4)
    return failure();
  const Shuffle shuffle = shuffleOf(op.getOutput());
  if (!shuffle.image)
    return failure();
  Readers readers(op.getOutput());
  const bool areReaders = readers.find();
  tosa::Conv2DOp maker = makerOf(shuffle.image);
  if (!areReaders && !maker)
    return failure();
  const auto from = orderOf(shuffle);
  if (!from)
    return failure();
  if (areReaders)
    readers.rewrite(rewriter, *from);
  else
    putInOrder(rewriter, maker, 0, *from);
  rewriter.setInsertionPoint(op);
  mlir::Value value = shuffle.image;
  for (mlir::Operation *each : llvm::reverse(shuffle.pointwise)) {
    mlir::Operation *made = rewriter.clone(*each);
    made->setOperand(0, value);
    made->getResult(0).setType(op.getOutput().getType());
    value = made->getResult(0);
  }
  rewriter.replaceOp(op, value);
  return success();
}

} // namespace

void addChannelGroups(mlir::RewritePatternSet &patterns) {
  patterns.add(mergeGroups).add(foldShuffle<tosa::TransposeOp>).add(foldShuffle<tosa::ReshapeOp>);
}

} // namespace tilewright

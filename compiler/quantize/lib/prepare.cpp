#include "prepare.h"

#include "byte_arguments.h"
#include "graph_queries.h"
#include "softmax_match.h"
#include "tilewright/compiler/tosa/constant_floats.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/float_builder.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// What a constant operand does to the other operand x: x * factor + offset, channel by channel.
struct Affine {
  Value x;
  std::vector<double> factor; // of 1 element or one a channel
  std::vector<double> offset;
  bool perChannel = false;
};

double at(const std::vector<double> &values, size_t channel) {
  return values[values.size() == 1 ? 0 : channel];
}

std::optional<Affine> affineOf(Operation *op) {
  if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op) || !isFloat(op->getResult(0)))
    return std::nullopt;
  for (int side : {0, 1}) {
    Value constant = op->getOperand(side), x = op->getOperand(1 - side);
    std::optional<std::vector<double>> elements = constantReals(constant);
    bool keepsShape = tensorType(x).getShape() == tensorType(op->getResult(0)).getShape();
    if (!elements || !keepsShape || !variesAlongLastOnly(tensorType(constant).getShape()))
      continue;
    Affine affine{x, {1}, {0}, false};
    if (std::optional<double> scalar = splatFloat(constant))
      elements = std::vector<double>{*scalar};
    affine.perChannel = elements->size() > 1;
    if (isa<tosa::MulOp>(op)) {
      affine.factor = *elements;
    } else {
      affine.offset = *elements;
      if (isa<tosa::SubOp>(op) && side == 1)
        for (double &value : affine.offset)
          value = -value;
      if (isa<tosa::SubOp>(op) && side == 0)
        affine.factor = {-1};
    }
    return affine;
  }
  return std::nullopt;
}

// What `second` does to what `first` gives, in one; of so many channels where they differ.
Affine composed(const Affine &first, const Affine &second, size_t channels) {
  Affine both{first.x, {}, {}, first.perChannel || second.perChannel};
  for (size_t c = 0; c < (both.perChannel ? channels : 1); ++c) {
    both.factor.push_back(at(second.factor, c) * at(first.factor, c));
    both.offset.push_back(at(second.factor, c) * at(first.offset, c) + at(second.offset, c));
  }
  return both;
}

// Convolutions of this file's interest: weights whose output channel is easy to find.
struct Convolution {
  Operation *op = nullptr;
  std::vector<double> weights;
  std::vector<double> bias;

  static std::optional<Convolution> of(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
      return std::nullopt;
    auto weights = constantReals(op->getOperand(1)), bias = constantReals(op->getOperand(2));
    if (!weights || !bias)
      return std::nullopt;
    return Convolution{op, *weights, *bias};
  }

  size_t channelOf(size_t weight) const {
    size_t channels = bias.size();
    return isa<tosa::DepthwiseConv2DOp>(op) ? weight % channels
                                            : weight / (weights.size() / channels);
  }
};

class Preparer {
public:
  explicit Preparer(func::FuncOp main) : main_(main), builder_(main.getContext()) {}

  void takeBytes() {
    countHolders();
    for (BlockArgument argument : main_.getArguments())
      if (isCastAlone(main_, argument))
        takeBytes(argument);
    main_.setFunctionType(
        builder_.getFunctionType(main_.getBody().getArgumentTypes(), main_.getResultTypes()));
  }

  void run() {
    countHolders();
    for (Operation &op : llvm::make_early_inc_range(main_.getBody().front())) {
      builder_.setInsertionPoint(&op);
      if (isa<tosa::ConstOp>(op) && isMask(op.getResult(0)))
        makeFinite(&op);
      if (auto select = dyn_cast<tosa::SelectOp>(op); select && addMask(select))
        continue;
      if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
        spreadBias(&op);
      if (auto matmul = dyn_cast<tosa::MatMulOp>(op)) {
        takeFactors(matmul);
        matmulToConvolution(matmul);
      } else if (std::optional<Affine> affine = affineOf(&op))
        if (!foldIntoConvolution(&op, *affine) && affine->perChannel && !isNormalized(affine->x))
          affineToDepthwise(&op, *affine);
    }
    for (Operation &op : llvm::make_early_inc_range(main_.getBody().front()))
      if (isa<tosa::Conv2DOp>(op))
        while (foldFactors(&op))
          ;
    for (Operation &op : main_.getBody().front())
      if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
        ownConstants(&op);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main_.getBody().front())))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
  }

private:
  void countHolders() {
    main_.walk([&](tosa::ConstOp constant) { ++holders_[constant.getValues()]; });
  }

  // What a softmax leaves out is added to what it reads instead of being put in its place: ranges
  // know added masks.
  bool addMask(tosa::SelectOp select) {
    constexpr double lowest = std::numeric_limits<float>::lowest() / 4, least = -1000;
    if (!isReadBySoftmax(select.getOutput()))
      return false;
    for (bool isSecond : {false, true}) {
      Value hidden = isSecond ? select.getInput3() : select.getInput2();
      Value shown = isSecond ? select.getInput2() : select.getInput3();
      std::optional<std::vector<double>> reals = constantReals(hidden);
      if (!reals || llvm::any_of(*reals, [&](double real) { return real > least; }))
        continue;
      for (double &real : *reals)
        real = std::max(real, lowest);
      const Location loc = select.getLoc();
      ArrayRef<int64_t> shape = tensorType(hidden).getShape();
      Value number = makeFloats(builder_, loc, shape, *reals);
      Value zero =
          makeFloats(builder_, loc, SmallVector<int64_t>(shape.size(), 1), std::vector<double>{0});
      SmallVector<int64_t> common(shape);
      for (auto [size, other] : llvm::zip(common, tensorType(select.getInput1()).getShape()))
        size = std::max(size, other);
      auto type = RankedTensorType::get(common, builder_.getF32Type());
      Value mask = tosa::SelectOp::create(builder_, loc, type, select.getInput1(),
                                          isSecond ? zero : number, isSecond ? number : zero);
      Value sum = tosa::AddOp::create(builder_, loc, select.getType(), shown, mask);
      select.getOutput().replaceAllUsesWith(sum);
      select.erase();
      return true;
    }
    return false;
  }

  // A mask's minus infinity: sums with it are to be numbers.
  void makeFinite(Operation *op) {
    std::optional<std::vector<double>> reals = constantReals(op->getResult(0));
    if (!reals || !llvm::is_contained(*reals, -HUGE_VAL))
      return;
    std::replace(reals->begin(), reals->end(), -HUGE_VAL,
                 double(std::numeric_limits<float>::lowest()));
    replace(op,
            makeFloats(builder_, op->getLoc(), tensorType(op->getResult(0)).getShape(), *reals));
  }

  // TOSA lets one element stand for the bias of all channels.
  void spreadBias(Operation *op) {
    std::optional<double> scalar = splatFloat(op->getOperand(2));
    int64_t channels = tensorType(op->getResult(0)).getShape().back();
    if (scalar && tensorType(op->getOperand(2)).getNumElements() < channels)
      op->setOperand(2, makeFloats(builder_, op->getLoc(), {channels},
                                   std::vector<double>(channels, *scalar)));
  }

  // Integers of shared weights stand for other reals in each convolution.
  void ownConstants(Operation *op) {
    for (unsigned i : {1u, 2u}) {
      Operation *constant = op->getOperand(i).getDefiningOp();
      if (!constant || !constant->hasTrait<OpTrait::ConstantLike>() || constant->hasOneUse())
        continue;
      builder_.setInsertionPoint(op);
      op->setOperand(i, builder_.clone(*constant)->getResult(0));
    }
  }

  // One factor of a whole operand is one of the product: its rescale has it, and the operand is a
  // part of what it is cut from.
  void takeFactors(tosa::MatMulOp matmul) {
    if (constantReals(
            matmul.getB())) // whose rescale or weights take them without a reshape between
      return;
    double factor = 1;
    for (Value value : {matmul.getA(), matmul.getB()}) {
      while (
          value.hasOneUse() &&
          isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      auto scaled = value.hasOneUse() ? value.getDefiningOp<tosa::MulOp>() : tosa::MulOp();
      std::optional<Affine> affine = scaled ? affineOf(scaled) : std::nullopt;
      if (!affine || affine->factor.size() != 1 || !(affine->factor[0] > 0) ||
          !std::isfinite(affine->factor[0]))
        continue;
      factor *= affine->factor[0];
      scaled.replaceAllUsesWith(affine->x);
    }
    if (factor == 1)
      return;
    builder_.setInsertionPointAfter(matmul);
    FloatBuilder floats(builder_);
    floats.at(matmul.getLoc(), sourceLocationOf(matmul));
    Value result = matmul.getOutput();
    Value scaled = floats.multiplyScalar(result, static_cast<float>(factor));
    result.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    builder_.setInsertionPoint(matmul);
  }

  // `value` in another shape; products that read the same read one value.
  Value imageOf(Location location, Value value, ArrayRef<int64_t> shape) {
    for (Operation *user : value.getUsers())
      if (auto reshape = dyn_cast<tosa::ReshapeOp>(user);
          reshape && tensorType(reshape.getOutput()).getShape() == shape &&
          reshape->getBlock() == builder_.getInsertionBlock() &&
          (builder_.getInsertionPoint() == builder_.getInsertionBlock()->end() ||
           reshape->isBeforeInBlock(&*builder_.getInsertionPoint())))
        return reshape.getOutput();
    return makeReshape(builder_, location, value, shape);
  }

  void matmulToConvolution(tosa::MatMulOp matmul) {
    std::optional<std::vector<double>> matrix = constantReals(matmul.getB());
    ArrayRef<int64_t> shape = tensorType(matmul.getB()).getShape();
    if (!matrix || shape[0] != 1)
      return;
    int64_t depth = shape[1], width = shape[2], rows = tensorType(matmul.getA()).getShape()[1];
    std::vector<double> weights(matrix->size());
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < width; ++n)
        weights[n * depth + k] = (*matrix)[k * width + n];
    Location location = matmul.getLoc();
    Value zero = makeFloats(builder_, location, {1}, 0.0f);
    Value image = imageOf(location, matmul.getA(), {1, rows, 1, depth});
    Value result = tosa::Conv2DOp::create(
        builder_, location, RankedTensorType::get({1, rows, 1, width}, builder_.getF32Type()),
        image, makeWeights(location, {width, 1, 1, depth}, weights),
        makeFloats(builder_, location, {width}, std::vector<double>(width, 0)), zero, zero,
        builder_.getDenseI64ArrayAttr({0, 0, 0, 0}), builder_.getDenseI64ArrayAttr({1, 1}),
        builder_.getDenseI64ArrayAttr({1, 1}), TypeAttr::get(builder_.getF32Type()));
    Value b = matmul.getB();
    replace(matmul, makeReshape(builder_, location, result, {1, rows, width}));
    giveUpUnread(b);
  }

  // Through reshapes that keep the channels, while nobody else sees the values between.
  bool foldIntoConvolution(Operation *op, const Affine &affine) {
    Value source = affine.x;
    int64_t channels = tensorType(source).getRank() ? tensorType(source).getShape().back() : 1;
    while (source.hasOneUse()) {
      auto shaper = source.getDefiningOp<tosa::ReshapeOp>();
      if (!shaper)
        break;
      source = shaper.getInput1();
    }
    std::optional<Convolution> convolution = Convolution::of(source);
    if (!convolution || !source.hasOneUse() || int64_t(convolution->bias.size()) != channels)
      return false;
    for (size_t i = 0; i < convolution->weights.size(); ++i)
      convolution->weights[i] *= at(affine.factor, convolution->channelOf(i));
    for (size_t c = 0; c < convolution->bias.size(); ++c)
      convolution->bias[c] = convolution->bias[c] * at(affine.factor, c) + at(affine.offset, c);
    builder_.setInsertionPoint(convolution->op);
    Location location = convolution->op->getLoc();
    ArrayRef<int64_t> weightShape = tensorType(convolution->op->getOperand(1)).getShape();
    setWeights(convolution->op, makeWeights(location, weightShape, convolution->weights));
    convolution->op->setOperand(2, makeFloats(builder_, location, {channels}, convolution->bias));
    replace(op, affine.x);
    return true;
  }

  // A product of two tensors, as normalization ends with, or of two matrices, to which a mask is
  // added: what follows is element-wise as well.
  static bool isNormalized(Value value) {
    while (auto reshape = value.getDefiningOp<tosa::ReshapeOp>())
      value = reshape.getInput1();
    auto product = value.getDefiningOp<tosa::MulOp>();
    if (auto sum = value.getDefiningOp<tosa::AddOp>())
      if (std::optional<Affine> affine = affineOf(sum))
        return isNormalized(affine->x);
    if (!product)
      return value.getDefiningOp<tosa::MatMulOp>() != nullptr;
    if (std::optional<Affine> affine = affineOf(product))
      return isNormalized(affine->x);
    return true;
  }

  // Leaves casts of bytes out, and what normalizes pictures as far as convolutions can hold it:
  // factors by their weights, and one mean of all channels by the zero point, which pads have. The
  // argument is the pixel less the whole number that is nearest to the mean then.
  void takeBytes(BlockArgument argument) {
    argument.setType(tensorType(argument).clone(builder_.getF32Type()));
    for (Operation *cast : llvm::make_early_inc_range(argument.getUsers()))
      replace(cast, argument);
    Affine whole{argument, {1}, {0}, false};
    Value normalized = argument;
    while (normalized.hasOneUse()) {
      const std::optional<Affine> next = affineOf(*normalized.user_begin());
      if (!next || next->x != normalized)
        break;
      normalized = normalized.user_begin()->getResult(0);
      whole = composed(whole, *next, static_cast<size_t>(tensorType(argument).getShape().back()));
    }
    if (normalized == argument)
      return;
    const double mean = -whole.offset[0] / whole.factor[0], zero = std::nearbyint(mean);
    for (size_t c = 0; c < whole.factor.size(); ++c) {
      constexpr double exact = 1e-4; // of a step, beside the rounding of float32
      if (!(std::abs(-whole.offset[c] / whole.factor[c] - mean) < exact))
        return;
    }
    const Parameters bytes = *bytesOf(main_, argument);
    if (zero < bytes.lowest() || zero > bytes.highest() ||
        !llvm::all_of(normalized.getUses(), [](OpOperand &use) {
          return isa<tosa::Conv2DOp>(use.getOwner()) && use.getOperandNumber() == 0 &&
                 Convolution::of(use.getOwner()->getResult(0));
        }))
      return;
    for (size_t c = 0; c < whole.offset.size(); ++c)
      whole.offset[c] = whole.factor[c] * (zero - mean);
    for (Operation *user : llvm::make_early_inc_range(normalized.getUsers())) {
      spreadBias(user);
      fold(user, *Convolution::of(user->getResult(0)), whole);
      user->setOperand(0, argument);
    }
    main_.setArgAttr(argument.getArgNumber(), zeroAttribute,
                     builder_.getI64IntegerAttr(static_cast<int64_t>(zero)));
  }

  // Of a convolution: factors and offsets of the channels that it reads, of a normalized tensor, go
  // into its weights and biases.
  bool foldFactors(Operation *op) {
    Value input = op->getOperand(0), source = input;
    while (auto reshape = source.getDefiningOp<tosa::ReshapeOp>()) {
      if (tensorType(reshape.getInput1()).getRank() == 0 ||
          tensorType(reshape.getInput1()).getShape().back() != tensorType(source).getShape().back())
        return false;
      source = reshape.getInput1();
    }
    std::optional<Affine> affine =
        source.getDefiningOp() ? affineOf(source.getDefiningOp()) : std::nullopt;
    const bool hasPad =
        llvm::any_of(cast<tosa::Conv2DOp>(op).getPad(), [](int64_t pad) { return pad != 0; });
    const bool isOffset = affine && llvm::any_of(affine->offset, [](double x) { return x != 0; });
    std::optional<Convolution> convolution = Convolution::of(op->getResult(0));
    if (!affine || !isNormalized(affine->x) || (hasPad && isOffset) || !convolution)
      return false;
    fold(op, *convolution, *affine);
    op->setOperand(0, imageOf(op->getLoc(), affine->x, tensorType(input).getShape()));
    return true;
  }

  // What is done to each channel that the convolution reads, by its weights and biases instead.
  void fold(Operation *op, Convolution convolution, const Affine &affine) {
    ArrayRef<int64_t> shape = tensorType(op->getOperand(1)).getShape();
    const auto channels = static_cast<size_t>(shape.back());
    for (size_t i = 0; i < convolution.weights.size(); ++i) {
      double &weight = convolution.weights[i];
      convolution.bias[convolution.channelOf(i)] += weight * at(affine.offset, i % channels);
      weight *= at(affine.factor, i % channels);
    }
    builder_.setInsertionPoint(op);
    Location location = op->getLoc();
    setWeights(op, makeWeights(location, shape, convolution.weights));
    op->setOperand(2,
                   makeFloats(builder_, location, {static_cast<int64_t>(convolution.bias.size())},
                              convolution.bias));
  }

  void affineToDepthwise(Operation *op, const Affine &affine) {
    ArrayRef<int64_t> shape = tensorType(affine.x).getShape();
    int64_t channels = shape.back(), positions = tensorType(affine.x).getNumElements() / channels;
    SmallVector<int64_t> image = {1, positions, 1, channels};
    if (shape.size() == 4)
      image.assign(shape.begin(), shape.end());
    std::vector<double> weights(channels), bias(channels);
    for (int64_t c = 0; c < channels; ++c) {
      weights[c] = at(affine.factor, c);
      bias[c] = at(affine.offset, c);
    }
    Location location = op->getLoc();
    Value zero = makeFloats(builder_, location, {1}, 0.0f);
    Value result = tosa::DepthwiseConv2DOp::create(
        builder_, location, RankedTensorType::get(image, builder_.getF32Type()),
        makeReshape(builder_, location, affine.x, image),
        makeFloats(builder_, location, {1, 1, channels, 1}, weights),
        makeFloats(builder_, location, {channels}, bias), zero, zero,
        builder_.getDenseI64ArrayAttr({0, 0, 0, 0}), builder_.getDenseI64ArrayAttr({1, 1}),
        builder_.getDenseI64ArrayAttr({1, 1}), TypeAttr::get(builder_.getF32Type()));
    replace(op, makeReshape(builder_, location, result, shape));
  }

  // Weights that are replaced again and again stand once.
  Value makeWeights(Location location, ArrayRef<int64_t> shape,
                    const std::vector<double> &weights) {
    auto type = RankedTensorType::get(shape, builder_.getF32Type());
    ElementsAttr values = floatAttribute(type, {weights.begin(), weights.end()});
    ++holders_[values];
    return tosa::ConstOp::create(builder_, location, type, values);
  }
  void setWeights(Operation *convolution, Value weights) {
    Value before = convolution->getOperand(1);
    convolution->setOperand(1, weights);
    giveUpUnread(before);
  }
  void giveUpUnread(Value constant) {
    auto op = constant.getDefiningOp<tosa::ConstOp>();
    if (op && op->use_empty() && --holders_[op.getValues()] == 0)
      giveUp(op.getValues());
  }

  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  func::FuncOp main_;
  OpBuilder builder_;
  llvm::DenseMap<Attribute, int> holders_; // of what a constant holds: constants with uses
};

} // namespace

void takeBytes(func::FuncOp main) { Preparer(main).takeBytes(); }

void prepare(func::FuncOp main) { Preparer(main).run(); }

} // namespace tilewright::quantization

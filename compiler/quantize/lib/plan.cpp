#include "plan.h"

#include "graph_queries.h"
#include "integer_average.h"
#include "tilewright/compiler/tosa/constant_floats.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/given_parameters.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <fmt/format.h>

#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

bool isConvolution(Operation *op) { return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op); }

bool isBinary(Operation *op) {
  return isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::MaximumOp, tosa::MinimumOp>(op);
}

bool isGlobalAverage(Operation *op) {
  auto pool = dyn_cast<tosa::AvgPool2dOp>(op);
  if (!pool)
    return false;
  ArrayRef<int64_t> input = tensorType(pool.getInput()).getShape();
  return pool.getKernel() == input.slice(1, 2) &&
         llvm::all_of(pool.getPad(), [](int64_t pad) { return pad == 0; });
}

bool Plan::isGivenWide(Value value) const {
  for (auto known = given.find(value);; known = given.find(value)) {
    if (known != given.end())
      return known->second.bits == 16;
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(op))
      return false;
    value = op->getOperand(0); // has the same parameters
  }
}

bool isWindowAverage(Operation *op) { return isa<tosa::AvgPool2dOp>(op) && !isGlobalAverage(op); }

Operation *Plan::anchorOf(Value value) const {
  const auto found =
      llvm::find_if(anchors, [&](auto &entry) { return entry.second.result == value; });
  return found == anchors.end() ? nullptr : found->first;
}

bool Plan::isSummedSquare(Operation *op) const {
  if (!isa<tosa::MulOp>(op) || op->getOperand(0) != op->getOperand(1) || !op->hasOneUse() ||
      !isa<tosa::ReduceSumOp>(*op->user_begin()))
    return false;
  auto squared = anchors.find(op->getOperand(0).getDefiningOp());
  return squared != anchors.end() && isa<tosa::AddOp, tosa::SubOp>(squared->first) &&
         squared->second.result == op->getOperand(0);
}

Value Plan::centeredBy(Value deviation, int64_t axis) const {
  auto difference = deviation.getDefiningOp<tosa::SubOp>();
  if (!difference)
    return {};
  Value value = difference.getInput1();
  const bool isOwnMean = llvm::any_of(anchors, [&](auto &entry) {
    auto reduce = dyn_cast<tosa::ReduceSumOp>(entry.first);
    const Anchor &anchor = entry.second;
    if (!reduce || reduce.getInput() != value || reduce.getAxis() != axis ||
        anchor.result != difference.getInput2() || !anchor.sums.empty())
      return false;
    constexpr double roundedAway = 1e-6;
    const double count = double(tensorType(value).getShape()[axis]);
    return std::fabs(anchor.factor * count - 1) < roundedAway && anchor.low == -HUGE_VAL &&
           anchor.high == HUGE_VAL;
  });
  return isOwnMean ? value : Value();
}

// Of one deviation x of N, x / sqrt(sum / N) is at most sqrt(N). What is rounded to multiples of a
// step, to one at least, is no less than two thirds of what it was; squares and their sum are
// rounded up to three times, which is a factor of less than two in the root.
std::optional<double> Plan::mostNormalized(Operation *product) const {
  if (!isa<tosa::MulOp>(product))
    return std::nullopt;
  for (int side : {0, 1}) {
    const auto table = tables.find(product->getOperand(side).getDefiningOp());
    if (table == tables.end() || !table->second.power || table->second.power->exponent != -0.5 ||
        table->second.power->offset < 0)
      continue;
    const Value deviation = product->getOperand(1 - side);
    auto reduce = dyn_cast_or_null<tosa::ReduceSumOp>(anchorOf(table->second.root));
    Operation *square = reduce ? reduce.getInput().getDefiningOp() : nullptr;
    if (!square || !isSummedSquare(square) || square->getOperand(0) != deviation)
      continue;
    constexpr double rounded = 2;
    const Anchor &anchor = anchors.find(reduce)->second;
    if (anchor.sums.empty())
      return rounded / std::sqrt(anchor.factor * table->second.power->factor);
  }
  return std::nullopt;
}

bool Plan::hasWideTables(Value root) const {
  while (isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(root.getDefiningOp()))
    root = root.getDefiningOp()->getOperand(0); // has the same parameters
  return roots.contains(root) || wide.contains(root);
}

namespace {

// Operators that only move data, or choose among it: the result has the operand's parameters.
bool movesData(Operation *op) {
  if (auto resize = dyn_cast<tosa::ResizeOp>(op))
    return isFloat(resize.getOutput());
  return isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp, tosa::TileOp,
             tosa::PadOp, tosa::IdentityOp, tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::GatherOp,
             tosa::ReduceMaxOp, tosa::ReduceMinOp>(op);
}

bool hasConstantWeights(Operation *op) {
  return isConvolution(op) && isConstantFloats(op->getOperand(1)) &&
         isConstantFloats(op->getOperand(2));
}

class Planner {
public:
  Planner(func::FuncOp main, Precision precision) : main_(main), precision_(precision) {}

  Plan run(ArrayRef<Value> exact) {
    for (Operation &op : main_.getBody().front())
      if (std::optional<Softmax> softmax = matchSoftmax(&op)) {
        plan_.folded.insert(softmax->members.begin(), softmax->members.end());
        plan_.softmaxes[&op] = *softmax;
      }
    for (Value argument : main_.getArguments())
      if (isFloat(argument))
        plan_.ranged.push_back(argument);
    for (Operation &op : main_.getBody().front().without_terminator())
      visit(&op);
    for (Operation &op : main_.getBody().front().without_terminator())
      planTable(&op);
    findGiven();
    traceOpen();
    for (auto &[op, softmax] : plan_.softmaxes) {
      traceProduct(op, softmax);
      softmax.isWide = takesWide(op->getResult(0));
      traceLongRows(op, softmax);
    }
    traceSums();
    for (auto &[op, anchor] : plan_.anchors)
      traceRoot(op, anchor);
    for (Value result : main_.getBody().front().getTerminator()->getOperands())
      traceOutput(result);
    for (Value value : plan_.ranged)
      if (isOfProducts(value))
        plan_.tailed.insert(value);
    plan_.precision = precision_;
    if (precision_ != Precision::Standard)
      traceWide();
    for (Value value : exact)
      if (llvm::is_contained(plan_.ranged, value) && mayBeExact(value))
        plan_.wide.insert(value);
    return std::move(plan_);
  }

private:
  // What the model says of a value, or of what it is moved to.
  void findGiven() {
    main_.walk([&](tosa::ClampOp clamp) {
      if (const auto parameters = givenParameters(clamp.getOperation()))
        plan_.given[clamp.getOutput()] = *parameters;
    });
    auto take = [&](Value value) {
      if (const auto parameters = givenBehind(value); parameters && !plan_.given.contains(value))
        plan_.given[value] = *parameters;
    };
    for (Value value : plan_.ranged)
      take(value);
    for (auto &[op, softmax] : plan_.softmaxes)
      take(op->getResult(0));
    main_.walk([&](tosa::ConcatOp concat) {
      if (const auto parameters = givenOfParts(concat);
          parameters && !plan_.given.contains(concat.getOutput()))
        plan_.given[concat.getOutput()] = *parameters;
    });
    // Those of a resize, which stand in no file, have steps as well.
    plan_.keepsWeights =
        hasGivenWeights(cast<ModuleOp>(main_->getParentOp())) || !plan_.given.empty();
  }

  // What a convolution yields that the model stores behind sums and averages of it, or behind a
  // resize: 16 bits hold it whatever the inputs are, so that one rounding to what is stored
  // remains.
  void traceOpen() {
    if (plan_.given.empty())
      return;
    for (auto &[op, anchor] : plan_.anchors)
      if (isConvolution(op) && !plan_.given.contains(anchor.result) && isReadExactly(anchor.result))
        plan_.wide.insert(anchor.result);
  }

  bool isReadExactly(Value value) {
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<tosa::ReshapeOp, tosa::TransposeOp>(user))
        return isReadExactly(user->getResult(0));
      const bool isOfResize =
          isa<tosa::Conv2DOp>(user) && layerOf(user->getLoc()).op == "Resize"; // by products
      return plan_.anchors.contains(user) &&
             (isBinary(user) || isWindowAverage(user) || isOfResize);
    });
  }

  // What all parts of a concatenation are stored with, which are moved there.
  std::optional<Parameters> givenOfParts(tosa::ConcatOp concat) const {
    std::optional<Parameters> common;
    for (Value part : concat->getOperands()) {
      while (isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp>(
          part.getDefiningOp()))
        part = part.getDefiningOp()->getOperand(0);
      const auto given = plan_.given.find(part);
      if (given == plan_.given.end() || (common && !(*common == given->second)))
        return std::nullopt;
      common = given->second;
    }
    return common;
  }

  void visit(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || plan_.folded.contains(op) ||
        plan_.softmaxes.contains(op))
      return;
    if (llvm::none_of(op->getOperands(), isFloat) && llvm::none_of(op->getResults(), isFloat)) {
      plan_.plain.insert(op);
      return;
    }
    if (op->getNumResults() != 1)
      throw unsupported(op);
    if (isBorder(op) && !plan_.pointwise.visit(op)) {
      plan_.border.insert(op);
      if (isFloat(op->getResult(0)))
        plan_.ranged.push_back(op->getResult(0));
      return;
    }
    if (!isFloat(op->getResult(0)) && !plan_.pointwise.root(op->getResult(0)))
      throw unsupported(op);
    if (hasConstantWeights(op) || isa<tosa::MatMulOp, tosa::ReduceSumOp>(op) ||
        isGlobalAverage(op) || isStoredAverage(op))
      return addAnchor(op);
    if (!plan_.isSummedSquare(op) && plan_.pointwise.visit(op))
      return;
    if (isBinary(op))
      return addAnchor(op);
    if (isa<tosa::ConcatOp>(op))
      plan_.ranged.push_back(op->getResult(0));
    else if (!movesData(op))
      throw unsupported(op);
  }

  // An average over windows that the model stores by itself: its sums are rounded once, as those of
  // images are.
  bool isStoredAverage(Operation *op) {
    auto pool = dyn_cast<tosa::AvgPool2dOp>(op);
    if (!pool || !hasExactMean(pool) || !op->hasOneUse() || !givenParameters(*op->user_begin()))
      return false;
    Value read = op->getOperand(0);
    while (isa_and_nonnull<tosa::PadOp, tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(
        read.getDefiningOp()))
      read = read.getDefiningOp()->getOperand(0);
    Operation *anchor = plan_.anchorOf(read);
    return givenParameters(read) || (anchor && isConvolution(anchor) && read == op->getOperand(0));
  }

  static bool isBorder(Operation *op) {
    return isa<tosa::GreaterOp, tosa::GreaterEqualOp, tosa::EqualOp, tosa::CastOp, tosa::SelectOp>(
        op);
  }

  Unsupported unsupported(Operation *op) {
    return Unsupported(sourceLocationOf(op),
                       fmt::format("has no integer form: {} on these types cannot be quantized",
                                   op->getName().getStringRef().str()),
                       "cut it off the model");
  }

  void addAnchor(Operation *op) {
    Anchor anchor;
    anchor.result = op->getResult(0);
    while (anchor.result.hasOneUse()) {
      Operation *follower = *anchor.result.user_begin();
      if (!follow(op, anchor, follower))
        break;
      anchor.result = follower->getResult(0);
      plan_.folded.insert(follower);
      if (givenParameters(follower))
        break;
    }
    plan_.ranged.push_back(anchor.result);
    plan_.anchors[op] = anchor;
  }

  // Whether `follower` goes into the rescale of `anchor`.
  bool follow(Operation *op, Anchor &anchor, Operation *follower) {
    if (follower->getNumResults() != 1 || plan_.folded.contains(follower) ||
        plan_.softmaxes.contains(follower))
      return false;
    bool clamped = anchor.low > -HUGE_VAL || anchor.high < HUGE_VAL;
    if (isa<tosa::ReduceSumOp>(follower) && (isa<tosa::ReduceSumOp>(op)) && anchor.factor == 1 &&
        !clamped) {
      anchor.sums.push_back(follower);
      return true;
    }
    if (auto clamp = dyn_cast<tosa::ClampOp>(follower)) {
      bound(anchor, cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble(),
            cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble());
      return true;
    }
    if (!isBinary(follower) || tensorType(follower->getResult(0)) != tensorType(anchor.result))
      return false;
    Value other = follower->getOperand(follower->getOperand(0) == anchor.result ? 1 : 0);
    std::optional<double> scalar = splatFloat(other);
    if (!scalar)
      return false;
    if (isa<tosa::MulOp>(follower) && *scalar > 0) {
      anchor.factor *= *scalar;
      anchor.low *= *scalar;
      anchor.high *= *scalar;
      return true;
    }
    if (isa<tosa::MaximumOp>(follower))
      bound(anchor, *scalar, HUGE_VAL);
    else if (isa<tosa::MinimumOp>(follower))
      bound(anchor, -HUGE_VAL, *scalar);
    else
      return false;
    return true;
  }

  static void bound(Anchor &anchor, double low, double high) {
    // The largest finite float stands for no bound.
    constexpr double none = std::numeric_limits<float>::max();
    anchor.low = std::max(anchor.low, low <= -none ? -HUGE_VAL : low);
    anchor.high = std::min(anchor.high, high >= none ? HUGE_VAL : high);
    anchor.low = std::min(anchor.low, anchor.high);
  }

  // A pointwise value becomes a table when anything but its own sequence reads it.
  void planTable(Operation *op) {
    Value value = op->getNumResults() == 1 ? op->getResult(0) : Value();
    Value root = value ? plan_.pointwise.root(value) : Value();
    if (!root)
      return;
    bool isNeeded = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->getNumResults() != 1 || plan_.pointwise.root(user->getResult(0)) != root;
    });
    if (!isNeeded) {
      plan_.folded.insert(op);
      return;
    }
    auto clamp = dyn_cast<tosa::ClampOp>(op);
    bool isClamp = clamp && clamp.getInput() == root;
    plan_.tables[op] = {root, isClamp,
                        isReduced(root) && isNeverNegative(root)
                            ? plan_.pointwise.power(value, root)
                            : std::nullopt};
    if (!isClamp && isFloat(value))
      plan_.ranged.push_back(value);
  }

  // Whether `value` is a sum along an axis, times a factor.
  bool isReduced(Value value) { return isa_and_nonnull<tosa::ReduceSumOp>(plan_.anchorOf(value)); }

  // Whether no input makes it negative.
  static bool isNeverNegative(Value value) {
    if (std::optional<double> scalar = splatFloat(value))
      return *scalar >= 0;
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tosa::ExpOp, tosa::AbsOp, tosa::SigmoidOp, tosa::RsqrtOp>(op))
      return true;
    if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(op))
      return cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble() >= 0;
    if (isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::ReduceSumOp>(op))
      return isNeverNegative(op->getOperand(0));
    if (!isa_and_nonnull<tosa::MulOp, tosa::AddOp>(op))
      return false;
    return (isa<tosa::MulOp>(op) && op->getOperand(0) == op->getOperand(1)) ||
           (isNeverNegative(op->getOperand(0)) && isNeverNegative(op->getOperand(1)));
  }

  bool isAnchorResult(Value value) { return plan_.anchorOf(value) != nullptr; }

  // The product of matrices that alone reads a softmax along its depth.
  void traceProduct(Operation *last, Softmax &softmax) {
    Value result = last->getResult(0);
    const int64_t length = tensorType(result).getShape().back();
    constexpr int64_t longest = 1 << 14; // of sums of 8 x 8 bits in 32
    if (softmax.axis != tensorType(result).getRank() - 1 || length > longest)
      return;
    std::vector<Operation *> way;
    while (result.hasOneUse()) {
      Operation *user = *result.user_begin();
      if (tensorType(result).getShape().back() != length)
        return;
      if (auto reshape = dyn_cast<tosa::ReshapeOp>(user)) {
        way.push_back(user);
        result = reshape.getOutput();
        continue;
      }
      auto product = dyn_cast<tosa::MatMulOp>(user);
      if (!product || product.getA() != result || product.getB() == result)
        return;
      softmax.product = user;
      if (length > longestRow && isMadeByProduct(softmax.input))
        softmax.block = blockOf(length);
      plan_.folded.insert(way.begin(), way.end());
      return;
    }
  }

  // Whether a product of matrices makes it, and element-wise operators behind that: then blocks of
  // it need not stand anywhere. Softmax reads it twice.
  static bool isMadeByProduct(Value value) {
    const int64_t length = tensorType(value).getShape().back();
    for (unsigned readers = 2; value.hasNUses(readers); readers = 1) {
      Operation *op = value.getDefiningOp();
      if (!op || tensorType(value).getShape().back() != length)
        return false;
      if (isa<tosa::MatMulOp>(op))
        return true;
      if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::ReshapeOp, tosa::TanhOp, tosa::ClampOp>(
              op))
        return false;
      const bool isSecond =
          op->getNumOperands() > 1 &&
          tensorType(op->getOperand(0)).getNumElements() < tensorType(value).getNumElements();
      value = op->getOperand(isSecond ? 1 : 0);
    }
    return false;
  }

  // Rows of scores of 32 bits fill the accumulators: long ones are taken by blocks of nearly one
  // length, so that there are many rows beside each other.
  static constexpr int64_t longestRow = 640;
  static int64_t blockOf(int64_t length) {
    constexpr int64_t longest = 352, step = 16;
    const int64_t count = (length + longest - 1) / longest;
    return ((length + count - 1) / count + step - 1) / step * step;
  }

  // Rows of 32 bits that nothing divides would fill the accumulators, and go through DRAM between
  // one operator and the next.
  void traceLongRows(Operation *last, Softmax &softmax) {
    ArrayRef<int64_t> shape = tensorType(last->getResult(0)).getShape();
    if (softmax.product || softmax.axis != static_cast<int64_t>(shape.size()) - 1 ||
        shape.back() <= longestRow)
      return;
    Value value = softmax.input;
    std::vector<Value> way{value};
    while (auto reshape = value.getDefiningOp<tosa::ReshapeOp>()) {
      value = reshape.getInput1();
      way.push_back(value);
    }
    Operation *anchor = plan_.anchorOf(value);
    if (!anchor || !isLogits(value))
      return;
    const Anchor &made = plan_.anchors.find(anchor)->second;
    softmax.isLong = made.low == -HUGE_VAL && made.high == HUGE_VAL;
    if (softmax.isLong)
      plan_.outputs.insert(way.begin(), way.end());
  }

  static bool isProduct(Operation *op) {
    return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::MatMulOp>(op);
  }

  void traceSums() {
    llvm::DenseMap<Operation *, int64_t> before; // products
    int64_t products = 0;
    for (Operation &op : main_.getBody().front()) {
      products += isProduct(&op);
      before[&op] = products;
    }
    for (auto &[op, table] : plan_.tables) {
      llvm::SmallVector<Value> way;
      if (table.power && takesSum(op->getResult(0), before, before.lookup(op), way))
        plan_.sums.insert(way.begin(), way.end());
      else
        table.power.reset();
    }
    for (auto &[op, anchor] : plan_.anchors) {
      const bool isClamped = anchor.low > -HUGE_VAL || anchor.high < HUGE_VAL;
      // A convolution's have a scale for each channel: they take a rescale all the same.
      const bool isOwnSum = isa<tosa::MatMulOp, tosa::ReduceSumOp>(op) || isBinary(op) ||
                            (isConvolution(op) && isLogits(anchor.result));
      llvm::SmallVector<Value> way;
      // What products alone read takes 8 bits at once.
      const bool isNarrow = precision_ == Precision::Mixed &&
                            (isReadNarrow(anchor.result) || isBehindConvolution(op));
      if (!isClamped && isOwnSum && !plan_.given.contains(anchor.result) &&
          !anchor.result.use_empty() && !isNarrow && !plan_.outputs.contains(anchor.result) &&
          takesSum(anchor.result, before, before.lookup(op), way))
        plan_.sums.insert(way.begin(), way.end());
      if (isLogits(anchor.result))
        plan_.logits.insert(anchor.result);
    }
    for (auto &[op, table] : plan_.tables)
      if (table.power && !plan_.sums.contains(table.root)) {
        plan_.sums.erase(op->getResult(0));
        table.power.reset();
      }
  }

  // Whether a sum of two tensors can be made where one of them is, by a convolution: what leaves
  // that in 16 bits is half of what would in 32.
  bool isBehindConvolution(Operation *op) {
    return isa<tosa::AddOp, tosa::SubOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
             Operation *anchor = plan_.anchorOf(operand);
             return anchor && isConvolution(anchor) && operand.hasOneUse() &&
                    tensorType(operand) == tensorType(op->getResult(0));
           });
  }

  bool isOfProducts(Value value) {
    return isa_and_nonnull<tosa::MatMulOp>(plan_.anchorOf(value)) || isReadByProduct(value);
  }

  static bool isReadByProduct(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      const bool isMove =
          isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::Conv2DOp>(user);
      return isa<tosa::MatMulOp>(user) || (isMove && isReadByProduct(user->getResult(0)));
    });
  }

  // Whether softmax alone reads it.
  bool isLogits(Value value) {
    while (value.hasOneUse() && isa<tosa::ReshapeOp>(*value.user_begin()))
      value = value.user_begin()->getResult(0);
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      return llvm::any_of(plan_.softmaxes, [&](auto &entry) {
        return entry.second.input == value && llvm::is_contained(entry.second.members, user);
      });
    });
  }

  // Whether all that reads `value` takes 32 bits, and none of it is behind a product; `way`: it,
  // and its reshapes.
  bool takesSum(Value value, const llvm::DenseMap<Operation *, int64_t> &before, int64_t products,
                llvm::SmallVectorImpl<Value> &way) {
    way.push_back(value);
    const auto isNarrowing = [&](Operation *user) {
      return precision_ == Precision::Mixed && isProduct(user) && !isReadAsWeights(value, user);
    };
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isNarrowing(user))
        return true;
      if (before.lookup(user) != products)
        return false;
      if (isa<tosa::ReshapeOp>(user))
        return takesSum(user->getResult(0), before, products, way);
      if (plan_.anchors.contains(user))
        return isBinary(user) || isa<tosa::ReduceSumOp>(user);
      const bool isOfSoftmax = llvm::any_of(plan_.softmaxes, [&](auto &entry) {
        return entry.second.input == value && llvm::is_contained(entry.second.members, user);
      });
      return isOfSoftmax || isOfPower(value, user);
    });
  }

  static bool isReadAsWeights(Value value, Operation *product) {
    return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(product) && product->getOperand(0) != value;
  }

  // Whether `user` is part of a power of a sum, which has fewer elements than what it is of.
  bool isOfPower(Value value, Operation *user) {
    if (user->getNumResults() != 1 || plan_.pointwise.root(user->getResult(0)) != value)
      return false;
    bool isPower = false;
    for (auto &[op, table] : plan_.tables)
      if (table.root == value) {
        if (!table.power)
          return false;
        isPower = true;
      }
    return isPower;
  }

  // What only tables read of a convolution keeps 16 bits: rounding it once more to 8 would cost as
  // much as rounding the tables' results does.
  void traceRoot(Operation *op, const Anchor &anchor) {
    bool isClamped = anchor.low > -HUGE_VAL || anchor.high < HUGE_VAL;
    bool isRoot =
        !anchor.result.use_empty() && llvm::all_of(anchor.result.getUsers(), [&](Operation *user) {
          auto table = plan_.tables.find(user);
          return user->getNumResults() == 1 &&
                 plan_.pointwise.root(user->getResult(0)) == anchor.result &&
                 (table == plan_.tables.end() || !table->second.isClamp);
        });
    if (isConvolution(op) && !isClamped && isRoot && !plan_.given.contains(anchor.result))
      plan_.roots.insert(anchor.result);
  }

  // Whether all that reads `value` can take it with 16 bits.
  bool takesWide(Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(user))
        return takesWide(user->getResult(0));
      bool isAnchorOfOperands = plan_.anchors.contains(user) && isBinary(user);
      bool isOfSoftmax = llvm::any_of(plan_.softmaxes, [&](auto &entry) {
        return llvm::is_contained(entry.second.members, user);
      });
      return isAnchorOfOperands || isOfSoftmax ||
             isa<tosa::ConcatOp, tosa::ReduceSumOp, func::ReturnOp>(user);
    });
  }

  void traceOutput(Value result) {
    std::vector<Value> way = {result};
    while (result.hasOneUse()) {
      Operation *op = result.getDefiningOp();
      if (!isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp>(op))
        break;
      result = op->getOperand(0);
      way.push_back(result);
    }
    if (!result.hasOneUse())
      return;
    // Of parts with one scale, 8 bits that the largest one fills may leave none to the smallest.
    if (auto concat = result.getDefiningOp<tosa::ConcatOp>();
        concat && !plan_.given.contains(result)) {
      plan_.outputs.insert(way.begin(), way.end());
      for (Value part : concat.getInput1())
        traceOutput(part);
      return;
    }
    if (!isAnchorResult(result) || plan_.given.contains(result))
      return;
    for (auto &[op, anchor] : plan_.anchors)
      if (anchor.result == result && (anchor.low > -HUGE_VAL || anchor.high < HUGE_VAL))
        return; // the ends of an 8-bit range do the clamping
    plan_.outputs.insert(way.begin(), way.end());
  }

  // All values with a range of their own, as long as everything that reads them takes 16 bits. What
  // only operators read that take 8 is rounded to them at once.
  void traceWide() {
    for (Value value : plan_.ranged)
      if (mayBeWide(value))
        plan_.wide.insert(value);
  }

  bool mayBeWide(Value value) {
    if (plan_.given.contains(value))
      return false;
    // A table of 8 bits yields 8 bits.
    auto table = plan_.tables.find(value.getDefiningOp());
    bool isWideTable = table != plan_.tables.end() && plan_.hasWideTables(table->second.root);
    bool isMade = isWideTable || isAnchorResult(value);
    return isMade && !isReadNarrow(value) && !plan_.sums.contains(value) && readersExtend(value);
  }

  bool mayBeExact(Value value) {
    const bool isProductsOwn = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<tosa::Conv2DOp>(user) && plan_.anchors.contains(user);
    });
    return isProductsOwn && !plan_.roots.contains(value) && !plan_.outputs.contains(value) &&
           mayBeWide(value);
  }

  // Whether all that reads `value` takes 8 bits of it.
  bool isReadNarrow(Value value) {
    const bool isMixed = precision_ == Precision::Mixed;
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isMixed && isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(user))
        return isReadNarrow(user->getResult(0));
      return isa<tosa::DepthwiseConv2DOp>(user) || isGlobalAverage(user) ||
             (isMixed && isa<tosa::Conv2DOp, tosa::MatMulOp>(user));
    });
  }

  // Whether all that reads `value` can take it with 16 bits, convolutions among them.
  bool readersExtend(Value value) {
    constexpr int64_t longestSum = 1 << 14; // of 16 bits in 32
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp>(user))
        return readersExtend(user->getResult(0));
      if (auto anchor = plan_.anchors.find(user); anchor != plan_.anchors.end()) {
        int64_t terms = tensorType(value).getNumElements() /
                        std::max<int64_t>(tensorType(anchor->second.result).getNumElements(), 1);
        bool isSum = isa<tosa::ReduceSumOp>(user) || isGlobalAverage(user);
        return isConvolution(user) || isBinary(user) || (isSum && terms <= longestSum) ||
               (precision_ == Precision::Mixed && isa<tosa::MatMulOp>(user));
      }
      if (auto table = plan_.tables.find(user);
          table != plan_.tables.end() && table->second.isClamp)
        return readersExtend(user->getResult(0));
      bool isOfTable =
          user->getNumResults() == 1 && plan_.pointwise.root(user->getResult(0)) == value;
      bool isOfSoftmax = llvm::any_of(plan_.softmaxes, [&](auto &entry) {
        return llvm::is_contained(entry.second.members, user);
      });
      return isOfTable || isOfSoftmax || isa<tosa::ConcatOp, func::ReturnOp>(user);
    });
  }

  func::FuncOp main_;
  Precision precision_;
  Plan plan_;
};

} // namespace

Plan makePlan(func::FuncOp main, Precision precision, ArrayRef<Value> exact) {
  return Planner(main, precision).run(exact);
}

} // namespace tilewright::quantization

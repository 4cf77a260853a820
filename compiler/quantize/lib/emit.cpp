#include "emit.h"
#include "byte_arguments.h"

#include "graph_queries.h"
#include "integer_average.h"
#include "integer_convolution.h"
#include "integer_softmax.h"
#include "integer_sum.h"
#include "integer_table.h"
#include "narrowing.h"
#include "split.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/integer_builder.h"
#include "tilewright/compiler/tosa/model_operators.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

class TosaWriter {
public:
  TosaWriter(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
             const Statistics &statistics, const QuantizeOptions &options, bool withReals,
             unsigned threads)
      : main_(main), plan_(plan), parameters_(parameters), statistics_(statistics),
        channelFactors_(statistics.channelFactors), withReals_(withReals), threads_(threads),
        builder_(main.getContext()),
        filters_(plan, parameters, statistics, options, withReals ? &result_.constants : nullptr) {}

  IntegerModule run() {
    Block &source = main_.getBody().front();
    filters_.quantizeAll(main_, threads_);
    auto real = llvm::cast<ModuleOp>(main_->getParentOp());
    result_.module = ModuleOp::create(real.getLoc());
    copyModelOperators(real, *result_.module);
    builder_.setInsertionPointToEnd(result_.module->getBody());
    SmallVector<Type> inputs;
    for (Value argument : source.getArguments())
      inputs.push_back(typeOf(argument));
    function_ = func::FuncOp::create(builder_, main_.getLoc(), "main",
                                     builder_.getFunctionType(inputs, {}));
    Block *block = function_.addEntryBlock();
    for (auto [from, to] : llvm::zip(source.getArguments(), block->getArguments()))
      values_[from] = to;
    builder_.setInsertionPointToStart(block);
    for (Operation &op : source.without_terminator())
      visit(&op);
    emitReturn(source.getTerminator());
    dropUnread(*block);
    return std::move(result_);
  }

private:
  // What a softmax is of, along that axis, by blocks of so many; 0: whole.
  struct Scores {
    Sum logits;
    int64_t axis = 0, block = 0;
  };

  RankedTensorType typeOf(Value value) {
    if (!isFloat(value))
      return tensorType(value);
    return RankedTensorType::get(tensorType(value).getShape(),
                                 builder_.getIntegerType(parameters_.lookup(value).bits));
  }

  void visit(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || plan_.folded.contains(op))
      return;
    IntegerBuilder integer(builder_, op->getLoc());
    if (plan_.plain.contains(op))
      emitPlain(op);
    else if (plan_.border.contains(op))
      emitBorder(integer, op);
    else if (auto softmax = plan_.softmaxes.find(op); softmax != plan_.softmaxes.end())
      emitSoftmax(integer, op, softmax->second);
    else if (auto anchor = plan_.anchors.find(op); anchor != plan_.anchors.end())
      emitAnchor(integer, op, anchor->second);
    else if (auto table = plan_.tables.find(op); table != plan_.tables.end())
      emitTable(integer, op, table->second);
    else if (auto concat = dyn_cast<tosa::ConcatOp>(op))
      emitConcat(integer, concat);
    else
      emitMove(integer, op);
  }

  // What was made by parts instead stands for nothing any more.
  void dropUnread(Block &block) {
    llvm::DenseSet<Value> dropped;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) {
        dropped.insert(op.result_begin(), op.result_end());
        op.erase();
      }
    llvm::erase_if(result_.values,
                   [&](const Correspondence &each) { return dropped.contains(each.integer); });
  }

  void define(Value real, Value integer) {
    values_[real] = integer;
    result_.values.push_back(
        {real, integer, parameters_.lookup(real), channelFactors_.lookup(real)});
  }

  // The integer value of an operand; constants are quantized to their own range, to 16 bits beside
  // an operand that the model stores with 16.
  Quantized operand(IntegerBuilder &integer, Value value, Value beside = {}) {
    auto found = values_.find(value);
    if (found != values_.end())
      return {found->second, parameters_.lookup(value)};
    std::vector<double> elements = constantReals(value).value();
    auto [least, greatest] = std::minmax_element(elements.begin(), elements.end());
    Parameters parameters = beside && plan_.isGivenWide(beside)
                                ? symmetric(std::max(std::fabs(*least), std::fabs(*greatest)), 16)
                                : asymmetric8(*least, *greatest);
    std::vector<int64_t> integers;
    Tensor rounded = makeTensor(DType::F32, tensorType(value).getShape().vec());
    for (size_t i = 0; i < elements.size(); ++i) {
      integers.push_back(parameters.quantize(elements[i]));
      rounded.data<float>()[i] = static_cast<float>(parameters.real(integers[i]));
    }
    if (withReals_)
      result_.constants.emplace_back(value, std::move(rounded));
    return {integer.constant(tensorType(value).getShape(), parameters.bits, integers), parameters};
  }

  // Constants of one value for each channel are never rounded to 8 bits.
  bool isSum(Value value) const {
    return sums_.contains(value) ||
           (!values_.contains(value) && variesAlongLastOnly(tensorType(value).getShape()) &&
            tensorType(value).getNumElements() > 1);
  }

  Sum sumOf(IntegerBuilder &integer, Value value) {
    if (auto known = sums_.find(value); known != sums_.end())
      return known->second;
    if (!values_.contains(value))
      return constantSum(integer, tensorType(value).getShape(), constantReals(value).value());
    return widened(integer, operand(integer, value));
  }

  void defineSum(Value real, const Sum &sum) {
    sums_[real] = sum;
    parameters_[real] = {sum.scale, 0, 32};
    define(real, sum.value);
  }

  void emitSoftmax(IntegerBuilder &integer, Operation *op, const Softmax &softmax) {
    if (softmax.isLong)
      return define(op->getResult(0),
                    buildSoftmaxOfLongRows(integer, operand(integer, softmax.input), softmax.axis,
                                           parameters_.lookup(op->getResult(0))));
    const Sum logits = sumOf(integer, softmax.input);
    if (softmax.product)
      scores_[softmax.product] = {logits, softmax.axis, softmax.block};
    else
      define(op->getResult(0),
             buildSoftmax(integer, logits, softmax.axis, parameters_.lookup(op->getResult(0))));
  }

  // --- Anchors

  void emitAnchor(IntegerBuilder &integer, Operation *op, const Anchor &anchor) {
    Accumulator sum = accumulate(integer, op, anchor);
    for (Operation *further : anchor.sums)
      sum = reduceSum(integer, {sum.value, sum.scales[0], sum.magnitudes[0]},
                      cast<tosa::ReduceSumOp>(further).getAxis());
    if (plan_.sums.contains(anchor.result) && isConvolution(op))
      return defineSum(anchor.result, logitsOf(integer, sum, anchor));
    if (plan_.sums.contains(anchor.result))
      return defineSum(anchor.result,
                       {reshape(integer, sum.value, tensorType(anchor.result).getShape()),
                        sum.scales[0] * anchor.factor, sum.magnitudes[0]});
    Parameters parameters = parameters_.lookup(anchor.result);
    std::vector<double> factors;
    for (double scale : sum.scales)
      factors.push_back(scale * anchor.factor / parameters.scale);
    std::vector<double> channels = channelFactors_.lookup(anchor.result);
    if (!channels.empty() && !isConvolution(op)) { // whose weights have them
      factors.resize(channels.size(), factors[0]);
      sum.magnitudes.resize(channels.size(), sum.magnitudes[0]);
      for (size_t c = 0; c < channels.size(); ++c)
        factors[c] *= channels[c];
    }
    if (llvm::all_equal(factors)) {
      factors.resize(1);
      sum.magnitudes = {*std::max_element(sum.magnitudes.begin(), sum.magnitudes.end())};
    }
    Value result = integer.rescaleSum(sum.value, sum.magnitudes, factors, parameters);
    result = clamp(integer, result, parameters, anchor.low, anchor.high);
    // Tables take any shape, and run together with a convolution that no reshape cuts off.
    define(anchor.result, plan_.roots.contains(anchor.result)
                              ? result
                              : reshape(integer, result, tensorType(anchor.result).getShape()));
  }

  // A convolution's sums at one scale, which the tables of softmax find fine enough as far as 32
  // bits hold them.
  Sum logitsOf(IntegerBuilder &integer, const Accumulator &sum, const Anchor &anchor) {
    constexpr double finest = 1.0 / (1 << 16), steps = 1 << 26;
    const Histogram &histogram = statistics_.histograms.find(anchor.result)->second;
    const double scale = std::max(finest, std::max(-histogram.low, histogram.high) / steps);
    std::vector<double> factors;
    for (double each : sum.scales)
      factors.push_back(each * anchor.factor / scale);
    constexpr double most = 1 << 28; // as it is bounded
    Value value = integer.rescaleSum(sum.value, sum.magnitudes, factors, {scale, 0, 32});
    return {reshape(integer, value, tensorType(anchor.result).getShape()), scale, most};
  }

  Accumulator accumulate(IntegerBuilder &integer, Operation *op, const Anchor &anchor) {
    if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op)) {

      Value input = op->getOperand(0);
      Quantized x = operand(integer, input);
      IntegerFilter filter = filters_.take(op, anchor.result, x.parameters);
      if (filter.isNarrowed)
        x = narrow(integer, input, filter.factors, filter.input);
      return convolve(integer, op, x, std::move(filter));
    }
    if (auto matmul = dyn_cast<tosa::MatMulOp>(op))
      return multiplyMatrices(integer, matmul);
    if (isBinary(op))
      return combineElements(integer, op, anchor);
    Value x = op->getOperand(0);
    if (isWindowAverage(op))
      return averageOf(integer, cast<tosa::AvgPool2dOp>(op));
    if (isa<tosa::AvgPool2dOp>(op))
      return averageImage(integer, operand(integer, x), x, statistics_);
    const int64_t axis = cast<tosa::ReduceSumOp>(op).getAxis();
    if (isSum(x))
      return reduceSum(integer, sumOf(integer, x), axis);
    const Quantized narrow = operand(integer, x);
    Value wide = integer.widen(narrow.value, narrow.parameters);
    return {integer.reduce<tosa::ReduceSumOp>(wide, axis),
            {narrow.parameters.scale},
            {narrow.parameters.magnitude() * double(tensorType(wide).getShape()[axis])}};
  }

  Accumulator combineElements(IntegerBuilder &integer, Operation *op, const Anchor &anchor) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    if (isa<tosa::MulOp>(op)) {
      if (isSum(a) && plan_.isSummedSquare(op) && plan_.sums.contains(anchor.result))
        return squareToSum(integer, op, sumOf(integer, a));
      if (isSum(a) || isSum(b))
        return multiply(integer, sumOf(integer, a), sumOf(integer, b),
                        plan_.mostNormalized(op).value_or(HUGE_VAL));
      const Quantized x = operand(integer, a, b), y = operand(integer, b, a);
      Value product = integer.multiply(integer.widen(x.value, x.parameters),
                                       integer.widen(y.value, y.parameters));
      return {product,
              {x.parameters.scale * y.parameters.scale},
              {x.parameters.magnitude() * y.parameters.magnitude()}};
    }
    const bool saturates = plan_.logits.contains(anchor.result);
    constexpr double steps = 1 << 12;
    const Histogram &histogram = statistics_.histograms.find(anchor.result)->second;
    const double step = std::max(histogram.high, -histogram.low) / std::fabs(anchor.factor) / steps;
    if (isa<tosa::AddOp>(op))
      return combineAlike<tosa::AddOp>(integer, a, b, saturates, step);
    if (isa<tosa::SubOp>(op))
      return combineAlike<tosa::SubOp>(integer, a, b, saturates, step);
    if (isa<tosa::MaximumOp>(op))
      return combineAlike<tosa::MaximumOp>(integer, a, b, saturates, step);
    return combineAlike<tosa::MinimumOp>(integer, a, b, saturates, step);
  }

  // The squares of `x`, of which sums are made along an axis.
  Sum squareToSum(IntegerBuilder &integer, Operation *op, const Sum &x) {
    auto reduce = cast<tosa::ReduceSumOp>(*op->user_begin());
    const auto count =
        static_cast<double>(tensorType(reduce.getInput()).getShape()[reduce.getAxis()]);
    double greatest = x.magnitude;
    if (Value centered = plan_.centeredBy(op->getOperand(0), reduce.getAxis())) {
      // About the mean, squares have the least sum: that of the values themselves is no less.
      const auto sum = sums_.find(centered);
      const Parameters parameters = parameters_.lookup(centered);
      const double reach = sum != sums_.end() ? sum->second.magnitude * sum->second.scale
                                              : parameters.magnitude() * parameters.scale;
      constexpr double rounded = 1; // of the mean
      greatest = std::min(greatest, reach / x.scale + rounded);
    }
    return squareOf(integer, x, greatest, count);
  }

  // A product's operand, in 8 bits.
  Quantized factorOf(IntegerBuilder &integer, Value real) {
    Value value = real;
    const Quantized x = operand(integer, value);
    if (x.parameters.bits == 8)
      return x;
    return narrow(integer, real, {1},
                  narrowedParameters(statistics_, rangedOf(value), {}, plan_.precision));
  }

  // Of which `value` has the range.
  Value rangedOf(Value value) const {
    while (!statistics_.observed.ranges.contains(value))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  // `value`, of 16 or 32 bits, in 8 for products: once for all that take it alike, where it is
  // made.
  Quantized narrow(IntegerBuilder &integer, Value value, const std::vector<double> &factors,
                   const Parameters &parameters) {
    const Quantized x = operand(integer, value);
    std::vector<Narrow> &known = narrow_[x.value];
    for (const Narrow &same : known)
      if (same.factors == factors && same.result.parameters == parameters)
        return same.result;
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointAfterValue(x.value);
    const Sum sum = sums_.lookup(value);
    const Quantized result =
        sum.value
            ? narrowed(integer, {sum.value, {sum.scale}, {sum.magnitude}}, factors, parameters)
            : narrowed(integer, x, factors, parameters);
    known.push_back({factors, result});
    return result;
  }

  Accumulator multiplyMatrices(IntegerBuilder &integer, tosa::MatMulOp op) {
    auto scores = scores_.find(op);
    if (scores != scores_.end())
      return weighedMean(integer, op, scores->second);
    if (plan_.isGivenWide(op.getA()) || plan_.isGivenWide(op.getB()))
      return multiplyParts(integer, op);
    return multiplyMatrices(integer, op, factorOf(integer, op.getA()),
                            factorOf(integer, op.getB()));
  }

  // The parts of 8 bits of which an operand consists: one, or those of 16 (split.h).
  SmallVector<Quantized> partsOf(IntegerBuilder &integer, Value real) {
    const Quantized x = operand(integer, real);
    if (x.parameters.bits == 8)
      return {x};
    const Histogram &histogram = statistics_.histograms.find(rangedOf(real))->second;
    const bool isGiven = plan_.isGivenWide(real);
    const Parameters high =
        highParameters(x.parameters, isGiven ? x.parameters.lowest() : headroom * histogram.low,
                       isGiven ? x.parameters.highest() : headroom * histogram.high);
    return {{highActivations(integer, x.value, {1}, high), high},
            {lowActivations(integer, x.value, {1}), {high.scale * lowStep, 0, 8}}};
  }

  // The sum of parts, at steps as fine as those of the last ones where 32 bits hold them.
  static Sum sumOfParts(IntegerBuilder &integer, ArrayRef<Sum> parts) {
    Sum sum = parts.front();
    for (const Sum &part : parts.drop_front())
      sum = combine<tosa::AddOp>(integer, refined(integer, sum, part.scale), part, false);
    return sum;
  }

  Sum multiplyParts(IntegerBuilder &integer, tosa::MatMulOp op) {
    SmallVector<Sum> products;
    for (const Quantized &a : factorsOf(integer, op.getA()))
      for (const Quantized &b : factorsOf(integer, op.getB())) {
        const Accumulator made = multiplyMatrices(integer, op, a, b);
        products.push_back({made.value, made.scales[0], made.magnitudes[0]});
      }
    return sumOfParts(integer, products);
  }

  SmallVector<Quantized> factorsOf(IntegerBuilder &integer, Value real) {
    return plan_.isGivenWide(real) ? partsOf(integer, real)
                                   : SmallVector<Quantized>{factorOf(integer, real)};
  }

  Sum averageOf(IntegerBuilder &integer, tosa::AvgPool2dOp pool) {
    SmallVector<Sum> averages;
    for (const Quantized &part : partsOf(integer, pool.getInput()))
      averages.push_back(averageWindows(integer, part, pool));
    return sumOfParts(integer, averages);
  }

  // What exponentials of a part of a row weigh, and their sum: differences are to the part's
  // greatest logit.
  struct Weighed {
    Value value; // 32 bits
    Sum total, greatest;
  };

  // What the exponentials of scores weigh, divided by the sum of these. Blocks of a row are joined
  // some at a time, with what those before them have come to.
  Accumulator weighedMean(IntegerBuilder &integer, tosa::MatMulOp op, const Scores &scores) {
    const int64_t length = tensorType(op.getA()).getShape()[2],
                  block = scores.block > 0 ? scores.block : length;
    constexpr int64_t joined = 3; // blocks
    SmallVector<tosa::SliceOp> slices;
    std::optional<Weighed> weighed;
    for (int64_t begin = 0; begin < length; begin += joined * block) {
      std::vector<Exponentials> weights;
      const int64_t end = std::min(length, begin + joined * block);
      for (int64_t first = begin; first < end; first += block) {
        Sum logits = scores.logits;
        logits.value = makeSliceOfAxis(builder_, integer.location(), logits.value, scores.axis,
                                       first, std::min(block, end - first));
        if (length > block)
          slices.push_back(logits.value.getDefiningOp<tosa::SliceOp>());
        weights.push_back(buildExponentials(integer, logits, scores.axis, length > block));
      }
      weighed = weigh(integer, op, weights, begin, weighed);
    }
    hoistParts(slices);
    const Sum inverse = inverseOf(integer, weighed->total);
    Value perRow = reshape(integer, inverse.value, perRowOf(op));
    // A mean is within the range of what it is of: 8 bits, and 16 behind them.
    constexpr int fraction = 16;
    const int shift = static_cast<int>(std::floor(-std::log2(inverse.scale))) - fraction;
    Value mean = integer.multiply(weighed->value, perRow, shift);
    const double unit = std::ldexp(inverse.scale, shift);
    const Parameters &values = factorOf(integer, op.getB()).parameters;
    return {mean, {unit * values.scale}, {values.magnitude() / unit + 1}};
  }

  static std::array<int64_t, 3> perRowOf(tosa::MatMulOp op) {
    ArrayRef<int64_t> shape = tensorType(op.getA()).getShape();
    return {shape[0], shape[1], 1};
  }

  // What blocks of rows from `begin` on weigh, together with what those before them do.
  Weighed weigh(IntegerBuilder &integer, tosa::MatMulOp op, ArrayRef<Exponentials> weights,
                int64_t begin, const std::optional<Weighed> &before) {
    const bool isAll = weights.size() == 1 && !before;
    std::vector<Sum> greatest;
    for (const Exponentials &weight : weights)
      greatest.push_back(weight.greatest);
    if (before)
      greatest.push_back(before->greatest);
    const Powers powers = isAll ? Powers() : buildPowers(integer, greatest);
    std::optional<Weighed> weighed;
    auto add = [&](Weighed part, size_t number) {
      if (!isAll) {
        Value power = powers.values[number];
        part.total.value = integer.multiply(part.total.value, power, powerBits);
        part.value = integer.multiply(part.value, reshape(integer, power, perRowOf(op)), powerBits);
      }
      if (weighed) {
        part.total.value = integer.binary<tosa::AddOp>(weighed->total.value, part.total.value);
        part.total.magnitude += weighed->total.magnitude;
        part.value = integer.binary<tosa::AddOp>(weighed->value, part.value);
      }
      part.greatest = isAll ? part.greatest : powers.greatest;
      weighed = part;
    };
    const Quantized b = factorOf(integer, op.getB());
    for (auto [i, weight] : llvm::enumerate(weights)) {
      const int64_t count = tensorType(weight.value).getShape()[weight.axis];
      const Sum total = totalOf(integer, weight);
      const Quantized values = rowsOf(integer, b, begin, count);
      std::array<int64_t, 3> shape = perRowOf(op);
      shape[2] = count;
      const Quantized a{reshape(integer, weight.value, shape), weight.parameters};
      Value value = multiplyMatrices(integer, op, a, values).value;
      add({value, isAll ? total : refinedTotal(integer, total), weight.greatest}, i);
      begin += count;
    }
    if (before)
      add(*before, weights.size());
    return *weighed;
  }

  // Some of the rows of a product's second operand, taken where that stands: between what computes
  // a move would part it.
  Quantized rowsOf(IntegerBuilder &integer, const Quantized &b, int64_t begin, int64_t count) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointAfterValue(b.value);
    return {makeSliceOfAxis(builder_, integer.location(), b.value, 1, begin, count), b.parameters};
  }

  Accumulator multiplyMatrices(IntegerBuilder &integer, tosa::MatMulOp op, const Quantized &a,
                               const Quantized &b) {
    Value product = tosa::MatMulOp::create(
        builder_, op.getLoc(), integer.type(tensorType(op.getOutput()).getShape(), 32), a.value,
        b.value, integer.constant({1}, 8, {a.parameters.zeroPoint}),
        integer.constant({1}, 8, {b.parameters.zeroPoint}));
    double depth = double(tensorType(a.value).getShape().back());
    return {product,
            {a.parameters.scale * b.parameters.scale},
            {a.parameters.magnitude() * b.parameters.magnitude() * depth}};
  }

  // One of two operands, at the scale of the other one where that leads. `hasLow`, `hasHigh`: of a
  // constant, which of its values must be there however far they are; `step`: of the result, at
  // most.
  Sum asOperand(IntegerBuilder &integer, Value value, Value other, bool hasLow, bool hasHigh,
                double step) {
    if (!values_.contains(other))
      return leadOf(integer, value, step);
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    if (!values_.contains(value)) {
      const std::vector<double> reals = constantReals(value).value();
      double greatest = 0;
      for (double real : reals)
        greatest = std::max({greatest, hasHigh ? real : 0, hasLow ? -real : 0});
      const Sum like = leadOf(integer, other, step);
      constexpr double most = 1 << 28;
      return greatest <= most * like.scale ? constantLike(integer, shape, reals, like)
                                           : constantSum(integer, shape, reals);
    }
    const bool isLead = sums_.contains(value) ||
                        tensorType(value).getNumElements() > tensorType(other).getNumElements();
    return isLead ? leadOf(integer, value, step)
                  : widenedLike(integer, operand(integer, value), leadOf(integer, other, step));
  }

  // Sums of coarse operands are made finer where what is added to them would be lost.
  Sum leadOf(IntegerBuilder &integer, Value value, double step) {
    return refined(integer, sumOf(integer, value), step);
  }

  // Whether 16 bits stand for themselves.
  static bool isPlain(const Quantized &x) {
    return x.parameters.bits == 16 && x.parameters.zeroPoint == 0;
  }

  // Both operands at one scale, with as many bits below the coarser operand's as rescales allow.
  template <typename Op>
  Accumulator combineAlike(IntegerBuilder &integer, Value left, Value right, bool saturates,
                           double step) {
    // What is far below the greatest logit may be cut off; the logits' own steps may not.
    if (saturates || isSum(left) || isSum(right)) {
      // What a constant has below all values never is a maximum, nor a minimum what it has above.
      const bool hasHigh = !saturates && !std::is_same_v<Op, tosa::MinimumOp>,
                 hasLow = !saturates && !std::is_same_v<Op, tosa::MaximumOp>;
      Sum a = asOperand(integer, left, right, hasLow, hasHigh, step),
          b = asOperand(integer, right, left, hasLow, hasHigh, step);
      return combine<Op>(integer, a, b, saturates);
    }
    const Quantized a = operand(integer, left, right), b = operand(integer, right, left);
    const double finer = std::min(a.parameters.scale, b.parameters.scale),
                 coarser = std::max(a.parameters.scale, b.parameters.scale);
    constexpr double farthest = 1 << 12;
    if (isPlain(a) && isPlain(b) && coarser <= farthest * finer) {
      // At the scale of the finer one, which needs no rescale.
      Value x = integer.widen(a.value, a.parameters, a.parameters.scale / finer);
      Value y = integer.widen(b.value, b.parameters, b.parameters.scale / finer);
      return {integer.binary<Op>(x, y),
              {finer},
              {(a.parameters.magnitude() * a.parameters.scale +
                b.parameters.magnitude() * b.parameters.scale) /
               finer}};
    }
    double headroom = std::max(a.parameters.bits, b.parameters.bits) > 8 ? 1 << 13 : 1 << 20;
    double twice = 2 * std::max(a.parameters.scale, b.parameters.scale);
    Value x = integer.widen(a.value, a.parameters, a.parameters.scale / twice * headroom);
    Value y = integer.widen(b.value, b.parameters, b.parameters.scale / twice * headroom);
    double magnitude = headroom / twice *
                       (a.parameters.magnitude() * a.parameters.scale +
                        b.parameters.magnitude() * b.parameters.scale);
    return {integer.binary<Op>(x, y), {twice / headroom}, {magnitude}};
  }

  // Bounds that the ends of the type do not keep already.
  Value clamp(IntegerBuilder &integer, Value value, const Parameters &parameters, double low,
              double high) {
    int64_t least = low == -HUGE_VAL ? parameters.least() : parameters.quantize(low);
    int64_t greatest = high == HUGE_VAL ? parameters.greatest() : parameters.quantize(high);
    if (parameters.bits > 16 || (least == parameters.least() && greatest == parameters.greatest()))
      return value;
    Type element = builder_.getIntegerType(parameters.bits);
    return tosa::ClampOp::create(builder_, integer.location(), value.getType(), value,
                                 builder_.getIntegerAttr(element, least),
                                 builder_.getIntegerAttr(element, greatest));
  }

  // --- Integers and booleans

  // What a value without reals is here.
  Value plain(Value value) {
    const auto found = values_.find(value);
    return found != values_.end() ? found->second : copyConstant(value);
  }

  void emitPlain(Operation *op) {
    OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    for (Value operand : op->getOperands())
      state.addOperands(plain(operand));
    state.addTypes(op->getResultTypes());
    Operation *copy = builder_.create(state);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      values_[from] = to;
  }

  void emitBorder(IntegerBuilder &integer, Operation *op) {
    if (auto select = dyn_cast<tosa::SelectOp>(op))
      return emitSelect(integer, select);
    if (isa<tosa::CastOp>(op))
      return isFloat(op->getResult(0)) ? emitCastToReals(integer, op)
                                       : emitCastToIntegers(integer, op);
    // The difference of both operands tells.
    const Accumulator difference =
        combineAlike<tosa::SubOp>(integer, op->getOperand(0), op->getOperand(1), false, HUGE_VAL);
    Value zero = integer.scalarLike(difference.value, 32, 0);
    OperationState state(op->getLoc(), op->getName());
    state.addOperands({difference.value, zero});
    state.addTypes(op->getResultTypes());
    values_[op->getResult(0)] = builder_.create(state)->getResult(0);
  }

  // A boolean is 0 or 1.
  void emitCastToReals(IntegerBuilder &integer, Operation *op) {
    Value value = plain(op->getOperand(0)), result = op->getResult(0);
    const Parameters parameters = parameters_.lookup(result);
    ArrayRef<int64_t> shape = tensorType(result).getShape();
    if (!tensorType(value).getElementType().isInteger(32))
      value = tosa::CastOp::create(builder_, op->getLoc(), integer.type(shape, 32), value);
    const Histogram &histogram = statistics_.histograms.find(result)->second;
    const double magnitude = std::max({1.0, -histogram.low, histogram.high});
    define(result, integer.rescaleSum(value, {magnitude}, {1 / parameters.scale}, parameters));
  }

  void emitCastToIntegers(IntegerBuilder &integer, Operation *op) {
    const Quantized x = operand(integer, op->getOperand(0));
    const Value wide = integer.widen(x.value, x.parameters);
    const Parameters whole{1, 0, 32};
    values_[op->getResult(0)] =
        integer.rescaleSum(wide, {x.parameters.magnitude()}, {x.parameters.scale}, whole);
  }

  void emitSelect(IntegerBuilder &integer, tosa::SelectOp op) {
    const Parameters parameters = parameters_.lookup(op.getOutput());
    auto branch = [&](Value real) {
      const Quantized x = operand(integer, real);
      return x.parameters == parameters
                 ? x.value
                 : integer.rescale(x.value, x.parameters.zeroPoint,
                                   {x.parameters.scale / parameters.scale}, parameters);
    };
    Value condition = plain(op.getInput1());
    Value a = branch(op.getInput2()), b = branch(op.getInput3());
    define(op.getOutput(),
           tosa::SelectOp::create(builder_, op.getLoc(), typeOf(op.getOutput()), condition, a, b));
  }

  // --- Tables and data movement

  void emitTable(IntegerBuilder &integer, Operation *op, const Table &table) {
    if (table.power) {
      // A range of 2^24 of what is found, and of 2^12 for an inverse.
      const Sum sum = sumOf(integer, table.root);
      double most = 0;
      for (const ChannelRange &range : statistics_.observed.ranges.find(table.root)->second)
        most = std::max(most, range.high / sum.scale);
      const double least = std::ldexp(most, table.power->exponent == -0.5 ? -24 : -12);
      return defineSum(op->getResult(0), powerOf(integer, sum, *table.power, least));
    }
    Quantized root = operand(integer, table.root);
    Value result = op->getResult(0);
    if (table.isClamp && root.parameters == parameters_.lookup(result)) {
      auto clampOp = cast<tosa::ClampOp>(op);
      return define(result, clamp(integer, root.value, root.parameters,
                                  cast<FloatAttr>(clampOp.getMinVal()).getValueAsDouble(),
                                  cast<FloatAttr>(clampOp.getMaxVal()).getValueAsDouble()));
    }
    Value made = buildTable(integer, root, plan_.pointwise.function(result, table.root),
                            parameters_.lookup(result), channelFactors_.lookup(result),
                            tensorType(result).getShape());
    if (isFloat(result))
      return define(result, made);
    values_[result] = tosa::CastOp::create(builder_, op->getLoc(), result.getType(), made);
  }

  Value reshape(IntegerBuilder &integer, Value value, ArrayRef<int64_t> shape) {
    return makeReshape(builder_, integer.location(), value, shape);
  }

  void emitConcat(IntegerBuilder &integer, tosa::ConcatOp op) {
    Parameters parameters = parameters_.lookup(op.getOutput());
    SmallVector<Value> operands;
    for (Value input : op.getInput1()) {
      Quantized x = operand(integer, input);
      operands.push_back(x.parameters == parameters
                             ? x.value
                             : integer.rescale(x.value, x.parameters.zeroPoint,
                                               {x.parameters.scale / parameters.scale},
                                               parameters));
    }
    define(op.getOutput(), tosa::ConcatOp::create(builder_, op.getLoc(), typeOf(op.getOutput()),
                                                  operands, op.getAxisAttr()));
  }

  // The same operator on integers: the result has the operand's parameters.
  void emitMove(IntegerBuilder &integer, Operation *op) {
    if (sums_.contains(op->getOperand(0))) {
      Sum sum = sums_.lookup(op->getOperand(0));
      sum.value = reshape(integer, sum.value, tensorType(op->getResult(0)).getShape());
      return defineSum(op->getResult(0), sum);
    }
    Quantized x = operand(integer, op->getOperand(0));
    if (Parameters own = parameters_.lookup(op->getResult(0)); !(x.parameters == own))
      x = {integer.rescale(x.value, x.parameters.zeroPoint, {x.parameters.scale / own.scale}, own),
           own};
    OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    state.addOperands(x.value);
    for (Value extra : op->getOperands().drop_front())
      state.addOperands(isFloat(extra) ? movedConstant(integer, op, extra, x.parameters)
                                       : copyConstant(extra));
    auto resize = dyn_cast<tosa::ResizeOp>(op);
    bool bilinear = resize && resize.getMode() == tosa::ResizeMode::BILINEAR;
    ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
    state.addTypes(integer.type(shape, bilinear ? 32 : x.parameters.bits));
    if (isa<tosa::AvgPool2dOp>(op))
      state.attributes.set("acc_type", TypeAttr::get(builder_.getI32Type()));
    Value result = builder_.create(state)->getResult(0);
    if (bilinear)
      result = integer.rescale(result, 0, {1 / bilinearFactor(resize)},
                               {x.parameters.scale, 0, x.parameters.bits});
    define(op->getResult(0), result);
  }

  // A float operand beside the data: a pad's value, or a pool's zero point.
  Value movedConstant(IntegerBuilder &integer, Operation *op, Value value,
                      const Parameters &parameters) {
    double real = isa<tosa::PadOp>(op) ? splatFloat(value).value() : 0;
    return integer.constant({1}, parameters.bits, {parameters.quantize(real)});
  }

  Value copyConstant(Value value) {
    Operation *source = value.getDefiningOp();
    return builder_.clone(*source)->getResult(0);
  }

  // An integer bilinear resize yields its samples times the product of both scales' numerators; its
  // weights add up, so the zero point passes through.
  static double bilinearFactor(tosa::ResizeOp resize) {
    auto scale = resize.getScale().getDefiningOp<tosa::ConstShapeOp>();
    auto numbers = llvm::to_vector(scale.getValues().getValues<int64_t>());
    return double(numbers[0]) * double(numbers[2]);
  }

  // --- The border

  void emitReturn(Operation *terminator) {
    IntegerBuilder integer(builder_, terminator->getLoc());
    SmallVector<Value> results;
    SmallVector<Type> types;
    std::vector<Parameters> parameters;
    for (Value value : terminator->getOperands()) {
      Quantized result =
          isFloat(value) ? operand(integer, value) : Quantized{plain(value), {0, 0, 0}};
      results.push_back(result.value);
      types.push_back(result.value.getType());
      parameters.push_back(result.parameters);
    }
    func::ReturnOp::create(builder_, terminator->getLoc(), results);
    function_.setFunctionType(builder_.getFunctionType(function_.getArgumentTypes(), types));
    auto describe = [&](DictionaryAttr known, const Parameters &parameters) {
      if (parameters.scale == 0) // integers are what they are
        return known;
      NamedAttrList attributes(known);
      attributes.set("tilewright.scale", builder_.getF64FloatAttr(parameters.scale));
      attributes.set("tilewright.zero_point", builder_.getI64IntegerAttr(parameters.zeroPoint));
      return attributes.getDictionary(builder_.getContext());
    };
    for (unsigned i = 0; i < function_.getNumArguments(); ++i) {
      BlockArgument argument = main_.getArgument(i);
      Parameters parameters =
          isFloat(argument) ? parameters_.lookup(argument) : Parameters{0, 0, 0};
      parameters.zeroPoint -= zeroOf(main_, argument); // the border's values are the model's
      function_.setArgAttrs(i, describe(main_.getArgAttrDict(i), parameters));
      function_.removeArgAttr(i, zeroAttribute);
    }
    for (unsigned i = 0; i < results.size(); ++i)
      function_.setResultAttrs(i, describe(main_.getResultAttrDict(i), parameters[i]));
  }

  func::FuncOp main_;
  const Plan &plan_;
  ParameterMap parameters_;
  const Statistics &statistics_;
  const llvm::DenseMap<Value, std::vector<double>> &channelFactors_;
  bool withReals_;
  unsigned threads_;
  OpBuilder builder_;
  func::FuncOp function_;
  llvm::DenseMap<Value, Value> values_;
  llvm::DenseMap<Value, Sum> sums_;            // of those that have 32 bits
  llvm::DenseMap<Operation *, Scores> scores_; // by the product that reads them
  struct Narrow {
    std::vector<double> factors;
    Quantized result;
  };
  llvm::DenseMap<Value, std::vector<Narrow>> narrow_; // by the integers that are narrowed
  IntegerModule result_;
  IntegerFilters filters_;
};

} // namespace

IntegerModule emitInteger(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
                          const Statistics &statistics, const QuantizeOptions &options,
                          bool withReals, unsigned threads) {
  return TosaWriter(main, plan, parameters, statistics, options, withReals, threads).run();
}

} // namespace tilewright::quantization

#include "emit.h"

#include "graph_queries.h"
#include "integer_softmax.h"
#include "split.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/integer_builder.h"
#include "tilewright/compiler/tosa/model_operators.h"
#include "tilewright/support/parallel.h"
#include "weights.h"

#include "mlir/IR/IRMapping.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace mlir;

namespace tilewright::quantization {

namespace {

struct Quantized {
  Value value;
  Parameters parameters;
};

// A 32-bit result before its rescale; scales: one, or one for each index of the last dimension.
struct Accumulator {
  Value value;
  std::vector<double> scales;
  std::vector<double> magnitudes; // |value| is at most these, one for each scale
};

class Emitter {
public:
  Emitter(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
          const Statistics &statistics, bool withReals, unsigned threads)
      : main_(main), plan_(plan), parameters_(parameters), statistics_(statistics),
        channelFactors_(statistics.channelFactors), withReals_(withReals), threads_(threads),
        builder_(main.getContext()) {}

  IntegerModule run() {
    Block &source = main_.getBody().front();
    quantizeConvolutions();
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
    return std::move(result_);
  }

private:
  RankedTensorType typeOf(Value value) {
    return RankedTensorType::get(tensorType(value).getShape(),
                                 builder_.getIntegerType(parameters_.lookup(value).bits));
  }

  void visit(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || plan_.folded.contains(op))
      return;
    IntegerBuilder integer(builder_, op->getLoc());
    if (auto softmax = plan_.softmaxes.find(op); softmax != plan_.softmaxes.end())
      define(op->getResult(0),
             buildSoftmax(integer, logits(integer, softmax->second.input), softmax->second.axis,
                          parameters_.lookup(op->getResult(0))));
    else if (auto anchor = plan_.anchors.find(op); anchor != plan_.anchors.end())
      emitAnchor(integer, op, anchor->second);
    else if (auto table = plan_.tables.find(op); table != plan_.tables.end())
      emitTable(integer, op, table->second);
    else if (auto concat = dyn_cast<tosa::ConcatOp>(op))
      emitConcat(integer, concat);
    else
      emitMove(integer, op);
  }

  void define(Value real, Value integer) {
    values_[real] = integer;
    result_.values.push_back(
        {real, integer, parameters_.lookup(real), channelFactors_.lookup(real)});
  }

  // The integer value of an operand; constants are quantized to their own range.
  Quantized operand(IntegerBuilder &integer, Value value) {
    auto found = values_.find(value);
    if (found != values_.end())
      return {found->second, parameters_.lookup(value)};
    std::vector<double> elements = constantReals(value).value();
    auto [least, greatest] = std::minmax_element(elements.begin(), elements.end());
    Parameters parameters = asymmetric8(*least, *greatest);
    std::vector<int64_t> integers;
    Tensor rounded = makeTensor(DType::F32, tensorType(value).getShape().vec());
    for (size_t i = 0; i < elements.size(); ++i) {
      integers.push_back(parameters.quantize(elements[i]));
      rounded.data<float>()[i] = static_cast<float>(parameters.real(integers[i]));
    }
    if (withReals_)
      result_.constants.emplace_back(value, std::move(rounded));
    return {integer.constant(tensorType(value).getShape(), 8, integers), parameters};
  }

  Value logits(IntegerBuilder &integer, Value input) {
    Quantized logits = operand(integer, input);
    if (logits.parameters.bits == 32)
      return logits.value;
    // Logits further apart than this give the same probabilities.
    constexpr double farthest = 32;
    return integer.widen(logits.value, logits.parameters,
                         std::min(logits.parameters.scale, farthest) / logitScale);
  }

  // --- Anchors
  // -----------------------------------------------------------------------------------------------------------

  void emitAnchor(IntegerBuilder &integer, Operation *op, const Anchor &anchor) {
    Accumulator sum = accumulate(integer, op, anchor);
    for (Operation *further : anchor.sums) {
      uint32_t axis = cast<tosa::ReduceSumOp>(further).getAxis();
      sum.magnitudes[0] *= double(tensorType(sum.value).getShape()[axis]);
      sum.value = integer.reduce<tosa::ReduceSumOp>(sum.value, axis);
    }
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

  Accumulator accumulate(IntegerBuilder &integer, Operation *op, const Anchor &anchor) {
    if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
      return convolve(integer, op, anchor.result);
    if (auto matmul = dyn_cast<tosa::MatMulOp>(op))
      return multiplyMatrices(integer, matmul);
    if (isa<tosa::MulOp>(op)) {
      Quantized a = operand(integer, op->getOperand(0)), b = operand(integer, op->getOperand(1));
      Value product = integer.multiply(integer.widen(a.value, a.parameters),
                                       integer.widen(b.value, b.parameters));
      return {product,
              {a.parameters.scale * b.parameters.scale},
              {a.parameters.magnitude() * b.parameters.magnitude()}};
    }
    if (isa<tosa::AddOp>(op))
      return combine<tosa::AddOp>(integer, op);
    if (isa<tosa::SubOp>(op))
      return combine<tosa::SubOp>(integer, op);
    if (isa<tosa::MaximumOp>(op))
      return combine<tosa::MaximumOp>(integer, op);
    if (isa<tosa::MinimumOp>(op))
      return combine<tosa::MinimumOp>(integer, op);
    Quantized x = operand(integer, op->getOperand(0));
    if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
      return averageImage(integer, x, pool.getInput());
    Value wide = integer.widen(x.value, x.parameters);
    uint32_t axis = cast<tosa::ReduceSumOp>(op).getAxis();
    return {integer.reduce<tosa::ReduceSumOp>(wide, axis),
            {x.parameters.scale},
            {x.parameters.magnitude() * double(tensorType(wide).getShape()[axis])}};
  }

  // The average over an image varies less than its pixels, so it wants a scale of its own, which
  // TOSA's pool cannot give, and more precision than averages of 8 bits have: a depthwise
  // convolution with weights of 1 sums up windows, and windows are summed up in 32 bits.
  Accumulator averageImage(IntegerBuilder &integer, Quantized x, Value real) {
    std::vector<double> channels = channelFactors_.lookup(real);
    if (x.parameters.bits > 8) {
      channels = channelFactors(statistics_.observed.ranges.find(real)->second, 1);
      x = narrowed(integer, x, channels, narrowedParameters(real, channels));
    }
    ArrayRef<int64_t> shape = tensorType(x.value).getShape();
    auto [rows, columns] = averageWindows(shape[1], shape[2]);
    Value sum;
    if (rows == shape[1] && columns == shape[2]) {
      sum = integer.widen(x.value, x.parameters);
    } else {
      int64_t kernel[] = {shape[1] / rows, shape[2] / columns};
      int64_t count = kernel[0] * kernel[1] * shape[3];
      sum = tosa::DepthwiseConv2DOp::create(
          builder_, integer.location(), integer.type({shape[0], rows, columns, shape[3]}, 32),
          x.value,
          integer.constant({kernel[0], kernel[1], shape[3], 1}, 8, std::vector<int64_t>(count, 1)),
          integer.constant({shape[3]}, 32, std::vector<int64_t>(shape[3], 0)),
          integer.constant({1}, 8, {x.parameters.zeroPoint}), integer.constant({1}, 8, {0}),
          builder_.getDenseI64ArrayAttr({0, 0, 0, 0}), builder_.getDenseI64ArrayAttr(kernel),
          builder_.getDenseI64ArrayAttr({1, 1}), TypeAttr::get(builder_.getI32Type()));
    }
    if (rows > 1)
      sum = integer.reduce<tosa::ReduceSumOp>(sum, 1);
    if (columns > 1)
      sum = integer.reduce<tosa::ReduceSumOp>(sum, 2);
    double pixels = double(shape[1] * shape[2]), scale = x.parameters.scale / pixels;
    Accumulator result{sum, {scale}, {x.parameters.magnitude() * pixels}};
    if (!channels.empty()) {
      result.scales.clear();
      for (double channel : channels)
        result.scales.push_back(scale / channel);
      result.magnitudes.resize(channels.size(), result.magnitudes[0]);
    }
    return result;
  }

  // How many windows an image is averaged in, down and across: at least `enough` of them where its
  // size allows.
  static std::pair<int64_t, int64_t> averageWindows(int64_t height, int64_t width) {
    constexpr int64_t enough = 12; // for scratchpads to hold a window
    std::pair<int64_t, int64_t> best = {height, width};
    for (int64_t rows = 1; rows <= height; ++rows)
      for (int64_t columns = 1; columns <= width; ++columns)
        if (height % rows == 0 && width % columns == 0 && rows * columns >= enough &&
            rows * columns < best.first * best.second)
          best = {rows, columns};
    return best;
  }

  // A convolution as integers have it: what its filter reads, and the filter's integers.
  struct Convolution {
    std::vector<double> factors; // of the channels that it reads; or empty
    Parameters input;            // of these
    bool isStacked = false;      // see convolveStacked
    Filter filter;
    QuantizedWeights weights;
  };

  Convolution convolutionOf(Operation *op, Value result, const Parameters &x) {
    Convolution found;
    Value read = op->getOperand(0);
    if (x.bits == 8) {
      found.factors = channelFactors_.lookup(read);
      found.input = x;
    } else if (isa<tosa::DepthwiseConv2DOp>(op)) {
      found.factors =
          channelFactors(statistics_.observed.ranges.find(read)->second, strengthFor(op));
      found.input = narrowedParameters(read, found.factors);
    } else {
      std::tie(found.factors, found.input) = highPartOf(read, x, strengthFor(op));
      constexpr int64_t few = 32; // channels that are worth copying for the sake of one convolution
      found.isStacked = isPointwise(op) && tensorType(op->getOperand(1)).getShape().back() <= few;
    }
    found.filter = filterOf(op, result, found.factors);
    if (found.isStacked) {
      // What rounding leaves of a weight is part of the sum too: nothing has to make up for it.
      found.filter.inputMeans.clear();
      found.filter.inputMoments.clear();
    }
    return found;
  }

  Filter filterOf(Operation *op, Value result, const std::vector<double> &inputFactors) {
    Filter filter;
    filter.shape.assign(tensorType(op->getOperand(1)).getShape());
    filter.isDepthwise = isa<tosa::DepthwiseConv2DOp>(op);
    filter.bias = *constantReals(op->getOperand(2));
    filter.weights = *ConstantFloats::of(op->getOperand(1));
    filter.inputMeans = statistics_.observed.means.find(op->getOperand(0))->second;
    filter.covered = coveredTaps(op);
    filter.inputMoments = momentsOf(op, filter, inputFactors);
    filter.inputFactors = inputFactors;
    std::vector<double> &outputFactors = filter.outputFactors = channelFactors_.lookup(result);
    for (size_t c = 0; c < outputFactors.size(); ++c)
      filter.bias[c] *= outputFactors[c];
    return filter;
  }

  // The second moments under the weights, of scaled channels.
  std::vector<double> momentsOf(Operation *op, const Filter &filter,
                                const std::vector<double> &inputFactors) {
    const std::vector<float> &known = statistics_.observed.moments.find(op)->second;
    std::vector<double> moments(known.begin(), known.end());
    size_t perOutput = filter.perOutput();
    for (size_t i = 0; i < moments.size() && !inputFactors.empty(); ++i) {
      size_t row = i / perOutput, column = i % perOutput;
      if (filter.isDepthwise)
        row = column = row / perOutput; // all of one channel
      else
        row %= inputFactors.size(), column %= inputFactors.size();
      moments[i] *= inputFactors[row] * inputFactors[column];
    }
    return moments;
  }

  // Makes the integers of all convolutions, which takes the most time by far: threads share it.
  // Weights of constant inputs are left for later: what those become is not known yet.
  void quantizeConvolutions() {
    std::vector<std::pair<Operation *, Convolution>> found;
    for (Operation &op : main_.getBody().front().without_terminator())
      if (auto anchor = plan_.anchors.find(&op); anchor != plan_.anchors.end() &&
                                                 isConvolution(&op) &&
                                                 !isConstantFloats(op.getOperand(0)))
        found.emplace_back(
            &op, convolutionOf(&op, anchor->second.result, parameters_.lookup(op.getOperand(0))));
    // Their memory is this thread's, which later phases use again.
    std::vector<std::optional<RealWeights>> reals;
    for (auto &[op, convolution] : found)
      reals.push_back(realsFor(convolution));
    parallelFor(threads_, found.size(),
                [&](unsigned, size_t i) { quantizeFilter(found[i].second, reals[i]); });
    for (size_t i = 0; i < found.size(); ++i) {
      auto &[op, convolution] = found[i];
      note(op, std::move(reals[i]));
      convolutions_.try_emplace(op, std::move(convolution));
    }
  }

  // What the integers stand for is told where a rehearsal asks for it.
  std::optional<RealWeights> realsFor(const Convolution &convolution) const {
    bool isAsked = withReals_ && !convolution.isStacked;
    return isAsked ? std::optional<RealWeights>(convolution.filter) : std::nullopt;
  }

  static void quantizeFilter(Convolution &convolution, std::optional<RealWeights> &reals) {
    convolution.weights = quantizeWeights(convolution.filter, convolution.input.scale);
    if (reals)
      reals->set(convolution.filter, convolution.weights, convolution.input.scale);
  }

  void note(Operation *op, std::optional<RealWeights> reals) {
    if (!reals)
      return;
    result_.constants.emplace_back(op->getOperand(1), std::move(reals->weights));
    result_.constants.emplace_back(op->getOperand(2), std::move(reals->bias));
  }

  Convolution takeConvolution(Operation *op, Value result, const Parameters &x) {
    auto known = convolutions_.find(op);
    if (known == convolutions_.end()) {
      Convolution made = convolutionOf(op, result, x);
      std::optional<RealWeights> reals = realsFor(made);
      quantizeFilter(made, reals);
      note(op, std::move(reals));
      return made;
    }
    Convolution taken = std::move(known->second);
    convolutions_.erase(known);
    return taken;
  }

  Accumulator convolve(IntegerBuilder &integer, Operation *op, Value result) {
    Quantized x = operand(integer, op->getOperand(0));
    Convolution own = takeConvolution(op, result, x.parameters);
    Filter &filter = own.filter;
    if (x.parameters.bits == 8)
      return convolve(integer, op, x, filter.shape, own.weights);
    if (filter.isDepthwise)
      return convolve(integer, op, narrowed(integer, x, own.factors, own.input), filter.shape,
                      own.weights);
    if (own.isStacked)
      return convolveStacked(integer, op, x, own);
    Quantized high{highActivations(integer, x.value, own.factors, own.input), own.input};
    Accumulator sum = convolve(integer, op, high, filter.shape, own.weights);
    own.weights.bias.assign(own.weights.bias.size(), 0);
    Quantized low{lowActivations(integer, x.value, own.factors), {own.input.scale * lowStep, 0, 8}};
    Accumulator rest = convolve(integer, op, low, filter.shape, own.weights);
    sum.value = integer.binary<tosa::AddOp>(integer.rescale(rest.value, 0, {lowStep}, {1, 0, 32}),
                                            sum.value);
    for (size_t c = 0; c < sum.magnitudes.size(); ++c)
      sum.magnitudes[c] += rest.magnitudes[c] * lowStep + 1;
    return sum;
  }

  Accumulator convolve(IntegerBuilder &integer, Operation *op, const Quantized &x,
                       ArrayRef<int64_t> weightShape, const QuantizedWeights &weights) {
    ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
    return convolve(integer, op, x, weightShape, weights, shape);
  }

  Accumulator convolve(IntegerBuilder &integer, Operation *op, const Quantized &x,
                       ArrayRef<int64_t> weightShape, const QuantizedWeights &weights,
                       ArrayRef<int64_t> shape) {
    auto outputs = weights.bias.size();
    OperationState state(op->getLoc(), op->getName());
    state.addOperands({x.value, integer.constant(weightShape, weights.weights),
                       integer.constant({static_cast<int64_t>(outputs)}, 32, weights.bias),
                       integer.constant({1}, 8, {x.parameters.zeroPoint}),
                       integer.constant({1}, 8, {0})});
    state.addTypes(integer.type(shape, 32));
    state.addAttributes(op->getAttrs());
    state.attributes.set("acc_type", TypeAttr::get(builder_.getI32Type()));
    std::vector<double> magnitudes;
    bool isDepthwise = isa<tosa::DepthwiseConv2DOp>(op);
    size_t perOutput = weights.weights.size() / outputs;
    for (size_t c = 0; c < outputs; ++c) {
      int64_t sum = 0; // of |weights|
      for (size_t k = 0; k < perOutput; ++k)
        sum += std::abs(int(weights.weights[isDepthwise ? k * outputs + c : c * perOutput + k]));
      magnitudes.push_back(std::fabs(double(weights.bias[c])) +
                           double(sum) * x.parameters.magnitude());
    }
    return {builder_.create(state)->getResult(0), weights.scales, magnitudes};
  }

  // All parts of a pointwise convolution in one: all pixels of a part of its operand are one row,
  // the rows stand below each other, and the kernel reaches over them. Copying rows costs less than
  // interleaving channels.
  Accumulator convolveStacked(IntegerBuilder &integer, Operation *op, const Quantized &x,
                              const Convolution &own) {
    ArrayRef<int64_t> image = tensorType(x.value).getShape();
    int64_t pixels = image[1] * image[2], outputs = own.filter.shape[0];
    Value row = reshape(integer, x.value, {image[0], 1, pixels, image[3]});
    Value stack = stackActivations(integer, row, own.factors, own.input);
    return convolve(integer, op, {stack, own.input}, {outputs, 3, 1, own.filter.shape[3]},
                    stackWeights(own.filter, own.weights, own.input.scale),
                    {image[0], 1, pixels, outputs});
  }

  // Whether pixels of the result depend on one pixel each, the same.
  static bool isPointwise(Operation *op) {
    auto conv = dyn_cast<tosa::Conv2DOp>(op);
    auto all = [](ArrayRef<int64_t> numbers, int64_t value) {
      return llvm::all_of(numbers, [=](int64_t number) { return number == value; });
    };
    return conv && all(tensorType(conv.getWeight()).getShape().slice(1, 2), 1) &&
           all(conv.getStride(), 1) && all(conv.getPad(), 0);
  }

  // The ends of a tensor whose channels are scaled, with room for other data.
  static constexpr double room = 1.25;
  std::pair<double, double> scaledRange(Value value, const std::vector<double> &factors) {
    double low = 0, high = 0;
    const std::vector<ChannelRange> &ranges = statistics_.observed.ranges.find(value)->second;
    for (size_t c = 0; c < factors.size(); ++c) {
      low = std::min(low, ranges[c].low * factors[c]);
      high = std::max(high, ranges[c].high * factors[c]);
    }
    return {room * low, room * high};
  }

  // 16 bits as 8.
  Parameters narrowedParameters(Value real, const std::vector<double> &factors) {
    auto [low, high] = scaledRange(real, factors);
    return asymmetric8(low, high);
  }
  Quantized narrowed(IntegerBuilder &integer, const Quantized &x,
                     const std::vector<double> &factors, const Parameters &parameters) {
    std::vector<double> rescales;
    for (double factor : factors)
      rescales.push_back(factor * x.parameters.scale / parameters.scale);
    if (llvm::all_equal(rescales))
      rescales.resize(1);
    return {integer.rescale(x.value, 0, rescales, parameters), parameters};
  }

  // The factors of the channels, powers of two, and the high bits of 16.
  std::pair<std::vector<double>, Parameters> highPartOf(Value real, const Parameters &wide,
                                                        double strength) {
    const std::vector<ChannelRange> &ranges = statistics_.observed.ranges.find(real)->second;
    std::vector<double> factors = channelFactors(ranges, strength);
    auto [low, high] = scaledRange(real, std::vector<double>(ranges.size(), 1));
    for (size_t c = 0; c < factors.size(); ++c) {
      if (ranges[c].low < 0)
        factors[c] = std::min(factors[c], low / ranges[c].low / room);
      if (ranges[c].high > 0)
        factors[c] = std::min(factors[c], high / ranges[c].high / room);
      factors[c] = std::max(std::exp2(std::floor(std::log2(factors[c]))), 1.0);
    }
    return {factors, highParameters(wide, low, high)};
  }

  // Of each tap of a convolution: how much of the output reads the image there and not the pad.
  static std::vector<double> coveredTaps(Operation *op) {
    auto numbers = [&](const char *name) {
      return cast<DenseI64ArrayAttr>(op->getAttr(name)).asArrayRef();
    };
    ArrayRef<int64_t> pad = numbers("pad"), stride = numbers("stride"),
                      dilation = numbers("dilation");
    ArrayRef<int64_t> input = tensorType(op->getOperand(0)).getShape(),
                      output = tensorType(op->getResult(0)).getShape(),
                      weights = tensorType(op->getOperand(1)).getShape();
    bool depthwise = isa<tosa::DepthwiseConv2DOp>(op);
    // At this row or column of the kernel.
    auto inside = [&](int axis, int64_t at) {
      int64_t count = 0;
      for (int64_t o = 0; o < output[1 + axis]; ++o) {
        int64_t i = o * stride[axis] - pad[2 * axis] + at * dilation[axis];
        count += i >= 0 && i < input[1 + axis];
      }
      return double(count) / double(output[1 + axis]);
    };
    int64_t rows = weights[depthwise ? 0 : 1], columns = weights[depthwise ? 1 : 2];
    std::vector<double> covered;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        covered.push_back(inside(0, row) * inside(1, column));
    return covered;
  }

  Accumulator multiplyMatrices(IntegerBuilder &integer, tosa::MatMulOp op) {
    Quantized a = operand(integer, op.getA()), b = operand(integer, op.getB());
    Value product = tosa::MatMulOp::create(
        builder_, op.getLoc(), integer.type(tensorType(op.getOutput()).getShape(), 32), a.value,
        b.value, integer.constant({1}, 8, {a.parameters.zeroPoint}),
        integer.constant({1}, 8, {b.parameters.zeroPoint}));
    double depth = double(tensorType(a.value).getShape().back());
    return {product,
            {a.parameters.scale * b.parameters.scale},
            {a.parameters.magnitude() * b.parameters.magnitude() * depth}};
  }

  // Both operands at one scale, with as many bits below the coarser operand's as rescales allow.
  template <typename Op> Accumulator combine(IntegerBuilder &integer, Operation *op) {
    Quantized a = operand(integer, op->getOperand(0)), b = operand(integer, op->getOperand(1));
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

  // --- Tables and data movement
  // ------------------------------------------------------------------------------------------

  void emitTable(IntegerBuilder &integer, Operation *op, const Table &table) {
    Quantized root = operand(integer, table.root);
    Value result = op->getResult(0);
    if (table.isClamp && root.parameters == parameters_.lookup(result)) {
      auto clampOp = cast<tosa::ClampOp>(op);
      return define(result, clamp(integer, root.value, root.parameters,
                                  cast<FloatAttr>(clampOp.getMinVal()).getValueAsDouble(),
                                  cast<FloatAttr>(clampOp.getMaxVal()).getValueAsDouble()));
    }
    auto function = plan_.pointwise.function(result, table.root);
    Parameters parameters = parameters_.lookup(result);
    if (root.parameters.bits > 8)
      return define(result, reshape(integer,
                                    interpolate(integer, root, function, parameters,
                                                channelFactors_.lookup(result)),
                                    tensorType(result).getShape()));
    std::vector<int64_t> entries;
    for (int64_t q = root.parameters.least(); q <= root.parameters.greatest(); ++q) {
      double y = function(root.parameters.real(q));
      entries.push_back(parameters.quantize(std::isnan(y) ? 0 : y));
    }
    Value entriesValue = integer.constant({static_cast<int64_t>(entries.size())}, 8, entries);
    define(result,
           tosa::TableOp::create(builder_, op->getLoc(), typeOf(result), root.value, entriesValue));
  }

  // TOSA's table of 16 bits: 513 entries, and 7 bits of interpolation between them. Its result is
  // rounded to 8 bits once, at a scale for each channel if `channelFactors` has them.
  Value interpolate(IntegerBuilder &integer, const Quantized &root,
                    const std::function<double(double)> &function, const Parameters &parameters,
                    const std::vector<double> &channelFactors) {
    constexpr int segments = 512, interpolation = 128;
    std::vector<double> values;
    double greatest = 0;
    for (int i = 0; i <= segments; ++i) {
      double y = function(root.parameters.real(
          root.parameters.least() + i * (int64_t(1) << root.parameters.bits) / segments));
      values.push_back(
          std::clamp(std::isnan(y) ? 0 : y, 2 * parameters.lowest(), 2 * parameters.highest()));
      greatest = std::max(greatest, std::fabs(values.back()));
    }
    Parameters entry = symmetric(greatest, 16);
    std::vector<int64_t> entries;
    for (double y : values)
      entries.push_back(entry.quantize(y));
    Value wide = tosa::TableOp::create(builder_, integer.location(),
                                       integer.type(tensorType(root.value).getShape(), 32),
                                       root.value, integer.constant({segments + 1}, 16, entries));
    std::vector<double> factors;
    for (double factor : channelFactors.empty() ? std::vector<double>{1} : channelFactors)
      factors.push_back(entry.scale / interpolation * factor / parameters.scale);
    std::vector<double> magnitudes(factors.size(), entry.magnitude() * interpolation);
    return integer.rescaleSum(wide, magnitudes, factors, parameters);
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
  // --------------------------------------------------------------------------------------------------------

  void emitReturn(Operation *terminator) {
    IntegerBuilder integer(builder_, terminator->getLoc());
    SmallVector<Value> results;
    SmallVector<Type> types;
    std::vector<Parameters> parameters;
    for (Value value : terminator->getOperands()) {
      Quantized result = operand(integer, value);
      results.push_back(result.value);
      types.push_back(result.value.getType());
      parameters.push_back(result.parameters);
    }
    func::ReturnOp::create(builder_, terminator->getLoc(), results);
    function_.setFunctionType(builder_.getFunctionType(function_.getArgumentTypes(), types));
    auto describe = [&](DictionaryAttr known, const Parameters &parameters) {
      NamedAttrList attributes(known);
      attributes.set("tilewright.scale", builder_.getF64FloatAttr(parameters.scale));
      attributes.set("tilewright.zero_point", builder_.getI64IntegerAttr(parameters.zeroPoint));
      return attributes.getDictionary(builder_.getContext());
    };
    for (unsigned i = 0; i < function_.getNumArguments(); ++i)
      function_.setArgAttrs(
          i, describe(main_.getArgAttrDict(i), parameters_.lookup(main_.getArgument(i))));
    for (unsigned i = 0; i < results.size(); ++i)
      function_.setResultAttrs(i, describe(main_.getResultAttrDict(i), parameters[i]));
  }

  func::FuncOp main_;
  const Plan &plan_;
  const ParameterMap &parameters_;
  const Statistics &statistics_;
  const llvm::DenseMap<Value, std::vector<double>> &channelFactors_;
  bool withReals_;
  unsigned threads_;
  OpBuilder builder_;
  func::FuncOp function_;
  llvm::DenseMap<Value, Value> values_;
  std::map<Operation *, Convolution> convolutions_; // that are not emitted yet
  IntegerModule result_;
};

} // namespace

IntegerModule emitInteger(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
                          const Statistics &statistics, bool withReals, unsigned threads) {
  return Emitter(main, plan, parameters, statistics, withReals, threads).run();
}

} // namespace tilewright::quantization

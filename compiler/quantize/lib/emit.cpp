#include "emit.h"

#include "graph_queries.h"
#include "integer_average.h"
#include "integer_convolution.h"
#include "integer_softmax.h"
#include "integer_table.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/integer_builder.h"
#include "tilewright/compiler/tosa/model_operators.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

class TosaWriter {
public:
  TosaWriter(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
             const Statistics &statistics, bool withReals, unsigned threads)
      : main_(main), plan_(plan), parameters_(parameters), statistics_(statistics),
        channelFactors_(statistics.channelFactors), withReals_(withReals), threads_(threads),
        builder_(main.getContext()),
        filters_(plan, parameters, statistics, withReals ? &result_.constants : nullptr) {}

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
    if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op)) {

      Quantized x = operand(integer, op->getOperand(0));
      return convolve(integer, op, x, filters_.take(op, anchor.result, x.parameters));
    }
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
      return averageImage(integer, x, pool.getInput(), statistics_);
    Value wide = integer.widen(x.value, x.parameters);
    uint32_t axis = cast<tosa::ReduceSumOp>(op).getAxis();
    return {integer.reduce<tosa::ReduceSumOp>(wide, axis),
            {x.parameters.scale},
            {x.parameters.magnitude() * double(tensorType(wide).getShape()[axis])}};
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

  void emitTable(IntegerBuilder &integer, Operation *op, const Table &table) {
    Quantized root = operand(integer, table.root);
    Value result = op->getResult(0);
    if (table.isClamp && root.parameters == parameters_.lookup(result)) {
      auto clampOp = cast<tosa::ClampOp>(op);
      return define(result, clamp(integer, root.value, root.parameters,
                                  cast<FloatAttr>(clampOp.getMinVal()).getValueAsDouble(),
                                  cast<FloatAttr>(clampOp.getMaxVal()).getValueAsDouble()));
    }
    define(result, buildTable(integer, root, plan_.pointwise.function(result, table.root),
                              parameters_.lookup(result), channelFactors_.lookup(result),
                              tensorType(result).getShape()));
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
  IntegerModule result_;
  IntegerFilters filters_;
};

} // namespace

IntegerModule emitInteger(func::FuncOp main, const Plan &plan, const ParameterMap &parameters,
                          const Statistics &statistics, bool withReals, unsigned threads) {
  return TosaWriter(main, plan, parameters, statistics, withReals, threads).run();
}

} // namespace tilewright::quantization

// The pass `wide-decompose`.
//
//   1. Activations of 16 bits are 256 * h + l, each of which has 8 bits: a convolution or a product
//      of matrices is the sum of those of its operands' parts, which 32 bits hold.
//   2. A 48-bit integer is two of 32 bits (wide_value.h); what reads and makes such works on these.
//   3. Pools of 16 bits and bilinear resizes become sums and maxima (wide_windows.h).
//   4. At the border of the module the halves of 48-bit integers are one tensor.
#include "dims.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/tosa/tensor_attributes.h"
#include "wide_windows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstdlib>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::Value;
using quantization::IntegerBuilder;
using quantization::Parameters;

constexpr int64_t greatestSum = INT32_MAX;
constexpr int64_t mostOfLow = 255; // of the lower 8 of 16 bits, without zero point

bool hasElement(Value value, unsigned bits) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && tensor.getElementType().isSignlessInteger(bits);
}
bool isWide(Value value) { return hasElement(value, 48); }

// The greatest sum of weights' magnitudes over the outputs of a convolution, where weights are
// known; else of any weights.
template <typename Op> int64_t greatestWeights(Op op) {
  constexpr int64_t mostOfWeight = 128;
  const Dims shape = dimsOf(op.getWeight());
  const int64_t count = elementsOf(op.getWeight());
  // Weights of a depthwise convolution are [KH, KW, C, M], of the others [OC, ...].
  constexpr bool isDepthwise = std::is_same_v<Op, tosa::DepthwiseConv2DOp>;
  const int64_t outputs = isDepthwise ? shape[2] * shape[3] : shape[0];
  const auto weights = constantIntegers(op.getWeight()), zero = constantIntegers(op.getWeightZp());
  if (!weights || !zero)
    return count / outputs * (2 * mostOfWeight - 1);
  llvm::SmallVector<int64_t> sums(outputs);
  for (const auto &[i, weight] : llvm::enumerate(*weights)) {
    const auto index = static_cast<int64_t>(i);
    sums[isDepthwise ? index % outputs : index / (count / outputs)] +=
        std::abs(weight - zero->front());
  }
  return *llvm::max_element(sums);
}

class WideDecomposer {
public:
  explicit WideDecomposer(mlir::func::FuncOp main) : main_(main), builder_(main.getContext()) {}

  mlir::LogicalResult run() {
    mlir::Block &block = main_.getBody().front();
    builder_.setInsertionPointToStart(&block);
    for (unsigned i = 0; i < main_.getNumArguments(); ++i)
      if (isWide(main_.getArgument(i)))
        takeArgument(i);
    for (mlir::Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      builder_.setInsertionPoint(&op);
      if (op.getNumResults() == 1 && mlir::failed(visit(&op)))
        return mlir::failure();
      if (!llvm::is_contained(replaced_, &op) &&
          llvm::any_of(op.getOperands(), [&](Value each) { return forms_.contains(each); }))
        return op.emitOpError("has no kernel form: 48-bit integers are rescaled by constants, "
                              "added to by a constant bias and handed on, no more");
    }
    builder_.setInsertionPoint(block.getTerminator());
    giveResults(block.getTerminator());
    for (mlir::Operation *op : llvm::reverse(replaced_))
      if (op->use_empty())
        op->erase();
    main_.setType(builder_.getFunctionType(block.getArgumentTypes(),
                                           block.getTerminator()->getOperandTypes()));
    return mlir::success();
  }

private:
  // Of one tensor, what there is of its forms.
  struct Forms {
    WideValue parts;
    Value halves;
  };

  mlir::DenseI64ArrayAttr shapeAttribute(Value value) {
    return builder_.getDenseI64ArrayAttr(shapeOf(value));
  }

  void takeArgument(unsigned i) {
    mlir::BlockArgument argument = main_.getArgument(i);
    shapes_[argument] = dimsOf(argument);
    forms_[argument].halves = argument;
    main_.setArgAttr(i, halvesAttribute, shapeAttribute(argument));
    argument.setType(mlir::RankedTensorType::get({2, elementsOf(argument)}, builder_.getI32Type()));
  }

  void giveResults(mlir::Operation *end) {
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      const Value value = end->getOperand(i);
      const auto forms = forms_.find(value);
      if (forms == forms_.end())
        continue;
      IntegerBuilder integer(builder_, end->getLoc());
      main_.setResultAttr(i, halvesAttribute, builder_.getDenseI64ArrayAttr(shapes_[value]));
      end->setOperand(i, forms->second.halves ? forms->second.halves
                                              : WideBuilder(integer).toHalves(forms->second.parts));
    }
  }

  WideValue partsOf(IntegerBuilder &integer, Value value) {
    Forms &forms = forms_[value];
    if (!forms.parts.high)
      forms.parts = WideBuilder(integer).fromHalves(forms.halves, shapes_[value]);
    return forms.parts;
  }

  void define(mlir::Operation *op, const Forms &forms) {
    const Value result = op->getResult(0);
    shapes_[result] = dimsOf(result);
    forms_[result] = forms;
    replaced_.push_back(op);
  }

  void replace(mlir::Operation *op, Value made) {
    op->getResult(0).replaceAllUsesWith(made);
    replaced_.push_back(op);
  }

  // Operators that are none of those stay, and selection says what it lacks.
  mlir::LogicalResult visit(mlir::Operation *op) {
    IntegerBuilder integer(builder_, op->getLoc());
    return llvm::TypeSwitch<mlir::Operation *, mlir::LogicalResult>(op)
        .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(
            [&](auto each) { return convolution(integer, each); })
        .Case<tosa::MatMulOp>([&](auto each) { return product(integer, each); })
        .Case([&](tosa::ConstOp each) {
          auto values = isWide(each) ? constantIntegers(each) : std::nullopt;
          if (values)
            define(op, {{}, constantHalves(integer, each, *values)});
          return mlir::success();
        })
        .Case([&](tosa::IdentityOp each) {
          if (const auto forms = forms_.find(each.getInput1()); forms != forms_.end())
            define(op, Forms(forms->second));
          return mlir::success();
        })
        .Case([&](tosa::RescaleOp each) {
          rescale(integer, each);
          return mlir::success();
        })
        .Case([&](tosa::ResizeOp each) {
          resize(integer, each);
          return mlir::success();
        })
        .Case([&](tosa::MaxPool2dOp each) {
          if (hasElement(each.getInput(), 16))
            replace(op, decomposeMaxPool(integer, each));
          return mlir::success();
        })
        .Case([&](tosa::AvgPool2dOp each) {
          if (hasElement(each.getInput(), 16))
            if (Value made = decomposeAveragePool(integer, each))
              replace(op, made);
          return mlir::success();
        })
        .Default([](mlir::Operation *) { return mlir::success(); });
  }

  static Value constantHalves(IntegerBuilder &integer, Value like, llvm::ArrayRef<int64_t> values) {
    llvm::SmallVector<int64_t> all(values);
    all.resize(elementsOf(like), values.front());
    llvm::SmallVector<int64_t> halves(all);
    for (int64_t value : all)
      halves.push_back(value >> 32);
    return integer.constant({2, elementsOf(like)}, 32, halves);
  }

  // The operator on a part of its activations, without bias: sums of 32 bits.
  template <typename Op>
  Value ofPart(IntegerBuilder &integer, Op op, Value part, int64_t zero,
               llvm::ArrayRef<int64_t> bias) {
    const Value inputZero = integer.constant({1}, 8, {zero}),
                biases = integer.constant({static_cast<int64_t>(bias.size())}, 32, bias);
    auto made = llvm::cast<Op>(builder_.clone(*op));
    made.getInputMutable().assign(part);
    made.getInputZpMutable().assign(inputZero);
    made.getBiasMutable().assign(biases);
    made.setAccType(builder_.getI32Type());
    made.getOutput().setType(integer.type(dimsOf(op.getOutput()), 32));
    return made.getOutput();
  }

  static mlir::LogicalResult refuseSums(mlir::Operation *op) {
    return op->emitOpError("has no kernel form: sums of products of 8 bits do not fit 32 bits");
  }

  template <typename Op> mlir::LogicalResult convolution(IntegerBuilder &integer, Op op) {
    if (!hasElement(op.getInput(), 16) || !isWide(op.getOutput()))
      return mlir::success();
    const auto bias = constantIntegers(op.getBias());
    if (!bias)
      return mlir::success();
    const int64_t sum = mostOfLow * greatestWeights(op);
    if (sum > greatestSum)
      return refuseSums(op);
    // What of the bias fits goes with the lower sum.
    const bool fits =
        llvm::all_of(*bias, [&](int64_t each) { return std::abs(each) <= greatestSum - sum; });
    const llvm::SmallVector<int64_t> none(bias->size(), 0);
    const SplitActivations parts = splitActivations(integer, op.getInput());
    const WideTerm terms[] = {
        {ofPart(integer, op, parts.high, 0, none), SplitActivations::highShift},
        {ofPart(integer, op, parts.low, SplitActivations::lowZero, fits ? *bias : none), 0}};
    define(op, {WideBuilder(integer).sum(terms, fits ? llvm::ArrayRef<int64_t>() : *bias), {}});
    return mlir::success();
  }

  mlir::LogicalResult product(IntegerBuilder &integer, tosa::MatMulOp op) {
    if (!hasElement(op.getA(), 16) || !isWide(op.getOutput()))
      return mlir::success();
    if (shapeOf(op.getA())[2] > greatestSum / (mostOfLow * mostOfLow))
      return refuseSums(op);
    const SplitActivations a = splitActivations(integer, op.getA()),
                           b = splitActivations(integer, op.getB());
    const auto times = [&](Value left, int64_t leftZero, Value right, int64_t rightZero) -> Value {
      return tosa::MatMulOp::create(builder_, op.getLoc(), integer.type(dimsOf(op.getOutput()), 32),
                                    left, right, integer.constant({1}, 8, {leftZero}),
                                    integer.constant({1}, 8, {rightZero}));
    };
    constexpr int shift = SplitActivations::highShift;
    constexpr int64_t zero = SplitActivations::lowZero;
    const WideTerm terms[] = {{times(a.high, 0, b.high, 0), 2 * shift},
                              {times(a.high, 0, b.low, zero), shift},
                              {times(a.low, zero, b.high, 0), shift},
                              {times(a.low, zero, b.low, zero), 0}};
    define(op, {WideBuilder(integer).sum(terms), {}});
    return mlir::success();
  }

  void rescale(IntegerBuilder &integer, tosa::RescaleOp op) {
    if (!forms_.contains(op.getInput()) || op.getScale32() ||
        op.getRoundingMode() != tosa::RoundingMode::SINGLE_ROUND)
      return;
    const auto multipliers = constantIntegers(op.getMultiplier()),
               shifts = constantIntegers(op.getShift()), zero = constantIntegers(op.getOutputZp());
    if (!multipliers || !shifts || !zero)
      return;
    const WideValue parts = partsOf(integer, op.getInput());
    const Value value = WideBuilder(integer).rescale(parts, *multipliers, *shifts);
    const int bits = widthOf(op.getOutput());
    replace(op, bits == 32 ? value
                           : integer.rescale(value, 0, {1}, Parameters{1, zero->front(), bits}));
  }

  void resize(IntegerBuilder &integer, tosa::ResizeOp op) {
    const bool isWhole = hasElement(op.getInput(), 8) && hasElement(op.getOutput(), 32);
    if (op.getMode() != tosa::ResizeMode::BILINEAR || !constantIntegers(op.getScale()) ||
        !constantIntegers(op.getOffset()) ||
        (!isWhole && !(hasElement(op.getInput(), 16) && isWide(op.getOutput()))))
      return;
    const llvm::SmallVector<WideTerm> terms = decomposeBilinear(integer, op);
    if (isWhole)
      replace(op, terms.front().value);
    else
      define(op, {WideBuilder(integer).sum(terms), {}});
  }

  mlir::func::FuncOp main_;
  mlir::OpBuilder builder_;
  llvm::DenseMap<Value, Forms> forms_; // of 48-bit integers
  llvm::DenseMap<Value, Dims> shapes_; // of these
  llvm::SmallVector<mlir::Operation *> replaced_;
};

class WideDecomposePass
    : public mlir::PassWrapper<WideDecomposePass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WideDecomposePass)

  llvm::StringRef getArgument() const override { return "wide-decompose"; }
  llvm::StringRef getDescription() const override {
    return "Products of 16 bits and 48-bit integers become arithmetic on 8 and 32 bits";
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<mlir::func::FuncOp>("main");
    if (main && !main.isDeclaration() && main.getBody().hasOneBlock() &&
        mlir::failed(WideDecomposer(main).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createWideDecomposePass() {
  return std::make_unique<WideDecomposePass>();
}

} // namespace tilewright

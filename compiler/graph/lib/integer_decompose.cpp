// The pass `integer-decompose`.
//
// Booleans are 0 and 1 of 32 bits, and what compares or chooses is arithmetic:
//
//   1. The sign of a difference tells which of two numbers is greater. That of full 32 bits is
//      taken by halves, which do not overflow.
//   2. Logic is a product, a maximum and a difference; a select is a sum of products with its
//      condition and what that is not.
//   3. Operators of 8 and 16 bits widen their operands, and their results come back.
//   4. At the border of the module a boolean has 8 bits.
#include "dims.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/integer_builder.h"
#include "tilewright/compiler/tosa/tensor_attributes.h"
#include "tilewright/support/npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using quantization::IntegerBuilder;
using quantization::Parameters;

unsigned bitsOf(mlir::Value value) {
  return mlir::getElementTypeOrSelf(value).getIntOrFloatBitWidth();
}

bool isInteger(mlir::Value value) {
  return llvm::isa<mlir::RankedTensorType>(value.getType()) &&
         mlir::getElementTypeOrSelf(value).isSignlessInteger();
}

bool isBoolean(mlir::Value value) { return isInteger(value) && bitsOf(value) == 1; }

class Decomposer {
public:
  explicit Decomposer(mlir::func::FuncOp main) : main_(main), builder_(main.getContext()) {}

  void run() {
    mlir::Block &block = main_.getBody().front();
    builder_.setInsertionPointToStart(&block);
    for (unsigned i = 0; i < main_.getNumArguments(); ++i)
      if (isBoolean(main_.getArgument(i)))
        takeArgument(i);
    for (mlir::Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      builder_.setInsertionPoint(&op);
      visit(&op);
    }
    builder_.setInsertionPoint(block.getTerminator());
    giveResults(block.getTerminator());
    for (mlir::Operation *op : llvm::reverse(replaced_))
      if (op->use_empty())
        op->erase();
    main_.setType(builder_.getFunctionType(block.getArgumentTypes(),
                                           block.getTerminator()->getOperandTypes()));
  }

private:
  void takeArgument(unsigned i) {
    mlir::BlockArgument argument = main_.getArgument(i);
    IntegerBuilder integer(builder_, argument.getLoc());
    argument.setType(integer.type(dimsOf(argument), 8));
    bits_[argument] = widened(integer, argument);
    main_.setArgAttr(i, typeAttribute, builder_.getStringAttr(name(DType::Bool)));
  }

  void giveResults(mlir::Operation *end) {
    IntegerBuilder integer(builder_, end->getLoc());
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      const auto bits = bits_.find(end->getOperand(i));
      if (bits == bits_.end())
        continue;
      end->setOperand(i, narrowed(integer, bits->second, 8));
      main_.setResultAttr(i, typeAttribute, builder_.getStringAttr(name(DType::Bool)));
    }
  }

  // In 32 bits.
  mlir::Value widened(IntegerBuilder &integer, mlir::Value value) {
    if (const auto bits = bits_.find(value); bits != bits_.end())
      return bits->second;
    if (bitsOf(value) == 32)
      return value;
    return tosa::CastOp::create(builder_, integer.location(), integer.type(dimsOf(value), 32),
                                value);
  }

  // Of what that many bits hold.
  static mlir::Value narrowed(IntegerBuilder &integer, mlir::Value value, unsigned bits) {
    return bits == 32 ? value
                      : integer.rescale(value, 0, {1}, Parameters{1, 0, static_cast<int>(bits)});
  }

  static mlir::Value one(IntegerBuilder &integer, mlir::Value like, int64_t value = 1) {
    return integer.scalarLike(like, 32, value);
  }
  static mlir::Value bounded(IntegerBuilder &integer, mlir::Value value) { // -1 to 1
    value = integer.binary<tosa::MinimumOp>(value, one(integer, value));
    return integer.binary<tosa::MaximumOp>(value, one(integer, value, -1));
  }
  static mlir::Value inverted(IntegerBuilder &integer, mlir::Value bits) {
    return integer.binary<tosa::SubOp>(one(integer, bits), bits);
  }

  // -1, 0 or 1.
  mlir::Value signOfDifference(IntegerBuilder &integer, mlir::Value left, mlir::Value right) {
    mlir::Value a = widened(integer, left), b = widened(integer, right);
    if (bitsOf(left) < 32)
      return bounded(integer, integer.binary<tosa::SubOp>(a, b));
    auto half = [&](mlir::Value value) { return integer.shiftRight(value, one(integer, value)); };
    auto rest = [&](mlir::Value value, mlir::Value half) {
      return integer.binary<tosa::SubOp>(value, integer.binary<tosa::AddOp>(half, half));
    };
    mlir::Value halfA = half(a), halfB = half(b);
    mlir::Value high = bounded(integer, integer.binary<tosa::SubOp>(halfA, halfB));
    mlir::Value low = integer.binary<tosa::SubOp>(rest(a, halfA), rest(b, halfB));
    high = integer.binary<tosa::AddOp>(high, high);
    return bounded(integer, integer.binary<tosa::AddOp>(high, low));
  }

  mlir::Value isAbove(IntegerBuilder &integer, mlir::Value sign) {
    return integer.binary<tosa::MaximumOp>(sign, one(integer, sign, 0));
  }

  void visit(mlir::Operation *op) {
    if (op->getNumResults() != 1 || !isInteger(op->getResult(0)))
      return;
    IntegerBuilder integer(builder_, op->getLoc());
    mlir::Value made = rewritten(integer, op);
    if (!made)
      return;
    mlir::Value result = op->getResult(0);
    if (isBoolean(result))
      bits_[result] = made;
    else
      result.replaceAllUsesWith(made);
    replaced_.push_back(op);
  }

  // Null: it stays as it is.
  mlir::Value rewritten(IntegerBuilder &integer, mlir::Operation *op) {
    auto wide = [&](unsigned i) { return widened(integer, op->getOperand(i)); };
    const unsigned bits = bitsOf(op->getResult(0));
    if (llvm::isa<tosa::GreaterOp>(op))
      return isAbove(integer, signOfDifference(integer, op->getOperand(0), op->getOperand(1)));
    if (llvm::isa<tosa::GreaterEqualOp>(op))
      return inverted(integer, isAbove(integer, signOfDifference(integer, op->getOperand(1),
                                                                 op->getOperand(0))));
    if (llvm::isa<tosa::EqualOp>(op)) {
      mlir::Value sign = signOfDifference(integer, op->getOperand(0), op->getOperand(1));
      return inverted(integer, integer.multiply(sign, sign));
    }
    if (llvm::isa<tosa::LogicalAndOp>(op))
      return integer.multiply(wide(0), wide(1));
    if (llvm::isa<tosa::LogicalOrOp>(op))
      return integer.binary<tosa::MaximumOp>(wide(0), wide(1));
    if (llvm::isa<tosa::LogicalXorOp>(op)) {
      mlir::Value difference = integer.binary<tosa::SubOp>(wide(0), wide(1));
      return integer.multiply(difference, difference);
    }
    if (llvm::isa<tosa::LogicalNotOp>(op))
      return inverted(integer, wide(0));
    if (llvm::isa<tosa::SelectOp>(op)) {
      mlir::Value condition = wide(0);
      mlir::Value chosen =
          integer.binary<tosa::AddOp>(integer.multiply(condition, wide(1)),
                                      integer.multiply(inverted(integer, condition), wide(2)));
      return bits == 1 ? chosen : narrowed(integer, chosen, bits);
    }
    if (auto any = llvm::dyn_cast<tosa::ReduceAnyOp>(op))
      return integer.reduce<tosa::ReduceMaxOp>(wide(0), any.getAxis());
    if (auto all = llvm::dyn_cast<tosa::ReduceAllOp>(op))
      return integer.reduce<tosa::ReduceMinOp>(wide(0), all.getAxis());
    if (auto least = llvm::dyn_cast<tosa::ReduceMinOp>(op); least && bits < 32)
      return narrowed(integer, integer.reduce<tosa::ReduceMinOp>(wide(0), least.getAxis()), bits);
    if (auto greatest = llvm::dyn_cast<tosa::ArgMaxOp>(op))
      return indexOfGreatest(integer, greatest);
    if (llvm::isa<tosa::CastOp>(op) && isBoolean(op->getOperand(0)))
      return narrowed(integer, wide(0), bits);
    if (llvm::isa<tosa::CastOp>(op) && bits == 1) {
      mlir::Value sign = bounded(integer, wide(0));
      return integer.multiply(sign, sign);
    }
    return bits == 1 ? moved(integer, op) : mlir::Value();
  }

  // A constant, or what only moves booleans, on 32 bits.
  mlir::Value moved(IntegerBuilder &integer, mlir::Operation *op) {
    llvm::ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    if (llvm::isa<tosa::ConstOp>(op))
      return integer.constant(shape, 32, constantIntegers(op->getResult(0)).value());
    if (!llvm::isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp, tosa::TileOp,
                   tosa::PadOp, tosa::ConcatOp, tosa::IdentityOp>(op))
      return {};
    mlir::OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    for (mlir::Value operand : op->getOperands())
      state.addOperands(isBoolean(operand) || bits_.contains(operand) ? widened(integer, operand)
                                                                      : operand);
    state.addTypes(integer.type(shape, 32));
    return builder_.create(state)->getResult(0);
  }

  // The first of those that are the greatest weighs the most.
  mlir::Value indexOfGreatest(IntegerBuilder &integer, tosa::ArgMaxOp op) {
    const auto axis = static_cast<int64_t>(op.getAxis());
    mlir::Value value = widened(integer, op.getInput());
    llvm::ArrayRef<int64_t> dims = shapeOf(op.getInput());
    const int64_t length = dims[axis];
    llvm::SmallVector<int64_t> shape(dims.size(), 1), weights;
    shape[axis] = length;
    for (int64_t i = 0; i < length; ++i)
      weights.push_back(length - i);
    mlir::Value greatest = integer.reduce<tosa::ReduceMaxOp>(value, axis);
    mlir::Value behind = integer.binary<tosa::MinimumOp>(
        integer.binary<tosa::SubOp>(greatest, value), one(integer, value));
    mlir::Value weighed =
        integer.multiply(inverted(integer, behind), integer.constant(shape, 32, weights));
    mlir::Value best = integer.reduce<tosa::ReduceMaxOp>(weighed, axis);
    mlir::Value index = integer.binary<tosa::SubOp>(one(integer, best, length), best);
    return makeReshape(builder_, op.getLoc(), index, dimsOf(op.getOutput()));
  }

  mlir::func::FuncOp main_;
  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, mlir::Value> bits_; // of booleans
  llvm::SmallVector<mlir::Operation *> replaced_;
};

class IntegerDecomposePass
    : public mlir::PassWrapper<IntegerDecomposePass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IntegerDecomposePass)

  llvm::StringRef getArgument() const override { return "integer-decompose"; }
  llvm::StringRef getDescription() const override {
    return "Booleans, comparisons and selects become arithmetic";
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<mlir::func::FuncOp>("main");
    if (main && !main.isDeclaration() && main.getBody().hasOneBlock())
      Decomposer(main).run();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createIntegerDecomposePass() {
  return std::make_unique<IntegerDecomposePass>();
}

} // namespace tilewright

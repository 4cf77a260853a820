#include "assign.h"

#include "byte_arguments.h"
#include "graph_queries.h"
#include "split.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_attributes.h"
#include "tilewright/support/npy.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

class Assigner {
public:
  Assigner(func::FuncOp main, const Plan &plan, const Statistics &statistics,
           const QuantizeOptions &options)
      : main_(main), plan_(plan), statistics_(statistics), options_(options) {}

  ParameterMap run() {
    Block &block = main_.getBody().front();
    for (Value result : block.getTerminator()->getOperands()) {
      Value made = result;
      while (isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp>(made.getDefiningOp()))
        made = made.getDefiningOp()->getOperand(0);
      if (made.getDefiningOp<tosa::ConcatOp>() && !tellsPartsApart(made, stepOf(made)))
        leaveNarrow(result);
    }
    for (Value argument : block.getArguments())
      if (isFloat(argument)) {
        std::optional<Parameters> bytes = bytesOf(main_, cast<BlockArgument>(argument));
        if (bytes)
          bytes->zeroPoint += zeroOf(main_, cast<BlockArgument>(argument));
        map_[argument] = bytes ? *bytes : ownParameters(argument);
      }
    for (Operation &op : block.without_terminator())
      visit(&op);
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (isa<tosa::ConcatOp>(op))
        shareWithOperands(&op);
    for (Operation &op : block.without_terminator())
      if (follows(&op))
        visit(&op);
    return std::move(map_);
  }

private:
  double stepOf(Value value) const {
    const Histogram &histogram = statistics_.histograms.find(value)->second;
    return asymmetric8(histogram.low, histogram.high).scale;
  }

  // Whether steps of so much are much coarser than 8 bits of one of the concatenation's parts.
  bool tellsPartsApart(Value concat, double step) const {
    return llvm::any_of(concat.getDefiningOp()->getOperands(), [&](Value part) {
      while (!statistics_.histograms.contains(part)) {
        Operation *op = part.getDefiningOp();
        if (!op || op->getNumOperands() == 0)
          return false;
        part = op->getOperand(0); // has the same range
      }
      return step > coarser * stepOf(part) ||
             (part.getDefiningOp<tosa::ConcatOp>() && tellsPartsApart(part, step));
    });
  }

  // What comes to the caller by way of a concatenation of 8 bits.
  void leaveNarrow(Value value) {
    if (!plan_.outputs.contains(value))
      return;
    narrow_.insert(value);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tosa::ConcatOp, tosa::ReshapeOp, tosa::TransposeOp>(op))
      for (Value operand : op->getOperands())
        leaveNarrow(operand);
  }

  void visit(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || plan_.folded.contains(op) ||
        plan_.plain.contains(op))
      return;
    Value result = op->getResult(0);
    if (auto anchor = plan_.anchors.find(op); anchor != plan_.anchors.end())
      result = anchor->second.result;
    if (!isFloat(result)) // a boolean, as 0 or 1
      map_[result] = {1, 0, 8};
    else if (auto given = plan_.given.find(result); given != plan_.given.end())
      map_[result] = given->second;
    else if (plan_.border.contains(op))
      map_[result] = borderParameters(op);
    else if (auto softmax = plan_.softmaxes.find(op); softmax != plan_.softmaxes.end()) {
      map_[result] =
          softmax->second.isWide ? Parameters{1.0 / (1 << 15), 0, 16} : asymmetric8(0, 1);
    } else if (plan_.anchors.contains(op)) {
      map_[result] = anchorParameters(result);
    } else if (auto table = plan_.tables.find(op); table != plan_.tables.end()) {
      map_[result] = table->second.power ? Parameters{1, 0, 32}
                     : table->second.isClamp
                         ? clampParameters(cast<tosa::ClampOp>(op), map_.lookup(table->second.root))
                         : ownParameters(result);
    } else if (isa<tosa::ConcatOp>(op)) {
      map_[result] = ownParameters(result);
    } else if (auto pad = dyn_cast<tosa::PadOp>(op)) {
      map_[result] = padParameters(pad, map_.lookup(pad.getInput1()));
    } else {
      map_[result] = map_.lookup(op->getOperand(0));
    }
  }

  // Integers of 8 bits keep their values, whatever the samples hold, and booleans.
  Parameters borderParameters(Operation *op) {
    Value result = op->getResult(0);
    if (auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
        argument && isa<tosa::CastOp>(op))
      if (const std::optional<Parameters> bytes = bytesOf(main_, argument))
        return *bytes;
    const Histogram &histogram = statistics_.histograms.find(result)->second;
    constexpr double most = 127;
    if (isa<tosa::CastOp>(op) && histogram.low >= -most && histogram.high <= most)
      return {1, 0, 8};
    return ownParameters(result);
  }

  // A clamp keeps its operand's parameters unless they cannot express a bound that all values meet,
  // or have few steps between the bounds.
  static Parameters clampParameters(tosa::ClampOp op, const Parameters &operand) {
    double low = cast<FloatAttr>(op.getMinVal()).getValueAsDouble(),
           high = cast<FloatAttr>(op.getMaxVal()).getValueAsDouble();
    if (low <= operand.highest() && high >= operand.lowest()) {
      constexpr double finer = 8; // steps, so many times: else 32 of them are enough
      const Parameters own =
          asymmetric8(std::max(low, operand.lowest()), std::min(high, operand.highest()));
      return operand.bits == 8 && own.scale * finer < operand.scale ? own : operand;
    }
    double constant = low > operand.highest() ? low : high;
    return asymmetric8(constant, constant);
  }

  // The same for a pad's value; what is hardly finite stands for the least or greatest value.
  static Parameters padParameters(tosa::PadOp op, const Parameters &operand) {
    constexpr double hardlyFinite = 1e30;
    double value = splatFloat(op.getPadConst()).value();
    if (std::fabs(value) > hardlyFinite || operand.bits > 8 ||
        (value >= operand.lowest() && value <= operand.highest()))
      return operand;
    return asymmetric8(std::min(operand.lowest(), value), std::max(operand.highest(), value));
  }

  Parameters anchorParameters(Value result) {
    const Histogram &histogram = statistics_.histograms.find(result)->second;
    if (plan_.sums.contains(result))
      return {1, 0, 32};
    if (plan_.roots.contains(result)) {
      const Range used = usedRange({histogram.low, histogram.high}, functionsOf(result));
      return symmetric(headroom * std::max(std::fabs(used.low), std::fabs(used.high)), 16);
    }
    return ownParameters(result);
  }

  Parameters ownParameters(Value value) {
    if (auto given = plan_.given.find(value); given != plan_.given.end())
      return given->second;
    const Histogram &histogram = statistics_.histograms.find(value)->second;
    if (plan_.outputs.contains(value) && !narrow_.contains(value))
      return symmetric(headroom * std::max(-histogram.low, histogram.high), 16);
    if (!plan_.wide.contains(value)) {
      QuantizeOptions options = options_;
      if (options.method == Calibration::MinMax && histogram.total() > 0) // counted for its tails
        options.method = Calibration::Mse;
      return chooseParameters(histogram, options, functionsOf(value));
    }
    const Range range = usedRange({histogram.low, histogram.high}, functionsOf(value));
    return wideParameters(headroom * range.low, headroom * range.high);
  }

  // The tables and clamps that alone read `value`, or none when anything else does.
  Functions functionsOf(Value value) {
    Functions functions;
    for (Operation *user : value.getUsers()) {
      bool isSequence =
          user->getNumResults() == 1 && plan_.pointwise.root(user->getResult(0)) == value;
      if (!isSequence)
        return {};
    }
    for (auto &[op, table] : plan_.tables)
      if (table.root == value)
        functions.push_back(plan_.pointwise.function(op->getResult(0), value));
    return functions;
  }

  // Whether the result's parameters follow from the operand's.
  bool follows(Operation *op) const {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1 || plan_.folded.contains(op) ||
        plan_.plain.contains(op) || plan_.border.contains(op) || !isFloat(op->getResult(0)) ||
        brought_.contains(op->getResult(0)))
      return false;
    if (auto table = plan_.tables.find(op); table != plan_.tables.end())
      return table->second.isClamp && !table->second.power;
    return !plan_.softmaxes.contains(op) && !plan_.anchors.contains(op) && !isa<tosa::ConcatOp>(op);
  }

  // An operand that only the concatenation reads may as well be made with the result's parameters:
  // no second rounding. One that others read, too, takes them where it loses little: it is made
  // once, and stands where the concatenation has it. The last of several that have an operand in
  // common decides. One that is a concatenation itself hands them on to its own operands.
  void shareWithOperands(Operation *concat) {
    Parameters &own = map_[concat->getResult(0)];
    for (Value operand : concat->getOperands())
      if (shared_.contains(operand) && !plan_.given.contains(concat->getResult(0)) &&
          losesLittle(own, map_.lookup(operand)))
        own = map_.lookup(operand);
    const Parameters parameters = own;
    for (Value moved : concat->getOperands()) {
      const Value operand = rootOf(moved, concat);
      Operation *op = operand.getDefiningOp();
      bool isOnlyUser = llvm::all_of(operand.getUsers(), [&](Operation *user) {
        return user == concat || (follows(user) && rootOf(user->getResult(0), concat) == operand);
      });
      if (plan_.given.contains(operand))
        continue;
      bool isOwn = llvm::is_contained(plan_.ranged, operand) &&
                   map_.lookup(operand).bits >= parameters.bits &&
                   (isOnlyUser || !isa_and_nonnull<tosa::ConcatOp>(op));
      if (!isOwn || shared_.contains(operand) ||
          (!isOnlyUser && !losesLittle(map_.lookup(operand), parameters))) {
        // Windows compare 8 bits alone: what they find is widened behind them.
        const bool isWidened = map_.lookup(moved).bits < parameters.bits &&
                               !isa_and_nonnull<tosa::MaxPool2dOp>(moved.getDefiningOp());
        if (moved.hasOneUse() && moved != operand && (isWidened || grows(moved.getDefiningOp()))) {
          map_[moved] = parameters;
          brought_.insert(moved);
        }
        continue;
      }
      map_[operand] = parameters;
      if (!isOnlyUser)
        shared_.insert(operand);
    }
  }

  // What repeats elements: before it, fewer of them are brought to other parameters.
  static bool grows(Operation *op) {
    auto resize = dyn_cast<tosa::ResizeOp>(op);
    return isa<tosa::TileOp>(op) || (resize && resize.getMode() != tosa::ResizeMode::BILINEAR &&
                                     tensorType(resize.getInput()).getNumElements() <
                                         tensorType(resize.getOutput()).getNumElements());
  }

  // What is moved, on its way into the concatenation alone: it has the operand's parameters.
  Value rootOf(Value value, Operation *concat) const {
    Operation *reader = concat;
    for (Operation *op = value.getDefiningOp();
         op && follows(op) && !llvm::is_contained(plan_.ranged, value) &&
         !plan_.tables.contains(op) && !isa<tosa::PadOp>(op) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) { return user == reader; });
         op = value.getDefiningOp()) {
      reader = op;
      value = op->getOperand(0);
    }
    return value;
  }

  // Hardly more than a bit, and hardly anything at the ends.
  static constexpr double coarser = 3, kept = 0.75;
  static bool losesLittle(const Parameters &own, const Parameters &other) {
    return own.bits == 8 && other.bits == 8 && other.scale <= coarser * own.scale &&
           other.lowest() <= kept * own.lowest() && other.highest() >= kept * own.highest();
  }

  func::FuncOp main_;
  const Plan &plan_;
  const Statistics &statistics_;
  const QuantizeOptions &options_;
  ParameterMap map_;
  DenseSet<Value> narrow_;  // outputs of 8 bits all the same
  DenseSet<Value> shared_;  // with a concatenation, of what others read, too
  DenseSet<Value> brought_; // to a concatenation's parameters, where their operands have others
};

// Whether an anchor leaves more bits than the range is cut for.
bool hasMoreThan8Bits(const Plan &plan, Value value) {
  return plan.anchorOf(value) &&
         (plan.sums.contains(value) || plan.roots.contains(value) || plan.outputs.contains(value));
}

} // namespace

llvm::DenseSet<Value> countedValues(const Plan &plan, const QuantizeOptions &options,
                                    size_t samples) {
  constexpr int64_t many = 1 << 20; // elements, whose tails are known
  llvm::DenseSet<Value> counted;
  for (Value value : plan.ranged)
    if (!plan.wide.contains(value) && !hasMoreThan8Bits(plan, value) &&
        (options.method != Calibration::MinMax ||
         (plan.tailed.contains(value) &&
          tensorType(value).getNumElements() * static_cast<int64_t>(samples) >= many)))
      counted.insert(value);
  return counted;
}

ParameterMap assignParameters(func::FuncOp main, const Plan &plan, const Statistics &statistics,
                              const QuantizeOptions &options) {
  return Assigner(main, plan, statistics, options).run();
}

} // namespace tilewright::quantization

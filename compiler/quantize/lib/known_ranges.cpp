#include "known_ranges.h"

#include "byte_arguments.h"
#include "graph_queries.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// At most 0, and at least 0: ranges of tensors hold it.
ChannelRange spanning(std::initializer_list<double> values) {
  return {std::min(0.0, std::min(values)), std::max(0.0, std::max(values))};
}

class Ranges {
public:
  explicit Ranges(const Plan &plan) : plan_(plan) {
    for (auto &[op, anchor] : plan.anchors)
      anchors_[anchor.result] = op;
  }

  std::optional<ChannelRange> of(Value value) {
    if (const auto known = known_.find(value); known != known_.end())
      return known->second;
    const std::optional<ChannelRange> found = find(value);
    known_[value] = found;
    return found;
  }

private:
  std::optional<ChannelRange> find(Value value) {
    if (const auto given = plan_.given.find(value); given != plan_.given.end())
      return ChannelRange{given->second.lowest(), given->second.highest()};
    if (const std::optional<std::vector<double>> reals = constantReals(value))
      return spanning({*std::min_element(reals->begin(), reals->end()),
                       *std::max_element(reals->begin(), reals->end())});
    if (Operation *anchor = anchors_.lookup(value))
      return ofAnchor(anchor, plan_.anchors.find(anchor)->second);
    Operation *op = value.getDefiningOp();
    if (!op)
      return isFloat(value) ? ofIntegers(value) : std::nullopt; // whose casts are left out
    if (plan_.softmaxes.contains(op))
      return ChannelRange{0, 1};
    if (const auto table = plan_.tables.find(op); table != plan_.tables.end())
      return ofFunction(value, table->second.root);
    if (isa<tosa::CastOp>(op))
      return ofIntegers(op->getOperand(0));
    if (isa<tosa::ConcatOp>(op))
      return ofAll(op->getOperands());
    if (isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp, tosa::TileOp,
            tosa::PadOp, tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::ResizeOp>(op))
      return of(op->getOperand(0));
    return std::nullopt;
  }

  // Of an input that the model takes with 8 bits, whose elements may be moved.
  static std::optional<ChannelRange> ofIntegers(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp, tosa::TileOp>(
              op))
        return std::nullopt;
      value = op->getOperand(0);
    }
    auto argument = cast<BlockArgument>(value);
    auto main = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    const std::optional<Parameters> bytes = bytesOf(main, argument);
    if (!bytes)
      return std::nullopt;
    const auto zero = static_cast<double>(zeroOf(main, argument));
    return spanning({bytes->lowest() - zero, bytes->highest() - zero});
  }

  std::optional<ChannelRange> ofAll(ValueRange values) {
    ChannelRange all;
    for (Value value : values) {
      const std::optional<ChannelRange> part = of(value);
      if (!part)
        return std::nullopt;
      all = spanning({all.low, all.high, part->low, part->high});
    }
    return all;
  }

  // At as many points as a table has entries.
  std::optional<ChannelRange> ofFunction(Value value, Value root) {
    const std::optional<ChannelRange> x = of(root);
    if (!x || !isFloat(value))
      return std::nullopt;
    constexpr int entries = 513;
    const auto function = plan_.pointwise.function(value, root);
    ChannelRange range;
    for (int i = 0; i < entries; ++i) {
      const double y = function(x->low + (x->high - x->low) * i / (entries - 1));
      if (!std::isfinite(y))
        return std::nullopt;
      range = spanning({range.low, range.high, y});
    }
    return range;
  }

  std::optional<ChannelRange> ofAnchor(Operation *op, const Anchor &anchor) {
    if (isConvolution(op) && !plan_.outputs.contains(anchor.result) &&
        !plan_.wide.contains(anchor.result))
      return std::nullopt;
    std::optional<ChannelRange> sum = isConvolution(op)            ? ofConvolution(op)
                                      : isBinary(op)               ? ofBinary(op)
                                      : isa<tosa::AvgPool2dOp>(op) ? of(op->getOperand(0))
                                      : isa<tosa::ReduceSumOp>(op) ? ofSums(op, anchor)
                                                                   : std::nullopt;
    if (!sum)
      return std::nullopt;
    auto bounded = [&](double x) { return std::clamp(x * anchor.factor, anchor.low, anchor.high); };
    return spanning({bounded(sum->low), bounded(sum->high)});
  }

  std::optional<ChannelRange> ofSums(Operation *op, const Anchor &anchor) {
    std::optional<ChannelRange> x = of(op->getOperand(0));
    double terms = double(tensorType(op->getOperand(0)).getNumElements()) /
                   double(std::max<int64_t>(1, tensorType(anchor.result).getNumElements()));
    return x ? std::optional(ChannelRange{x->low * terms, x->high * terms}) : std::nullopt;
  }

  std::optional<ChannelRange> ofBinary(Operation *op) {
    const std::optional<ChannelRange> a = of(op->getOperand(0)), b = of(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<tosa::AddOp>(op))
      return ChannelRange{a->low + b->low, a->high + b->high};
    if (isa<tosa::SubOp>(op))
      return ChannelRange{a->low - b->high, a->high - b->low};
    if (isa<tosa::MulOp>(op))
      return spanning({a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high});
    return spanning({a->low, a->high, b->low, b->high}); // maximum, minimum
  }

  // What the largest inputs would add up to.
  std::optional<ChannelRange> ofConvolution(Operation *op) {
    const std::optional<ChannelRange> x = of(op->getOperand(0));
    const auto weights = constantReals(op->getOperand(1)), bias = constantReals(op->getOperand(2));
    if (!x || !weights || !bias)
      return std::nullopt;
    const size_t outputs = bias->size(), each = weights->size() / outputs;
    ChannelRange range;
    for (size_t c = 0; c < outputs; ++c) {
      double low = (*bias)[c], high = low;
      for (size_t k = 0; k < each; ++k) {
        const double weight =
            (*weights)[isa<tosa::DepthwiseConv2DOp>(op) ? k * outputs + c : c * each + k];
        low += std::min(weight * x->low, weight * x->high);
        high += std::max(weight * x->low, weight * x->high);
      }
      range = spanning({range.low, range.high, low, high});
    }
    return range;
  }

  const Plan &plan_;
  llvm::DenseMap<Value, Operation *> anchors_; // by their results
  llvm::DenseMap<Value, std::optional<ChannelRange>> known_;
};

} // namespace

KnownRanges knownRanges(const Plan &plan, const std::vector<Value> &watched) {
  KnownRanges known;
  Ranges ranges(plan);
  for (Value value : watched) {
    const std::optional<ChannelRange> range = ranges.of(value);
    if (!range) {
      known.unknown = value;
      return known;
    }
    known.ranges[value] = *range;
  }
  return known;
}

} // namespace tilewright::quantization

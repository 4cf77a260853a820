#include "equalize.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

// A depthwise convolution has a weight scale for each input channel, so nothing is lost. Elsewhere
// coarser weights set a limit.
double strengthFor(Operation *consumer) {
  return isa<tosa::DepthwiseConv2DOp>(consumer) ? 1.0 : 0.5;
}

static bool hasNoPad(tosa::MaxPool2dOp pool) {
  return llvm::all_of(pool.getPad(), [](int64_t pad) { return pad == 0; });
}

Equalization findEqualizable(const Plan &plan) {
  Equalization found;
  if (plan.keepsWeights) // scaled ones are no multiples of the model's steps
    return found;
  for (auto &[op, anchor] : plan.anchors) {
    Value result = anchor.result;
    if ((!isConvolution(op) && !isa<tosa::MulOp>(op)) || !result.hasOneUse() ||
        plan.sums.contains(result) || plan.outputs.contains(result) || plan.wide.contains(result) ||
        plan.given.contains(result))
      continue;
    Operation *consumer = *result.user_begin();
    bool scales = anchor.low == 0 || (anchor.low == -HUGE_VAL && anchor.high == HUGE_VAL);
    if (scales && isConvolution(consumer) && plan.anchors.contains(consumer) &&
        consumer->getOperand(0) == result)
      found[result] = strengthFor(consumer);
  }
  // The same of tables that are rounded with a scale for each channel.
  for (auto &[op, table] : plan.tables) {
    Value result = op->getResult(0);
    if (!plan.hasWideTables(table.root) || !result.hasOneUse() || plan.wide.contains(result) ||
        plan.given.contains(result))
      continue;
    Operation *consumer = *result.user_begin();
    if (auto pool = dyn_cast<tosa::MaxPool2dOp>(consumer);
        pool && pool.getOutput().hasOneUse() && hasNoPad(pool))
      consumer = *pool.getOutput().user_begin();
    if ((isConvolution(consumer) || isGlobalAverage(consumer)) && plan.anchors.contains(consumer))
      found[result] = isGlobalAverage(consumer) ? 1 : strengthFor(consumer);
  }
  return found;
}

// Factors that bring all channels into [-below, above].
static std::vector<double> factorsInto(const std::vector<ChannelRange> &ranges, double below,
                                       double above, double strength) {
  constexpr double greatestFactor =
      64; // what is smaller still is noise, or may be larger on other data
  std::vector<double> factors;
  for (const ChannelRange &range : ranges) {
    double factor = greatestFactor;
    if (range.low < 0)
      factor = std::min(factor, below / -range.low);
    if (range.high > 0)
      factor = std::min(factor, above / range.high);
    factors.push_back(range.low < 0 || range.high > 0 ? std::pow(factor, strength) : 1.0);
  }
  return factors;
}

std::vector<double> channelFactors(const std::vector<ChannelRange> &ranges, double strength) {
  double below = 0, above = 0;
  for (const ChannelRange &range : ranges) {
    below = std::max(below, -range.low);
    above = std::max(above, range.high);
  }
  // The shorter side may be widened until both are alike: that lets its channels grow, and makes
  // the steps of all coarser.
  constexpr int candidates = 16;
  std::vector<double> best;
  double least = HUGE_VAL;
  for (int i = 0; i <= candidates; ++i) {
    double share = double(i) / candidates;
    double b = std::max(below, below + share * (above - below)),
           a = std::max(above, above + share * (below - above));
    std::vector<double> factors = factorsInto(ranges, b, a, strength);
    double noise = 0;
    for (double factor : factors)
      noise += (a + b) * (a + b) / (factor * factor);
    if (noise < least) {
      least = noise;
      best = factors;
    }
  }
  return best;
}

} // namespace tilewright::quantization

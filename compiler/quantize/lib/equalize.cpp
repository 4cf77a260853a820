#include "equalize.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// A depthwise convolution has a weight scale for each input channel, so nothing is lost. Elsewhere
// coarser weights set a limit.
double strengthFor(Operation *consumer) {
  return isa<tosa::DepthwiseConv2DOp>(consumer) ? 1.0 : 0.5;
}

} // namespace

Equalization findEqualizable(const Plan &plan) {
  Equalization found;
  for (auto &[op, anchor] : plan.anchors) {
    Value result = anchor.result;
    if (!isConvolution(op) || !result.hasOneUse() || plan.logits.contains(result) ||
        plan.outputs.contains(result))
      continue;
    Operation *consumer = *result.user_begin();
    bool scales = anchor.low == 0 || (anchor.low == -HUGE_VAL && anchor.high == HUGE_VAL);
    if (scales && isConvolution(consumer) && plan.anchors.contains(consumer) &&
        consumer->getOperand(0) == result)
      found[result] = strengthFor(consumer);
  }
  return found;
}

std::vector<double> channelFactors(const std::vector<double> &magnitudes, double strength) {
  constexpr double greatestFactor =
      64; // what is smaller still is noise, or may be larger on other data
  double whole = *std::max_element(magnitudes.begin(), magnitudes.end());
  std::vector<double> factors;
  for (double magnitude : magnitudes)
    factors.push_back(
        magnitude > 0 ? std::pow(std::min(whole / magnitude, greatestFactor), strength) : 1.0);
  return factors;
}

} // namespace tilewright::quantization

// Which precision a budget of cycles or of exactness buys, without IR types.
//
//   1. Standard, mixed and extended precision are measured, and standard precision with 16 bits for
//      all tensors that may have them.
//   2. For `maxLoss`: of standard precision, the fewest tensors of 16 bits that lose no more than
//      that against the best, by halves. Of all that lose no more, the one of the fewest cycles.
//   3. For `maxCycles`: the most tensors of 16 bits that fit, by halves. Of all that fit, the most
//      exact one.
//   4. For both: the second, which has to fit.
//
// Tensors take turns in one order, so that more of them are more exact and take longer.
#pragma once

#include "tilewright/compiler/quantize/quantize_options.h"

namespace tilewright::quantization {

// What a network of this precision, with 16 bits for so many tensors, gives and takes; nothing
// where the target cannot compute it.
using MeasurePrecision =
    std::function<std::optional<TriedPrecision>(Precision precision, size_t exactTensors)>;

// `tried` and `chosen` of the report. Throws UserError, with what is reachable, where nothing is
// within the budget.
BudgetReport spend(const QuantizeOptions &options, size_t tensors, const MeasurePrecision &measure);

// The order of the tensors: noise that goes away for a cycle, the most first. `noises` are parts of
// the signal.
std::vector<size_t> byWorth(const std::vector<double> &noises, const std::vector<int64_t> &cycles);

} // namespace tilewright::quantization

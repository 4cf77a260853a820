// Tensors of 16 bits as operators read them that have 8.
#pragma once

#include "quantized_value.h"
#include "statistics.h"
#include "tilewright/compiler/tosa/integer_builder.h"

#include <utility>
#include <vector>

namespace tilewright::quantization {

// Of `real`, whose channels are scaled by `factors` (none: 1), in 8 bits.
Parameters narrowedParameters(const Statistics &statistics, mlir::Value real,
                              const std::vector<double> &factors, Precision precision);
Quantized narrowed(IntegerBuilder &integer, const Quantized &x, const std::vector<double> &factors,
                   const Parameters &parameters);
// The same of a sum with one scale.
Quantized narrowed(IntegerBuilder &integer, const Accumulator &sum,
                   const std::vector<double> &factors, const Parameters &parameters);

// The factors of the channels, powers of two, and the parameters of the high bits of 16 (split.h).
// `strength`: of channelFactors.
std::pair<std::vector<double>, Parameters>
highPartOf(const Statistics &statistics, mlir::Value real, const Parameters &wide, double strength);

} // namespace tilewright::quantization

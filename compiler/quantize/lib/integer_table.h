// Functions of one number as tables.
#pragma once

#include "quantized_value.h"
#include "tilewright/compiler/tosa/integer_builder.h"

#include <functional>
#include <vector>

namespace tilewright::quantization {

// `function` of each element of `root`, 8 or 16 bits, in a tensor of `shape` with `parameters`.
// Where `root` has 16 bits, each channel is scaled by its factor, if there are any; and one that is
// not a number counts as 0.
mlir::Value buildTable(IntegerBuilder &integer, const Quantized &root,
                       const std::function<double(double)> &function, const Parameters &parameters,
                       const std::vector<double> &channelFactors, llvm::ArrayRef<int64_t> shape);

// TOSA's table of 16 bits for `function` of [0, 1], spread over all 16-bit integers: 32 bits, of
// which `unitOfTables` stands for 1, the greatest that it may yield.
constexpr double unitOfTables = 32767.0 * 128;
mlir::Value tableOfUnits(IntegerBuilder &integer, mlir::Value index,
                         const std::function<double(double)> &function);

} // namespace tilewright::quantization

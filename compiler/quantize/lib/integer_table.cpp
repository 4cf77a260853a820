#include "integer_table.h"

#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

// TOSA's table of 16 bits: 513 entries, and 7 bits of interpolation between them. Its result is
// rounded to 8 bits once, at a scale for each channel if `channelFactors` has them.
static Value interpolate(IntegerBuilder &integer, const Quantized &root,
                         const std::function<double(double)> &function,
                         const Parameters &parameters, const std::vector<double> &channelFactors) {
  constexpr int segments = 512, interpolation = 128;
  std::vector<double> values;
  double greatest = 0;
  for (int i = 0; i <= segments; ++i) {
    double y = function(root.parameters.real(root.parameters.least() +
                                             i * (int64_t(1) << root.parameters.bits) / segments));
    values.push_back(
        std::clamp(std::isnan(y) ? 0 : y, 2 * parameters.lowest(), 2 * parameters.highest()));
    greatest = std::max(greatest, std::fabs(values.back()));
  }
  Parameters entry = symmetric(greatest, 16);
  std::vector<int64_t> entries;
  for (double y : values)
    entries.push_back(entry.quantize(y));
  Value wide = tosa::TableOp::create(integer.builder(), integer.location(),
                                     integer.type(tensorType(root.value).getShape(), 32),
                                     root.value, integer.constant({segments + 1}, 16, entries));
  std::vector<double> factors;
  for (double factor : channelFactors.empty() ? std::vector<double>{1} : channelFactors)
    factors.push_back(entry.scale / interpolation * factor / parameters.scale);
  std::vector<double> magnitudes(factors.size(), entry.magnitude() * interpolation);
  return integer.rescaleSum(wide, magnitudes, factors, parameters);
}

static Value tableOfBytes(IntegerBuilder &integer, const Quantized &root,
                          const std::function<double(double)> &function,
                          const Parameters &parameters, ArrayRef<int64_t> shape) {
  std::vector<int64_t> entries;
  bool isIdentity = true;
  for (int64_t q = root.parameters.least(); q <= root.parameters.greatest(); ++q) {
    double y = function(root.parameters.real(q));
    entries.push_back(parameters.quantize(std::isnan(y) ? 0 : y));
    isIdentity &= entries.back() == q;
  }
  if (isIdentity)
    return makeReshape(integer.builder(), integer.location(), root.value, shape);
  Value values = integer.constant({static_cast<int64_t>(entries.size())}, 8, entries);
  return tosa::TableOp::create(integer.builder(), integer.location(),
                               integer.type(shape, parameters.bits), root.value, values);
}

Value buildTable(IntegerBuilder &integer, const Quantized &root,
                 const std::function<double(double)> &function, const Parameters &parameters,
                 const std::vector<double> &channelFactors, ArrayRef<int64_t> shape) {
  if (root.parameters.bits == 8 && parameters.bits == 8)
    return tableOfBytes(integer, root, function, parameters, shape);
  if (root.parameters.bits == 8) { // entries for each of its integers, and one between
    constexpr double step = 1.0 / 128;
    const Parameters wide{root.parameters.scale * step, 0, 16};
    return buildTable(
        integer, {integer.rescale(root.value, root.parameters.zeroPoint, {1 / step}, wide), wide},
        function, parameters, channelFactors, shape);
  }
  return makeReshape(integer.builder(), integer.location(),
                     interpolate(integer, root, function, parameters, channelFactors), shape);
}

Value tableOfUnits(IntegerBuilder &integer, Value index,
                   const std::function<double(double)> &function) {
  constexpr int segments = 512, one = 32767;
  std::vector<int64_t> entries;
  for (int i = 0; i <= segments; ++i)
    entries.push_back(std::lround(one * function(double(i) / segments)));
  return tosa::TableOp::create(integer.builder(), integer.location(),
                               integer.type(tensorType(index).getShape(), 32), index,
                               integer.constant({segments + 1}, 16, entries));
}

} // namespace tilewright::quantization

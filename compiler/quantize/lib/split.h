// Convolutions of 16-bit activations, in 8-bit arithmetic.
//
// 16 bits are 8 high bits and what these leave: x = s * (h + l / 128), -64 <= l < 64. There are two
// ways to sum up x * w:
//
//   - two convolutions with the same weights, of h and of l, whose 32-bit sums are added: exact,
//   and
//     worth it where there are many channels to read and few to write;
//   - one convolution, "stacked", whose weights have two parts as well, w = t * (u + v / 16):
//       h * u + (l / 8) * (w / t / 16) + (h / 16) * v
//     Of the error that 8 bits make of activations and weights an eighth remains. As TOSA demands,
//     all parts of the activations share a zero point, which keeps a distance from the ends of its
//     type.
#pragma once

#include "tilewright/compiler/tosa/integer_builder.h"
#include "weights.h"

namespace tilewright::quantization {

// A margin for what lies beyond the calibration data costs nothing at 16 bits.
constexpr double headroom = 1.25;

// 16 bits that cover [low, high], and their high part for values within [low, high].
Parameters wideParameters(double low, double high);
Parameters highParameters(const Parameters &wide, double low, double high);
constexpr double lowStep = 1.0 / 128; // of l, in steps of h

// The parts of 16-bit activations whose channels are scaled by `factors`, powers of two: h; l,
// without zero point; and of images [N, 1, W, C] all three that are stacked, [N, 3, W, C].
mlir::Value highActivations(IntegerBuilder &integer, mlir::Value wide,
                            const std::vector<double> &factors, const Parameters &high);
mlir::Value lowActivations(IntegerBuilder &integer, mlir::Value wide,
                           const std::vector<double> &factors);
mlir::Value stackActivations(IntegerBuilder &integer, mlir::Value wide,
                             const std::vector<double> &factors, const Parameters &high);

// The weights for stacked activations, [OC, 3, 1, IC], from those of a filter of one tap.
QuantizedWeights stackWeights(const Filter &filter, const QuantizedWeights &weights,
                              double inputScale);

} // namespace tilewright::quantization

// Arithmetic on 32-bit integers that stand for reals and are not rounded to fewer bits in between.
#pragma once

#include "pointwise.h"
#include "quantized_value.h"
#include "tilewright/compiler/tosa/integer_builder.h"

#include <cmath>

namespace tilewright::quantization {

// 32 bits without zero point: real = value * scale.
struct Sum {
  mlir::Value value;
  double scale = 1;
  double magnitude = 0; // |value| is at most this, whatever the inputs are

  operator Accumulator() const { return {value, {scale}, {magnitude}}; }
};

// 8 or 16 bits as 32, with bits below those of 8 that later rounding may use.
Sum widened(IntegerBuilder &integer, const Quantized &x);
// A constant factor.
Sum constantSum(IntegerBuilder &integer, llvm::ArrayRef<int64_t> shape,
                const std::vector<double> &reals);

// Operands broadcast. The scale is that of the operand with more elements, or of the one with the
// wider range: rounding the other one to it loses nothing that counts. `saturates`: the scale is
// the finer one; where the other one is too far for 32 bits there, it is brought nearer.
template <typename Op> Sum combine(IntegerBuilder &integer, Sum a, Sum b, bool saturates);
// Of 8 or 16 bits, or a constant, at the scale of `like`.
Sum widenedLike(IntegerBuilder &integer, const Quantized &x, const Sum &like);
Sum constantLike(IntegerBuilder &integer, llvm::ArrayRef<int64_t> shape,
                 const std::vector<double> &reals, const Sum &like);
// With steps of at least `finest`; of at most `coarsest`, as far as 32 bits hold it.
Sum coarsened(IntegerBuilder &integer, const Sum &x, double finest);
Sum refined(IntegerBuilder &integer, const Sum &x, double coarsest);
// `most`: of the reals that it stands for.
Sum multiply(IntegerBuilder &integer, const Sum &a, const Sum &b, double most = HUGE_VAL);
Sum reduceSum(IntegerBuilder &integer, Sum x, int64_t axis);
// x * x, of which `count` are summed up: no more than if each of |x| were `greatest`.
Sum squareOf(IntegerBuilder &integer, const Sum &x, double greatest, double count);

// `power` of each element of `x`; |x| is taken for at least `least` > 0 steps behind the offset. It
// takes any range of x: the leading one is found first, and a table has the power of what is behind
// it, so that at least 16 bits of the result are right.
Sum powerOf(IntegerBuilder &integer, const Sum &x, const Power &power, double least);

} // namespace tilewright::quantization

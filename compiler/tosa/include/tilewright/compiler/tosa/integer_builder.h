// Builds integer TOSA at one location.
#pragma once

#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/quantization_parameters.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <vector>

namespace tilewright::quantization {

class IntegerBuilder {
public:
  IntegerBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder_(builder), location_(location) {}

  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location location() const { return location_; }

  // `like`'s shape with signless integers of `bits`.
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, int bits);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, int bits, llvm::ArrayRef<int64_t> values) {
    return makeIntegers(builder_, location_, shape, bits, values);
  }
  // The same of 8 bits that stand as such: weights.
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, const std::vector<int8_t> &weights);
  // One value in a tensor whose dimensions, as many as `like` has, are all 1.
  mlir::Value scalarLike(mlir::Value like, int bits, int64_t value);

  // (value - inputZeroPoint) * factor + output.zeroPoint in output.bits, saturated. One factor, or
  // one for each index of the last dimension.
  mlir::Value rescale(mlir::Value value, int64_t inputZeroPoint, const std::vector<double> &factors,
                      const Parameters &output);
  // The same of a 32-bit sum without zero point. |sum| is at most `magnitudes`, one for each
  // factor: sums that TOSA's rescale is not defined for are bounded first, where the result
  // saturates anyway.
  mlir::Value rescaleSum(mlir::Value sum, const std::vector<double> &magnitudes,
                         std::vector<double> factors, const Parameters &output);
  // 8 or 16 bits to 32, zero point removed, times `factor`.
  mlir::Value widen(mlir::Value value, const Parameters &parameters, double factor = 1);

  // Element-wise operators on 32 bits, with broadcasting.
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return Op::create(builder_, location_, broadcastType(a, b), a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b, int shift = 0);
  mlir::Value shiftRight(mlir::Value a, mlir::Value b);
  template <typename Op> mlir::Value reduce(mlir::Value value, int64_t axis) {
    auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 1;
    return Op::create(builder_, location_, type.clone(shape), value,
                      builder_.getI32IntegerAttr(static_cast<int32_t>(axis)));
  }

private:
  mlir::RankedTensorType broadcastType(mlir::Value a, mlir::Value b);

  mlir::OpBuilder &builder_;
  mlir::Location location_;
};

} // namespace tilewright::quantization

// Builds TOSA with result types: the shape inference of readers of models. Shapes are static;
// tensors are float32, i32 for integers of any width and i1 for booleans.
#pragma once

#include "tilewright/compiler/tosa/shape.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"

#include <array>
#include <string>

namespace tilewright {

// A sliding window over the two spatial dimensions, as TOSA has it: (in - 1 + pads - (kernel - 1) *
// dilation) must be a multiple of the stride. `crop` rows and columns at the end of the input lie
// in no window; the builder slices them off.
struct Window {
  std::array<int64_t, 2> kernel = {1, 1};
  std::array<int64_t, 2> stride = {1, 1};
  std::array<int64_t, 2> dilation = {1, 1};
  std::array<int64_t, 2> padBegin = {0, 0};
  std::array<int64_t, 2> padEnd = {0, 0};
  std::array<int64_t, 2> crop = {0, 0};
  std::array<int64_t, 2> output = {0, 0};
};

// Every function throws UserError at the place given to `at` when shapes do not fit or exceed what
// TOSA allows.
class FloatBuilder {
public:
  FloatBuilder(mlir::OpBuilder &builder) : builder_(builder), location_(builder.getUnknownLoc()) {}

  // Ops built from now on are of the operator at `location`, and errors are reported at `source`.
  void at(mlir::Location location, SourceLocation source);
  [[noreturn]] void fail(const std::string &message, const std::string &fix = "") const;
  [[noreturn]] void refuse(const std::string &message) const; // Unsupported

  // The type of a result; checks TOSA's rank limit and the size limit of tensors.
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, mlir::Type element) const;
  mlir::RankedTensorType floatType(llvm::ArrayRef<int64_t> shape) const;

  mlir::Value constant(const Tensor &tensor); // float32, booleans, or integers that 32 bits hold
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
  mlir::Value splat(llvm::ArrayRef<int64_t> shape, float value);
  mlir::Value scalarLike(mlir::Value value,
                         float scalar); // all dimensions 1, of the rank of `value`
  mlir::Value integers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values); // i32
  mlir::Value integerLike(mlir::Value value, int64_t scalar); // as scalarLike

  // Element-wise, broadcasting as NumPy does.
  template <typename Op> mlir::Value unary(mlir::Value a) {
    return Op::create(builder_, location_, a.getType(), a);
  }
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    Shape shape = broadcastRanks(a, b);
    return Op::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)), a, b);
  }
  template <typename Op> mlir::Value compare(mlir::Value a, mlir::Value b) {
    Shape shape = broadcastRanks(a, b);
    return Op::create(builder_, location_, type(shape, builder_.getI1Type()), a, b);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return binary<mlir::tosa::AddOp>(a, b); }
  mlir::Value subtract(mlir::Value a, mlir::Value b) { return binary<mlir::tosa::SubOp>(a, b); }
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value addScalar(mlir::Value a, float b) { return add(a, scalarLike(a, b)); }
  mlir::Value multiplyScalar(mlir::Value a, float b) { return multiply(a, scalarLike(a, b)); }
  mlir::Value clamp(mlir::Value a, float low, float high); // low <= high; either may be infinite
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value castToFloat(mlir::Value a);
  mlir::Value castToInteger(mlir::Value a); // i32; floats are rounded
  mlir::Value isNotZero(mlir::Value a);     // of any type
  mlir::Value logicalNot(mlir::Value a);
  mlir::Value arithmeticRightShift(mlir::Value a, mlir::Value bits);
  mlir::Value broadcastTo(mlir::Value a, llvm::ArrayRef<int64_t> shape);

  // Movement of data.
  mlir::Value reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value a, llvm::ArrayRef<int32_t> permutation);
  mlir::Value slice(mlir::Value a, llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> size);
  mlir::Value sliceAxis(mlir::Value a, int64_t axis, int64_t start, int64_t size);
  mlir::Value pad(mlir::Value a, llvm::ArrayRef<int64_t> before, llvm::ArrayRef<int64_t> after,
                  double value);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  mlir::Value reverse(mlir::Value a, int64_t axis);
  mlir::Value tile(mlir::Value a, llvm::ArrayRef<int64_t> multiples);
  // Result position i along `axis` is position indices[i] of `a`.
  mlir::Value gatherAxis(mlir::Value a, int64_t axis, llvm::ArrayRef<int32_t> indices);

  // Reduction along `axis`, which keeps length 1.
  template <typename Op> mlir::Value reduce(mlir::Value a, int64_t axis) {
    Shape shape = sizesOf(a);
    shape[axis] = 1;
    return Op::create(builder_, location_, type(shape, mlir::getElementTypeOrSelf(a)), a,
                      builder_.getI32IntegerAttr(static_cast<int32_t>(axis)));
  }

  // Windows, on NHWC activations.
  mlir::Value conv2d(mlir::Value input, mlir::Value weight, mlir::Value bias, const Window &window);
  mlir::Value depthwiseConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                              const Window &window);
  mlir::Value transposeConv2d(mlir::Value input, mlir::Value weight, mlir::Value bias,
                              llvm::ArrayRef<int64_t> outPad, llvm::ArrayRef<int64_t> stride);
  mlir::Value averagePool2d(mlir::Value input, const Window &window);
  mlir::Value maxPool2d(mlir::Value input, const Window &window);
  // Scales are numerator, denominator of the rows, then of the columns.
  mlir::Value resize(mlir::Value input, llvm::ArrayRef<int64_t> outputSize,
                     llvm::ArrayRef<int64_t> scale, llvm::ArrayRef<int64_t> offset,
                     llvm::ArrayRef<int64_t> border, bool bilinear);
  mlir::Value matmul(mlir::Value a, mlir::Value b); // [B, M, K] x [B, K, N]

private:
  [[noreturn]] void failToFit(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) const;

  // Gives both the larger rank; returns the shape of the result.
  Shape broadcastRanks(mlir::Value &a, mlir::Value &b);
  mlir::Value scalarConstant(float value); // tensor<1xf32>
  mlir::Value cropped(mlir::Value input, const Window &window);
  void checkWindow(const Window &window) const;
  mlir::DenseI64ArrayAttr pads(const Window &window);
  mlir::DenseI64ArrayAttr pair(const std::array<int64_t, 2> &values);

  mlir::OpBuilder &builder_;
  mlir::Location location_;
  SourceLocation source_;
};

} // namespace tilewright

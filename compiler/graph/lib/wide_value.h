// 48-bit integers as two tensors of 32 bits: high * 2^16 + low, 0 <= low < 2^16. What is made of
// them is arithmetic on 32 bits, of which sums and products keep the lower ones.
#pragma once

#include "tilewright/compiler/tosa/integer_builder.h"

namespace tilewright {

struct WideValue {
  mlir::Value high, low;
};

// value * 2^shift, 0 <= shift <= 16.
struct WideTerm {
  mlir::Value value;
  int shift = 0;
};

class WideBuilder {
public:
  explicit WideBuilder(quantization::IntegerBuilder &integer) : integer_(integer) {}

  // As a tensor of `shape`; one value fills any shape.
  WideValue constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values);
  // The sum of terms, and of `addends`, one for each index of the last dimension, or one; none.
  WideValue sum(llvm::ArrayRef<WideTerm> terms, llvm::ArrayRef<int64_t> addends = {});

  // To and from [2, n]: the lower 32 bits of all elements, then the upper ones.
  WideValue fromHalves(mlir::Value halves, llvm::ArrayRef<int64_t> shape);
  mlir::Value toHalves(const WideValue &value);

  // (value * multiplier + 2^(shift - 1)) >> shift, in 32 bits, for each index of the last dimension
  // or one for all. 0 <= multiplier < 2^15, 2 <= shift <= 62.
  mlir::Value rescale(const WideValue &value, llvm::ArrayRef<int64_t> multipliers,
                      llvm::ArrayRef<int64_t> shifts);

  // By constant distances below 32. The value itself where it is not moved.
  mlir::Value shiftLeft(mlir::Value value, int64_t distance);
  mlir::Value shiftRight(mlir::Value value, int64_t distance);        // with its sign
  mlir::Value shiftRightLogical(mlir::Value value, int64_t distance); // without

private:
  using Numbers = llvm::SmallVector<int64_t>;

  // One for each index of the last dimension of `like`, or one for all.
  mlir::Value perChannel(mlir::Value like, llvm::ArrayRef<int64_t> values);
  mlir::Value add(mlir::Value a, mlir::Value b); // either may be null
  mlir::Value addPerChannel(mlir::Value value, llvm::ArrayRef<int64_t> values);
  template <typename Make>
  mlir::Value shifted(mlir::Value value, llvm::ArrayRef<int64_t> distances, Make make);
  mlir::Value shiftLeft(mlir::Value value, llvm::ArrayRef<int64_t> distances);
  mlir::Value shiftRight(mlir::Value value, llvm::ArrayRef<int64_t> distances);
  mlir::Value shiftRightLogical(mlir::Value value, llvm::ArrayRef<int64_t> distances);
  mlir::Value lowest(mlir::Value value); // its lower 16 bits

  quantization::IntegerBuilder &integer_;
};

} // namespace tilewright

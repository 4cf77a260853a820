#include "wide_value.h"

#include "dims.h"

namespace tilewright {

namespace tosa = mlir::tosa;
using mlir::Value;

constexpr int64_t lowBits = 16; // of a 48-bit integer, those of `low`
constexpr int64_t lowEnd = int64_t(1) << lowBits;

WideValue WideBuilder::constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values) {
  Numbers high, low;
  for (int64_t value : values) {
    high.push_back(value >> lowBits);
    low.push_back(value & (lowEnd - 1));
  }
  return {integer_.constant(shape, 32, high), integer_.constant(shape, 32, low)};
}

Value WideBuilder::perChannel(Value like, llvm::ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return integer_.scalarLike(like, 32, values.front());
  Dims shape(shapeOf(like).size(), 1);
  shape.back() = static_cast<int64_t>(values.size());
  return integer_.constant(shape, 32, values);
}

Value WideBuilder::add(Value a, Value b) {
  return a && b ? integer_.binary<tosa::AddOp>(a, b) : a ? a : b;
}

Value WideBuilder::addPerChannel(Value value, llvm::ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t each) { return each == 0; })
             ? value
             : add(value, perChannel(value, values));
}

template <typename Make>
Value WideBuilder::shifted(Value value, llvm::ArrayRef<int64_t> distances, Make make) {
  if (llvm::all_of(distances, [](int64_t each) { return each == 0; }))
    return value;
  return make(value.getType(), value, perChannel(value, distances));
}

Value WideBuilder::shiftLeft(Value value, llvm::ArrayRef<int64_t> distances) {
  return shifted(value, distances, [&](mlir::Type type, Value of, Value by) {
    return tosa::LogicalLeftShiftOp::create(integer_.builder(), integer_.location(), type, of, by);
  });
}
Value WideBuilder::shiftRight(Value value, llvm::ArrayRef<int64_t> distances) {
  return shifted(value, distances, [&](mlir::Type type, Value of, Value by) {
    return tosa::ArithmeticRightShiftOp::create(integer_.builder(), integer_.location(), type, of,
                                                by, /*round=*/false);
  });
}
Value WideBuilder::shiftRightLogical(Value value, llvm::ArrayRef<int64_t> distances) {
  return shifted(value, distances, [&](mlir::Type type, Value of, Value by) {
    return tosa::LogicalRightShiftOp::create(integer_.builder(), integer_.location(), type, of, by);
  });
}

Value WideBuilder::shiftLeft(Value value, int64_t distance) {
  return shiftLeft(value, llvm::ArrayRef(distance));
}
Value WideBuilder::shiftRight(Value value, int64_t distance) {
  return shiftRight(value, llvm::ArrayRef(distance));
}
Value WideBuilder::shiftRightLogical(Value value, int64_t distance) {
  return shiftRightLogical(value, llvm::ArrayRef(distance));
}

Value WideBuilder::lowest(Value value) {
  return shiftRightLogical(shiftLeft(value, 32 - lowBits), 32 - lowBits);
}

WideValue WideBuilder::sum(llvm::ArrayRef<WideTerm> terms, llvm::ArrayRef<int64_t> addends) {
  Value high, low;
  for (const auto &[value, shift] : terms) {
    high = add(high, shiftRight(value, lowBits - shift));
    if (shift < lowBits)
      low = add(low, shiftRightLogical(shiftLeft(value, lowBits + shift), lowBits));
  }
  Numbers above, below;
  for (int64_t addend : addends) {
    above.push_back(addend >> lowBits);
    below.push_back(addend & (lowEnd - 1));
  }
  high = addPerChannel(high, above);
  low = addPerChannel(low, below);
  return {add(high, shiftRight(low, lowBits)), lowest(low)};
}

WideValue WideBuilder::fromHalves(Value halves, llvm::ArrayRef<int64_t> shape) {
  const auto half = [&](int64_t number) {
    return makeReshape(
        integer_.builder(), integer_.location(),
        makeSliceOfAxis(integer_.builder(), integer_.location(), halves, 0, number, 1), shape);
  };
  const Value lower = half(0), upper = half(1);
  return {add(shiftLeft(upper, 32 - lowBits), shiftRightLogical(lower, lowBits)), lowest(lower)};
}

Value WideBuilder::toHalves(const WideValue &value) {
  const int64_t count = elementsOf(value.high);
  const auto row = [&](Value half) {
    return makeReshape(integer_.builder(), integer_.location(), half, {1, count});
  };
  const Value rows[] = {row(add(shiftLeft(value.high, lowBits), value.low)),
                        row(shiftRight(value.high, 32 - lowBits))};
  return tosa::ConcatOp::create(integer_.builder(), integer_.location(),
                                integer_.type({2, count}, 32), mlir::ValueRange(rows), 0);
}

// By three parts of 16 bits, the lower two without sign, each of whose products fits 32 bits with
// what the one below carries.
Value WideBuilder::rescale(const WideValue &value, llvm::ArrayRef<int64_t> multipliers,
                           llvm::ArrayRef<int64_t> shifts) {
  Numbers rounding[3];                       // of each part
  Numbers lefts[2], rights[3];               // how far parts 1 and 2, and all three, go
  bool hasLowest = false, hasMiddle = false; // whether anything is left of parts 0 and 1
  constexpr int64_t all = 31;                // leaves nothing of 16 bits
  for (int64_t shift : shifts) {
    for (int part : {0, 1, 2}) {
      const int64_t bit = shift - 1 - part * lowBits;
      rounding[part].push_back(bit >= 0 && (bit < lowBits || part == 2) ? int64_t(1) << bit : 0);
    }
    hasLowest |= shift < lowBits;
    hasMiddle |= shift < 2 * lowBits;
    lefts[1].push_back(std::max<int64_t>(2 * lowBits - shift, 0));
    rights[2].push_back(std::max<int64_t>(shift - 2 * lowBits, 0));
    lefts[0].push_back(std::max<int64_t>(lowBits - shift, 0));
    rights[1].push_back(shift >= 2 * lowBits ? all : std::max<int64_t>(shift - lowBits, 0));
    rights[0].push_back(shift >= lowBits ? all : shift);
  }
  const Value factor = perChannel(value.high, multipliers);
  const auto product = [&](Value part, int number, Value carry) {
    return addPerChannel(add(integer_.multiply(part, factor), carry), rounding[number]);
  };
  const Value low = product(value.low, 0, nullptr);
  const Value middle = product(lowest(value.high), 1, shiftRightLogical(low, lowBits));
  const Value high =
      product(shiftRight(value.high, lowBits), 2, shiftRightLogical(middle, lowBits));
  Value result = shiftRight(shiftLeft(high, lefts[1]), rights[2]);
  if (hasMiddle)
    result = add(result, shiftRightLogical(shiftLeft(lowest(middle), lefts[0]), rights[1]));
  if (hasLowest)
    result = add(result, shiftRightLogical(lowest(low), rights[0]));
  return result;
}

} // namespace tilewright

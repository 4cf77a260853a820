// Comparison, logic and choice.
#include "elementwise.h"

#include <cmath>
#include <cstring>

namespace tilewright::host {

namespace {

// f(a, b) of inputs `a` and `b`.
template <typename F> void compare(Call &call, size_t a, size_t b, F f) {
  const DType wide = wideType(call.input(0).dtype);
  const ConstantTensor x = widened(call.shared(a), wide), y = widened(call.shared(b), wide);
  Tensor result = call.make(DType::Bool, commonShape(call, 0, 2));
  withWide(wide, [&](auto zero) {
    using T = decltype(zero);
    mapPairs<T, bool>(*x, *y, result.shape, result.data<bool>(), f);
  });
  call.set(std::move(result));
}

// Named, so that each is compiled once.
struct Above {
  template <typename T> bool operator()(T a, T b) const { return a > b; }
};
struct NotBelow {
  template <typename T> bool operator()(T a, T b) const { return a >= b; }
};

void equal(Call &call) {
  compare(call, 0, 1, [](auto a, auto b) { return a == b; });
}
void greater(Call &call) { compare(call, 0, 1, Above()); }
void greaterOrEqual(Call &call) { compare(call, 0, 1, NotBelow()); }
void less(Call &call) { compare(call, 1, 0, Above()); }
void lessOrEqual(Call &call) { compare(call, 1, 0, NotBelow()); }

// f(a, b) of bools.
template <typename F> void combine(Call &call, F f) {
  const ConstantTensor x = widened(call.shared(0), DType::Bool),
                       y = widened(call.shared(1), DType::Bool);
  Tensor result = call.make(DType::Bool, commonShape(call, 0, 2));
  mapPairs<uint8_t, bool>(*x, *y, result.shape, result.data<bool>(), f);
  call.set(std::move(result));
}

void logicalAnd(Call &call) {
  combine(call, [](uint8_t a, uint8_t b) { return (a & b) != 0; });
}
void logicalOr(Call &call) {
  combine(call, [](uint8_t a, uint8_t b) { return (a | b) != 0; });
}
void logicalXor(Call &call) {
  combine(call, [](uint8_t a, uint8_t b) { return a != b; });
}

// A bool for each element of a tensor, by its value as a double.
template <typename F> void test(Call &call, F f) {
  const Tensor wide = castTensor(call.input(0), DType::F64);
  Tensor result = call.make(DType::Bool, wide.shape);
  for (int64_t i = 0, end = wide.elements(); i < end; ++i)
    result.bytes[i] = f(wide.data<double>()[i]);
  call.set(std::move(result));
}

void logicalNot(Call &call) {
  test(call, [](double x) { return x == 0; });
}

void isNan(Call &call) {
  test(call, [](double x) { return std::isnan(x); });
}

void isInf(Call &call) {
  const bool below = call.flag("detect_negative", true), above = call.flag("detect_positive", true);
  test(call, [=](double x) { return std::isinf(x) && (x < 0 ? below : above); });
}

void where(Call &call) {
  const Shape shape = commonShape(call, 0, 3);
  const Tensor &condition = call.input(0);
  if (call.input(1).dtype != call.input(2).dtype || condition.dtype != DType::Bool)
    call.fail("it chooses by bools between values of one type");
  Tensor result = call.make(call.input(1).dtype, shape);
  const int64_t width = byteSize(result.dtype);
  const std::array<Shape, 3> strides = {broadcastStrides(condition.shape, shape),
                                        broadcastStrides(call.shape(1), shape),
                                        broadcastStrides(call.shape(2), shape)};
  forEachRow<3>(shape, strides, [&](int64_t at, int64_t count, auto offsets, const auto &steps) {
    for (int64_t i = 0; i < count; ++i) {
      const size_t from = condition.bytes[offsets[0] + i * steps[0]] ? 1 : 2;
      std::memcpy(result.bytes.data() + (at + i) * width,
                  call.input(from).bytes.data() + (offsets[from] + i * steps[from]) * width, width);
    }
  });
  call.set(std::move(result));
}

} // namespace

KernelTable comparisonKernels() {
  return {{"And", logicalAnd},  {"Equal", equal},
          {"Greater", greater}, {"GreaterOrEqual", greaterOrEqual},
          {"IsInf", isInf},     {"IsNaN", isNan},
          {"Less", less},       {"LessOrEqual", lessOrEqual},
          {"Not", logicalNot},  {"Or", logicalOr},
          {"Where", where},     {"Xor", logicalXor}};
}

} // namespace tilewright::host

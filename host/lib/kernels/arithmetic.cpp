// Element-wise arithmetic on tensors that broadcast to a common shape. Integers wrap.
#include "elementwise.h"

#include <cmath>
#include <limits>

namespace tilewright::host {

namespace {

// Integers of any type as they wrap; floats as they are.
template <typename T, typename F> T wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<Bits>(a), static_cast<Bits>(b)));
  } else {
    return f(a, b);
  }
}

struct Plus {
  template <typename T> T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct Times {
  template <typename T> T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

void add(Call &call) { call.set(mapPairs(call, 0, 1, Plus())); }

void sub(Call &call) {
  call.set(mapPairs(call, 0, 1, [](auto a, auto b) {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }));
}

void mul(Call &call) { call.set(mapPairs(call, 0, 1, Times())); }

// Of integers towards zero; by zero it gives zero.
struct Quotient {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0)
        return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1)
          return Times()(a, b);
    }
    return a / b;
  }
};

// No integer is the quotient.
void checkDivisors(const Call &call) {
  const Tensor &divisors = call.input(1);
  for (int64_t i = 0, count = isFloat(divisors.dtype) ? 0 : divisors.elements(); i < count; ++i)
    if (integerAt(divisors, i) == 0)
      call.fail("division by zero");
}

void div(Call &call) {
  checkDivisors(call);
  call.set(mapPairs(call, 0, 1, Quotient()));
}

// With the sign of `a`, as C has it.
struct Remainder {
  using Slow = void;
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0)
        return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1)
          return 0;
      return a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};

// With the sign of `b`.
struct Modulus {
  using Slow = void;
  template <typename T> T operator()(T a, T b) const {
    const T rest = Remainder()(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? Plus()(rest, b) : rest;
  }
};

void mod(Call &call) {
  checkDivisors(call);
  const bool likeC = call.flag("fmod", false);
  if (!likeC && isFloat(call.input(0).dtype))
    call.fail("attribute 'fmod' should be 1 for floating-point inputs");
  call.set(likeC ? mapPairs(call, 0, 1, Remainder()) : mapPairs(call, 0, 1, Modulus()));
}

template <typename T> T integerPower(T base, T exponent) {
  if (exponent < 0)
    return Quotient()(T(1), integerPower<T>(base, exponent == std::numeric_limits<T>::min()
                                                      ? T(2)
                                                      : static_cast<T>(0 - exponent)));
  T result = 1;
  for (; exponent > 0; exponent /= 2, base = Times()(base, base))
    if (exponent & 1)
      result = Times()(result, base);
  return result;
}

struct Power {
  using Slow = void;
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return integerPower(a, b);
    else
      return b == 2 ? a * a : std::pow(a, b);
  }
};

// The exponent may be of another type than the base, which is the result's.
void pow(Call &call) {
  const DType base = call.input(0).dtype, exponent = call.input(1).dtype;
  if (!isFloat(base) && isFloat(exponent)) {
    const Tensor a = castTensor(call.input(0), DType::F64),
                 b = castTensor(call.input(1), DType::F64);
    Tensor result = call.make(DType::F64, commonShape(call, 0, 2));
    mapPairs<double, double>(a, b, result.shape, result.data<double>(), Power());
    return call.set(castTensor(result, base));
  }
  call.set(mapPairs(call, 0, 1, Power()));
}

// All inputs, from the left to the right, in the wide type; rounded once.
template <typename F> Tensor fold(const Call &call, F f) {
  const DType type = call.input(0).dtype, wide = wideType(type);
  const Shape shape = commonShape(call, 0, call.inputCount());
  call.make(wide, shape); // its size is checked
  Tensor sum = *widened(call.shared(0), wide);
  for (size_t i = 1; i < call.inputCount(); ++i) {
    const ConstantTensor next = widened(call.shared(i), wide);
    Tensor result = call.make(wide, *broadcastShapes(sum.shape, next->shape));
    withWide(wide, [&](auto zero) {
      using T = decltype(zero);
      mapPairs<T, T>(sum, *next, result.shape, result.data<T>(), f);
    });
    sum = std::move(result);
  }
  return sum;
}

void sum(Call &call) { call.set(narrowed(fold(call, Plus()), call.input(0).dtype)); }

void mean(Call &call) {
  Tensor all = fold(call, Plus());
  const auto count = static_cast<double>(call.inputCount());
  withWideFloat(all.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0, end = isFloat(all.dtype) ? all.elements() : 0; i < end; ++i)
      all.data<T>()[i] /= static_cast<T>(count);
  });
  call.set(narrowed(std::move(all), call.input(0).dtype));
}

// What is no number stays so.
void min(Call &call) {
  call.set(narrowed(fold(call, [](auto a, auto b) { return a < b || a != a ? a : b; }),
                    call.input(0).dtype));
}

void max(Call &call) {
  call.set(narrowed(fold(call, [](auto a, auto b) { return a > b || a != a ? a : b; }),
                    call.input(0).dtype));
}

// f(a, b) of the bits of integers; of int64 they are those of uint64.
template <typename F> void mapBits(Call &call, F f) {
  const DType type = call.input(0).dtype, wide = wideType(type);
  if (isFloat(type))
    call.fail("it is of integers");
  const Shape shape = commonShape(call, 0, 2);
  const ConstantTensor x = widened(call.shared(0), wide), y = widened(call.shared(1), wide);
  Tensor result = call.make(wide, shape);
  const auto map = [&](auto zero) {
    using T = decltype(zero);
    mapPairs<T, T>(*x, *y, shape, result.data<T>(), f);
  };
  wide == DType::I32 ? map(uint32_t()) : map(uint64_t());
  call.set(narrowed(std::move(result), type));
}

void bitShift(Call &call) {
  const bool isLeft = call.choice("direction", {"LEFT", "RIGHT"}) == "LEFT";
  mapBits(call, [isLeft](auto a, auto b) {
    const uint64_t value = a;
    return b >= 64 ? 0 : isLeft ? value << b : value >> b;
  });
}

void bitwiseAnd(Call &call) {
  mapBits(call, [](auto a, auto b) { return a & b; });
}

void bitwiseOr(Call &call) {
  mapBits(call, [](auto a, auto b) { return a | b; });
}

void bitwiseXor(Call &call) {
  mapBits(call, [](auto a, auto b) { return a ^ b; });
}

void bitwiseNot(Call &call) {
  call.set(mapEach(call, 0, [](auto a) { return ~static_cast<int64_t>(a); }));
}

void prelu(Call &call) {
  if (commonShape(call, 0, 2) != call.shape(0))
    call.fail("its slope is larger than its input");
  call.set(mapPairs(call, 0, 1, [](auto a, auto slope) { return a < 0 ? Times()(a, slope) : a; }));
}

} // namespace

KernelTable arithmeticKernels() {
  return {{"Add", add},
          {"BitShift", bitShift},
          {"BitwiseAnd", bitwiseAnd},
          {"BitwiseNot", bitwiseNot},
          {"BitwiseOr", bitwiseOr},
          {"BitwiseXor", bitwiseXor},
          {"Div", div},
          {"Max", max},
          {"Mean", mean},
          {"Min", min},
          {"Mod", mod},
          {"Mul", mul},
          {"PRelu", prelu},
          {"Pow", pow},
          {"Sub", sub},
          {"Sum", sum}};
}

} // namespace tilewright::host

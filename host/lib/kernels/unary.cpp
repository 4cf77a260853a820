// Functions of one number, element by element.
#include "elementwise.h"

#include <cmath>
#include <limits>

namespace tilewright::host {

namespace {

// Floats by the C library.
void acos(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::acos(x); }));
}
void acosh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::acosh(x); }));
}
void asin(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::asin(x); }));
}
void asinh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::asinh(x); }));
}
void atan(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::atan(x); }));
}
void atanh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::atanh(x); }));
}
void ceil(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::ceil(x); }));
}
void cos(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::cos(x); }));
}
void cosh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::cosh(x); }));
}
void erf(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::erf(x); }));
}
void exp(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::exp(x); }));
}
void floor(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::floor(x); }));
}
void log(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::log(x); }));
}
void reciprocal(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return 1 / x; }));
}
void round(Call &call) { // half to even
  call.set(mapFloats(call, 0, [](auto x) { return std::nearbyint(x); }));
}
void sin(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::sin(x); }));
}
void sinh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::sinh(x); }));
}
void sqrt(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::sqrt(x); }));
}
void tan(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::tan(x); }));
}
void tanh(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return std::tanh(x); }));
}

template <typename T> T negative(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  else
    return -x;
}

void abs(Call &call) {
  call.set(mapEach(call, 0, [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return x < 0 ? negative(x) : x;
    else
      return std::fabs(x);
  }));
}

void neg(Call &call) {
  call.set(mapEach(call, 0, [](auto x) { return negative(x); }));
}

void sign(Call &call) {
  call.set(mapEach(call, 0, [](auto x) -> decltype(x) {
    if (x != x)
      return x;
    return static_cast<decltype(x)>((x > 0) - (x < 0));
  }));
}

// A bound of Clip in type T; `fallback` when it is left out.
template <typename T> T bound(const Call &call, size_t at, const char *name, T fallback) {
  if (call.hasAttribute(name))
    return converted<T>(call.number(name, 0));
  if (!call.has(at))
    return fallback;
  call.scalar(at, name); // one number
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(integerAt(call.input(at), 0));
  else
    return static_cast<T>(floatAt(call.input(at), 0));
}

void clip(Call &call) {
  const DType type = call.input(0).dtype;
  const ConstantTensor x = widened(call.shared(0), wideType(type));
  Tensor result = call.make(x->dtype, x->shape);
  withWide(x->dtype, [&](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    constexpr bool isInteger = std::is_integral_v<T>;
    const T low = bound<T>(call, 1, "min", isInteger ? Limits::min() : -Limits::infinity());
    const T high = bound<T>(call, 2, "max", isInteger ? Limits::max() : Limits::infinity());
    const T *from = x->data<T>();
    T *to = result.data<T>();
    inParts(result.elements(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) { // `high` where they cross
        const T above = from[i] < low ? low : from[i];
        to[i] = above > high ? high : above;
      }
    });
  });
  call.set(narrowed(std::move(result), type));
}

} // namespace

KernelTable unaryKernels() {
  return {{"Abs", abs},     {"Acos", acos},   {"Acosh", acosh},
          {"Asin", asin},   {"Asinh", asinh}, {"Atan", atan},
          {"Atanh", atanh}, {"Ceil", ceil},   {"Clip", clip},
          {"Cos", cos},     {"Cosh", cosh},   {"Erf", erf},
          {"Exp", exp},     {"Floor", floor}, {"Log", log},
          {"Neg", neg},     {"Round", round}, {"Reciprocal", reciprocal},
          {"Sign", sign},   {"Sin", sin},     {"Sinh", sinh},
          {"Sqrt", sqrt},   {"Tan", tan},     {"Tanh", tanh}};
}

} // namespace tilewright::host

#include "tilewright/simulator/runtime/session.h"

#include "tilewright/host/elements.h"
#include "tilewright/support/error.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace tilewright {

namespace {

// Calls visit(T{}) with the integer type of a tensor.
template <typename Visit> void withInteger(DType type, const Visit &visit) {
  switch (type) {
  case DType::I8:
    return visit(int8_t());
  case DType::U8:
    return visit(uint8_t());
  case DType::I16:
    return visit(int16_t());
  case DType::U16:
    return visit(uint16_t());
  case DType::I32:
    return visit(int32_t());
  default:
    throw std::logic_error(fmt::format("a quantized tensor of {}", name(type)));
  }
}

} // namespace

Tensor quantizeTensor(const Tensor &real, const TensorInfo &info) {
  Tensor result = makeTensor(info.dtype, real.shape);
  // x86 rounds half to even unless told otherwise; a caller may have.
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  auto scaled = [&](int64_t i) -> double {
    if (real.dtype == DType::F64)
      return std::nearbyint(real.data<double>()[i] / *info.scale);
    float value = real.dtype == DType::F32 ? real.data<float>()[i]
                                           : static_cast<float>(host::floatAt(real, i));
    return std::nearbyint(value / static_cast<float>(*info.scale));
  };
  withInteger(info.dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr double least = std::numeric_limits<T>::min(),
                     greatest = std::numeric_limits<T>::max();
    for (int64_t i = 0, n = real.elements(); i < n; ++i) {
      double value = scaled(i) + static_cast<double>(info.zeroPoint);
      if (std::isnan(value)) {
        std::fesetround(rounding);
        throw UserError({"", 0, 0, fmt::format("input '{}'", escape(info.name))},
                        fmt::format("element {} is not a number", i));
      }
      result.data<T>()[i] = static_cast<T>(std::min(std::max(value, least), greatest));
    }
  });
  std::fesetround(rounding);
  return result;
}

Tensor dequantizeTensor(const Tensor &integer, const TensorInfo &info) {
  Tensor result = makeTensor(DType::F32, integer.shape);
  const auto scale = static_cast<float>(*info.scale);
  withInteger(integer.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0, n = integer.elements(); i < n; ++i)
      result.data<float>()[i] =
          static_cast<float>(int64_t(integer.data<T>()[i]) - info.zeroPoint) * scale;
  });
  return result;
}

} // namespace tilewright

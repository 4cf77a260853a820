// Loops over the elements of a tensor by their C++ type.
#pragma once

#include "tilewright/support/npy.h"

#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace tilewright::host {

// Calls `use` with a typed pointer to the elements, `const` if `bytes` is. Narrow floats are left
// out; integers of less than a byte stand in a byte each.
template <typename Byte, typename Use> auto withElements(DType type, Byte *bytes, Use use) {
  const auto as = [bytes](auto zero) {
    using T = decltype(zero);
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return reinterpret_cast<Element *>(bytes);
  };
  switch (type) {
  case DType::I8:
  case DType::I4:
  case DType::I2:
    return use(as(int8_t()));
  case DType::Bool:
  case DType::U8:
  case DType::U4:
  case DType::U2:
    return use(as(uint8_t()));
  case DType::I16:
    return use(as(int16_t()));
  case DType::U16:
    return use(as(uint16_t()));
  case DType::I32:
    return use(as(int32_t()));
  case DType::U32:
    return use(as(uint32_t()));
  case DType::I64:
    return use(as(int64_t()));
  case DType::U64:
    return use(as(uint64_t()));
  case DType::F32:
    return use(as(float()));
  case DType::F64:
    return use(as(double()));
  default:
    break;
  }
  abort();
}

// Out-of-range conversions are undefined in C++: saturate to 64 bits, and keep the low ones.
template <typename To, typename From> To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::is_same_v<To, uint64_t> && value >= From(9.2e18))
      return static_cast<To>(value < From(1.8e19) ? static_cast<uint64_t>(value) : UINT64_MAX);
    if (!(value > From(-9.2e18)))
      return static_cast<To>(value == value ? INT64_MIN : 0);
    return static_cast<To>(value < From(9.2e18) ? static_cast<int64_t>(value) : INT64_MAX);
  } else {
    return static_cast<To>(value);
  }
}

// The type that elements are computed in: narrow floats in float32, small integers in int64.
inline DType wideType(DType type) {
  switch (type) {
  case DType::F32:
  case DType::F64:
  case DType::I32:
  case DType::I64:
  case DType::U64:
    return type;
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
  case DType::F4E2M1:
    return DType::F32;
  default:
    return DType::I64;
  }
}

// Calls `use` with a zero of the C++ type of `type`, which is the wide type of any.
template <typename Use> auto withWide(DType type, Use use) {
  switch (type) {
  case DType::F32:
    return use(float());
  case DType::F64:
    return use(double());
  case DType::I32:
    return use(int32_t());
  case DType::I64:
    return use(int64_t());
  case DType::U64:
    return use(uint64_t());
  default:
    break;
  }
  abort();
}

// As above, of a float type.
template <typename Use> auto withWideFloat(DType type, Use use) {
  return type == DType::F64 ? use(double()) : use(float());
}

} // namespace tilewright::host

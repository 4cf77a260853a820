// Element types.
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::host {

namespace {

// The power of two that float8e8m0 has for `value`, exact but for its range.
double powerOfTwo(double value, const std::string &mode) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0 || !std::isfinite(magnitude))
    return magnitude;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent); // from 0.5 to below 1
  const bool isUp = mode == "up" ? fraction > 0.5 : mode == "nearest" && fraction >= 0.75;
  return std::ldexp(0.5, exponent + isUp);
}

void castTo(Call &call, DType type) {
  const Tensor &source = call.input(0);
  const bool saturate = call.flag("saturate", true);
  if (source.dtype == type)
    return call.set(call.shared(0));
  call.make(type, source.shape); // its size is checked
  if (type != DType::F8E8M0)
    return call.set(castTensor(source, type, saturate));
  const std::string mode = call.choice("round_mode", {"up", "down", "nearest"});
  Tensor result = call.make(type, source.shape);
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    setFloat(result, i, powerOfTwo(floatAt(source, i), mode), saturate);
  call.set(std::move(result));
}

void cast(Call &call) { castTo(call, call.type("to", DType::F32)); }

void castLike(Call &call) { castTo(call, call.input(1).dtype); }

// Elements of less than a byte stand in a byte each.
void bitCast(Call &call) {
  const auto bits = [](DType type) {
    switch (type) {
    case DType::I4:
    case DType::U4:
    case DType::F4E2M1:
      return int64_t(4);
    case DType::I2:
    case DType::U2:
      return int64_t(2);
    default:
      return 8 * byteSize(type);
    }
  };
  Tensor result = call.input(0);
  const DType from = result.dtype, to = call.type("to", from);
  if (bits(from) != bits(to))
    call.fail(fmt::format("{} and {} differ in width", name(from), name(to)));
  result.dtype = to;
  const int width = static_cast<int>(bits(to));
  for (char &byte : result.bytes) {
    if (to == DType::Bool)
      byte = byte != 0;
    else if (width < 8)
      byte = static_cast<char>(byte & ((1 << width) - 1));
    if ((to == DType::I4 || to == DType::I2) && byte >> (width - 1))
      byte = static_cast<char>(byte - (1 << width));
  }
  call.set(std::move(result));
}

} // namespace

KernelTable castKernels() { return {{"BitCast", bitCast}, {"Cast", cast}, {"CastLike", castLike}}; }

} // namespace tilewright::host

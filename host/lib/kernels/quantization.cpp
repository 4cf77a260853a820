// Numbers that stand for others by a scale and a zero point.
#include "scales.h"

namespace tilewright::host {

namespace {

// The zero point of the third input, as floats like the scale; null when it is left out.
ConstantTensor zeroPoint(const Call &call, DType wide) {
  if (!call.has(2))
    return nullptr;
  if (call.input(2).elements() != call.input(1).elements())
    call.fail("its scale and its zero point should have one shape");
  return widened(call.shared(2), wide);
}

Granularity granularity(const Call &call) {
  return {call, call.shape(0), call.shape(1), call.integer("axis", 1),
          call.integer("block_size", 0)};
}

// The type that quotients are rounded to before they are numbers of the quantized type.
DType quotientType(const Call &call) {
  return call.integer("precision", 0) ? call.type("precision", DType::F32) : call.input(1).dtype;
}

void checkScales(const Call &call, const Tensor &scale) {
  for (int64_t i = 0; i < scale.elements(); ++i)
    if (const double value = floatAt(scale, i); !(value > 0) || std::isinf(value))
      call.fail(fmt::format("a scale of {} is not possible", value));
}

void quantizeLinear(Call &call) {
  const DType given = call.input(0).dtype, quotient = quotientType(call);
  DType type = call.has(2) ? call.input(2).dtype : DType::U8;
  if (call.integer("output_dtype", 0))
    type = call.type("output_dtype", type);
  if (call.has(2) && type != call.input(2).dtype)
    call.fail("its zero point is of another type than its output");
  const DType wide = given == DType::F64 || given == DType::I32 ? DType::F64 : DType::F32;
  const ConstantTensor x = widened(call.shared(0), wide), scale = widened(call.shared(1), wide);
  checkScales(call, *scale);
  const ConstantTensor zero = zeroPoint(call, wide);
  const Granularity scales = granularity(call);
  const int64_t step = scales.scaleStep();
  const bool isInteger = !isFloat(type);
  const NumberRange range = rangeOf(type);
  Tensor result = call.make(wide, x->shape);
  withWideFloat(wide, [&](auto number) {
    using T = decltype(number);
    scales.forEachRow(x->elements(), [&](int64_t at, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        result.data<T>()[at + i] = x->data<T>()[at + i] / scale->data<T>()[from + i * step];
    });
    if (quotient == DType::F16 || quotient == DType::BF16)
      result = castTensor(castTensor(result, quotient), wide);
    scales.forEachRow(x->elements(), [&](int64_t at, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        T &value = result.data<T>()[at + i];
        if (isInteger)
          value = std::nearbyint(value);
        if (zero)
          value += zero->data<T>()[from + i * step];
        if (isInteger) // what is no number becomes the least one
          value = value > T(range.least) ? std::min(value, T(range.most)) : T(range.least);
      }
    });
  });
  call.set(castTensor(result, type, call.flag("saturate", true)));
}

void dequantizeLinear(Call &call) {
  const DType given = call.input(0).dtype;
  DType type = call.input(1).dtype;
  if (call.integer("output_dtype", 0))
    type = call.type("output_dtype", type);
  const DType wide = given == DType::I32 ? DType::F64 : DType::F32;
  Tensor result = castTensor(call.input(0), wide);
  const ConstantTensor scale = widened(call.shared(1), wide), zero = zeroPoint(call, wide);
  const Granularity scales = granularity(call);
  const int64_t step = scales.scaleStep();
  withWideFloat(wide, [&](auto number) {
    using T = decltype(number);
    scales.forEachRow(result.elements(), [&](int64_t at, int64_t from, int64_t count) {
      T *row = result.data<T>() + at;
      for (int64_t i = 0; i < count; ++i)
        row[i] = (row[i] - (zero ? zero->data<T>()[from + i * step] : 0)) *
                 scale->data<T>()[from + i * step];
    });
  });
  call.set(narrowed(std::move(result), type));
}

// To uint8, by the range of the input and zero.
void dynamicQuantizeLinear(Call &call) {
  const Tensor x = castTensor(call.input(0), DType::F32);
  const float *values = x.data<float>();
  float least = 0, most = 0;
  for (int64_t i = 0, end = x.elements(); i < end; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  const float scale = (most > least ? most - least : 1) / 255;
  const float zero = std::nearbyint(std::clamp(-least / scale, 0.0f, 255.0f));
  Tensor result = call.make(DType::U8, x.shape);
  for (int64_t i = 0, end = x.elements(); i < end; ++i) {
    const float value = std::nearbyint(values[i] / scale) + zero;
    result.data<uint8_t>()[i] = static_cast<uint8_t>(value > 0 ? std::min(value, 255.0f) : 0);
  }
  Tensor scaleTensor = call.make(DType::F32, {}), zeroTensor = call.make(DType::U8, {});
  setFloat(scaleTensor, 0, scale);
  setInteger(zeroTensor, 0, std::isnan(zero) ? 0 : static_cast<int64_t>(zero));
  call.set(std::move(result));
  call.set(std::move(scaleTensor), 1);
  call.set(std::move(zeroTensor), 2);
}

} // namespace

KernelTable quantizationKernels() {
  return {{"DequantizeLinear", dequantizeLinear},
          {"DequantizeLinear", dequantizeLinear, "com.microsoft"},
          {"DynamicQuantizeLinear", dynamicQuantizeLinear},
          {"QuantizeLinear", quantizeLinear},
          {"QuantizeLinear", quantizeLinear, "com.microsoft"}};
}

} // namespace tilewright::host

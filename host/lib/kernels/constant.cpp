// Values that attributes, shapes and scalars give.
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::host {

namespace {

Tensor integerList(const Call &call, const std::vector<int64_t> &values) {
  Tensor tensor = call.make(DType::I64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<int64_t>());
  return tensor;
}

Tensor floatList(const Call &call, const std::vector<float> &values) {
  Tensor tensor = call.make(DType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

void constant(Call &call) {
  if (call.node().attributes.size() != 1)
    call.fail(fmt::format("it has {} attributes, and should have its value alone",
                          call.node().attributes.size()));
  if (ConstantTensor value = call.tensor("value"))
    call.set(value);
  else if (call.hasAttribute("value_int"))
    call.set(reshaped(integerList(call, {call.integer("value_int", 0)}), {}));
  else if (call.hasAttribute("value_float"))
    call.set(reshaped(floatList(call, {call.number("value_float", 0)}), {}));
  else if (call.hasAttribute("value_ints"))
    call.set(integerList(call, call.integers("value_ints", {})));
  else if (call.hasAttribute("value_floats"))
    call.set(floatList(call, call.numbers("value_floats", {})));
  else
    call.fail("it has no value that is a tensor of numbers");
}

void constantOfShape(Call &call) {
  const ConstantTensor value = call.tensor("value");
  if (value && value->elements() != 1)
    call.fail("attribute 'value' should hold one element");
  const DType type = value ? value->dtype : DType::F32;
  Tensor result = call.make(type, call.integers(0, "shape"));
  if (value)
    stridedFill(result, *value, 0, Shape(result.shape.size(), 0));
  call.set(std::move(result));
}

void shape(Call &call) {
  const int64_t rank = call.rank(0);
  const auto bound = [&](const char *name, int64_t fallback) {
    const int64_t value = call.integer(name, fallback);
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  const Shape &sizes = call.shape(0);
  call.set(integerList(call, Shape(sizes.begin() + start, sizes.begin() + end)));
}

void size(Call &call) { call.set(reshaped(integerList(call, {call.input(0).elements()}), {})); }

void identity(Call &call) { call.set(call.has(0) ? call.value(0) : Value::empty()); }

void eyeLike(Call &call) {
  if (call.rank(0) != 2)
    call.fail("its input should have two dimensions");
  const Shape &shape = call.shape(0);
  Tensor result = call.make(call.type("dtype", call.input(0).dtype), shape);
  const int64_t k = call.integer("k", 0);
  if (k > -shape[0] && k < shape[1])
    for (int64_t row = std::max<int64_t>(0, -k); row < shape[0] && row + k < shape[1]; ++row)
      setInteger(result, row * shape[1] + row + k, 1);
  call.set(std::move(result));
}

void range(Call &call) {
  const char *names[] = {"start", "limit", "delta"};
  double bounds[3];
  for (size_t i = 0; i < 3; ++i)
    bounds[i] = call.scalar(i, names[i]);
  const DType type = call.input(0).dtype;
  const auto [start, limit, delta] = bounds;
  if (delta == 0)
    call.fail("its step, 'delta', is 0");
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  if (!(count <= static_cast<double>(maxTensorBytes)))
    call.fail(fmt::format("a list of {} numbers arises", count));
  Tensor result = call.make(type, {static_cast<int64_t>(count)});
  const auto first = static_cast<uint64_t>(integerAt(call.input(0), 0));
  const auto step = static_cast<uint64_t>(integerAt(call.input(2), 0));
  for (int64_t i = 0, end = result.elements(); i < end; ++i)
    if (isFloat(type))
      setFloat(result, i, start + static_cast<double>(i) * delta);
    else
      setInteger(result, i, static_cast<int64_t>(first + static_cast<uint64_t>(i) * step));
  call.set(std::move(result));
}

} // namespace

KernelTable constantKernels() {
  return {{"Constant", constant}, {"ConstantOfShape", constantOfShape},
          {"EyeLike", eyeLike},   {"Identity", identity},
          {"Range", range},       {"Shape", shape},
          {"Size", size}};
}

} // namespace tilewright::host

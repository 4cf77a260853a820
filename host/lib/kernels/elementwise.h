// Loops of element-wise operators: inputs broadcast to a common shape, and are computed in the wide
// type of theirs.
#pragma once

#include "../with_elements.h"
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"
#include "tilewright/support/parallel.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::host {

// `tensor` in another type; itself where it has it.
inline ConstantTensor widened(const ConstantTensor &tensor, DType type) {
  return tensor->dtype == type ? tensor : std::make_shared<const Tensor>(castTensor(*tensor, type));
}

// `tensor`, which was computed in the wide type of `type`.
inline Tensor narrowed(Tensor tensor, DType type) {
  return tensor.dtype == type ? std::move(tensor) : castTensor(tensor, type);
}

// The shape that all of the inputs from `first` on broadcast to.
inline Shape commonShape(const Call &call, size_t first, size_t count) {
  Shape all;
  for (size_t i = first; i < first + count; ++i) {
    std::optional<Shape> shape = broadcastShapes(all, call.shape(i));
    if (!shape)
      call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(all),
                            formatShape(call.shape(i))));
    all = std::move(*shape);
  }
  return all;
}

// Calls work(begin, end) for parts of `count` elements, on several threads if they are many.
template <typename Work> void inParts(int64_t count, Work work) {
  constexpr int64_t part = int64_t(1) << 16;
  if (count <= part)
    return work(int64_t(0), count);
  parallelFor(processorCount(), static_cast<size_t>((count + part - 1) / part),
              [&](unsigned, size_t i) {
                const int64_t begin = static_cast<int64_t>(i) * part;
                work(begin, std::min(begin + part, count));
              });
}

// Calls row(at, count, offsets, steps) for rows of a result of `shape`: its elements from `at` on
// come of those of input k from offsets[k] on, steps[k] apart. Dimensions that all inputs have in
// one piece are one row.
template <size_t N, typename Row>
void forEachRow(const Shape &shape, const std::array<Shape, N> &strides, Row row) {
  using Offsets = std::array<int64_t, N>;
  Shape sizes;
  std::vector<Offsets> steps;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    Offsets step;
    bool joins = !sizes.empty();
    for (size_t k = 0; k < N; ++k) {
      step[k] = strides[k][d];
      joins = joins && steps.back()[k] == step[k] * shape[d];
    }
    if (joins) {
      sizes.back() *= shape[d];
      steps.back() = step;
    } else {
      sizes.push_back(shape[d]);
      steps.push_back(step);
    }
  }
  if (elementCount(shape) == 0)
    return;
  const int64_t length = sizes.empty() ? 1 : sizes.back();
  const Offsets inner = steps.empty() ? Offsets{} : steps.back();
  const int64_t rows = elementCount(shape) / length;
  Shape index(sizes.size(), 0);
  Offsets offsets{};
  for (int64_t i = 0; i < rows; ++i) {
    row(i * length, length, offsets, inner);
    for (size_t d = sizes.size(); d-- > 1;) { // the next index, as an odometer counts
      for (size_t k = 0; k < N; ++k)
        offsets[k] += steps[d - 1][k];
      if (++index[d - 1] < sizes[d - 1])
        break;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= steps[d - 1][k] * sizes[d - 1];
      index[d - 1] = 0;
    }
  }
}

// Whether no vectors can be made of loops over F, which says so by a type `Slow`: one loop serves
// all strides then.
template <typename F, typename = void> constexpr bool isSlow = false;
template <typename F> constexpr bool isSlow<F, std::void_t<typename F::Slow>> = true;

// result[i] = f(a[i], b[i]) of tensors of C++ type T, with results of type R.
template <typename T, typename R, typename F>
void mapPairs(const Tensor &a, const Tensor &b, const Shape &shape, R *result, F f) {
  forEachRow<2>(shape, {broadcastStrides(a.shape, shape), broadcastStrides(b.shape, shape)},
                [&](int64_t at, int64_t count, const auto &offsets, const auto &steps) {
                  const T *x = a.data<T>() + offsets[0], *y = b.data<T>() + offsets[1];
                  R *out = result + at;
                  inParts(count, [&](int64_t begin, int64_t end) {
                    if (!isSlow<F> && steps[0] == 1 && steps[1] == 1)
                      for (int64_t i = begin; i < end; ++i)
                        out[i] = static_cast<R>(f(x[i], y[i]));
                    else if (!isSlow<F> && steps[0] == 1 && steps[1] == 0)
                      for (int64_t i = begin; i < end; ++i)
                        out[i] = static_cast<R>(f(x[i], *y));
                    else
                      for (int64_t i = begin; i < end; ++i)
                        out[i] = static_cast<R>(f(x[i * steps[0]], y[i * steps[1]]));
                  });
                });
}

// f(a, b) in the type `type`, which is the wide type of any.
template <typename F>
Tensor mapPairs(const Call &call, const ConstantTensor &a, const ConstantTensor &b, DType type,
                F f) {
  const ConstantTensor x = widened(a, type), y = widened(b, type);
  std::optional<Shape> shape = broadcastShapes(x->shape, y->shape);
  if (!shape)
    call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(x->shape),
                          formatShape(y->shape)));
  Tensor result = call.make(type, *shape);
  withWide(type, [&](auto zero) {
    using T = decltype(zero);
    mapPairs<T, T>(*x, *y, *shape, result.data<T>(), f);
  });
  return result;
}

// One result of the type of the first input; f is called with two numbers of its wide type.
template <typename F> Tensor mapPairs(const Call &call, size_t a, size_t b, F f) {
  const DType type = call.input(a).dtype;
  return narrowed(mapPairs(call, call.shared(a), call.shared(b), wideType(type), f), type);
}

// The same of one input; f is called with a number of its wide type.
template <typename F> Tensor mapEach(const Call &call, size_t input, F f) {
  const DType type = call.input(input).dtype, wide = wideType(type);
  const ConstantTensor x = widened(call.shared(input), wide);
  Tensor result = call.make(wide, x->shape);
  withWide(wide, [&](auto zero) {
    using T = decltype(zero);
    inParts(result.elements(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        result.data<T>()[i] = converted<T>(f(x->data<T>()[i]));
    });
  });
  return narrowed(std::move(result), type);
}

// The same of an input of floats, by a function of floats or doubles; integers are taken as floats.
template <typename F> Tensor mapFloats(const Call &call, size_t input, F f) {
  const DType type = call.input(input).dtype;
  const DType wide = type == DType::F64 ? DType::F64 : DType::F32;
  const ConstantTensor x = widened(call.shared(input), wide);
  Tensor result = call.make(wide, x->shape);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    inParts(result.elements(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        result.data<T>()[i] = static_cast<T>(f(x->data<T>()[i]));
    });
  });
  return narrowed(std::move(result), type);
}

} // namespace tilewright::host

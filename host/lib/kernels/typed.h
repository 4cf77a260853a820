// Elements of tensors as numbers of one C++ type, whatever the tensor's type is.
#pragma once

#include "tilewright/host/call.h"
#include "tilewright/host/elements.h"

#include <type_traits>

namespace tilewright::host {

// Calls use(T()) with the type in which elements of `type` compute: double or float, or for
// integers and bool int64_t or uint64_t.
template <typename Use> auto withNumbers(DType type, Use use) {
  if (type == DType::F64)
    return use(double());
  if (isFloat(type))
    return use(float());
  return isSigned(type) ? use(int64_t()) : use(uint64_t());
}

// Calls use(T()) with an unsigned integer as wide as an element, for what only moves elements.
template <typename Use> auto withWidth(DType type, Use use) {
  switch (byteSize(type)) {
  case 1:
    return use(uint8_t());
  case 2:
    return use(uint16_t());
  case 4:
    return use(uint32_t());
  default:
    return use(uint64_t());
  }
}

template <typename T> bool holds(DType type) {
  if constexpr (std::is_integral_v<T>)
    return type == DType::I64 || type == DType::U64;
  return type == (std::is_same_v<T, double> ? DType::F64 : DType::F32);
}

// About what a tensor takes beside its elements, where there may be many small ones.
constexpr int64_t partOverhead = 256;

// What is read: the tensor's own elements where they are of type T, else a converted copy.
template <typename T> class Numbers {
public:
  explicit Numbers(const Tensor &tensor) : count_(tensor.elements()) {
    if (holds<T>(tensor.dtype)) {
      data_ = tensor.data<T>();
      return;
    }
    own_.resize(count_);
    for (int64_t i = 0; i < count_; ++i)
      if constexpr (std::is_integral_v<T>)
        own_[i] = static_cast<T>(integerAt(tensor, i));
      else
        own_[i] = static_cast<T>(floatAt(tensor, i));
    data_ = own_.data();
  }
  Numbers(const Numbers &) = delete;
  Numbers &operator=(const Numbers &) = delete;

  const T *data() const { return data_; }
  int64_t size() const { return count_; }
  const T &operator[](int64_t index) const { return data_[index]; }

private:
  std::vector<T> own_;
  int64_t count_;
  const T *data_;
};

// What is written: zeros at first, rounded to the tensor's type when it is taken.
template <typename T> class Results {
public:
  Results(const Call &call, DType type, Shape shape) : tensor_(call.make(type, std::move(shape))) {
    if (!holds<T>(type))
      own_.resize(tensor_.elements());
  }

  T *data() { return holds<T>(tensor_.dtype) ? tensor_.data<T>() : own_.data(); }
  T &operator[](int64_t index) { return data()[index]; }
  const Shape &shape() const { return tensor_.shape; }
  Tensor take() {
    for (size_t i = 0; i < own_.size(); ++i)
      if (isFloat(tensor_.dtype))
        setFloat(tensor_, static_cast<int64_t>(i), static_cast<double>(own_[i]));
      else
        setInteger(tensor_, static_cast<int64_t>(i), static_cast<int64_t>(own_[i]));
    return std::move(tensor_);
  }

private:
  Tensor tensor_;
  std::vector<T> own_;
};

// The product of the sizes [begin, end).
inline int64_t countBetween(const Shape &shape, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end && i < shape.size(); ++i)
    count *= shape[i];
  return count;
}

// Calls visit(index) with all indices of `shape`, the last dimension first.
template <typename Visit> void forEachIndex(const Shape &shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (int64_t i = 0, count = elementCount(shape); i < count; ++i) {
    visit(static_cast<const Shape &>(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

// An index into `size` elements, from the end when it is negative.
inline int64_t checkedIndex(const Call &call, int64_t index, int64_t size) {
  if (index < -size || index >= size)
    call.fail("the index " + std::to_string(index) + " is outside " + std::to_string(size) +
              " elements");
  return index < 0 ? index + size : index;
}

inline void checkRank(const Call &call, size_t input, int64_t lowest, int64_t highest = maxRank) {
  if (call.rank(input) < lowest || call.rank(input) > highest)
    call.fail("input " + std::to_string(input) + " has " + std::to_string(call.rank(input)) +
              " dimensions");
}

inline void checkSameType(const Call &call, const Tensor &a, const Tensor &b) {
  if (a.dtype != b.dtype)
    call.fail(std::string("inputs are of ") + name(a.dtype) + " and " + name(b.dtype));
}

// A list that later operator sets take as input `input`, and earlier ones as attribute `name`; none
// where it is left out.
inline std::optional<std::vector<int64_t>> listAt(const Call &call, size_t input,
                                                  const char *name) {
  if (call.has(input))
    return call.integers(input, name);
  if (call.hasAttribute(name))
    return call.integers(name, {});
  return std::nullopt;
}

// One that must be there: an optional without a value is taken for a missing input.
inline std::vector<int64_t> neededListAt(const Call &call, size_t input, const char *name) {
  std::optional<std::vector<int64_t>> list = listAt(call, input, name);
  if (!list)
    call.fail("it has no " + std::string(name));
  return *list;
}

// As `Tensor stridedCopy`, for shapes that come from a file.
inline Tensor checkedCopy(const Call &call, const Tensor &source, Shape shape, int64_t offset,
                          const Shape &strides) {
  Tensor result = call.make(source.dtype, std::move(shape));
  stridedFill(result, source, offset, strides);
  return result;
}

} // namespace tilewright::host

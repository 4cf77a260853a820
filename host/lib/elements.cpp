#include "tilewright/host/elements.h"

#include "narrow_float.h"
#include "tilewright/support/npy_bytes.h"
#include "with_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilewright::host {

bool isFloat(DType type) { return type == DType::F32 || type == DType::F64 || narrowFormat(type); }

bool isSigned(DType type) {
  switch (type) {
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
  case DType::I4:
  case DType::I2:
    return true;
  default:
    return false;
  }
}

// Weights are most of a model: whole blocks are looked at without a branch.
template <typename Float>
static std::optional<int64_t> firstNotFinite(const Float *values, int64_t count) {
  constexpr int64_t block = 1024;
  for (int64_t start = 0; start < count; start += block) {
    const int64_t end = std::min(start + block, count);
    bool finite = true;
    for (int64_t i = start; i < end; ++i)
      finite &= std::fabs(values[i]) <= std::numeric_limits<Float>::max();
    for (int64_t i = start; !finite; ++i)
      if (!std::isfinite(values[i]))
        return i;
  }
  return std::nullopt;
}

std::optional<int64_t> firstNotFinite(const Tensor &tensor) {
  if (tensor.dtype == DType::F32)
    return firstNotFinite(tensor.data<float>(), tensor.elements());
  if (tensor.dtype == DType::F64)
    return firstNotFinite(tensor.data<double>(), tensor.elements());
  return std::nullopt;
}

int64_t integerAt(const Tensor &tensor, int64_t index) {
  if (isFloat(tensor.dtype))
    return converted<int64_t>(floatAt(tensor, index));
  return withElements(tensor.dtype, tensor.bytes.data(),
                      [&](auto *data) { return static_cast<int64_t>(data[index]); });
}

double floatAt(const Tensor &tensor, int64_t index) {
  if (const NarrowFormat *format = narrowFormat(tensor.dtype))
    return decode(*format, byteSize(tensor.dtype) == 2 ? tensor.data<uint16_t>()[index]
                                                       : static_cast<uint8_t>(tensor.bytes[index]));
  return withElements(tensor.dtype, tensor.bytes.data(),
                      [&](auto *data) { return static_cast<double>(data[index]); });
}

void setInteger(Tensor &tensor, int64_t index, int64_t value) {
  if (isFloat(tensor.dtype))
    return setFloat(tensor, index, static_cast<double>(value));
  if (tensor.dtype == DType::Bool)
    value = value != 0;
  const int unused = 8 * static_cast<int>(sizeof value) - bitsOf(tensor.dtype);
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  value = isSigned(tensor.dtype) ? static_cast<int64_t>(shifted) >> unused
                                 : static_cast<int64_t>(shifted >> unused);
  std::memcpy(tensor.bytes.data() + index * byteSize(tensor.dtype), &value,
              byteSize(tensor.dtype)); // little-endian: the low bytes come first
}

void setFloat(Tensor &tensor, int64_t index, double value, bool saturate) {
  if (const NarrowFormat *format = narrowFormat(tensor.dtype)) {
    const uint16_t bits = encode(*format, value, saturate);
    std::memcpy(tensor.bytes.data() + index * byteSize(tensor.dtype), &bits,
                byteSize(tensor.dtype));
  } else if (tensor.dtype == DType::F32) {
    tensor.data<float>()[index] = static_cast<float>(value);
  } else if (tensor.dtype == DType::F64) {
    tensor.data<double>()[index] = value;
  } else {
    setInteger(tensor, index, converted<int64_t>(value));
  }
}

Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

Shape broadcastStrides(const Shape &from, const Shape &to) {
  Shape strides = rowMajorStrides(from);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == 1)
      strides[i] = 0;
  strides.insert(strides.begin(), to.size() - from.size(), 0);
  return strides;
}

namespace {

// One loop of a copy: `size` steps of so many elements in the source and in the result.
struct CopyLoop {
  int64_t size, from, to;
};

// Neighbors that make one loop become one.
std::vector<CopyLoop> copyLoops(const Shape &shape, const Shape &strides) {
  const Shape targets = rowMajorStrides(shape);
  std::vector<CopyLoop> loops;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!loops.empty() && loops.back().from == strides[i] * shape[i])
      loops.back() = {loops.back().size * shape[i], strides[i], targets[i]};
    else
      loops.push_back({shape[i], strides[i], targets[i]});
  }
  return loops;
}

// The last loop and, in tiles with it, the one whose source elements lie nearest to each other.
template <typename T>
void copyPlane(const T *source, T *target, const CopyLoop &rows, const CopyLoop &columns) {
  constexpr int64_t tile = 16;
  const bool across = rows.size > 1 && std::abs(rows.from) < std::abs(columns.from);
  const int64_t height = across ? tile : 1, width = across ? tile : columns.size;
  for (int64_t top = 0; top < rows.size; top += height)
    for (int64_t left = 0; left < columns.size; left += width)
      for (int64_t i = top; i < std::min(top + height, rows.size); ++i) {
        const T *from = source + i * rows.from + left * columns.from;
        T *to = target + i * rows.to + left;
        const int64_t count = std::min(width, columns.size - left);
        if (columns.from == 1)
          std::copy_n(from, count, to);
        else
          for (int64_t j = 0; j < count; ++j)
            to[j] = from[j * columns.from];
      }
}

template <typename T>
void copyAll(const T *source, T *target, std::vector<CopyLoop> loops, const CopyLoop &columns) {
  CopyLoop rows{1, 0, 0};
  if (!loops.empty()) {
    auto nearest = std::min_element(loops.begin(), loops.end(), [](auto &a, auto &b) {
      return std::abs(a.from) < std::abs(b.from);
    });
    rows = *nearest;
    loops.erase(nearest);
  }
  int64_t count = 1;
  for (const CopyLoop &loop : loops)
    count *= loop.size;
  std::vector<int64_t> index(loops.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    copyPlane(source, target, rows, columns);
    for (size_t d = loops.size(); d-- > 0;) { // the next index, as an odometer counts
      source += loops[d].from;
      target += loops[d].to;
      if (++index[d] < loops[d].size)
        break;
      source -= loops[d].from * loops[d].size;
      target -= loops[d].to * loops[d].size;
      index[d] = 0;
    }
  }
}

} // namespace

void stridedFill(Tensor &result, const Tensor &source, int64_t offset, const Shape &strides) {
  if (result.elements() == 0)
    return;
  std::vector<CopyLoop> loops = copyLoops(result.shape, strides);
  CopyLoop columns{1, 1, 1};
  if (!loops.empty()) {
    columns = loops.back();
    loops.pop_back();
  }
  auto copy = [&](auto zero) {
    using T = decltype(zero);
    copyAll(source.data<T>() + offset, result.data<T>(), loops, columns);
  };
  switch (byteSize(source.dtype)) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

Tensor stridedCopy(const Tensor &source, const Shape &shape, int64_t offset, const Shape &strides) {
  Tensor result = makeTensor(source.dtype, shape);
  stridedFill(result, source, offset, strides);
  return result;
}

Tensor castTensor(const Tensor &source, DType type, bool saturate) {
  if (source.dtype == type)
    return source;
  Tensor result = makeTensor(type, source.shape);
  const int64_t count = result.elements();
  const bool isByElement =
      narrowFormat(source.dtype) || narrowFormat(type) || type == DType::Bool || bitsOf(type) < 8;
  if (narrowFormat(source.dtype) && type == DType::F32) {
    decodeAll(source.dtype, source.bytes.data(), count, result.data<float>());
    return result;
  }
  if (source.dtype == DType::F32 && (type == DType::F16 || type == DType::BF16)) {
    auto encodeAll = type == DType::F16 ? encodeHalves : encodeBrainHalves;
    encodeAll(source.data<float>(), count, result.data<uint16_t>());
    return result;
  }
  if (isByElement) {
    for (int64_t i = 0; i < count; ++i) {
      if (isFloat(type))
        setFloat(result, i, floatAt(source, i), saturate);
      else if (type == DType::Bool)
        setInteger(result, i, floatAt(source, i) != 0);
      else
        setInteger(result, i, integerAt(source, i));
    }
    return result;
  }
  withElements(source.dtype, source.bytes.data(), [&](auto *from) {
    withElements(type, result.bytes.data(), [&](auto *to) {
      for (int64_t i = 0; i < count; ++i)
        to[i] = converted<std::decay_t<decltype(*to)>>(from[i]);
    });
  });
  return result;
}

Tensor reshaped(const Tensor &source, Shape shape) {
  Tensor result = source;
  result.shape = std::move(shape);
  return result;
}

} // namespace tilewright::host

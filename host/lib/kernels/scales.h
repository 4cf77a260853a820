// Scales and zero points: of a whole tensor, of each index of one dimension, or of blocks.
#pragma once

#include "compose.h"

#include <cmath>

namespace tilewright::host {

// Which scale belongs to which element. `axis` matters where there is more than one.
class Granularity {
public:
  Granularity(const Call &call, const Shape &shape, const Shape &scale, int64_t axis,
              int64_t block) {
    if (elementCount(scale) == 1 && block == 0) {
      inner_ = elementCount(shape);
      return;
    }
    axis = call.axis(axis, static_cast<int64_t>(shape.size()));
    size_ = shape[axis];
    inner_ = elementCount(Shape(shape.begin() + axis + 1, shape.end()));
    Shape fitting = {size_};
    if (block != 0) {
      if (block < 0)
        call.fail(fmt::format("attribute 'block_size' is {}", block));
      isBlocked_ = true;
      block_ = block;
      fitting = shape;
      fitting[axis] = (size_ - 1) / block + (size_ > 0);
      scales_ = fitting[axis];
    }
    if (scale != fitting)
      call.fail(fmt::format("its scale has the shape {}, and should have {}", formatShape(scale),
                            formatShape(fitting)));
  }

  // use(element, scale, count) for rows of elements, whose scales are `scaleStep()` apart.
  template <typename Use> void forEachRow(int64_t elements, Use use) const {
    if (elements == 0)
      return;
    int64_t element = 0;
    for (int64_t outer = 0; element < elements; ++outer)
      for (int64_t d = 0; d < size_; ++d, element += inner_)
        use(element, isBlocked_ ? (outer * scales_ + d / block_) * inner_ : d, inner_);
  }
  int64_t scaleStep() const { return isBlocked_; }

private:
  int64_t size_ = 1, inner_ = 1, block_ = 1, scales_ = 1;
  bool isBlocked_ = false;
};

// The numbers that an integer type holds; any of other types.
struct NumberRange {
  double least, most;
};

inline NumberRange rangeOf(DType type) {
  if (isFloat(type))
    return {-INFINITY, INFINITY};
  int bits = 8 * static_cast<int>(byteSize(type));
  if (type == DType::I4 || type == DType::U4)
    bits = 4;
  if (type == DType::I2 || type == DType::U2)
    bits = 2;
  const double count = std::ldexp(1, bits);
  return isSigned(type) ? NumberRange{-count / 2, count / 2 - 1} : NumberRange{0, count - 1};
}

} // namespace tilewright::host

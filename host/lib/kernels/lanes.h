// The elements of a tensor along some of its dimensions, as the rows of a matrix.
#pragma once

#include "elementwise.h"

namespace tilewright::host {

struct Lanes {
  Tensor data; // `count` rows of `length`
  int64_t count = 1, length = 1;
  Shape shape; // of the tensor
  Shape order; // its dimensions, the rows' own behind the others

  template <typename T> T *row(int64_t i) { return data.data<T>() + i * length; }
};

inline Tensor permuted(const Tensor &tensor, const Shape &order) {
  const Shape strides = rowMajorStrides(tensor.shape);
  Shape shape, steps;
  for (int64_t d : order) {
    shape.push_back(tensor.shape[d]);
    steps.push_back(strides[d]);
  }
  return stridedCopy(tensor, shape, 0, steps);
}

// In the type `type`. The axes are sorted.
inline Lanes lanesAlong(const Call &call, const Tensor &tensor, const std::vector<int64_t> &axes,
                        DType type) {
  Lanes lanes;
  lanes.shape = tensor.shape;
  for (int64_t d = 0; d < static_cast<int64_t>(tensor.shape.size()); ++d) {
    const bool isWithin = std::binary_search(axes.begin(), axes.end(), d);
    int64_t &size = isWithin ? lanes.length : lanes.count;
    if (tensor.shape[d] > 0 && size > maxTensorBytes / tensor.shape[d]) // beside an empty one
      call.fail(fmt::format("the shape {} is too large", formatShape(tensor.shape)));
    size *= tensor.shape[d];
    if (!isWithin)
      lanes.order.push_back(d);
  }
  lanes.order.insert(lanes.order.end(), axes.begin(), axes.end());
  lanes.data = castTensor(tensor, type);
  if (!std::is_sorted(lanes.order.begin(), lanes.order.end()))
    lanes.data = permuted(lanes.data, lanes.order);
  return lanes;
}

// The tensor whose lanes they are.
inline Tensor fromLanes(Lanes lanes) {
  Shape inverse(lanes.order.size()), shape;
  for (size_t i = 0; i < inverse.size(); ++i) {
    inverse[lanes.order[i]] = static_cast<int64_t>(i);
    shape.push_back(lanes.shape[lanes.order[i]]);
  }
  lanes.data.shape = std::move(shape);
  return std::is_sorted(inverse.begin(), inverse.end()) ? std::move(lanes.data)
                                                        : permuted(lanes.data, inverse);
}

// Calls work(row) for each row, on several threads if they are long.
template <typename T, typename Work> void forEachLane(Lanes &lanes, Work work) {
  const int64_t perPart = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(lanes.length, 1));
  const int64_t parts = (lanes.count + perPart - 1) / perPart;
  parallelFor(parts > 1 ? processorCount() : 1, static_cast<size_t>(parts),
              [&](unsigned, size_t part) {
                const int64_t begin = static_cast<int64_t>(part) * perPart;
                for (int64_t i = begin; i < std::min(begin + perPart, lanes.count); ++i)
                  work(lanes.row<T>(i), i);
              });
}

} // namespace tilewright::host

// Operators that pick elements by their values.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::host {

namespace {

// What is no number comes behind all numbers.
template <typename T> bool comesBefore(T a, T b) { return a < b || (b != b && a == a); }

void nonZero(Call &call) {
  const Shape &shape = call.shape(0);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < call.input(0).elements(); ++i)
    if (floatAt(call.input(0), i) != 0)
      found.push_back(i);
  const int64_t count = static_cast<int64_t>(found.size());
  Tensor result = call.make(DType::I64, {call.rank(0), count});
  const Shape strides = rowMajorStrides(shape);
  for (int64_t d = 0; d < call.rank(0); ++d)
    for (int64_t i = 0; i < count; ++i)
      result.data<int64_t>()[d * count + i] = found[i] / strides[d] % shape[d];
  call.set(std::move(result));
}

// The indices `indices` of dimension `axis` of `source`.
Tensor taken(const Call &call, const Tensor &source, int64_t axis,
             const std::vector<int64_t> &indices) {
  Shape shape = source.shape;
  shape[axis] = static_cast<int64_t>(indices.size());
  Tensor result = call.make(source.dtype, shape);
  const int64_t outer = countBetween(shape, 0, axis);
  const int64_t block = countBetween(shape, axis + 1, shape.size()) * byteSize(source.dtype);
  char *to = result.bytes.data();
  for (int64_t i = 0; i < outer && block; ++i)
    for (int64_t index : indices) {
      std::memcpy(to, source.bytes.data() + (i * source.shape[axis] + index) * block, block);
      to += block;
    }
  return result;
}

Tensor listOf(const Call &call, const std::vector<int64_t> &values) {
  Tensor result = call.make(DType::I64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), result.data<int64_t>());
  return result;
}

// Below zero, zero or above zero as part `a` of dimension `axis` comes before, is or follows `b`.
template <typename T>
int compared(const T *values, const Shape &shape, int64_t axis, int64_t a, int64_t b) {
  const int64_t outer = countBetween(shape, 0, axis);
  const int64_t inner = countBetween(shape, axis + 1, shape.size());
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j) {
      const T left = values[(i * shape[axis] + a) * inner + j];
      const T right = values[(i * shape[axis] + b) * inner + j];
      if (comesBefore(left, right))
        return -1;
      if (comesBefore(right, left))
        return 1;
    }
  return 0;
}

void unique(Call &call) {
  const bool flat = !call.hasAttribute("axis");
  const Tensor source = flat ? reshaped(call.input(0), {call.input(0).elements()}) : call.input(0);
  const int64_t axis = flat ? 0 : call.axis(call.integer("axis", 0), call.rank(0));
  std::vector<int64_t> order(source.shape[axis]), groups(order.size()), firsts, counts;
  std::iota(order.begin(), order.end(), 0);
  withNumbers(source.dtype, [&](auto zero) {
    const Numbers<decltype(zero)> values(source);
    auto compare = [&](int64_t a, int64_t b) {
      return compared(values.data(), source.shape, axis, a, b);
    };
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int difference = compare(a, b);
      return difference != 0 ? difference < 0 : a < b;
    });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || compare(order[i - 1], order[i]) != 0) {
        firsts.push_back(order[i]);
        counts.push_back(0);
      }
      ++counts.back();
      groups[order[i]] = static_cast<int64_t>(counts.size()) - 1;
    }
  });
  if (!call.flag("sorted", true)) {
    std::vector<int64_t> rank(firsts.size()), place(firsts.size()), oldFirsts = firsts,
                                                                    oldCounts = counts;
    std::iota(rank.begin(), rank.end(), 0);
    std::sort(rank.begin(), rank.end(),
              [&](int64_t a, int64_t b) { return oldFirsts[a] < oldFirsts[b]; });
    for (size_t i = 0; i < rank.size(); ++i) {
      firsts[i] = oldFirsts[rank[i]];
      counts[i] = oldCounts[rank[i]];
      place[rank[i]] = static_cast<int64_t>(i);
    }
    for (int64_t &group : groups)
      group = place[group];
  }
  call.set(taken(call, source, axis, firsts));
  call.set(listOf(call, firsts), 1);
  call.set(listOf(call, groups), 2);
  call.set(listOf(call, counts), 3);
}

void topK(Call &call) {
  const int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
  const Shape &from = call.shape(0);
  const int64_t k = call.has(1) ? call.integerScalar(1, "k") : call.integer("k", 0);
  const bool largest = call.flag("largest", true);
  if (k < 0 || k > from[axis])
    call.fail(fmt::format("{} of {} elements are asked for", k, from[axis]));
  Shape shape = from;
  shape[axis] = k;
  Tensor result = call.make(call.input(0).dtype, shape), at = call.make(DType::I64, shape);
  const int64_t size = from[axis], inner = countBetween(from, axis + 1, from.size());
  const int64_t rows = k ? at.elements() / k : 0, width = byteSize(result.dtype);
  withNumbers(result.dtype, [&](auto zero) {
    const Numbers<decltype(zero)> values(call.input(0));
    std::vector<int64_t> order(size);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t start = row / inner * size * inner + row % inner;
      const int64_t target = row / inner * k * inner + row % inner;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        const auto left = values[start + a * inner], right = values[start + b * inner];
        if (comesBefore(left, right) || comesBefore(right, left))
          return comesBefore(left, right) != largest;
        return a < b;
      });
      for (int64_t i = 0; i < k; ++i) {
        at.data<int64_t>()[target + i * inner] = order[i];
        std::memcpy(result.bytes.data() + (target + i * inner) * width,
                    call.input(0).bytes.data() + (start + order[i] * inner) * width, width);
      }
    }
  });
  call.set(std::move(result));
  call.set(std::move(at), 1);
}

struct Box {
  double top, left, bottom, right;
  double area() const { return std::max(bottom - top, 0.0) * std::max(right - left, 0.0); }
};

Box boxAt(const float *numbers, bool centered) {
  const double a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  if (centered) // x, y, width, height
    return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double overlap(const Box &a, const Box &b) { // of what both cover
  const double both = Box{std::max(a.top, b.top), std::max(a.left, b.left),
                          std::min(a.bottom, b.bottom), std::min(a.right, b.right)}
                          .area();
  return both > 0 ? both / (a.area() + b.area() - both) : 0;
}

void nonMaxSuppression(Call &call) {
  checkRank(call, 0, 3, 3);
  checkRank(call, 1, 3, 3);
  const Shape &boxShape = call.shape(0), &shape = call.shape(1);
  if (boxShape[0] != shape[0] || boxShape[1] != shape[2] || boxShape[2] != 4)
    call.fail(fmt::format("boxes of shape {} with scores of shape {}", formatShape(boxShape),
                          formatShape(shape)));
  const bool centered = call.flag("center_point_box", false);
  const int64_t most = call.has(2) ? call.integerScalar(2, "max_output_boxes_per_class") : 0;
  const double highest = call.has(3) ? call.scalar(3, "iou_threshold") : 0;
  const double lowest = call.has(4) ? call.scalar(4, "score_threshold") : 0;
  const Numbers<float> boxes(call.input(0)), scores(call.input(1));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
    const float *score = scores.data() + i * shape[2];
    const float *first = boxes.data() + i / shape[1] * boxShape[1] * 4;
    std::vector<int64_t> order;
    for (int64_t box = 0; box < shape[2]; ++box)
      if (!call.has(4) || score[box] > lowest)
        order.push_back(box);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      if (comesBefore(score[a], score[b]) || comesBefore(score[b], score[a]))
        return comesBefore(score[b], score[a]);
      return a < b;
    });
    std::vector<Box> kept;
    for (size_t j = 0; j < order.size() && static_cast<int64_t>(kept.size()) < most; ++j) {
      const Box box = boxAt(first + order[j] * 4, centered);
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const Box &other) { return overlap(box, other) > highest; }))
        continue;
      kept.push_back(box);
      found.insert(found.end(), {i / shape[1], i % shape[1], order[j]});
    }
  }
  Tensor result = listOf(call, found);
  result.shape = {static_cast<int64_t>(found.size()) / 3, 3};
  call.set(std::move(result));
}

} // namespace

KernelTable selectionKernels() {
  return {{"NonMaxSuppression", nonMaxSuppression},
          {"NonZero", nonZero},
          {"TopK", topK},
          {"Unique", unique}};
}

} // namespace tilewright::host

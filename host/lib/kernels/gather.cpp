// Operators that read or write elements at indices that another tensor holds.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::host {

namespace {

// Blocks of `block` elements of `source`, from the elements `starts`, one after another.
Tensor gatherBlocks(const Call &call, const Tensor &source, Shape shape,
                    const std::vector<int64_t> &starts, int64_t block) {
  Tensor result = call.make(source.dtype, std::move(shape));
  withWidth(source.dtype, [&](auto zero) {
    using T = decltype(zero);
    T *to = result.data<T>();
    for (int64_t start : starts)
      to = std::copy_n(source.data<T>() + start, block, to);
  });
  return result;
}

void gather(Call &call) {
  const Shape &from = call.shape(0), &at = call.shape(1);
  const int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const int64_t outer = countBetween(from, 0, axis), size = from[axis];
  const int64_t block = countBetween(from, axis + 1, from.size());
  Shape shape(from.begin(), from.begin() + axis);
  shape.insert(shape.end(), at.begin(), at.end());
  shape.insert(shape.end(), from.begin() + axis + 1, from.end());
  Tensor result = call.make(call.input(0).dtype, shape);
  std::vector<int64_t> indices(call.input(1).elements());
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = checkedIndex(call, integerAt(call.input(1), static_cast<int64_t>(i)), size);
  withWidth(result.dtype, [&](auto zero) {
    using T = decltype(zero);
    T *to = result.data<T>();
    for (int64_t i = 0; i < outer && block; ++i)
      for (int64_t index : indices)
        to = std::copy_n(call.input(0).data<T>() + (i * size + index) * block, block, to);
  });
  call.set(std::move(result));
}

// For each index of `indices` the element of a tensor of shape `shape` that it names along `axis`.
std::vector<int64_t> elementsAlong(const Call &call, const Shape &shape, const Tensor &indices) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = call.axis(call.integer("axis", 0), rank);
  const Shape strides = rowMajorStrides(shape);
  if (indices.shape.size() != shape.size())
    call.fail(fmt::format("indices have {} dimensions in place of {}", indices.shape.size(), rank));
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis && indices.shape[d] > shape[d])
      call.fail(fmt::format("indices of shape {} for a tensor of shape {}",
                            formatShape(indices.shape), formatShape(shape)));
  const Numbers<int64_t> values(indices);
  std::vector<int64_t> elements;
  elements.reserve(values.size());
  forEachIndex(indices.shape, [&](const Shape &index) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d)
      at += strides[d] *
            (d == axis ? checkedIndex(call, values[elements.size()], shape[d]) : index[d]);
    elements.push_back(at);
  });
  return elements;
}

void gatherElements(Call &call) {
  const std::vector<int64_t> starts = elementsAlong(call, call.shape(0), call.input(1));
  call.set(gatherBlocks(call, call.input(0), call.shape(1), starts, 1));
}

// The starts of the blocks that `indices`, lists in the last dimension, name in each batch of a
// tensor of shape `shape`.
std::vector<int64_t> blockStarts(const Call &call, const Shape &shape, const Tensor &indices,
                                 int64_t batchDims) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t indexRank = static_cast<int64_t>(indices.shape.size());
  if (indexRank < 1 || batchDims < 0 || batchDims >= std::min(rank, indexRank) ||
      indices.shape.back() > rank - batchDims ||
      !std::equal(shape.begin(), shape.begin() + batchDims, indices.shape.begin()))
    call.fail(fmt::format("indices of shape {} for a tensor of shape {}",
                          formatShape(indices.shape), formatShape(shape)));
  const int64_t length = indices.shape.back();
  const int64_t lists = countBetween(indices.shape, 0, indexRank - 1);
  const int64_t perBatch = countBetween(indices.shape, batchDims, indexRank - 1);
  const Shape strides = rowMajorStrides(shape);
  const int64_t batchStride = countBetween(shape, batchDims, rank);
  const Numbers<int64_t> values(indices);
  std::vector<int64_t> starts;
  if (length == 0 && lists > (int64_t(1) << 28))
    call.fail(fmt::format("{} empty indices", lists));
  for (int64_t i = 0; i < lists; ++i) {
    int64_t at = i / perBatch * batchStride;
    for (int64_t d = 0; d < length; ++d)
      at +=
          strides[batchDims + d] * checkedIndex(call, values[i * length + d], shape[batchDims + d]);
    starts.push_back(at);
  }
  return starts;
}

void gatherNd(Call &call) {
  const int64_t batchDims = call.integer("batch_dims", 0);
  const Shape &from = call.shape(0), &at = call.shape(1);
  const std::vector<int64_t> starts = blockStarts(call, from, call.input(1), batchDims);
  Shape shape(at.begin(), at.end() - 1);
  shape.insert(shape.end(), from.begin() + batchDims + at.back(), from.end());
  const int64_t block = countBetween(from, batchDims + at.back(), from.size());
  call.set(gatherBlocks(call, call.input(0), shape, starts, block));
}

template <typename T> T reduced(const std::string &reduction, T a, T b) {
  if (reduction == "add")
    return a + b;
  if (reduction == "mul")
    return a * b;
  if (std::is_floating_point_v<T> && (a != a || b != b))
    return a + b; // no number
  return reduction == "min" ? std::min(a, b) : std::max(a, b);
}

// Input 0 with blocks of `block` elements of input 2 at the elements `starts`, one after another.
void scatterBlocks(Call &call, const std::vector<int64_t> &starts, int64_t block) {
  const std::string reduction = call.choice("reduction", {"none", "add", "mul", "min", "max"});
  const Tensor &data = call.input(0), &updates = call.input(2);
  checkSameType(call, data, updates);
  if (updates.elements() < static_cast<int64_t>(starts.size()) * block)
    call.fail(fmt::format("{} updates for {} elements", updates.elements(),
                          static_cast<int64_t>(starts.size()) * block));
  if (reduction == "none") {
    Tensor result = data;
    withWidth(data.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < starts.size(); ++i)
        std::copy_n(updates.data<T>() + i * block, block, result.data<T>() + starts[i]);
    });
    return call.set(std::move(result));
  }
  withNumbers(data.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>; // wraps
    const Numbers<T> old(data), values(updates);
    Results<T> result(call, data.dtype, data.shape);
    std::copy_n(old.data(), old.size(), result.data());
    for (size_t i = 0; i < starts.size(); ++i)
      for (int64_t j = 0; j < block; ++j) {
        T &target = result[starts[i] + j];
        const T value = values[i * block + j];
        if (reduction == "add" || reduction == "mul")
          target = static_cast<T>(reduced<Sum>(reduction, target, value));
        else
          target = reduced<T>(reduction, target, value);
      }
    call.set(result.take());
  });
}

void scatterElements(Call &call) {
  if (call.shape(2) != call.shape(1))
    call.fail(fmt::format("updates of shape {} for indices of shape {}", formatShape(call.shape(2)),
                          formatShape(call.shape(1))));
  scatterBlocks(call, elementsAlong(call, call.shape(0), call.input(1)), 1);
}

void scatterNd(Call &call) {
  const std::vector<int64_t> starts = blockStarts(call, call.shape(0), call.input(1), 0);
  const Shape &shape = call.shape(0);
  scatterBlocks(call, starts, countBetween(shape, call.shape(1).back(), shape.size()));
}

void tensorScatter(Call &call) {
  const Shape &shape = call.shape(0), &update = call.shape(1);
  const int64_t axis = call.axis(call.integer("axis", -2), call.rank(0));
  const bool circular = call.choice("mode", {"linear", "circular"}) == "circular";
  Shape fits = update;
  if (update.size() == shape.size())
    fits[axis] = shape[axis];
  checkSameType(call, call.input(0), call.input(1));
  if (fits != shape || axis < 1 || update[axis] > shape[axis])
    call.fail(fmt::format("an update of shape {} for a tensor of shape {}", formatShape(update),
                          formatShape(shape)));
  std::vector<int64_t> starts(shape[0], 0);
  if (call.has(2))
    starts = call.integers(2, "write_indices");
  if (static_cast<int64_t>(starts.size()) != shape[0])
    call.fail(fmt::format("{} write_indices for a batch of {}", starts.size(), shape[0]));
  Tensor result = call.input(0);
  const int64_t block = countBetween(shape, axis + 1, shape.size()) * byteSize(result.dtype);
  const int64_t outer = countBetween(shape, 0, axis), length = update[axis], size = shape[axis];
  for (int64_t i = 0; i < outer && block; ++i) {
    const int64_t start = checkedIndex(call, starts[i / (outer / shape[0])], size + 1);
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = start + j;
      if (at >= size && !circular)
        call.fail(fmt::format("element {} of {} would be written", at, size));
      at %= size;
      std::memcpy(result.bytes.data() + (i * size + at) * block,
                  call.input(1).bytes.data() + (i * length + j) * block, block);
    }
  }
  call.set(std::move(result));
}

void oneHot(Call &call) {
  const int64_t depth = call.integerScalar(1, "depth");
  const int64_t axis = call.axis(call.integer("axis", -1), call.rank(0) + 1);
  const Tensor &values = call.input(2);
  if (values.elements() != 2)
    call.fail(fmt::format("{} values in place of 2", values.elements()));
  Shape shape = call.shape(0);
  shape.insert(shape.begin() + axis, depth);
  Tensor result = call.make(values.dtype, shape);
  stridedFill(result, values, 0, Shape(shape.size(), 0));
  const int64_t inner = countBetween(shape, axis + 1, shape.size());
  const int64_t width = byteSize(values.dtype);
  const Numbers<int64_t> indices(call.input(0));
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t index = indices[i] < 0 ? indices[i] + depth : indices[i];
    if (index >= 0 && index < depth)
      std::memcpy(result.bytes.data() + ((i / inner * depth + index) * inner + i % inner) * width,
                  values.bytes.data() + width, width);
  }
  call.set(std::move(result));
}

} // namespace

KernelTable gatherKernels() {
  return {{"Gather", gather},           {"GatherElements", gatherElements},
          {"GatherND", gatherNd},       {"OneHot", oneHot},
          {"Scatter", scatterElements}, {"ScatterElements", scatterElements},
          {"ScatterND", scatterNd},     {"TensorScatter", tensorScatter}};
}

} // namespace tilewright::host

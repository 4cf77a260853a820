// Operators that take parts of tensors, put tensors together, or enlarge them.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::host {

namespace {

void concat(Call &call) {
  const Tensor &first = call.input(0);
  const int64_t axis = call.axis(call.integer("axis", 1), call.rank(0));
  Shape shape = first.shape;
  shape[axis] = 0;
  for (size_t i = 0; i < call.inputCount(); ++i) {
    Shape other = call.shape(i);
    checkSameType(call, first, call.input(i));
    if (other.size() == shape.size()) {
      shape[axis] += other[axis];
      other[axis] = shape[axis];
    }
    if (other != shape)
      call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(first.shape),
                            formatShape(call.shape(i))));
  }
  Tensor result = call.make(first.dtype, shape);
  const int64_t outer = countBetween(shape, 0, axis);
  const int64_t inner = countBetween(shape, axis + 1, shape.size()) * byteSize(first.dtype);
  char *start = result.bytes.data();
  for (size_t i = 0; i < call.inputCount() && !result.bytes.empty(); ++i) {
    const int64_t block = call.shape(i)[axis] * inner;
    for (int64_t j = 0; j < outer && block; ++j)
      std::memcpy(start + j * shape[axis] * inner, call.input(i).bytes.data() + j * block, block);
    start += block;
  }
  call.set(std::move(result));
}

void split(Call &call) {
  const int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const Shape &from = call.shape(0);
  const int64_t parts = static_cast<int64_t>(call.node().outputs.size());
  std::vector<int64_t> sizes;
  if (std::optional<std::vector<int64_t>> given = listAt(call, 1, "split")) {
    sizes = *given;
  } else {
    const int64_t each = (from[axis] + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(from[axis] - i * each, 0, each));
  }
  int64_t start = 0;
  const Shape strides = rowMajorStrides(from);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > from[axis] - start)
      call.fail(fmt::format("part {} of {} elements is none of {}", i, sizes[i], from[axis]));
    Shape shape = from;
    shape[axis] = sizes[i];
    call.set(stridedCopy(call.input(0), shape, start * strides[axis], strides), i);
    start += sizes[i];
  }
  if (start != from[axis] || static_cast<int64_t>(sizes.size()) != parts)
    call.fail(
        fmt::format("{} parts of {} elements are not all {}", sizes.size(), start, from[axis]));
}

void slice(Call &call) {
  const std::vector<int64_t> starts = neededListAt(call, 1, "starts"),
                             ends = neededListAt(call, 2, "ends");
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  axes = listAt(call, 3, "axes").value_or(axes);
  steps = listAt(call, 4, "steps").value_or(steps);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    call.fail("starts, ends, axes and steps are not of one length");
  call.axes(axes, call.rank(0)); // each once
  Shape shape = call.shape(0), strides = rowMajorStrides(shape);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = call.axis(axes[i], call.rank(0)), size = shape[axis];
    const int64_t step = std::clamp(steps[i], -size - 1, size + 1);
    if (step == 0)
      call.fail("a step is 0");
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    auto bound = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
    const int64_t start = bound(starts[i]), end = bound(ends[i]);
    const int64_t count =
        step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    shape[axis] = std::max<int64_t>(count, 0);
    offset += start * strides[axis];
    strides[axis] *= step;
  }
  call.set(stridedCopy(call.input(0), shape, offset, strides));
}

// For each dimension of a result, which index of the source each of its indices takes; -1: none,
// the element stays as it is.
using IndexMaps = std::vector<std::vector<int64_t>>;

// Calls from(d, i) for all indices i of the dimensions d of `shape`.
template <typename From> IndexMaps mapsOf(const Call &call, const Shape &shape, From from) {
  IndexMaps maps(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > int64_t(1) << 28) // the maps are to take no more than a tensor
      call.fail(fmt::format("a dimension of {} arises", shape[d]));
    maps[d].reserve(shape[d]);
    for (int64_t i = 0; i < shape[d]; ++i)
      maps[d].push_back(from(d, i));
  }
  return maps;
}

void mappedFill(Tensor &result, const Tensor &source, const IndexMaps &maps) {
  const Shape strides = rowMajorStrides(source.shape);
  if (result.shape.empty() || result.elements() == 0) {
    result.bytes = result.shape.empty() ? source.bytes : result.bytes;
    return;
  }
  const size_t last = result.shape.size() - 1;
  const Shape outer(result.shape.begin(), result.shape.end() - 1);
  withWidth(source.dtype, [&](auto zero) {
    using T = decltype(zero);
    T *row = result.data<T>();
    forEachIndex(outer, [&](const Shape &index) {
      int64_t offset = 0;
      for (size_t d = 0; d < last && offset >= 0; ++d)
        offset = maps[d][index[d]] < 0 ? -1 : offset + maps[d][index[d]] * strides[d];
      for (int64_t i = 0; i < result.shape[last] && offset >= 0; ++i)
        if (maps[last][i] >= 0)
          row[i] = source.data<T>()[offset + maps[last][i]];
      row += result.shape[last];
    });
  });
}

// Where index `at` of a padded dimension comes from, `size` elements being left of it.
int64_t paddedIndex(const std::string &mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size)
    return at;
  if (mode == "constant")
    return -1;
  if (mode == "edge" || size == 1)
    return at < 0 ? 0 : size - 1;
  const int64_t period = mode == "wrap" ? size : 2 * (size - 1);
  at = (at % period + period) % period;
  return at < size ? at : period - at;
}

void pad(Call &call) {
  const std::string mode = call.choice("mode", {"constant", "reflect", "edge", "wrap"});
  const std::vector<int64_t> pads = neededListAt(call, 1, "pads");
  std::vector<int64_t> axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3))
    axes = call.integers(3, "axes");
  if (pads.size() != 2 * axes.size())
    call.fail(fmt::format("{} pads for {} dimensions", pads.size(), axes.size()));
  call.axes(axes, call.rank(0)); // each once
  const Tensor &source = call.input(0);
  Shape shape = source.shape, starts(shape.size(), 0), lefts = shape, skips = starts;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = call.axis(axes[i], call.rank(0));
    const int64_t before = pads[i], after = pads[i + axes.size()];
    if (std::max(before, after) > maxTensorBytes || std::min(before, after) < -maxTensorBytes)
      call.fail(fmt::format("pads of {} and {}", before, after));
    shape[axis] += before + after;
    starts[axis] = std::max<int64_t>(before, 0);
    skips[axis] = std::max<int64_t>(-before, 0);
    lefts[axis] -= skips[axis] + std::max<int64_t>(-after, 0);
    if (shape[axis] > 0 && lefts[axis] <= 0 && mode != "constant")
      call.fail("a dimension without elements is padded");
  }
  Tensor result = call.make(source.dtype, shape);
  const IndexMaps maps = mapsOf(call, shape, [&](size_t d, int64_t i) {
    const int64_t from = paddedIndex(mode, i - starts[d], lefts[d]);
    return from < 0 ? -1 : from + skips[d];
  });
  if (call.has(2) || call.hasAttribute("value")) {
    Tensor value = makeTensor(DType::F32, {});
    value.data<float>()[0] = call.number("value", 0);
    value = castTensor(call.has(2) ? call.input(2) : value, source.dtype);
    if (value.elements() != 1)
      call.fail("the value of the padding is not one number");
    stridedFill(result, value, 0, Shape(shape.size(), 0));
  }
  mappedFill(result, source, maps);
  call.set(std::move(result));
}

void centerCropPad(Call &call) {
  const std::vector<int64_t> sizes = call.integers(1, "shape");
  std::vector<int64_t> axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.integers("axes", axes);
  if (axes.size() != sizes.size())
    call.fail(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  Shape shape = call.shape(0);
  for (size_t i = 0; i < axes.size(); ++i)
    shape[call.axis(axes[i], call.rank(0))] = sizes[i];
  Tensor result = call.make(call.input(0).dtype, shape);
  const IndexMaps maps = mapsOf(call, shape, [&](size_t d, int64_t i) {
    const int64_t old = call.shape(0)[d], wider = shape[d] - old;
    const int64_t start = wider < 0 ? -wider / 2 : -(wider / 2); // in the source
    return paddedIndex("constant", i + start, old);
  });
  mappedFill(result, call.input(0), maps);
  call.set(std::move(result));
}

void trilu(Call &call) {
  checkRank(call, 0, 2);
  const bool upper = call.flag("upper", true);
  Tensor result = call.input(0);
  const int64_t columns = result.shape.back(), rows = result.shape[result.shape.size() - 2];
  const int64_t limit = rows + columns;
  const int64_t shift = std::clamp(call.has(1) ? call.integerScalar(1, "k") : 0, -limit, limit);
  const int64_t width = byteSize(result.dtype), matrix = rows * columns;
  for (int64_t at = 0; at < result.elements(); at += columns) {
    // The first column that the upper part keeps, or that the lower part does not.
    const int64_t diagonal = at % matrix / columns + shift + (upper ? 0 : 1);
    const int64_t edge = std::clamp<int64_t>(diagonal, 0, columns);
    char *row = result.bytes.data() + at * width;
    upper ? std::memset(row, 0, edge * width)
          : std::memset(row + edge * width, 0, (columns - edge) * width);
  }
  call.set(std::move(result));
}

void reverseSequence(Call &call) {
  checkRank(call, 0, 2);
  const int64_t time = call.integer("time_axis", 0), batch = call.integer("batch_axis", 1);
  const std::vector<int64_t> lengths = call.integers(1, "sequence_lens");
  const Shape &shape = call.shape(0);
  if (std::min(time, batch) != 0 || std::max(time, batch) != 1)
    call.fail(fmt::format("the axes of time and batch are {} and {}", time, batch));
  if (static_cast<int64_t>(lengths.size()) != shape[batch])
    call.fail(fmt::format("{} lengths for a batch of {}", lengths.size(), shape[batch]));
  Tensor result = call.input(0);
  const int64_t block = countBetween(shape, 2, shape.size()) * byteSize(result.dtype);
  for (int64_t b = 0; b < shape[batch]; ++b) {
    if (lengths[b] < 0 || lengths[b] > shape[time])
      call.fail(fmt::format("a sequence of {} elements among {}", lengths[b], shape[time]));
    for (int64_t t = 0; t < lengths[b] && block; ++t) {
      auto at = [&](int64_t t) {
        return (time == 0 ? t * shape[1] + b : b * shape[1] + t) * block;
      };
      std::memcpy(result.bytes.data() + at(t), call.input(0).bytes.data() + at(lengths[b] - 1 - t),
                  block);
    }
  }
  call.set(std::move(result));
}

void compress(Call &call) {
  const Tensor &condition = call.input(1);
  const bool flat = !call.hasAttribute("axis");
  Tensor source = flat ? reshaped(call.input(0), {call.input(0).elements()}) : call.input(0);
  const int64_t axis = flat ? 0 : call.axis(call.integer("axis", 0), call.rank(0));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < std::min(condition.elements(), source.shape[axis]); ++i)
    if (integerAt(condition, i))
      kept.push_back(i);
  Shape shape = source.shape;
  shape[axis] = static_cast<int64_t>(kept.size());
  IndexMaps maps(shape.size());
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    maps[d].resize(shape[d]);
    std::iota(maps[d].begin(), maps[d].end(), 0);
  }
  maps[axis] = kept;
  Tensor result = call.make(source.dtype, shape);
  mappedFill(result, source, maps);
  call.set(std::move(result));
}

} // namespace

KernelTable sliceKernels() {
  return {{"CenterCropPad", centerCropPad},
          {"Compress", compress},
          {"Concat", concat},
          {"Pad", pad},
          {"ReverseSequence", reverseSequence},
          {"Slice", slice},
          {"Split", split},
          {"Trilu", trilu}};
}

} // namespace tilewright::host

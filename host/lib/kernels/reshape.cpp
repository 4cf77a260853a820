// Operators that give the elements of one tensor another shape or order.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <fmt/format.h>
#include <numeric>

namespace tilewright::host {

namespace {

void reshape(Call &call) {
  Shape shape = neededListAt(call, 1, "shape");
  const Shape &from = call.shape(0);
  if (static_cast<int64_t>(shape.size()) > maxRank)
    call.fail(fmt::format("its shape has {} dimensions", shape.size()));
  const bool allowZero = call.flag("allowzero", false);
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allowZero) {
      if (i >= from.size())
        call.fail(fmt::format("dimension {} of its shape copies one that is not there", i));
      shape[i] = from[i];
    }
    if (shape[i] == -1 && unknown < 0)
      unknown = static_cast<int64_t>(i);
    else if (shape[i] < 0 || (shape[i] > 0 && known > maxTensorBytes / shape[i]))
      call.fail(fmt::format("its shape has the dimension {}", shape[i]));
    else
      known *= shape[i];
  }
  const int64_t count = call.input(0).elements();
  if (unknown >= 0)
    shape[unknown] = known == 0 ? 0 : count / known;
  if (elementCount(shape) != count)
    call.fail(fmt::format("the shape {} does not hold the {} elements of {}", formatShape(shape),
                          count, formatShape(from)));
  call.set(reshaped(call.input(0), std::move(shape)));
}

void flatten(Call &call) {
  const Shape &shape = call.shape(0);
  int64_t axis = call.integer("axis", 1);
  if (axis != call.rank(0))
    axis = call.axis(axis, call.rank(0));
  call.set(reshaped(call.input(0),
                    {countBetween(shape, 0, axis), countBetween(shape, axis, shape.size())}));
}

void squeeze(Call &call) {
  Shape shape;
  std::optional<std::vector<int64_t>> axes = listAt(call, 1, "axes");
  if (axes)
    axes = call.axes(*axes, call.rank(0));
  for (int64_t i = 0; i < call.rank(0); ++i) {
    const int64_t size = call.shape(0)[i];
    const bool drops = axes ? std::binary_search(axes->begin(), axes->end(), i) : size == 1;
    if (!drops)
      shape.push_back(size);
    else if (size != 1)
      call.fail(fmt::format("dimension {} has {} elements and cannot go", i, size));
  }
  call.set(reshaped(call.input(0), std::move(shape)));
}

void unsqueeze(Call &call) {
  std::vector<int64_t> axes = neededListAt(call, 1, "axes");
  if (static_cast<int64_t>(axes.size()) > maxRank)
    call.fail(fmt::format("{} dimensions are added", axes.size()));
  axes = call.axes(axes, call.rank(0) + static_cast<int64_t>(axes.size()));
  Shape shape = call.shape(0);
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  call.set(reshaped(call.input(0), std::move(shape)));
}

// The dimensions of `source`, seen as of shape `view`, in the order `order`, as of shape `shape`.
Tensor permuted(const Tensor &source, const Shape &view, const std::vector<int64_t> &order,
                Shape shape = {}) {
  const Shape from = rowMajorStrides(view);
  Shape sizes, strides;
  for (int64_t axis : order) {
    sizes.push_back(view[axis]);
    strides.push_back(from[axis]);
  }
  Tensor result = stridedCopy(source, sizes, 0, strides);
  if (!shape.empty())
    result.shape = std::move(shape);
  return result;
}

void transpose(Call &call) {
  std::vector<int64_t> order(call.rank(0));
  std::iota(order.rbegin(), order.rend(), 0);
  if (call.hasAttribute("perm")) {
    order = call.integers("perm", {});
    if (static_cast<int64_t>(order.size()) != call.rank(0))
      call.fail(fmt::format("perm has {} numbers for {} dimensions", order.size(), call.rank(0)));
    call.axes(order, call.rank(0)); // each once
    for (int64_t &axis : order)
      axis = call.axis(axis, call.rank(0));
  }
  call.set(permuted(call.input(0), call.shape(0), order));
}

void expand(Call &call) {
  const Shape shape = call.integers(1, "shape");
  for (int64_t size : shape)
    if (size < 0)
      call.fail(fmt::format("its shape has the dimension {}", size));
  const std::optional<Shape> common = broadcastShapes(call.shape(0), shape);
  if (!common)
    call.fail(fmt::format("the shape {} does not broadcast to {}", formatShape(call.shape(0)),
                          formatShape(shape)));
  call.set(checkedCopy(call, call.input(0), *common, 0, broadcastStrides(call.shape(0), *common)));
}

int64_t blockSize(const Call &call) {
  checkRank(call, 0, 4, 4);
  const int64_t block = call.integer("blocksize", 0);
  if (block < 1 || block > 1 << 15)
    call.fail(fmt::format("blocksize is {}", block));
  return block;
}

void depthToSpace(Call &call) {
  const int64_t block = blockSize(call);
  const Shape &from = call.shape(0);
  const int64_t n = from[0], c = from[1] / (block * block), h = from[2], w = from[3];
  if (from[1] % (block * block))
    call.fail(fmt::format("{} channels are not blocks of {}", from[1], block * block));
  const Shape shape{n, c, h * block, w * block};
  call.set(call.choice("mode", {"DCR", "CRD"}) == "DCR"
               ? permuted(call.input(0), {n, block, block, c, h, w}, {0, 3, 4, 1, 5, 2}, shape)
               : permuted(call.input(0), {n, c, block, block, h, w}, {0, 1, 4, 2, 5, 3}, shape));
}

void spaceToDepth(Call &call) {
  const int64_t block = blockSize(call);
  const Shape &from = call.shape(0);
  if (from[2] % block || from[3] % block)
    call.fail(fmt::format("{}x{} are not blocks of {}", from[2], from[3], block));
  const int64_t n = from[0], c = from[1], h = from[2] / block, w = from[3] / block;
  call.set(permuted(call.input(0), {n, c, h, block, w, block}, {0, 3, 5, 1, 2, 4},
                    {n, c * block * block, h, w}));
}

void tile(Call &call) {
  const std::vector<int64_t> repeats = call.integers(1, "repeats");
  const Shape &from = call.shape(0), strides = rowMajorStrides(from);
  if (repeats.size() != from.size())
    call.fail(fmt::format("{} repeats for {} dimensions", repeats.size(), from.size()));
  Shape shape, view, steps;
  for (size_t i = 0; i < from.size(); ++i) {
    if (repeats[i] < 0 || (from[i] > 0 && repeats[i] > maxTensorBytes / from[i]))
      call.fail(fmt::format("a dimension is repeated {} times", repeats[i]));
    shape.push_back(repeats[i] * from[i]);
    view.insert(view.end(), {repeats[i], from[i]});
    steps.insert(steps.end(), {0, strides[i]});
  }
  Tensor result = checkedCopy(call, call.input(0), view, 0, steps);
  result.shape = std::move(shape);
  call.set(std::move(result));
}

} // namespace

KernelTable reshapeKernels() {
  return {{"DepthToSpace", depthToSpace},
          {"Expand", expand},
          {"Flatten", flatten},
          {"Reshape", reshape},
          {"SpaceToDepth", spaceToDepth},
          {"Squeeze", squeeze},
          {"Tile", tile},
          {"Transpose", transpose},
          {"Unsqueeze", unsqueeze}};
}

} // namespace tilewright::host

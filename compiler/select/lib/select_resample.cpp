// Operators that pick elements along axes by an index map known at compile time: a nearest-neighbor
// resize, a gather with constant indices. The map is cut into stretches of evenly repeated, evenly
// spaced indices; every combination of stretches is one region of kernel.assemble.
#include "select.h"
#include "tilewright/compiler/select/kernel_regions.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <algorithm>

using namespace mlir;

namespace tilewright {
namespace {

constexpr size_t mostRegions = 4096;

// Output positions start + i*repeat + j read input position from + i*step, for i < count and j <
// repeat.
struct Stretch {
  int64_t start = 0, from = 0, count = 1, repeat = 1, step = 0;
};

SmallVector<Stretch> stretchesOf(ArrayRef<int64_t> map) {
  SmallVector<Stretch> out;
  for (int64_t position = 0, end = static_cast<int64_t>(map.size()); position < end;) {
    int64_t index = map[position], repeat = 1;
    while (position + repeat < end && map[position + repeat] == index)
      ++repeat;
    Stretch *last = out.empty() ? nullptr : &out.back();
    int64_t step = last ? index - (last->from + (last->count - 1) * last->step) : 0;
    if (last && last->repeat == repeat && (last->count == 1 || last->step == step)) {
      last->step = step;
      ++last->count;
    } else {
      out.push_back({position, index, 1, repeat, 0});
    }
    position += repeat;
  }
  return out;
}

// Adds the two dimensions of a stretch along an axis with these strides.
void append(kernel::Region &region, const Stretch &stretch, int64_t sourceStride,
            int64_t resultStride) {
  region.sourceOffset += stretch.from * sourceStride;
  region.resultOffset += stretch.start * resultStride;
  region.sizes.append({stretch.count, stretch.repeat});
  region.sourceStrides.append({stretch.step * sourceStride, 0});
  region.resultStrides.append({stretch.repeat * resultStride, resultStride});
}

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// TOSA 1.0, RESIZE, NEAREST_NEIGHBOR: the input position of every output position of an axis.
SmallVector<int64_t> nearest(int64_t inputs, int64_t outputs, int64_t numerator,
                             int64_t denominator, int64_t offset) {
  SmallVector<int64_t> map;
  for (int64_t o = 0; o < outputs; ++o) {
    int64_t y = o * denominator + offset;
    int64_t before = floorDivide(y, numerator);
    bool roundsUp = 2 * (y - before * numerator) >= numerator;
    map.push_back(std::clamp<int64_t>(before + roundsUp, 0, inputs - 1));
  }
  return map;
}

// Whether every `length` elements are the first ones again.
bool isSameForAll(ArrayRef<int64_t> indices, int64_t length) {
  return indices.drop_front(length) == indices.drop_back(length);
}

} // namespace

Selected selectResize(tosa::ResizeOp op, OpBuilder &builder) {
  if (op.getMode() != tosa::ResizeMode::NEAREST_NEIGHBOR)
    return unsupported(op, "the only supported mode is NEAREST_NEIGHBOR");
  if (op.getInput().getType().getElementType() != op.getType().getElementType())
    return unsupported(op, "resizing " + elementName(op.getInput()) + " to " +
                               elementName(op.getOutput()) + " is not supported");
  // Shapes are constant: operators that compute some have no kernel form.
  SmallVector<int64_t> scale = *constantIntegers(op.getScale()),
                       offset = *constantIntegers(op.getOffset());
  ArrayRef<int64_t> source = shapeOf(op.getInput()), result = shapeOf(op.getOutput());
  auto rows = stretchesOf(nearest(source[1], result[1], scale[0], scale[1], offset[0]));
  auto columns = stretchesOf(nearest(source[2], result[2], scale[2], scale[3], offset[1]));
  if (rows.size() * columns.size() > mostRegions)
    return unsupported(op, "its scale is too irregular");
  SmallVector<int64_t> from = kernel::denseStrides(source), to = kernel::denseStrides(result);
  SmallVector<kernel::Region> regions;
  for (const Stretch &row : rows)
    for (const Stretch &column : columns) {
      kernel::Region &region = regions.emplace_back();
      append(region, {0, 0, source[0], 1, 1}, from[0], to[0]);
      append(region, row, from[1], to[1]);
      append(region, column, from[2], to[2]);
      append(region, {0, 0, source[3], 1, 1}, from[3], to[3]);
    }
  return createAssemble(op.getLoc(), op.getType(), op.getInput(), std::nullopt, regions, builder);
}

Selected selectGather(tosa::GatherOp op, OpBuilder &builder) {
  auto indices = constantIntegers(op.getIndices());
  if (!indices)
    return unsupported(op, "its indices are not constant");
  ArrayRef<int64_t> source = shapeOf(op.getValues()), result = shapeOf(op.getOutput());
  SmallVector<int64_t> from = kernel::denseStrides(source), to = kernel::denseStrides(result);
  // One map for all batches makes the batch one more dimension of its regions.
  int64_t maps = isSameForAll(*indices, result[1]) ? 1 : source[0];
  SmallVector<kernel::Region> regions;
  for (int64_t batch = 0; batch < maps; ++batch) {
    auto stretches = stretchesOf(ArrayRef(*indices).slice(batch * result[1], result[1]));
    if (regions.size() + stretches.size() > mostRegions)
      return unsupported(op, "its indices are too irregular");
    for (const Stretch &stretch : stretches) {
      kernel::Region &region = regions.emplace_back();
      append(region, {batch, batch, source[0] / maps, 1, 1}, from[0], to[0]);
      append(region, stretch, from[1], to[1]);
      append(region, {0, 0, source[2], 1, 1}, from[2], to[2]);
    }
  }
  return createAssemble(op.getLoc(), op.getType(), op.getValues(), std::nullopt, regions, builder);
}

} // namespace tilewright

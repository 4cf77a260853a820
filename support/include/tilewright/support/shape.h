// Shapes of tensors: sizes, from the outermost dimension to the innermost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

using Shape = std::vector<int64_t>;

// Largest tensor, constant or computed, in bytes; with it no size computed from dimensions
// overflows.
constexpr int64_t maxTensorBytes = int64_t(1) << 31;

// Of any list of sizes.
template <typename Sizes> int64_t elementCount(const Sizes &shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

// Whether a tensor of these sizes is at most maxTensorBytes large. A size of 0 counts as 1: what is
// computed from the others must not overflow either.
template <typename Sizes> bool fitsTensor(const Sizes &shape, int64_t elementBytes) {
  for (int64_t dim : shape) {
    if (dim > 0 && elementBytes > maxTensorBytes / dim)
      return false;
    elementBytes *= std::max<int64_t>(dim, 1);
  }
  return true;
}

// "1x3x48x192"; "scalar"
template <typename Sizes> std::string formatShape(const Sizes &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

// NumPy's rule; nullopt when the shapes do not fit each other.
template <typename A, typename B> std::optional<Shape> broadcastShapes(const A &a, const B &b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) { // from the last dimension to the first
    int64_t dimA = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t dimB = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (dimA != dimB && dimA != 1 && dimB != 1)
      return std::nullopt;
    shape[shape.size() - 1 - i] = dimA == 1 ? dimB : dimA;
  }
  return shape;
}

} // namespace tilewright

// Shapes as models declare them, with dynamic dimensions.
#pragma once

#include "tilewright/onnx/model.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace tilewright::onnx {

// Whether a tensor of `shape` can be what is declared: dynamic dimensions may have any size.
inline bool fits(const std::vector<int64_t> &declared, const std::vector<int64_t> &shape) {
  return std::equal(declared.begin(), declared.end(), shape.begin(), shape.end(),
                    [](int64_t a, int64_t b) { return a == dynamicDimension || a == b; });
}

// "1x3x?x?"; "scalar"
inline std::string formatDeclared(const std::vector<int64_t> &shape) {
  std::vector<std::string> sizes;
  for (int64_t size : shape)
    sizes.push_back(size == dynamicDimension ? "?" : std::to_string(size));
  return sizes.empty() ? "scalar" : fmt::format("{}", fmt::join(sizes, "x"));
}

} // namespace tilewright::onnx

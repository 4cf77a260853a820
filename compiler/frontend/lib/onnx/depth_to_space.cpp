// DepthToSpace and SpaceToDepth: channels against rows and columns.
#include "operators.h"
#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/onnx/size_limits.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

static int64_t blockSize(NodeImporter &node) {
  int64_t block = node.integer("blocksize", 0);
  if (node.rank(0) != 4 || block < 1 || block > maxKernel)
    node.fail(fmt::format("a block of {} does not fit an input of shape {}", block,
                          formatShape(node.shape(0))));
  return block;
}

static void buildDepthToSpace(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  int64_t b = blockSize(node);
  Shape s = node.shape(0);
  if (s[1] % (b * b) != 0)
    node.fail(fmt::format("{} channels are no multiple of {} squared", s[1], b));
  int64_t c = s[1] / (b * b);
  std::string mode = node.choice("mode", {"DCR", "CRD"});
  mlir::Value split, value = node.floatValue(0);
  if (mode == "DCR")
    split = tosa.transpose(tosa.reshape(value, {s[0] * b, b, c, s[2], s[3]}), {0, 2, 3, 1, 4});
  else
    split = tosa.reshape(value, {s[0] * c, b, b, s[2], s[3]});
  if (mode == "CRD") { // [N * C, R, R', H, W] to [N * C, H, R, W, R']
    split = tosa.transpose(split, {0, 3, 1, 4, 2});
    return node.setResult(tosa.reshape(split, {s[0], c, s[2] * b, s[3] * b}));
  }
  // [N * R, C, H, R', W] to [N, C, H, R, W, R']
  split = tosa.reshape(split, {s[0], b, c, s[2], b, s[3]});
  split = tosa.transpose(split, {0, 2, 3, 1, 5, 4});
  node.setResult(tosa.reshape(split, {s[0], c, s[2] * b, s[3] * b}));
}

static void buildSpaceToDepth(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  int64_t b = blockSize(node);
  Shape s = node.shape(0);
  if (s[2] % b != 0 || s[3] % b != 0)
    node.fail(fmt::format("an image of {}x{} is no multiple of a block of {}", s[2], s[3], b));
  mlir::Value split = tosa.reshape(node.floatValue(0), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  split = tosa.transpose(split, {0, 3, 5, 1, 2, 4});
  node.setResult(tosa.reshape(split, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

llvm::ArrayRef<Operator> depthToSpaceOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"DepthToSpace", buildDepthToSpace},
      {"SpaceToDepth", buildSpaceToDepth},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

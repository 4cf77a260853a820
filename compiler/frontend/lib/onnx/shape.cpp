// The same elements in another shape or order, or repeated.
#include "operators.h"

#include "tilewright/compiler/tosa/limits.h"
#include "tilewright/onnx/size_limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

void setReshaped(NodeImporter &node, const Shape &shape) {
  node.setResult(node.tosa().reshape(node.value(0), shape));
}

Shape reshapeTarget(NodeImporter &node) {
  Shape input = node.shape(0), target = node.integers(1, "shape");
  bool zeroCopies = !node.flag("allowzero", false);
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && zeroCopies) {
      if (i >= input.size())
        node.fail(fmt::format("dimension {} is to be copied from an input of {} dimensions", i,
                              input.size()));
      target[i] = input[i];
    } else if (target[i] == -1) {
      if (inferred)
        node.fail("the shape has two dimensions of -1");
      inferred = i;
      continue;
    }
    if (target[i] < 0 || (target[i] > 0 && known > maxTensorBytes / target[i]))
      node.fail(fmt::format("the shape holds {}", target[i]));
    known *= target[i];
  }
  int64_t count = elementCount(input);
  if (inferred)
    target[*inferred] = known != 0 && count % known == 0 ? count / known : 0;
  if (elementCount(target) != count)
    node.fail(fmt::format("a tensor of shape {} cannot be reshaped to {}", formatShape(input),
                          formatShape(node.integers(1, "shape"))));
  return target;
}

Shape flattenTarget(NodeImporter &node) {
  Shape input = node.shape(0);
  auto rank = static_cast<int64_t>(input.size());
  int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) // the end of the shape is a place to cut as well
    node.fail(fmt::format("axis {} is outside a tensor of {} dimensions", axis, rank));
  auto dims = llvm::ArrayRef<int64_t>(input);
  axis = axis < 0 ? axis + rank : axis;
  return {elementCount(dims.take_front(axis)), elementCount(dims.drop_front(axis))};
}

// A list, or one number alone.
std::vector<int64_t> integersOf(NodeImporter &node, size_t input, const char *what) {
  const Tensor &tensor = node.known(input, what);
  return tensor.shape.empty() ? std::vector{integerAt(tensor, 0)} : node.integers(input, what);
}

std::vector<int64_t> axesOf(NodeImporter &node) {
  return node.has(1) ? integersOf(node, 1, "axes") : node.integers("axes", {});
}

Shape squeezeTarget(NodeImporter &node) {
  Shape input = node.shape(0), target;
  std::vector<int64_t> axes = node.axes(axesOf(node), node.rank(0));
  for (size_t i = 0; i < input.size(); ++i) {
    bool named = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (named && input[i] != 1)
      node.fail(fmt::format("dimension {} is {} and cannot be squeezed", i, input[i]));
    if (axes.empty() ? input[i] != 1 : !named)
      target.push_back(input[i]);
  }
  return target;
}

Shape unsqueezeTarget(NodeImporter &node) {
  Shape target = node.shape(0);
  std::vector<int64_t> added = axesOf(node);
  if (added.size() > static_cast<size_t>(maxRank))
    node.fail(fmt::format("{} axes are too many", added.size()));
  for (int64_t axis : node.axes(added, static_cast<int64_t>(target.size() + added.size())))
    target.insert(target.begin() + axis, 1);
  return target;
}

std::vector<int32_t> permutationOf(NodeImporter &node) {
  int64_t rank = node.rank(0);
  std::vector<int64_t> reversed;
  for (int64_t i = rank; i-- > 0;)
    reversed.push_back(i);
  std::vector<int64_t> permutation = node.integers("perm", reversed), sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  std::reverse(reversed.begin(), reversed.end());
  if (sorted != reversed)
    node.fail(fmt::format("attribute 'perm' is not a permutation of {} dimensions", rank));
  return {permutation.begin(), permutation.end()};
}

Shape expandTarget(NodeImporter &node) {
  Shape wanted = integersOf(node, 1, "shape");
  std::optional<Shape> target = broadcastShapes(node.shape(0), wanted);
  if (!target || std::any_of(wanted.begin(), wanted.end(), [](int64_t d) { return d < 0; }))
    node.fail(fmt::format("a tensor of shape {} cannot be expanded to {}",
                          formatShape(node.shape(0)), formatShape(wanted)));
  return *target;
}

std::vector<int64_t> repeatsOf(NodeImporter &node) {
  std::vector<int64_t> repeats = node.integers(1, "repeats");
  if (repeats.size() != node.shape(0).size())
    node.fail(fmt::format("there are {} repeats for {} dimensions", repeats.size(), node.rank(0)));
  for (int64_t repeat : repeats)
    if (repeat < 0 || repeat > maxTensorBytes)
      node.fail(fmt::format("{} repeats are not possible", repeat));
  return repeats;
}

} // namespace

static void buildIdentity(NodeImporter &node) {
  for (size_t input : {1, 2}) // of a Dropout; unlike elsewhere, a list of one is no scalar
    if (node.has(input) && node.rank(input) != 0)
      node.fail(fmt::format("its {} has the shape {}, and should be a scalar",
                            input == 1 ? "ratio" : "training_mode",
                            formatShape(node.shape(input))));
  if (node.has(2) && node.scalar(2, "training_mode") != 0)
    node.refuse("training mode is not supported");
  node.setResult(node.operand(0));
}

static void buildReshape(NodeImporter &node) { setReshaped(node, reshapeTarget(node)); }
static void buildFlatten(NodeImporter &node) { setReshaped(node, flattenTarget(node)); }
static void buildSqueeze(NodeImporter &node) { setReshaped(node, squeezeTarget(node)); }
static void buildUnsqueeze(NodeImporter &node) { setReshaped(node, unsqueezeTarget(node)); }
static void buildTranspose(NodeImporter &node) {
  node.setResult(node.tosa().transpose(node.value(0), permutationOf(node)));
}

static void buildExpand(NodeImporter &node) {
  node.setResult(node.tosa().broadcastTo(node.value(0), expandTarget(node)));
}

static void buildTile(NodeImporter &node) {
  node.setResult(node.tosa().tile(node.value(0), repeatsOf(node)));
}

llvm::ArrayRef<Operator> shapeOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Dropout", buildIdentity},
      {"Expand", buildExpand},
      {"Flatten", buildFlatten},
      {"Identity", buildIdentity},
      {"Reshape", buildReshape},
      {"Squeeze", buildSqueeze},
      {"Tile", buildTile},
      {"Transpose", buildTranspose},
      {"Unsqueeze", buildUnsqueeze},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

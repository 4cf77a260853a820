// Attention, and the rotation of positions that goes with it.
#include "index.h"
#include "operators.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::onnx_import {

namespace {

// What takes no part in a row: far below all scores, and near enough for sums in 32 bits.
constexpr float excluded = -1024;

// [batch, heads, length, size] of a tensor, whose heads may stand one beside the other in its rows.
mlir::Value byHeads(NodeImporter &node, mlir::Value value, const char *heads) {
  Shape shape = sizesOf(value);
  if (shape.size() == 4)
    return value;
  const int64_t count = node.integer(heads, 0);
  if (shape.size() != 3 || count < 1 || shape[2] % count != 0)
    node.fail(fmt::format("a tensor of shape {} has no {} heads", formatShape(shape), count));
  FloatBuilder &tosa = node.tosa();
  return tosa.transpose(tosa.reshape(value, {shape[0], shape[1], count, shape[2] / count}),
                        {0, 2, 1, 3});
}

// The keys or values of an input behind those of an earlier call, where there are some.
mlir::Value withEarlier(NodeImporter &node, size_t input, mlir::Value value) {
  if (!node.has(input))
    return value;
  if (node.rank(input) != 4)
    node.fail(fmt::format("a tensor of shape {} holds no keys or values by heads",
                          formatShape(node.shape(input))));
  return node.tosa().concat({node.floatValue(input), value}, 2);
}

// Each head as often as heads of the query share it.
mlir::Value repeatedHeads(NodeImporter &node, mlir::Value value, int64_t heads) {
  FloatBuilder &tosa = node.tosa();
  const Shape shape = sizesOf(value);
  if (shape[1] == heads)
    return value;
  if (heads % shape[1] != 0)
    node.fail(fmt::format("{} heads of the query cannot share {}", heads, shape[1]));
  mlir::Value parted = tosa.reshape(value, {shape[0] * shape[1], 1, shape[2], shape[3]});
  parted = tosa.tile(parted, {1, heads / shape[1], 1, 1});
  return tosa.reshape(parted, {shape[0], heads, shape[2], shape[3]});
}

mlir::Value multiplyHeads(FloatBuilder &tosa, mlir::Value a, mlir::Value b) {
  const Shape left = sizesOf(a), right = sizesOf(b);
  const int64_t batch = left[0] * left[1];
  mlir::Value product = tosa.matmul(tosa.reshape(a, {batch, left[2], left[3]}),
                                    tosa.reshape(b, {batch, right[2], right[3]}));
  return tosa.reshape(product, {left[0], left[1], left[2], right[3]});
}

// What a mask adds to scores over `length` keys; null without one.
mlir::Value maskOf(NodeImporter &node, int64_t length) {
  FloatBuilder &tosa = node.tosa();
  if (!node.has(3))
    return {};
  mlir::Value mask;
  if (node.type(3) == DType::Bool) {
    mask = tosa.castToFloat(node.boolValue(3));
    mask = tosa.multiplyScalar(tosa.addScalar(mask, -1), -excluded);
  } else {
    mask = node.maskedValue(3);
  }
  Shape before(sizesOf(mask).size(), 0), after = before;
  after.back() = length - sizesOf(mask).back();
  if (after.back() < 0)
    node.fail("the mask is longer than the keys");
  return tosa.pad(mask, before, after, excluded);
}

// A constant mask: query i sees the keys up to `past` + i.
mlir::Value causalMask(FloatBuilder &tosa, int64_t queries, int64_t keys, int64_t past) {
  std::vector<float> values(queries * keys, 0);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t k = past + i + 1; k < keys; ++k)
      values[i * keys + k] = excluded;
  return tosa.constant({queries, keys}, values);
}

mlir::Value softmaxOfRows(FloatBuilder &tosa, mlir::Value value) {
  const auto axis = static_cast<int64_t>(sizesOf(value).size()) - 1;
  mlir::Value shifted = tosa.subtract(value, tosa.reduce<mlir::tosa::ReduceMaxOp>(value, axis));
  mlir::Value power = tosa.unary<mlir::tosa::ExpOp>(shifted);
  mlir::Value sum = tosa.reduce<mlir::tosa::ReduceSumOp>(power, axis);
  return tosa.multiply(power, tosa.unary<mlir::tosa::ReciprocalOp>(sum));
}

} // namespace

static void buildAttention(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  if (node.has(6))
    node.refuse("lengths of padded keys are not supported");
  mlir::Value query = byHeads(node, node.floatValue(0), "q_num_heads");
  mlir::Value key = byHeads(node, node.floatValue(1), "kv_num_heads");
  mlir::Value value = byHeads(node, node.floatValue(2), "kv_num_heads");
  const int64_t newest = sizesOf(key)[2];
  key = withEarlier(node, 4, key);
  value = withEarlier(node, 5, value);
  if (node.wants(1))
    node.setResult(key, 1);
  if (node.wants(2))
    node.setResult(value, 2);
  const int64_t heads = sizesOf(query)[1], queries = sizesOf(query)[2], keys = sizesOf(key)[2];
  const float scale =
      node.number("scale", 1 / std::sqrt(static_cast<float>(sizesOf(query).back())));
  mlir::Value scores =
      multiplyHeads(tosa, query, tosa.transpose(repeatedHeads(node, key, heads), {0, 1, 3, 2}));
  scores = tosa.multiplyScalar(scores, scale);
  const int64_t shown = node.integer("qk_matmul_output_mode", 0);
  mlir::Value stages[4] = {scores};
  if (mlir::Value mask = maskOf(node, keys))
    scores = tosa.add(scores, mask);
  if (node.flag("is_causal", false))
    scores = tosa.add(scores, causalMask(tosa, queries, keys, keys - newest));
  stages[1] = scores;
  if (const float cap = node.number("softcap", 0); cap > 0)
    scores = tosa.multiplyScalar(
        tosa.unary<mlir::tosa::TanhOp>(tosa.multiplyScalar(scores, 1 / cap)), cap);
  stages[2] = scores;
  stages[3] = softmaxOfRows(tosa, scores);
  if (node.wants(3)) {
    if (shown < 0 || shown > 3)
      node.fail(fmt::format("attribute 'qk_matmul_output_mode' is {}", shown));
    node.setResult(stages[shown], 3);
  }
  mlir::Value result = multiplyHeads(tosa, stages[3], repeatedHeads(node, value, heads));
  if (node.rank(0) == 3) {
    const Shape shape = sizesOf(result);
    result = tosa.reshape(tosa.transpose(result, {0, 2, 1, 3}),
                          {shape[0], shape[2], shape[1] * shape[3]});
  }
  node.setResult(result);
}

// Pairs of elements are turned by an angle of their position; they stand beside each other, or
// half of the rotated part apart.
static void buildRotaryEmbedding(NodeImporter &node) {
  FloatBuilder &tosa = node.tosa();
  mlir::Value input = node.floatValue(0);
  const bool isFlat = node.rank(0) == 3, isInterleaved = node.flag("interleaved", false);
  input = byHeads(node, input, "num_heads");
  const Shape shape = sizesOf(input); // batch, heads, length, size
  const int64_t given = node.integer("rotary_embedding_dim", 0);
  const int64_t rotated = given > 0 ? given : shape[3], half = rotated / 2;
  if (rotated > shape[3] || rotated % 2 != 0)
    node.fail(fmt::format("{} elements of {} cannot be rotated", rotated, shape[3]));
  auto angles = [&](size_t cache) {
    mlir::Value value = node.floatValue(cache);
    if (sizesOf(value).empty() || sizesOf(value).back() != half)
      node.fail(fmt::format("a table of shape {} has no angles for {} pairs",
                            formatShape(sizesOf(value)), half));
    if (node.has(3)) {
      const std::vector<int64_t> rows = indicesOf(node, 3, "positions", sizesOf(value)[0]);
      value = tosa.gatherAxis(value, 0, std::vector<int32_t>(rows.begin(), rows.end()));
      Shape byPosition = node.shape(3);
      byPosition.push_back(half);
      value = tosa.reshape(value, byPosition);
    }
    if (sizesOf(value).size() != 3)
      node.fail(fmt::format("angles of shape {} are of no positions of a batch",
                            formatShape(sizesOf(value))));
    return tosa.reshape(value, {sizesOf(value)[0], 1, sizesOf(value)[1], half});
  };
  mlir::Value cosine = angles(1), sine = angles(2);
  mlir::Value part = tosa.sliceAxis(input, 3, 0, rotated), first, second;
  const Shape pairs = {shape[0], shape[1], shape[2], half};
  if (isInterleaved) {
    mlir::Value rows = tosa.reshape(part, {shape[0] * shape[1], shape[2], half, 2});
    first = tosa.reshape(tosa.sliceAxis(rows, 3, 0, 1), pairs);
    second = tosa.reshape(tosa.sliceAxis(rows, 3, 1, 1), pairs);
  } else {
    first = tosa.sliceAxis(part, 3, 0, half);
    second = tosa.sliceAxis(part, 3, half, half);
  }
  mlir::Value real = tosa.subtract(tosa.multiply(cosine, first), tosa.multiply(sine, second));
  mlir::Value imaginary = tosa.add(tosa.multiply(sine, first), tosa.multiply(cosine, second));
  mlir::Value turned;
  if (isInterleaved) {
    const Shape apart = {shape[0] * shape[1], shape[2], half, 1};
    turned = tosa.concat({tosa.reshape(real, apart), tosa.reshape(imaginary, apart)}, 3);
    turned = tosa.reshape(turned, {shape[0], shape[1], shape[2], rotated});
  } else {
    turned = tosa.concat({real, imaginary}, 3);
  }
  if (rotated < shape[3])
    turned = tosa.concat({turned, tosa.sliceAxis(input, 3, rotated, shape[3] - rotated)}, 3);
  if (isFlat)
    turned = tosa.reshape(tosa.transpose(turned, {0, 2, 1, 3}),
                          {shape[0], shape[2], shape[1] * shape[3]});
  node.setResult(turned);
}

llvm::ArrayRef<Operator> attentionOperators() {
  // clang-format off: one row an operator
  static const Operator rows[] = {
      {"Attention", buildAttention},
      {"RotaryEmbedding", buildRotaryEmbedding},
  };
  // clang-format on
  return rows;
}

} // namespace tilewright::onnx_import

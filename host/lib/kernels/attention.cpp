// Attention and the positions it sees.
#include "compose.h"
#include "lanes.h"
#include "softmax_row.h"

#include <cmath>

namespace tilewright::host {

namespace {

// As [batch, heads, length, size], from that or from [batch, length, heads * size].
Tensor withHeads(const Call &call, size_t input, const char *attribute, DType type) {
  const Tensor wide = castTensor(call.input(input), type);
  if (wide.shape.size() == 4)
    return wide;
  const int64_t heads = call.integer(attribute, 0);
  if (wide.shape.size() != 3 || heads < 1 || wide.shape[2] % heads != 0)
    call.fail(fmt::format("input {} has the shape {}, which is not of {} heads", input,
                          formatShape(wide.shape), heads));
  return permuted(reshaped(wide, {wide.shape[0], wide.shape[1], heads, wide.shape[2] / heads}),
                  {0, 2, 1, 3});
}

// `past` and behind it `next` along the third of four dimensions.
Tensor appended(const Call &call, size_t past, Tensor next) {
  if (!call.has(past))
    return next;
  const Tensor before = castTensor(call.input(past), next.dtype);
  Shape shape = next.shape, fitting = before.shape;
  if (fitting.size() == 4)
    fitting[2] = shape[2];
  if (fitting != shape)
    call.fail(fmt::format("input {} has the shape {}, and {} is appended", past,
                          formatShape(before.shape), formatShape(shape)));
  shape[2] += before.shape[2];
  Tensor all = call.make(next.dtype, shape);
  const int64_t rows = shape[0] * shape[1], width = byteSize(next.dtype) * shape[3];
  const int64_t first = before.shape[2] * width, second = next.shape[2] * width;
  for (int64_t i = 0; i < rows; ++i) {
    char *to = all.bytes.data() + i * (first + second);
    std::copy_n(before.bytes.data() + i * first, first, to);
    std::copy_n(next.bytes.data() + i * second, second, to + first);
  }
  return all;
}

// What is added to the scores: minus infinity where a query does not see a key.
class Bias {
public:
  Bias(const Call &call, const Shape &scores, DType type)
      : isCausal_(call.flag("is_causal", false)), keys_(scores[3]) {
    if (call.has(4) && call.rank(4) == 4)
      past_ = call.shape(4)[2];
    if (call.has(6)) {
      if (call.input(6).elements() != scores[0])
        call.fail("input 6 should have a length for each of the batch");
      for (int64_t i = 0; i < scores[0]; ++i)
        lengths_.push_back(integerAt(call.input(6), i));
    }
    if (!call.has(3))
      return;
    const Tensor &mask = call.input(3);
    Shape shape = scores;
    known_ = mask.shape.empty() ? 1 : mask.shape.back();
    shape[3] = known_;
    if (known_ > keys_ || broadcastShapes(mask.shape, shape) != shape)
      call.fail(fmt::format("its mask has the shape {}, and the scores have {}",
                            formatShape(mask.shape), formatShape(scores)));
    strides_ = broadcastStrides(mask.shape, shape);
    mask_ = castTensor(mask, type);
    for (int64_t i = 0, end = mask.dtype == DType::Bool ? mask.elements() : 0; i < end; ++i)
      setFloat(mask_, i, mask.bytes[i] ? 0 : -INFINITY);
  }

  template <typename T> void addTo(T *row, int64_t batch, int64_t head, int64_t query) const {
    if (!strides_.empty()) {
      const T *from =
          mask_.data<T>() + batch * strides_[0] + head * strides_[1] + query * strides_[2];
      for (int64_t k = 0; k < known_; ++k)
        row[k] += from[k * strides_[3]];
      hide(row, known_);
    }
    if (isCausal_)
      hide(row, past_ + query + 1);
    if (!lengths_.empty())
      hide(row, lengths_[batch]);
  }

private:
  template <typename T> void hide(T *row, int64_t from) const {
    for (int64_t k = std::max<int64_t>(from, 0); k < keys_; ++k)
      row[k] = -INFINITY;
  }

  bool isCausal_;
  int64_t keys_, past_ = 0, known_ = 0;
  std::vector<int64_t> lengths_;
  Tensor mask_;
  Shape strides_;
};

// Which values the fourth output holds.
enum class Stage { Products, Masked, Capped, Weights };

struct Operands {
  Tensor query, key, value; // the key as [batch, heads, size, length]
  double scale, softcap;
  Stage stage;
  Tensor *scores; // null where nobody wants them
};

// One head's result, of the rows of its queries.
template <typename T>
void attend(const Operands &all, const Bias &bias, int64_t batch, int64_t head, T *result) {
  const Shape &q = all.query.shape, &v = all.value.shape;
  const int64_t keys = v[2], keyHead = head / (q[1] / v[1]);
  const T *query = all.query.data<T>() + (batch * q[1] + head) * q[2] * q[3];
  const T *key = all.key.data<T>() + (batch * v[1] + keyHead) * q[3] * keys;
  const T *value = all.value.data<T>() + (batch * v[1] + keyHead) * keys * v[3];
  std::vector<T> row(keys);
  for (int64_t i = 0; i < q[2]; ++i, query += q[3], result += v[3]) {
    const auto keep = [&](Stage stage) {
      if (all.scores && all.stage == stage)
        std::copy(row.begin(), row.end(),
                  all.scores->data<T>() + ((batch * q[1] + head) * q[2] + i) * keys);
    };
    std::fill(row.begin(), row.end(), T(0));
    for (int64_t d = 0; d < q[3]; ++d) {
      const T factor = query[d] * static_cast<T>(all.scale);
      for (int64_t k = 0; k < keys; ++k)
        row[k] += factor * key[d * keys + k];
    }
    keep(Stage::Products);
    bias.addTo(row.data(), batch, head, i);
    keep(Stage::Masked);
    if (all.softcap > 0)
      for (T &score : row)
        score = static_cast<T>(std::tanh(score / all.softcap) * all.softcap);
    keep(Stage::Capped);
    softmaxRow(row.data(), keys);
    keep(Stage::Weights);
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t d = 0; d < v[3]; ++d)
        result[d] += row[k] * value[k * v[3] + d];
  }
}

void attention(Call &call) {
  const DType type = call.input(0).dtype, wide = type == DType::F64 ? type : DType::F32;
  Operands all;
  all.query = withHeads(call, 0, "q_num_heads", wide);
  all.key = appended(call, 4, withHeads(call, 1, "kv_num_heads", wide));
  all.value = appended(call, 5, withHeads(call, 2, "kv_num_heads", wide));
  const Shape &q = all.query.shape, &v = all.value.shape, k = all.key.shape;
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3] || v[1] == 0 ||
      q[1] % v[1] != 0)
    call.fail(fmt::format("queries {}, keys {} and values {} do not fit each other", formatShape(q),
                          formatShape(k), formatShape(v)));
  call.set(castTensor(all.key, type), 1);
  call.set(castTensor(all.value, call.input(2).dtype), 2);
  all.key = permuted(all.key, {0, 1, 3, 2});
  all.scale = call.hasAttribute("scale") ? call.number("scale", 1)
                                         : 1 / std::sqrt(static_cast<double>(q[3]));
  all.softcap = call.number("softcap", 0);
  const int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    call.fail(fmt::format("attribute 'qk_matmul_output_mode' is {}", mode));
  all.stage = static_cast<Stage>(mode);
  const Shape scoreShape = {q[0], q[1], q[2], v[2]};
  Tensor scores;
  if (call.wants(3))
    scores = call.make(wide, scoreShape);
  all.scores = call.wants(3) ? &scores : nullptr;
  const Bias bias(call, scoreShape, wide);
  Tensor result = call.make(wide, {q[0], q[1], q[2], v[3]});
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    parallelFor(processorCount(), static_cast<size_t>(result.elements() ? q[0] * q[1] : 0),
                [&](unsigned, size_t i) {
                  const auto at = static_cast<int64_t>(i);
                  attend<T>(all, bias, at / q[1], at % q[1], result.data<T>() + at * q[2] * v[3]);
                });
  });
  if (call.rank(0) == 3)
    result = reshaped(permuted(result, {0, 2, 1, 3}), {q[0], q[2], q[1] * v[3]});
  call.set(narrowed(std::move(result), type));
  if (call.wants(3))
    call.set(narrowed(std::move(scores), type), 3);
}

// Pairs of numbers, turned by angles whose cosines and sines are given for each position.
void rotaryEmbedding(Call &call) {
  const DType type = call.input(0).dtype, wide = type == DType::F64 ? type : DType::F32;
  const bool isFlat = call.rank(0) == 3;
  Tensor x = withHeads(call, 0, "num_heads", wide);
  const int64_t batch = x.shape[0], heads = x.shape[1], length = x.shape[2], size = x.shape[3];
  const int64_t given = call.integer("rotary_embedding_dim", 0), turned = given ? given : size;
  const int64_t half = turned / 2;
  if (turned < 0 || turned > size || turned % 2 != 0)
    call.fail(fmt::format("{} numbers of {} cannot be turned", turned, size));
  const bool hasPositions = call.has(3), isInterleaved = call.flag("interleaved", false);
  const Tensor cosines = castTensor(call.input(1), wide), sines = castTensor(call.input(2), wide);
  const int64_t rows = hasPositions && call.rank(1) == 2 ? call.shape(1)[0] : batch * length;
  const Shape fitting = hasPositions ? Shape{rows, half} : Shape{batch, length, half};
  if (cosines.shape != fitting || sines.shape != fitting)
    call.fail(fmt::format("its cosines and sines have the shapes {} and {}, and should have {}",
                          formatShape(cosines.shape), formatShape(sines.shape),
                          formatShape(fitting)));
  if (hasPositions && call.shape(3) != Shape{batch, length})
    call.fail("it should have a position for each of its input");
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    T *row = x.data<T>();
    for (int64_t i = 0, end = size ? batch * heads * length : 0; i < end; ++i, row += size) {
      int64_t position = i / (heads * length) * length + i % length;
      if (hasPositions)
        position = integerAt(call.input(3), position);
      if (position < 0 || position >= rows)
        call.fail(fmt::format("position {} is none of {}", position, rows));
      const T *cosine = cosines.data<T>() + position * half;
      const T *sine = sines.data<T>() + position * half;
      for (int64_t k = 0; k < half; ++k) {
        T &a = row[isInterleaved ? 2 * k : k], &b = row[isInterleaved ? 2 * k + 1 : k + half];
        const T real = cosine[k] * a - sine[k] * b;
        b = sine[k] * a + cosine[k] * b;
        a = real;
      }
    }
  });
  if (isFlat)
    x = reshaped(permuted(x, {0, 2, 1, 3}), call.shape(0));
  call.set(narrowed(std::move(x), type));
}

} // namespace

KernelTable attentionKernels() {
  return {{"Attention", attention}, {"RotaryEmbedding", rotaryEmbedding}};
}

} // namespace tilewright::host

// Operators on quantized numbers: those of ai.onnx, and of onnxruntime's com.microsoft. Integers
// are computed as doubles, which hold all their sums.
#include "lanes.h"
#include "scales.h"
#include "tilewright/host/n_bit_weights.h"

namespace tilewright::host {

namespace {

constexpr DType exact = DType::F64;

struct Minus {
  double operator()(double a, double b) const { return a - b; }
};

template <typename F>
ConstantTensor onDoubles(const Call &call, const ConstantTensor &a, const ConstantTensor &b, F f) {
  return shared(
      mapPairs(call, a, b, exact, [f](auto x, auto y) { return f(double(x), double(y)); }));
}

ConstantTensor product(const Call &call, const ConstantTensor &a, const ConstantTensor &b) {
  return onDoubles(call, a, b, [](double x, double y) { return x * y; });
}

// Along which dimension a list of scales or zero points lies in a tensor of `rank` dimensions;
// others are taken as they broadcast.
ConstantTensor laidAlong(const Call &call, size_t input, int64_t dimension, int64_t rank) {
  const Tensor &given = call.input(input);
  if (given.elements() == 1)
    return shared(castTensor(reshaped(given, {}), exact));
  if (given.shape.size() > 1)
    return widened(call.shared(input), exact);
  if (dimension < 0 || dimension >= rank)
    call.fail(fmt::format("input {} should be one number", input));
  Shape shape(rank - dimension, 1);
  shape[0] = given.elements();
  return shared(castTensor(reshaped(given, shape), exact));
}

// Input `input` without its zero point, which lies along `dimension`.
ConstantTensor centered(const Call &call, size_t input, size_t zero, int64_t dimension) {
  const ConstantTensor &x = call.shared(input);
  if (!call.has(zero))
    return widened(x, exact);
  ConstantTensor result =
      onDoubles(call, x, laidAlong(call, zero, dimension, call.rank(input)), Minus());
  if (result->shape != x->shape)
    call.fail(fmt::format("input {} does not fit input {}", zero, input));
  return result;
}

// round(x * factor) + the zero point, as `type`. The factor and the zero point may be null.
Tensor requantized(const Call &call, const ConstantTensor &x, const ConstantTensor &factor,
                   const ConstantTensor &zero, DType type) {
  const NumberRange range = rangeOf(type);
  Tensor scaled = factor ? *product(call, x, factor) : castTensor(*x, exact);
  for (int64_t i = 0, end = scaled.elements(); i < end; ++i)
    scaled.data<double>()[i] = std::nearbyint(scaled.data<double>()[i]);
  ConstantTensor rounded = shared(std::move(scaled));
  if (zero)
    rounded = onDoubles(call, rounded, zero, [](double a, double b) { return a + b; });
  if (rounded->shape != x->shape)
    call.fail("its scales do not fit its result");
  Tensor result = *rounded;
  double *values = result.data<double>();
  for (int64_t i = 0, end = result.elements(); i < end; ++i)
    values[i] = values[i] > range.least ? std::min(values[i], range.most) : range.least;
  return castTensor(result, type);
}

// The factor from a product of inputs with scales to a result with its own.
ConstantTensor rescaling(const Call &call, const ConstantTensor &a, const ConstantTensor &b,
                         const ConstantTensor &result) {
  return onDoubles(call, product(call, a, b), result, [](double x, double y) { return x / y; });
}

void matMulInteger(Call &call) {
  const ConstantTensor a = centered(call, 0, 2, call.rank(0) - 2);
  const ConstantTensor b = centered(call, 1, 3, call.rank(1) - 1);
  call.set(castTensor(*apply(call, "MatMul", {a, b}), DType::I32));
}

void convInteger(Call &call) {
  const ConstantTensor x = centered(call, 0, 2, -1), w = centered(call, 1, 3, 0);
  call.set(castTensor(*apply(call, "Conv", {x, w}, call.node().attributes), DType::I32));
}

void qlinearMatMul(Call &call) {
  const int64_t row = call.rank(0) - 2, column = call.rank(3) - 1;
  const ConstantTensor a = centered(call, 0, 2, row), b = centered(call, 3, 5, column);
  const ConstantTensor sums = apply(call, "MatMul", {a, b});
  const int64_t rank = static_cast<int64_t>(sums->shape.size());
  const ConstantTensor factor =
      rescaling(call, laidAlong(call, 1, row, call.rank(0)),
                laidAlong(call, 4, column, call.rank(3)), laidAlong(call, 6, rank - 2, rank));
  call.set(
      requantized(call, sums, factor, laidAlong(call, 7, rank - 2, rank), call.input(7).dtype));
}

void qlinearConv(Call &call) {
  std::vector<ConstantTensor> inputs = {centered(call, 0, 2, -1), centered(call, 3, 5, 0)};
  if (call.has(8))
    inputs.push_back(widened(call.shared(8), exact));
  const ConstantTensor sums = apply(call, "Conv", inputs, call.node().attributes);
  const int64_t rank = static_cast<int64_t>(sums->shape.size());
  const ConstantTensor factor =
      rescaling(call, laidAlong(call, 1, -1, rank), laidAlong(call, 4, 1, rank),
                laidAlong(call, 6, -1, rank));
  call.set(requantized(call, sums, factor, laidAlong(call, 7, -1, rank), call.input(7).dtype));
}

// Those of com.microsoft: what is quantized is made float, and the result is quantized.

ConstantTensor dequantized(const Call &call, size_t input) {
  const Tensor wide = castTensor(call.input(input), DType::F32);
  const auto scale = static_cast<float>(call.scalar(input + 1, "scale"));
  const float zero =
      call.has(input + 2) ? static_cast<float>(call.scalar(input + 2, "zero point")) : 0;
  Tensor result = call.make(DType::F32, wide.shape);
  for (int64_t i = 0, end = wide.elements(); i < end; ++i)
    result.data<float>()[i] = (wide.data<float>()[i] - zero) * scale;
  return shared(std::move(result));
}

// With the scale that input `scale` gives, by which it is divided as a float, and the zero point
// behind it.
void setQuantized(Call &call, const ConstantTensor &x, size_t scale, DType type) {
  call.scalar(scale, "scale"); // one number
  const ConstantTensor divisor = shared(reshaped(call.input(scale), {}));
  const bool hasZero = call.has(scale + 1);
  call.set(requantized(
      call, shared(mapPairs(call, x, divisor, DType::F32, [](auto a, auto b) { return a / b; })),
      nullptr, hasZero ? laidAlong(call, scale + 1, -1, 0) : nullptr,
      hasZero ? call.input(scale + 1).dtype : type));
}

void binary(Call &call, const char *op) {
  setQuantized(call, apply(call, op, {dequantized(call, 0), dequantized(call, 3)}), 6,
               call.input(0).dtype);
}

void qlinearAdd(Call &call) { binary(call, "Add"); }
void qlinearMul(Call &call) { binary(call, "Mul"); }

void qlinearSigmoid(Call &call) {
  setQuantized(call, apply(call, "Sigmoid", {dequantized(call, 0)}), 3, call.input(0).dtype);
}

void qlinearLeakyRelu(Call &call) {
  setQuantized(call, apply(call, "LeakyRelu", {dequantized(call, 0)}, call.node().attributes), 3,
               call.input(0).dtype);
}

void qlinearSoftmax(Call &call) {
  auto attributes = call.node().attributes;
  attributes.erase("opset");
  setQuantized(call,
               apply(call, "Softmax", {dequantized(call, 0)}, attributes, call.integer("opset", 0)),
               3, call.input(0).dtype);
}

// A pool, of whose input the channels may be the last dimension.
void pool(Call &call, const char *op) {
  auto attributes = call.node().attributes;
  attributes.erase("channels_last");
  ConstantTensor x = dequantized(call, 0);
  const bool isLast = call.flag("channels_last", false);
  const int64_t rank = call.rank(0);
  if (rank < 3)
    call.fail("its input should have three dimensions or more");
  Shape order = {0, rank - 1}, back = {0};
  for (int64_t d = 1; d < rank - 1; ++d) {
    order.push_back(d);
    back.push_back(d + 1);
  }
  back.push_back(1);
  x = apply(call, op, {isLast ? shared(permuted(*x, order)) : x}, attributes);
  setQuantized(call, isLast ? shared(permuted(*x, back)) : x, 3, call.input(0).dtype);
}

void qlinearAveragePool(Call &call) { pool(call, "AveragePool"); }
void qlinearGlobalAveragePool(Call &call) { pool(call, "GlobalAveragePool"); }

void qlinearConcat(Call &call) {
  if (call.inputCount() < 5 || call.inputCount() % 3 != 2)
    call.fail(fmt::format("it has {} inputs", call.inputCount()));
  std::vector<ConstantTensor> inputs;
  for (size_t i = 2; i < call.inputCount(); i += 3)
    inputs.push_back(dequantized(call, i));
  setQuantized(call, apply(call, "Concat", inputs, call.node().attributes), 0, call.input(2).dtype);
}

void qgemm(Call &call) {
  const bool isTransposed = call.flag("transB", false);
  if (call.rank(0) != 2 || call.rank(3) != 2)
    call.fail("it multiplies matrices");
  const std::vector<ConstantTensor> inputs = {centered(call, 0, 2, -1),
                                              centered(call, 3, 5, isTransposed ? 0 : 1)};
  ConstantTensor sums =
      apply(call, "Gemm", inputs,
            {{"transA", call.integer("transA", 0)}, {"transB", call.integer("transB", 0)}});
  if (call.has(6))
    sums = onDoubles(call, sums, call.shared(6), [](double a, double b) { return a + b; });
  Tensor alpha = call.make(exact, {});
  setFloat(alpha, 0, call.number("alpha", 1));
  const ConstantTensor scale =
      product(call, shared(std::move(alpha)),
              product(call, laidAlong(call, 1, -1, 2), laidAlong(call, 4, 1, 2)));
  sums = product(call, sums, scale);
  if (call.has(7))
    setQuantized(call, sums, 7, call.input(0).dtype);
  else
    call.set(castTensor(*sums, DType::F32));
}

// A product with weights [N, blocks, bytes], of which each block has a scale and a zero point.
void matMulNBits(Call &call) {
  Tensor weights = nBitWeights(call);
  const DType type = call.input(0).dtype;
  ConstantTensor result =
      apply(call, "MatMul", {widened(call.shared(0), DType::F32), shared(std::move(weights))});
  if (call.has(5))
    result = apply(call, "Add", {result, widened(call.shared(5), DType::F32)});
  call.set(castTensor(*result, type));
}

} // namespace

// Number `index` of a row of numbers of `bits` bits, the first one in the lowest.
static int64_t bitsAt(const uint8_t *row, int64_t index, int64_t bits) {
  const int64_t each = 8 / bits;
  return row[index / each] >> index % each * bits & ((1 << bits) - 1);
}

Tensor nBitWeights(const Call &call) {
  const int64_t bits = call.integer("bits", 4), block = call.integer("block_size", 0);
  const int64_t rows = call.integer("K", 0), columns = call.integer("N", 0);
  if ((bits != 2 && bits != 4 && bits != 8) || block < 1 || block > (1 << 20) ||
      block * bits % 8 != 0 || rows < 1 || columns < 1)
    call.fail(fmt::format("weights of {} bits in blocks of {} are not supported", bits, block));
  if (call.has(4))
    call.refuse("an order of its groups is not supported");
  Tensor weights = call.make(DType::F32, {rows, columns});
  const int64_t blocks = (rows - 1) / block + 1, bytes = block * bits / 8;
  const int64_t zeroBytes = (blocks * bits + 7) / 8;
  const Tensor &packed = call.input(1), scales = castTensor(call.input(2), DType::F32);
  const bool hasZeros = call.has(3), isPacked = hasZeros && call.input(3).dtype == DType::U8;
  if (packed.dtype != DType::U8 || packed.elements() != columns * blocks * bytes ||
      scales.elements() != columns * blocks ||
      (hasZeros && call.input(3).elements() != columns * (isPacked ? zeroBytes : blocks)))
    call.fail("its weights, scales and zero points do not fit each other");
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t b = 0; b < blocks; ++b) {
      const uint8_t *row = packed.data<uint8_t>() + (n * blocks + b) * bytes;
      double zero = 1 << (bits - 1);
      if (isPacked)
        zero = static_cast<double>(bitsAt(call.input(3).data<uint8_t>() + n * zeroBytes, b, bits));
      else if (hasZeros)
        zero = floatAt(call.input(3), n * blocks + b);
      const float scale = scales.data<float>()[n * blocks + b];
      for (int64_t k = b * block; k < std::min((b + 1) * block, rows); ++k)
        weights.data<float>()[k * columns + n] =
            static_cast<float>(static_cast<double>(bitsAt(row, k - b * block, bits)) - zero) *
            scale;
    }
  return weights;
}

KernelTable quantizedKernels() {
  const char *domain = "com.microsoft";
  return {{"ConvInteger", convInteger},
          {"MatMulInteger", matMulInteger},
          {"MatMulNBits", matMulNBits, domain},
          {"QGemm", qgemm, domain},
          {"QLinearAdd", qlinearAdd, domain},
          {"QLinearAveragePool", qlinearAveragePool, domain},
          {"QLinearConcat", qlinearConcat, domain},
          {"QLinearConv", qlinearConv},
          {"QLinearGlobalAveragePool", qlinearGlobalAveragePool, domain},
          {"QLinearLeakyRelu", qlinearLeakyRelu, domain},
          {"QLinearMatMul", qlinearMatMul},
          {"QLinearMul", qlinearMul, domain},
          {"QLinearSigmoid", qlinearSigmoid, domain},
          {"QLinearSoftmax", qlinearSoftmax, domain}};
}

} // namespace tilewright::host

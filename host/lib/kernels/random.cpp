// Random numbers: the same ones in each run, by the attribute 'seed' or without it by 0.
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"

#include <cmath>
#include <fmt/format.h>
#include <random>

namespace tilewright::host {

namespace {

// NumPy's numbers of the same seed.
class Random {
public:
  explicit Random(int64_t seed) : generator_(static_cast<uint32_t>(seed)) {}

  double uniform() { // from 0 to below 1
    const double high = generator_() >> 5, low = generator_() >> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }
  double normal() { // by Marsaglia's polar method
    if (hasNext_) {
      hasNext_ = false;
      return next_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    hasNext_ = true;
    next_ = factor * x;
    return factor * y;
  }

private:
  std::mt19937 generator_;
  bool hasNext_ = false;
  double next_ = 0;
};

Random seeded(const Call &call) {
  return Random(static_cast<int64_t>(std::clamp(call.number("seed", 0), -1e18f, 1e18f)));
}

template <typename Next> void fill(Call &call, Tensor tensor, Next next) {
  if (!isFloat(tensor.dtype))
    call.fail("it gives floats");
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i)
    setFloat(tensor, i, next());
  call.set(std::move(tensor));
}

Tensor ofAttributes(const Call &call) {
  return call.make(call.type("dtype", DType::F32), call.integers("shape", {}));
}

Tensor ofInput(const Call &call) {
  return call.make(call.type("dtype", call.input(0).dtype), call.shape(0));
}

void fillUniform(Call &call, Tensor tensor) {
  const double low = call.number("low", 0), high = call.number("high", 1);
  Random random = seeded(call);
  fill(call, std::move(tensor), [&] { return low + (high - low) * random.uniform(); });
}

void fillNormal(Call &call, Tensor tensor) {
  const double mean = call.number("mean", 0), scale = call.number("scale", 1);
  Random random = seeded(call);
  fill(call, std::move(tensor), [&] { return mean + scale * random.normal(); });
}

void randomUniform(Call &call) { fillUniform(call, ofAttributes(call)); }
void randomUniformLike(Call &call) { fillUniform(call, ofInput(call)); }
void randomNormal(Call &call) { fillNormal(call, ofAttributes(call)); }
void randomNormalLike(Call &call) { fillNormal(call, ofInput(call)); }

void bernoulli(Call &call) {
  Tensor result = ofInput(call);
  Random random = seeded(call);
  for (int64_t i = 0, end = result.elements(); i < end; ++i)
    setInteger(result, i, random.uniform() < floatAt(call.input(0), i));
  call.set(std::move(result));
}

// Of each row of logarithms of weights, `sample_size` classes.
void multinomial(Call &call) {
  if (call.rank(0) != 2)
    call.fail("its input should have two dimensions");
  const int64_t batch = call.shape(0)[0], classes = call.shape(0)[1];
  const DType type = call.type("dtype", DType::I32);
  Tensor result = call.make(type, {batch, call.integer("sample_size", 1)});
  if (classes == 0 && result.elements() > 0)
    call.fail("it has no class to choose");
  Random random = seeded(call);
  std::vector<double> sums(classes);
  for (int64_t row = 0; row < batch && result.shape[1] > 0; ++row) {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      largest = std::max(largest, floatAt(call.input(0), row * classes + c));
    for (int64_t c = 0; c < classes; ++c)
      sums[c] = sum += std::exp(floatAt(call.input(0), row * classes + c) - largest);
    for (int64_t i = 0; i < result.shape[1]; ++i) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sum);
      setInteger(result, row * result.shape[1] + i,
                 std::min<int64_t>(found - sums.begin(), classes - 1));
    }
  }
  call.set(std::move(result));
}

// Nothing is dropped but in training, which operator sets from 12 on have.
void dropout(Call &call) {
  const bool isTraining = call.has(2) && call.scalar(2, "training_mode") != 0;
  const double ratio = call.has(1) ? call.scalar(1, "ratio") : call.number("ratio", 0.5f);
  const Tensor &input = call.input(0);
  Tensor mask = call.make(call.opset() < 10 ? input.dtype : DType::Bool, input.shape);
  for (int64_t i = 0, end = call.wants(1) || isTraining ? mask.elements() : 0; i < end; ++i)
    setInteger(mask, i, 1);
  if (!isTraining || ratio == 0) {
    call.set(call.shared(0));
    return call.set(std::move(mask), 1);
  }
  if (!(ratio > 0 && ratio < 1))
    call.fail(fmt::format("its ratio is {}", ratio));
  Random random(call.integer("seed", 0));
  Tensor result = call.make(input.dtype, input.shape);
  for (int64_t i = 0, end = mask.elements(); i < end; ++i) {
    const bool isKept = random.uniform() >= ratio;
    setInteger(mask, i, isKept);
    setFloat(result, i, isKept ? floatAt(input, i) / (1 - ratio) : 0);
  }
  call.set(std::move(result));
  call.set(std::move(mask), 1);
}

} // namespace

KernelTable randomKernels() {
  return {{"Bernoulli", bernoulli},
          {"Dropout", dropout},
          {"Multinomial", multinomial},
          {"RandomNormal", randomNormal},
          {"RandomNormalLike", randomNormalLike},
          {"RandomUniform", randomUniform},
          {"RandomUniformLike", randomUniformLike}};
}

} // namespace tilewright::host

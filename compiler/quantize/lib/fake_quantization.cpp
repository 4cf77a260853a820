#include "fake_quantization.h"

#include "graph_queries.h"
#include "tilewright/compiler/tosa/constant_floats.h"

#include "tilewright/support/parallel.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// Rounds tensors to what integers of 8 bits can stand for.
class Rounder {
public:
  // A channel of factor f stands for its reals times f.
  Rounder(const Parameters &parameters, std::vector<double> factors) {
    least_ = static_cast<float>(parameters.least() - parameters.zeroPoint);
    greatest_ = static_cast<float>(parameters.greatest() - parameters.zeroPoint);
    if (factors.empty())
      factors = {1};
    constexpr size_t leastRow = 64; // for the loop over a row to be worth vectors
    for (size_t i = 0; i < factors.size() || i % factors.size() != 0 || i < leastRow; ++i) {
      double step = parameters.scale / factors[i % factors.size()];
      step_.push_back(static_cast<float>(step));
      inverse_.push_back(static_cast<float>(1 / step));
    }
  }

  void operator()(Tensor &tensor) const {
    size_t count = static_cast<size_t>(tensor.elements());
    for (size_t at = 0; at < count; at += step_.size())
      roundRow(tensor.data<float>() + at, std::min(step_.size(), count - at));
  }

private:
  void roundRow(float *__restrict row, size_t count) const {
    constexpr float whole = 3 << 22; // floats of this size are integers: adding it rounds
    const float *__restrict step = step_.data(), *__restrict inverse = inverse_.data();
    for (size_t i = 0; i < count; ++i) {
      float scaled = row[i] * inverse[i];
      scaled = scaled == scaled ? scaled : 0; // as tables have it
      scaled = scaled < least_ ? least_ : scaled;
      scaled = scaled > greatest_ ? greatest_ : scaled;
      row[i] = (scaled + whole - whole) * step[i];
    }
  }

  float least_ = 0, greatest_ = 0;
  std::vector<float> step_, inverse_; // of a row of channels
};

} // namespace

std::vector<Value> decidingValues(func::FuncOp main, const Plan &plan) {
  std::vector<Value> values;
  for (Value result : main.getBody().front().getTerminator()->getOperands()) {
    Value source = result;
    while (isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp>(source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    auto softmax = plan.softmaxes.find(source.getDefiningOp());
    Value deciding = softmax != plan.softmaxes.end() ? softmax->second.input : result;
    if (isFloat(deciding) && !isConstantFloats(deciding))
      values.push_back(deciding);
  }
  return values;
}

// What `executable` shows behind `watched` values, which `change` takes, of each of the first
// samples.
template <typename Change>
static std::vector<std::vector<Tensor>>
shownBehind(const FloatExecutable &executable, size_t watched, const Samples &samples, size_t count,
            unsigned threads, const Change &change) {
  std::vector<std::vector<Tensor>> found(count);
  std::vector<FloatExecutable::Workspace> workspaces(threads);
  parallelFor(threads, count, [&](unsigned worker, size_t sample) {
    executable.run(samples[sample], workspaces[worker], [&](size_t index, Tensor &tensor) {
      if (index < watched)
        return change(index, tensor);
      std::vector<Tensor> &own = found[sample];
      own.resize(std::max(own.size(), index - watched + 1));
      own[index - watched] = tensor;
    });
  });
  return found;
}

std::vector<std::vector<Tensor>> decidingTensors(const FloatExecutable &executable, size_t watched,
                                                 const Samples &samples, unsigned threads) {
  return shownBehind(executable, watched, samples, samples.size(), threads,
                     [](size_t, Tensor &) {});
}

template <typename Change>
std::vector<std::vector<Tensor>> FakeQuantization::run(const FloatExecutable &executable,
                                                       const Change &change, size_t most) const {
  return shownBehind(executable, watched_.size(), samples_, std::min(expected_.size(), most),
                     threads_, change);
}

std::pair<double, double>
FakeQuantization::signalAndNoise(const std::vector<std::vector<Tensor>> &found) const {
  double signal = 0, noise = 0;
  for (size_t sample = 0; sample < found.size(); ++sample)
    for (size_t i = 0; i < found[sample].size(); ++i)
      for (int64_t k = 0; k < found[sample][i].elements(); ++k) {
        double x = double(expected_[sample][i].data<float>()[k]),
               error = double(found[sample][i].data<float>()[k]) - x;
        signal += x * x;
        noise += error * error;
      }
  return {signal, noise};
}

using Rounders = std::vector<std::optional<Rounder>>;

// Of the watched values, those that are rounded to 8 bits.
static Rounders roundersOf(const IntegerModule &integer, const ParameterMap &parameters,
                           ArrayRef<Value> watched) {
  llvm::DenseMap<Value, const std::vector<double> *> factors;
  for (const Correspondence &value : integer.values)
    factors[value.real] = &value.channelFactors;
  Rounders rounders;
  for (Value value : watched) {
    Parameters own = parameters.lookup(value);
    const std::vector<double> *scaled = factors.lookup(value);
    bool isRounded = own.bits == 8 && (scaled || isa<BlockArgument>(value));
    rounders.push_back(isRounded
                           ? std::optional<Rounder>({own, scaled ? *scaled : std::vector<double>()})
                           : std::nullopt);
  }
  return rounders;
}

std::optional<double> FakeQuantization::decibelsOf(IntegerModule &integer,
                                                   const ParameterMap &parameters) const {
  const Rounders rounders = roundersOf(integer, parameters, watched_);
  const auto [signal, noise] = signalAndNoise(run(
      *executable_.withConstants(std::move(integer.constants)), [&](size_t index, Tensor &tensor) {
        if (rounders[index])
          (*rounders[index])(tensor);
      }));
  if (!(signal > 0) || !std::isfinite(noise))
    return std::nullopt;
  constexpr double exact = 200;
  return noise > 0 ? std::min(10 * std::log10(signal / noise), exact) : exact;
}

// Noise of tensors adds up: of halves that make little, no tensor makes much.
std::vector<Value> FakeQuantization::loudest(const IntegerModule &integer,
                                             const ParameterMap &parameters,
                                             ArrayRef<Value> candidates) const {
  constexpr size_t fewSamples = 4, mostValues = 8, mostRuns = 80;
  constexpr double share = 1.0 / 16; // of all noise
  const Rounders rounders = roundersOf(integer, parameters, watched_);
  std::vector<size_t> indices;
  for (size_t i = 0; i < rounders.size(); ++i)
    if (rounders[i] && llvm::is_contained(candidates, watched_[i]))
      indices.push_back(i);
  size_t runs = 0;
  auto noiseOf = [&](const auto &isRounded) {
    ++runs;
    const auto change = [&](size_t index, Tensor &tensor) {
      if (rounders[index] && isRounded(index))
        (*rounders[index])(tensor);
    };
    return signalAndNoise(run(executable_, change, fewSamples)).second;
  };
  const double least = share * noiseOf([](size_t) { return true; });
  std::vector<Value> found;
  std::vector<ArrayRef<size_t>> groups{indices};
  while (!groups.empty() && found.size() <= mostValues && runs < mostRuns) {
    const ArrayRef<size_t> group = groups.back();
    groups.pop_back();
    if (group.empty() ||
        !(noiseOf([&](size_t index) { return llvm::is_contained(group, index); }) > least))
      continue;
    if (group.size() == 1) {
      found.push_back(watched_[group[0]]);
      continue;
    }
    groups.push_back(group.drop_front(group.size() / 2));
    groups.push_back(group.take_front(group.size() / 2));
  }
  return groups.empty() && found.size() <= mostValues ? found : std::vector<Value>();
}

std::vector<double>
FakeQuantization::noises(const IntegerModule &integer, const ParameterMap &parameters,
                         ArrayRef<Value> candidates,
                         const std::vector<FloatExecutable::Replacement> &kept) const {
  const Rounders rounders = roundersOf(integer, parameters, watched_);
  llvm::DenseSet<Value> isKept;
  for (auto &[constant, tensor] : kept)
    isKept.insert(constant);
  std::vector<double> found;
  for (Value candidate : candidates) {
    std::vector<FloatExecutable::Replacement> weights;
    for (const FloatExecutable::Replacement &each : integer.constants)
      if (!isKept.contains(each.first) && llvm::any_of(each.first.getUsers(), [&](Operation *op) {
            return isConvolution(op) && op->getOperand(0) == candidate;
          }))
        weights.push_back(each);
    const auto [signal, noise] = signalAndNoise(
        run(*executable_.withConstants(std::move(weights)), [&](size_t index, Tensor &tensor) {
          if (rounders[index] && watched_[index] == candidate)
            (*rounders[index])(tensor);
        }));
    found.push_back(noise / signal);
  }
  return found;
}

} // namespace tilewright::quantization

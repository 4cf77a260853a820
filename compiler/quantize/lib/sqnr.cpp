#include "sqnr.h"

#include "tilewright/compiler/tosa/layer_location.h"

#include "graph_queries.h"

#include <cmath>

using namespace mlir;

namespace tilewright::quantization {

namespace {

Tensor quantizeTensor(const Tensor &real, const Parameters &parameters) {
  const bool isWide = parameters.bits == 16;
  Tensor integer = makeTensor(isWide ? DType::I16 : DType::I8, real.shape);
  for (int64_t i = 0, count = real.elements(); i < count; ++i) {
    const int64_t rounded = parameters.quantize(double(real.data<float>()[i]));
    if (isWide)
      integer.data<int16_t>()[i] = static_cast<int16_t>(rounded);
    else
      integer.data<int8_t>()[i] = static_cast<int8_t>(rounded);
  }
  return integer;
}

struct Energy {
  double signal = 0;
  double noise = 0;
};

template <typename T>
void compare(const Tensor &real, const Tensor &integer, const Correspondence &value,
             Energy &energy) {
  const float *x = real.data<float>();
  const T *q = integer.data<T>();
  for (int64_t i = 0, count = real.elements(); i < count; ++i) {
    double dequantized = value.parameters.real(q[i]);
    if (!value.channelFactors.empty())
      dequantized /= value.channelFactors[i % value.channelFactors.size()];
    double difference = dequantized - double(x[i]);
    energy.signal += double(x[i]) * double(x[i]);
    energy.noise += difference * difference;
  }
}

void compare(const Tensor &real, const Tensor &integer, const Correspondence &value,
             Energy &energy) {
  if (integer.dtype == DType::I8)
    compare<int8_t>(real, integer, value, energy);
  else if (integer.dtype == DType::I16)
    compare<int16_t>(real, integer, value, energy);
  else
    compare<int32_t>(real, integer, value, energy);
}

// Copies of all watched values of a run.
std::vector<Tensor> valuesOf(const FloatExecutable &executable, const std::vector<Tensor> &inputs,
                             size_t count) {
  std::vector<Tensor> values(count);
  FloatExecutable::Workspace workspace;
  executable.run(inputs, workspace,
                 [&](size_t index, const Tensor &tensor) { values[index] = tensor; });
  return values;
}

} // namespace

std::vector<LayerSqnr> compareLayers(ModuleOp real, const IntegerModule &integer,
                                     const ParameterMap &parameters, const Samples &samples) {
  std::vector<Value> realValues, integerValues;
  for (const Correspondence &value : integer.values) {
    realValues.push_back(value.real);
    integerValues.push_back(value.integer);
  }
  auto realExecutable = FloatExecutable::create(real, realValues),
       integerExecutable = FloatExecutable::create(*integer.module, integerValues);
  std::vector<Energy> energies(integer.values.size());
  for (const std::vector<Tensor> &sample : samples) {
    std::vector<Tensor> inputs;
    for (auto [tensor, argument] : llvm::zip(sample, mainOf(real).getArguments()))
      inputs.push_back(isFloat(argument) ? quantizeTensor(tensor, parameters.lookup(argument))
                                         : tensor);
    std::vector<Tensor> expected = valuesOf(*realExecutable, sample, energies.size()),
                        found = valuesOf(*integerExecutable, inputs, energies.size());
    for (size_t i = 0; i < energies.size(); ++i)
      compare(expected[i], found[i], integer.values[i], energies[i]);
  }
  std::vector<LayerSqnr> layers;
  for (auto [value, energy] : llvm::zip(integer.values, energies)) {
    Layer layer = layerOf(value.real.getLoc());
    // An exact layer has no noise; so long a report needs a number all the same.
    constexpr double exact = 200;
    double decibels = energy.noise > 0 ? 10 * std::log10(energy.signal / energy.noise) : exact;
    layers.push_back({layer.name, layer.op, std::min(decibels, exact)});
  }
  return layers;
}

} // namespace tilewright::quantization

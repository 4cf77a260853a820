// Activations: functions of one number, with parameters.
#include "elementwise.h"

#include <cmath>

namespace tilewright::host {

namespace {

template <typename T> T sigmoidOf(T x) { return 1 / (1 + std::exp(-x)); }
// Without overflow of what is far above zero.
template <typename T> T softplusOf(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

void celu(Call &call) {
  const float alpha = call.number("alpha", 1);
  call.set(mapFloats(call, 0, [=](auto x) { return x > 0 ? x : alpha * std::expm1(x / alpha); }));
}

void elu(Call &call) {
  const float alpha = call.number("alpha", 1);
  call.set(mapFloats(call, 0, [=](auto x) { return x > 0 ? x : alpha * std::expm1(x); }));
}

void gelu(Call &call) {
  if (call.choice("approximate", {"none", "tanh"}) == "tanh")
    return call.set(mapFloats(call, 0, [](auto x) {
      using T = decltype(x);
      return x / 2 * (1 + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
    }));
  call.set(mapFloats(call, 0, [](auto x) {
    using T = decltype(x);
    return x / 2 * (1 + std::erf(x * T(0.7071067811865476)));
  }));
}

void hardSigmoid(Call &call) {
  const float alpha = call.number("alpha", 0.2f), beta = call.number("beta", 0.5f);
  call.set(mapFloats(call, 0, [=](auto x) {
    using T = decltype(x);
    return std::min(std::max(alpha * x + beta, T(0)), T(1));
  }));
}

void hardSwish(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) {
    using T = decltype(x);
    return x * std::min(std::max(x / 6 + T(0.5), T(0)), T(1));
  }));
}

void leakyRelu(Call &call) {
  const float alpha = call.number("alpha", 0.01f);
  call.set(mapFloats(call, 0, [=](auto x) { return x < 0 ? alpha * x : x; }));
}

void mish(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return x * std::tanh(softplusOf(x)); }));
}

void relu(Call &call) {
  call.set(mapEach(call, 0, [](auto x) { return x < 0 ? 0 : x; }));
}

void selu(Call &call) {
  const float alpha = call.number("alpha", 1.67326319217681884765625f);
  const float gamma = call.number("gamma", 1.05070102214813232421875f);
  call.set(mapFloats(call, 0, [=](auto x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); }));
}

void shrink(Call &call) {
  const float bias = call.number("bias", 0), lambd = call.number("lambd", 0.5f);
  call.set(mapEach(call, 0, [=](auto x) {
    const auto value = static_cast<double>(x);
    return value < -lambd ? value + bias : value > lambd ? value - bias : 0.0;
  }));
}

void sigmoid(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return sigmoidOf(x); }));
}

void softplus(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return softplusOf(x); }));
}

void softsign(Call &call) {
  call.set(mapFloats(call, 0, [](auto x) { return x / (1 + std::fabs(x)); }));
}

void swish(Call &call) {
  const float alpha = call.number("alpha", 1);
  call.set(mapFloats(call, 0, [=](auto x) { return x * sigmoidOf(alpha * x); }));
}

void thresholdedRelu(Call &call) {
  const float alpha = call.number("alpha", 1);
  call.set(mapFloats(call, 0, [=](auto x) { return x > alpha ? x : 0; }));
}

} // namespace

KernelTable activationKernels() {
  return {{"Celu", celu},
          {"Elu", elu},
          {"Gelu", gelu},
          {"HardSigmoid", hardSigmoid},
          {"HardSwish", hardSwish},
          {"LeakyRelu", leakyRelu},
          {"Mish", mish},
          {"Relu", relu},
          {"Selu", selu},
          {"Shrink", shrink},
          {"Sigmoid", sigmoid},
          {"Softplus", softplus},
          {"Softsign", softsign},
          {"Swish", swish},
          {"ThresholdedRelu", thresholdedRelu}};
}

} // namespace tilewright::host

// Steps of training (ai.onnx.preview.training): the rate, the count of steps so far, and tensors,
// their gradients and states.
#include "elementwise.h"

#include <cmath>

namespace tilewright::host {

namespace {

constexpr size_t mostStates = 2;

// One element: its value, its gradient with the regularization added, and its states.
struct Weight {
  double value, gradient, states[mostStates];
};

// update(weight, rate, step) for each element of each tensor, which have `states` states each.
template <typename Update> void train(Call &call, size_t states, Update update) {
  const size_t kinds = 2 + states;
  if (call.inputCount() < 2 + kinds || (call.inputCount() - 2) % kinds != 0)
    call.fail(fmt::format("it has {} inputs", call.inputCount()));
  const double rate = call.scalar(0, "rate"), step = call.scalar(1, "count");
  const double norm = call.number("norm_coefficient", 0);
  const size_t count = (call.inputCount() - 2) / kinds;
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](size_t kind) { return 2 + kind * count + i; };
    for (size_t kind = 1; kind < kinds; ++kind)
      if (call.shape(at(kind)) != call.shape(at(0)))
        call.fail(fmt::format("its inputs {} and {} have different shapes", at(0), at(kind)));
    Tensor value = call.input(at(0)), state[mostStates];
    for (size_t k = 0; k < states; ++k)
      state[k] = call.input(at(2 + k));
    if (!isFloat(value.dtype))
      call.fail("it trains floats");
    for (int64_t e = 0, end = value.elements(); e < end; ++e) {
      Weight weight{floatAt(value, e), 0, {}};
      weight.gradient = norm * weight.value + floatAt(call.input(at(1)), e);
      for (size_t k = 0; k < states; ++k)
        weight.states[k] = floatAt(state[k], e);
      update(weight, rate, step);
      setFloat(value, e, weight.value);
      for (size_t k = 0; k < states; ++k)
        isFloat(state[k].dtype) ? setFloat(state[k], e, weight.states[k])
                                : call.fail("its states should be floats");
    }
    call.set(std::move(value), i);
    for (size_t k = 0; k < states; ++k)
      call.set(std::move(state[k]), (1 + k) * count + i);
  }
}

void adagrad(Call &call) {
  const double decay = call.number("decay_factor", 0), epsilon = call.number("epsilon", 1e-6f);
  train(call, 1, [=](Weight &weight, double rate, double step) {
    weight.states[0] += weight.gradient * weight.gradient;
    weight.value -=
        rate / (1 + step * decay) * weight.gradient / (std::sqrt(weight.states[0]) + epsilon);
  });
}

void adam(Call &call) {
  const double alpha = call.number("alpha", 0.9f), beta = call.number("beta", 0.999f);
  const double epsilon = call.number("epsilon", 1e-6f);
  const double after = call.number("norm_coefficient_post", 0);
  train(call, 2, [=](Weight &weight, double rate, double step) {
    auto &[mean, square] = weight.states;
    mean = alpha * mean + (1 - alpha) * weight.gradient;
    square = beta * square + (1 - beta) * weight.gradient * weight.gradient;
    if (step > 0)
      rate *= std::sqrt(1 - std::pow(beta, step)) / (1 - std::pow(alpha, step));
    weight.value = (1 - after) * (weight.value - rate * mean / (std::sqrt(square) + epsilon));
  });
}

void momentum(Call &call) {
  const double alpha = call.number("alpha", 0.9f), beta = call.number("beta", 1);
  const bool isNesterov = call.choice("mode", {"standard", "nesterov"}) == "nesterov";
  train(call, 1, [=](Weight &weight, double rate, double step) {
    double &speed = weight.states[0];
    speed = alpha * speed + (step > 0 ? beta : 1) * weight.gradient;
    weight.value -= rate * (isNesterov ? weight.gradient + alpha * speed : speed);
  });
}

} // namespace

KernelTable trainingKernels() {
  const char *domain = "ai.onnx.preview.training";
  return {{"Adagrad", adagrad, domain}, {"Adam", adam, domain}, {"Momentum", momentum, domain}};
}

} // namespace tilewright::host

// RNN, GRU and LSTM.
#include "products.h"
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace tilewright::host {

namespace {

using Activation = std::function<double(double)>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct ActivationKind {
  const char *name;
  bool takesAlpha, takesBeta;
  double alpha, beta; // the defaults
  double (*run)(double x, double alpha, double beta);
};

const ActivationKind activationKinds[] = {
    {"relu", false, false, 0, 0, [](double x, double, double) { return std::max(x, 0.0); }},
    {"tanh", false, false, 0, 0, [](double x, double, double) { return std::tanh(x); }},
    {"sigmoid", false, false, 0, 0, [](double x, double, double) { return sigmoid(x); }},
    {"softsign", false, false, 0, 0,
     [](double x, double, double) { return x / (1 + std::fabs(x)); }},
    {"softplus", false, false, 0, 0,
     [](double x, double, double) {
       return std::log1p(std::exp(-std::fabs(x))) + std::max(x, 0.0);
     }},
    {"affine", true, true, 1, 0, [](double x, double a, double b) { return a * x + b; }},
    {"leakyrelu", true, false, 0.01, 0,
     [](double x, double a, double) { return x < 0 ? a * x : x; }},
    {"thresholdedrelu", true, false, 1, 0,
     [](double x, double a, double) { return x > a ? x : 0.0; }},
    {"scaledtanh", true, true, 1, 1,
     [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"hardsigmoid", true, true, 0.2, 0.5,
     [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
    {"elu", true, false, 1, 0,
     [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }}};

// Of all directions, one after another. Their arguments stand in lists, of which each takes what it
// needs.
std::vector<Activation> activationsOf(const Call &call, size_t directions,
                                      const std::vector<std::string> &defaults) {
  std::vector<std::string> names = call.texts("activations");
  for (size_t i = 0; names.size() < directions * defaults.size() && i < directions; ++i)
    names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != directions * defaults.size())
    call.fail(
        fmt::format("{} activations in place of {}", names.size(), directions * defaults.size()));
  const std::vector<float> alphas = call.numbers("activation_alpha", {});
  const std::vector<float> betas = call.numbers("activation_beta", {});
  const float clip = call.number("clip", 0);
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> activations;
  for (std::string name : names) {
    for (char &c : name)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    auto kind = std::find_if(std::begin(activationKinds), std::end(activationKinds),
                             [&](const ActivationKind &each) { return each.name == name; });
    if (kind == std::end(activationKinds))
      call.fail(fmt::format("activation '{}' is not known", escape(name)));
    double alpha = kind->alpha, beta = kind->beta;
    if (kind->takesAlpha && nextAlpha < alphas.size())
      alpha = alphas[nextAlpha++];
    if (kind->takesBeta && nextBeta < betas.size())
      beta = betas[nextBeta++];
    activations.push_back([run = kind->run, alpha, beta, clip](double x) {
      return run(clip > 0 ? std::clamp<double>(x, -clip, clip) : x, alpha, beta);
    });
  }
  return activations;
}

// The sizes of a layer, checked.
struct Sizes {
  int64_t steps, batch, inputs, hidden, directions, gates;
  bool batchFirst, backward;    // the first direction's sense
  std::vector<int64_t> lengths; // of each sequence
};

void checkShape(const Call &call, size_t input, const Shape &shape) {
  if (call.has(input) && call.shape(input) != shape)
    call.fail(fmt::format("input {} has the shape {} in place of {}", input,
                          formatShape(call.shape(input)), formatShape(shape)));
}

Sizes readSizes(const Call &call, int64_t gates) {
  checkRank(call, 0, 3, 3);
  checkRank(call, 1, 3, 3);
  checkRank(call, 2, 3, 3);
  const std::string direction = call.choice("direction", {"forward", "reverse", "bidirectional"});
  Sizes sizes;
  sizes.gates = gates;
  sizes.batchFirst = call.flag("layout", false);
  sizes.backward = direction == "reverse";
  sizes.directions = direction == "bidirectional" ? 2 : 1;
  const Shape &x = call.shape(0);
  sizes.steps = x[sizes.batchFirst ? 1 : 0];
  sizes.batch = x[sizes.batchFirst ? 0 : 1];
  sizes.inputs = x[2];
  sizes.hidden = call.shape(2)[2];
  const int64_t rows = gates * sizes.hidden;
  checkShape(call, 1, {sizes.directions, rows, sizes.inputs});
  checkShape(call, 2, {sizes.directions, rows, sizes.hidden});
  checkShape(call, 3, {sizes.directions, 2 * rows});
  for (size_t state : {5, 6})
    checkShape(call, state,
               sizes.batchFirst ? Shape{sizes.batch, sizes.directions, sizes.hidden}
                                : Shape{sizes.directions, sizes.batch, sizes.hidden});
  checkShape(call, 7, {sizes.directions, 3 * sizes.hidden});
  sizes.lengths.assign(sizes.batch, sizes.steps);
  if (call.has(4))
    sizes.lengths = call.integers(4, "sequence_lens");
  if (static_cast<int64_t>(sizes.lengths.size()) != sizes.batch)
    call.fail(fmt::format("{} sequence_lens for a batch of {}", sizes.lengths.size(), sizes.batch));
  for (int64_t length : sizes.lengths)
    if (length < 0 || length > sizes.steps)
      call.fail(fmt::format("a sequence of {} steps among {}", length, sizes.steps));
  return sizes;
}

template <typename T> constexpr DType typeOf = std::is_same_v<T, double> ? DType::F64 : DType::F32;

// Rows as columns.
template <typename T> std::vector<T> turned(const T *matrix, int64_t rows, int64_t columns) {
  std::vector<T> result(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = matrix[i * columns + j];
  return result;
}

// What one direction of a layer computes with: the weights of the states as columns, a column for
// each gate's elements, and the states of the whole batch.
template <typename T> struct Direction {
  std::vector<T> weights, bias; // of the states
  const Activation *activations;
  const T *peepholes;        // null: none
  std::vector<T> h, c;       // the states
  std::vector<T> gates;      // of this step, a row for each sequence; from the inputs at first
  std::vector<T> newH, newC; // to be computed

  // columns [first, last) of the gates += states * weights
  void addStates(const Sizes &sizes, const std::vector<T> &states, int64_t first, int64_t last) {
    const int64_t width = sizes.gates * sizes.hidden;
    if (gates.empty())
      return;
    multiplyAddShared(sizes.batch, last - first, sizes.hidden, states.data(), sizes.hidden,
                      static_cast<const T *>(weights.data() + first), width, gates.data() + first,
                      width);
  }
  // Calls use(row, i, gate row, at) for each sequence and element of its state.
  template <typename Use> void forEach(const Sizes &sizes, Use use) {
    for (int64_t row = 0; row < sizes.batch; ++row)
      for (int64_t i = 0; i < sizes.hidden; ++i)
        use(i, gates.data() + row * sizes.gates * sizes.hidden, row * sizes.hidden + i);
  }
};

// Runs a layer, whose cells compute newH and newC of a direction in one step by cell(direction).
// Biases of the states' columns from `splitBias` on are left to the cell.
template <typename T, typename Cell>
void runLayer(Call &call, const Sizes &sizes, const std::vector<std::string> &defaults,
              int64_t splitBias, Cell cell) {
  const std::vector<Activation> activations =
      activationsOf(call, static_cast<size_t>(sizes.directions), defaults);
  const int64_t hidden = sizes.hidden, batch = sizes.batch, width = sizes.gates * hidden;
  const int64_t states = batch * hidden, directions = sizes.directions;
  const Numbers<T> x(call.input(0)), w(call.input(1)), r(call.input(2));
  std::optional<Numbers<T>> b, h, c, p;
  if (call.has(3))
    b.emplace(call.input(3));
  if (call.has(5))
    h.emplace(call.input(5));
  if (call.has(6))
    c.emplace(call.input(6));
  if (call.has(7))
    p.emplace(call.input(7));
  const DType type = call.input(0).dtype;
  const Shape last =
      sizes.batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  Results<T> all(call, type,
                 sizes.batchFirst ? Shape{batch, sizes.steps, directions, hidden}
                                  : Shape{sizes.steps, directions, batch, hidden}),
      lastH(call, type, last), lastC(call, type, last);
  for (int64_t d = 0; d < directions; ++d) {
    auto state = [&](int64_t row) {
      return (sizes.batchFirst ? row * directions + d : d * batch + row) * hidden;
    };
    Direction<T> direction;
    direction.weights = turned(r.data() + d * width * hidden, width, hidden);
    direction.bias.assign(b ? b->data() + d * 2 * width + width : nullptr,
                          b ? b->data() + (d + 1) * 2 * width : nullptr);
    direction.bias.resize(width);
    direction.activations = activations.data() + d * static_cast<int64_t>(defaults.size());
    direction.peepholes = p ? p->data() + d * 3 * hidden : nullptr;
    direction.h.assign(states, T());
    direction.c = direction.newH = direction.newC = direction.h;
    for (int64_t row = 0; row < batch; ++row)
      for (int64_t i = 0; i < hidden; ++i) {
        direction.h[row * hidden + i] = h ? (*h)[state(row) + i] : 0;
        direction.c[row * hidden + i] = c ? (*c)[state(row) + i] : 0;
      }
    // The inputs' part of all gates, at once.
    Results<T> inputs(call, typeOf<T>, {sizes.steps * batch, width});
    for (int64_t i = 0; i < sizes.steps * batch; ++i)
      for (int64_t j = 0; j < width; ++j)
        inputs[i * width + j] =
            (b ? (*b)[d * 2 * width + j] : 0) + (j < splitBias ? direction.bias[j] : 0);
    const std::vector<T> columns = turned(w.data() + d * width * sizes.inputs, width, sizes.inputs);
    multiplyAddShared(sizes.steps * batch, width, sizes.inputs, x.data(), sizes.inputs,
                      columns.data(), width, inputs.data(), width);
    direction.gates.resize(batch * width);
    const bool backward = sizes.backward || d == 1;
    for (int64_t step = 0; step < sizes.steps; ++step) {
      auto time = [&](int64_t row) { // which a sequence is at; -1: it has ended
        return step >= sizes.lengths[row] ? -1 : backward ? sizes.lengths[row] - 1 - step : step;
      };
      for (int64_t row = 0; row < batch; ++row) {
        const int64_t at = std::max<int64_t>(time(row), 0);
        const int64_t from = sizes.batchFirst ? row * sizes.steps + at : at * batch + row;
        std::copy_n(inputs.data() + from * width, width, direction.gates.data() + row * width);
      }
      cell(direction);
      for (int64_t row = 0; row < batch; ++row) {
        const int64_t at = time(row);
        if (at < 0)
          continue;
        std::copy_n(direction.newH.data() + row * hidden, hidden,
                    direction.h.data() + row * hidden);
        std::copy_n(direction.newC.data() + row * hidden, hidden,
                    direction.c.data() + row * hidden);
        const int64_t to = sizes.batchFirst ? (row * sizes.steps + at) * directions + d
                                            : (at * directions + d) * batch + row;
        std::copy_n(direction.h.data() + row * hidden, hidden, all.data() + to * hidden);
      }
    }
    for (int64_t row = 0; row < batch; ++row) {
      std::copy_n(direction.h.data() + row * hidden, hidden, lastH.data() + state(row));
      std::copy_n(direction.c.data() + row * hidden, hidden, lastC.data() + state(row));
    }
  }
  call.set(all.take());
  call.set(lastH.take(), 1);
  call.set(lastC.take(), 2);
}

template <typename Run> void withFloats(const Call &call, Run run) {
  const DType type = call.input(0).dtype;
  if (!isFloat(type))
    call.fail(fmt::format("is not defined on {}", name(type)));
  type == DType::F64 ? run(double()) : run(float());
}

void rnn(Call &call) {
  const Sizes sizes = readSizes(call, 1);
  withFloats(call, [&](auto zero) {
    using T = decltype(zero);
    runLayer<T>(call, sizes, {"Tanh"}, sizes.hidden, [&](Direction<T> &direction) {
      direction.addStates(sizes, direction.h, 0, sizes.hidden);
      direction.forEach(sizes, [&](int64_t i, const T *gates, int64_t at) {
        direction.newH[at] =
            static_cast<T>(direction.activations[0](static_cast<double>(gates[i])));
      });
    });
  });
}

void gru(Call &call) {
  const Sizes sizes = readSizes(call, 3);
  const int64_t n = sizes.hidden;
  const bool linear = call.flag("linear_before_reset", false);
  withFloats(call, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> update(sizes.batch * n), reset(sizes.batch * n);
    runLayer<T>(
        call, sizes, {"Sigmoid", "Tanh"}, linear ? 2 * n : 3 * n, [&](Direction<T> &direction) {
          const Activation &f = direction.activations[0], &g = direction.activations[1];
          direction.addStates(sizes, direction.h, 0, 2 * n);
          direction.forEach(sizes, [&](int64_t i, const T *gates, int64_t at) {
            update[at] = static_cast<T>(f(static_cast<double>(gates[i])));
            reset[at] = static_cast<T>(f(static_cast<double>(gates[n + i])));
            direction.newC[at] = gates[2 * n + i]; // the inputs' part of the candidate
            direction.newH[at] = linear ? direction.h[at] : reset[at] * direction.h[at];
          });
          // Now the states' part stands in its columns.
          direction.forEach(sizes, [&](int64_t i, T *gates, int64_t) {
            gates[2 * n + i] = linear ? direction.bias[2 * n + i] : 0;
          });
          direction.addStates(sizes, direction.newH, 2 * n, 3 * n);
          direction.forEach(sizes, [&](int64_t i, const T *gates, int64_t at) {
            const T states = gates[2 * n + i] * (linear ? reset[at] : 1);
            const T candidate = static_cast<T>(g(static_cast<double>(direction.newC[at] + states)));
            direction.newH[at] = (1 - update[at]) * candidate + update[at] * direction.h[at];
          });
        });
  });
}

void lstm(Call &call) {
  const Sizes sizes = readSizes(call, 4);
  const int64_t n = sizes.hidden;
  const bool coupled = call.flag("input_forget", false);
  withFloats(call, [&](auto zero) {
    using T = decltype(zero);
    runLayer<T>(call, sizes, {"Sigmoid", "Tanh", "Tanh"}, 4 * n, [&](Direction<T> &direction) {
      const Activation *run = direction.activations;
      const T *peepholes = direction.peepholes;
      direction.addStates(sizes, direction.h, 0, 4 * n);
      direction.forEach(sizes, [&](int64_t i, const T *gates, int64_t at) {
        // Gates are: input, output, forget, cell.
        auto gate = [&](int64_t index, T state) {
          return run[0](static_cast<double>(gates[index * n + i] +
                                            (peepholes ? peepholes[index * n + i] * state : 0)));
        };
        const T old = direction.c[at];
        const double input = gate(0, old), forget = coupled ? 1 - input : gate(2, old);
        const double candidate = run[1](static_cast<double>(gates[3 * n + i]));
        const double state = forget * static_cast<double>(old) + input * candidate;
        direction.newC[at] = static_cast<T>(state);
        direction.newH[at] = static_cast<T>(gate(1, static_cast<T>(state)) * run[2](state));
      });
    });
  });
}

} // namespace

KernelTable recurrentKernels() { return {{"GRU", gru}, {"LSTM", lstm}, {"RNN", rnn}}; }

} // namespace tilewright::host

// Reductions along dimensions, arguments of extremes and running sums.
#include "lanes.h"

#include <cmath>
#include <limits>

namespace tilewright::host {

namespace {

// The dimensions that a reduction goes over: an attribute in older operator sets, later an input.
std::vector<int64_t> reducedAxes(const Call &call) {
  std::vector<int64_t> axes = call.integers("axes", {});
  if (call.has(1))
    axes = call.integers(1, "axes");
  if (axes.empty() && !call.flag("noop_with_empty_axes", false))
    for (int64_t d = 0; d < call.rank(0); ++d)
      axes.push_back(d);
  return call.axes(axes, call.rank(0));
}

Shape reducedShape(const Call &call, const std::vector<int64_t> &axes) {
  const bool keeps = call.flag("keepdims", true);
  Shape shape;
  for (int64_t d = 0; d < call.rank(0); ++d) {
    if (!std::binary_search(axes.begin(), axes.end(), d))
      shape.push_back(call.shape(0)[d]);
    else if (keeps)
      shape.push_back(1);
  }
  return shape;
}

// f(row, length) for each row, in the wide type of the input.
template <typename F> void reduce(Call &call, F f) {
  const DType type = call.input(0).dtype, wide = wideType(type);
  const std::vector<int64_t> axes = reducedAxes(call);
  Tensor result = call.make(wide, reducedShape(call, axes));
  Lanes lanes = lanesAlong(call, call.input(0), axes, wide);
  withWide(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](const T *row, int64_t i) {
      result.data<T>()[i] = converted<T>(f(row, lanes.length));
    });
  });
  call.set(narrowed(std::move(result), type));
}

// What sums are kept in: integers wrap.
template <typename T> using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T, typename F> Total<T> total(const T *row, int64_t length, F f) {
  Total<T> sum = 0;
  for (int64_t i = 0; i < length; ++i)
    sum += f(static_cast<Total<T>>(row[i]));
  return sum;
}

template <typename T> Total<T> sumOf(const T *row, int64_t length) {
  return total(row, length, [](auto x) { return x; });
}

template <typename T> Total<T> sumOfSquares(const T *row, int64_t length) {
  return total(row, length, [](auto x) { return x * x; });
}

void reduceSum(Call &call) {
  reduce(call, [](auto *row, int64_t length) { return sumOf(row, length); });
}

void reduceSumSquare(Call &call) {
  reduce(call, [](auto *row, int64_t length) { return sumOfSquares(row, length); });
}

void reduceL1(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    using T = std::decay_t<decltype(*row)>;
    Total<T> sum = 0;
    for (int64_t i = 0; i < length; ++i)
      sum += row[i] < 0 ? -static_cast<Total<T>>(row[i]) : static_cast<Total<T>>(row[i]);
    return sum;
  });
}

void reduceL2(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    return std::sqrt(static_cast<double>(sumOfSquares(row, length)));
  });
}

void reduceLogSum(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    return std::log(static_cast<double>(sumOf(row, length)));
  });
}

void reduceLogSumExp(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < length; ++i)
      largest = std::max(largest, static_cast<double>(row[i]));
    if (std::isinf(largest))
      return largest;
    for (int64_t i = 0; i < length; ++i)
      sum += std::exp(static_cast<double>(row[i]) - largest);
    return std::log(sum) + largest;
  });
}

void reduceMean(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    using T = std::decay_t<decltype(*row)>;
    if constexpr (std::is_integral_v<T>)
      return length ? static_cast<T>(sumOf(row, length)) / static_cast<T>(length) : T(0);
    else
      return sumOf(row, length) / static_cast<double>(length);
  });
}

void reduceProd(Call &call) {
  reduce(call, [](auto *row, int64_t length) {
    Total<std::decay_t<decltype(*row)>> product = 1;
    for (int64_t i = 0; i < length; ++i)
      product *= static_cast<decltype(product)>(row[i]);
    return product;
  });
}

// The first element that stands before all others by `precedes`, or what is no number. `none` is
// the extreme of no elements.
template <typename Precedes> void reduceExtreme(Call &call, bool isMax, Precedes precedes) {
  const DType type = call.input(0).dtype;
  const double infinity = std::numeric_limits<double>::infinity();
  const int bits = type == DType::Bool ? 1 : 8 * static_cast<int>(byteSize(type));
  const int64_t least = isSigned(type) ? INT64_MIN >> (64 - bits) : 0;
  const int64_t most = isSigned(type) ? ~least : static_cast<int64_t>(UINT64_MAX >> (64 - bits));
  reduce(call, [&](auto *row, int64_t length) {
    using T = std::decay_t<decltype(*row)>;
    if (length == 0)
      return std::is_integral_v<T> ? static_cast<T>(isMax ? least : most)
                                   : static_cast<T>(isMax ? -infinity : infinity);
    T best = row[0];
    for (int64_t i = 1; i < length; ++i)
      if (precedes(row[i], best) || row[i] != row[i])
        best = row[i];
    return best;
  });
}

void reduceMax(Call &call) {
  reduceExtreme(call, true, [](auto a, auto b) { return a > b; });
}

void reduceMin(Call &call) {
  reduceExtreme(call, false, [](auto a, auto b) { return a < b; });
}

template <typename Precedes> void argument(Call &call, Precedes precedes) {
  const bool isLast = call.flag("select_last_index", false);
  const std::vector<int64_t> axes = {call.axis(call.integer("axis", 0), call.rank(0))};
  Tensor result = call.make(DType::I64, reducedShape(call, axes));
  const DType wide = wideType(call.input(0).dtype);
  Lanes lanes = lanesAlong(call, call.input(0), axes, wide);
  if (lanes.length == 0 && lanes.count > 0)
    call.fail("it looks for the index of one of no elements");
  withWide(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](const T *row, int64_t lane) {
      int64_t best = 0;
      for (int64_t i = 1; i < lanes.length; ++i)
        if (precedes(row[i], row[best]) || (isLast && row[i] == row[best]))
          best = i;
      result.data<int64_t>()[lane] = best;
    });
  });
  call.set(std::move(result));
}

void argMax(Call &call) {
  argument(call, [](auto a, auto b) { return a > b; });
}

void argMin(Call &call) {
  argument(call, [](auto a, auto b) { return a < b; });
}

// Each element becomes f of those up to it, or without itself when `exclusive`.
template <typename F> void cumulate(Call &call, int start, F f) {
  const int64_t axis = call.axis(call.integerScalar(1, "axis"), call.rank(0));
  const bool isExclusive = call.flag("exclusive", false), isReverse = call.flag("reverse", false);
  const DType type = call.input(0).dtype, wide = wideType(type);
  Lanes lanes = lanesAlong(call, call.input(0), {axis}, wide);
  withWide(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) {
      auto running = static_cast<Total<T>>(start);
      for (int64_t k = 0; k < lanes.length; ++k) {
        T &element = row[isReverse ? lanes.length - 1 - k : k];
        const Total<T> before = running;
        running = f(running, static_cast<Total<T>>(element));
        element = static_cast<T>(isExclusive ? before : running);
      }
    });
  });
  call.set(narrowed(fromLanes(std::move(lanes)), type));
}

void cumSum(Call &call) {
  cumulate(call, 0, [](auto a, auto b) { return a + b; });
}

void cumProd(Call &call) {
  cumulate(call, 1, [](auto a, auto b) { return a * b; });
}

} // namespace

KernelTable reductionKernels() {
  return {{"ArgMax", argMax},
          {"ArgMin", argMin},
          {"CumProd", cumProd},
          {"CumSum", cumSum},
          {"ReduceL1", reduceL1},
          {"ReduceL2", reduceL2},
          {"ReduceLogSum", reduceLogSum},
          {"ReduceLogSumExp", reduceLogSumExp},
          {"ReduceMax", reduceMax},
          {"ReduceMean", reduceMean},
          {"ReduceMin", reduceMin},
          {"ReduceProd", reduceProd},
          {"ReduceSum", reduceSum},
          {"ReduceSumSquare", reduceSumSquare}};
}

} // namespace tilewright::host

#include "histogram.h"

#include <algorithm>
#include <cmath>

namespace tilewright::quantization {

void Histogram::add(const float *values, int64_t count) {
  if (high <= low) {
    counts[0] += count;
    return;
  }
  float offset = static_cast<float>(low), factor = static_cast<float>(bins / (high - low));
  const auto last = static_cast<float>(bins - 1);
  for (int64_t i = 0; i < count; ++i) {
    const float at = (values[i] - offset) * factor; // a mask's may be infinite
    ++counts[static_cast<int>(at > 0 ? std::min(at, last) : 0)];
  }
}

int64_t Histogram::total() const {
  int64_t sum = 0;
  for (int64_t count : counts)
    sum += count;
  return sum;
}

namespace {

// Without the tails in which all functions are constant, up to a step of the range.
Range cutFlatTails(Range range, const Functions &functions) {
  constexpr int steps = 4096;
  auto at = [&](int step) { return range.low + step * (range.high - range.low) / steps; };
  auto flat = [&](int a, int b) {
    return std::all_of(functions.begin(), functions.end(),
                       [&](auto &f) { return f(at(a)) == f(at(b)); });
  };
  int first = 0, last = steps;
  while (first < last && flat(0, first + 1))
    ++first;
  while (last > first && flat(steps, last - 1))
    --last;
  return {at(first), at(last)};
}

// The range that holds `fraction` of the values, cut evenly at both ends.
Range percentileRange(const Histogram &histogram, double fraction) {
  double cut = (1 - fraction) / 2 * double(histogram.total());
  int first = 0, last = Histogram::bins - 1;
  for (double seen = double(histogram.counts[first]); seen <= cut && first < last;)
    seen += double(histogram.counts[++first]);
  for (double seen = double(histogram.counts[last]); seen <= cut && last > first;)
    seen += double(histogram.counts[--last]);
  double width = (histogram.high - histogram.low) / Histogram::bins;
  return {histogram.low + first * width, histogram.low + (last + 1) * width};
}

// The functions' values at the centers of the bins: [function][bin].
std::vector<std::vector<double>> valuesAtBins(const Histogram &histogram,
                                              const Functions &functions) {
  std::vector<std::vector<double>> values;
  for (auto &f : functions) {
    values.emplace_back(Histogram::bins);
    for (int bin = 0; bin < Histogram::bins; ++bin)
      values.back()[bin] = f(histogram.center(bin));
  }
  return values;
}

// How far a value is from the representable ones; what rounds to one of them is not outside: the
// zero point's own rounding moves both ends of the range by up to half a step.
double beyond(double value, const Parameters &parameters) {
  double outside = std::max({parameters.lowest() - value, value - parameters.highest(), 0.0});
  return outside > parameters.scale / 2 ? outside : 0;
}

// Sum of squared errors that quantization makes of the tensor itself.
double squaredError(const Histogram &histogram, const Parameters &parameters) {
  double step = parameters.scale, error = 0;
  for (int bin = 0; bin < Histogram::bins; ++bin) {
    if (histogram.counts[bin] == 0)
      continue;
    double outside = beyond(histogram.center(bin), parameters);
    // Bins may be wider than a step: inside the range the error is uniform noise.
    error += double(histogram.counts[bin]) * (outside > 0 ? outside * outside : step * step / 12);
  }
  return error;
}

// The same of the functions' results; `exact` is valuesAtBins.
double squaredError(const Histogram &histogram, const Parameters &parameters,
                    const Functions &functions, const std::vector<std::vector<double>> &exact) {
  double error = 0;
  std::vector<double> level(parameters.greatest() - parameters.least() + 1);
  for (size_t i = 0; i < functions.size(); ++i) {
    for (size_t q = 0; q < level.size(); ++q)
      level[q] = functions[i](parameters.real(parameters.least() + int64_t(q)));
    for (int bin = 0; bin < Histogram::bins; ++bin) {
      if (histogram.counts[bin] == 0)
        continue;
      double difference =
          level[parameters.quantize(histogram.center(bin)) - parameters.least()] - exact[i][bin];
      error += difference * difference * double(histogram.counts[bin]);
    }
  }
  return error;
}

// Calls `score` with ranges that cut either end by growing amounts; returns the one with the least
// score.
template <typename Score> Range searchRange(Range whole, Score score) {
  constexpr int steps = 40;
  constexpr double least = 0.2; // of the range's end
  Range best = whole;
  double bestScore = score(whole);
  // The ends are searched one after the other, twice: they hardly depend on each other.
  for (int round = 0; round < 2; ++round)
    for (bool upper : {true, false}) {
      Range fixed = best;
      for (int step = 1; step <= steps; ++step) {
        double factor = 1 - (1 - least) * step / steps;
        Range candidate = fixed;
        (upper ? candidate.high : candidate.low) = (upper ? whole.high : whole.low) * factor;
        double candidateScore = score(candidate);
        if (candidateScore < bestScore) {
          bestScore = candidateScore;
          best = candidate;
        }
      }
    }
  return best;
}

// Kullback-Leibler divergence of the distribution that 8-bit parameters leave from the true one.
double divergence(const Histogram &histogram, const Parameters &parameters) {
  const int64_t levels = parameters.greatest() - parameters.least() + 1;
  std::vector<double> mass(levels, 0), occupied(levels, 0);
  std::vector<int64_t> levelOf(Histogram::bins);
  double total = double(histogram.total());
  for (int bin = 0; bin < Histogram::bins; ++bin) {
    levelOf[bin] = parameters.quantize(histogram.center(bin)) - parameters.least();
    bool clipped = beyond(histogram.center(bin), parameters) > 0;
    // Clipped values keep their place in the true distribution, and are missing there in the other.
    if (!clipped)
      mass[levelOf[bin]] += double(histogram.counts[bin]);
    if (!clipped && histogram.counts[bin] > 0)
      occupied[levelOf[bin]] += 1;
  }
  constexpr double floor =
      1e-9; // a bin that the other distribution lacks costs much, not everything
  double sum = 0;
  for (int bin = 0; bin < Histogram::bins; ++bin) {
    if (histogram.counts[bin] == 0)
      continue;
    double p = double(histogram.counts[bin]) / total;
    bool clipped = beyond(histogram.center(bin), parameters) > 0;
    double q = clipped ? 0 : mass[levelOf[bin]] / occupied[levelOf[bin]] / total;
    sum += p * std::log(p / std::max(q, floor));
  }
  return sum;
}

} // namespace

Range usedRange(Range range, const Functions &functions) {
  constexpr double little = 1.0 / 64; // of a range: a step of it may be longer than what is used
  // Of a step at 0 nothing is used but the sign, which needs a scale all the same.
  const double least = (range.high - range.low) / (1 << 16);
  for (double before = HUGE_VAL; !functions.empty() && range.high - range.low < little * before;) {
    before = range.high - range.low;
    const Range cut = cutFlatTails(range, functions);
    if (cut.high - cut.low < least)
      break;
    range = cut;
  }
  return range;
}

Parameters chooseParameters(const Histogram &histogram, const QuantizeOptions &options,
                            const Functions &functions) {
  const Range whole =
      usedRange({std::min(histogram.low, 0.0), std::max(histogram.high, 0.0)}, functions);
  Range range = whole;
  switch (options.method) {
  case Calibration::MinMax:
    break;
  case Calibration::Percentile: {
    Range inner = percentileRange(histogram, options.percentile / 100);
    range = {std::max(whole.low, inner.low), std::min(whole.high, inner.high)};
    break;
  }
  case Calibration::Mse: {
    std::vector<std::vector<double>> exact = valuesAtBins(histogram, functions);
    range = searchRange(whole, [&](Range candidate) {
      Parameters parameters = asymmetric8(candidate.low, candidate.high);
      return functions.empty() ? squaredError(histogram, parameters)
                               : squaredError(histogram, parameters, functions, exact);
    });
    break;
  }
  case Calibration::Entropy:
    range = searchRange(whole, [&](Range candidate) {
      return divergence(histogram, asymmetric8(candidate.low, candidate.high));
    });
    break;
  }
  return asymmetric8(range.low, range.high);
}

} // namespace tilewright::quantization

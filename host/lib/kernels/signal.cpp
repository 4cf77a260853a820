// Fourier transforms, and the windows and weights around them.
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cmath>
#include <complex>
#include <fmt/format.h>

namespace tilewright::host {

namespace {

using Complex = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

// A discrete Fourier transform of one length: by the smallest prime factor p of the length, as p
// transforms of every p-th number, which are then put together.
class Fourier {
public:
  Fourier(int64_t length, bool inverse) : inverse_(inverse) {
    for (int64_t i = 0; i < length; ++i)
      roots_.push_back(std::polar(1.0, (inverse ? 2 : -2) * pi * static_cast<double>(i) /
                                           static_cast<double>(length)));
  }

  int64_t length() const { return static_cast<int64_t>(roots_.size()); }

  void run(const std::vector<Complex> &source, std::vector<Complex> &result) const {
    result.resize(roots_.size());
    if (!roots_.empty())
      run(source.data(), 1, length(), result.data());
    for (Complex &each : result)
      if (inverse_)
        each /= static_cast<double>(length());
  }

private:
  void run(const Complex *source, int64_t stride, int64_t n, Complex *result) const {
    if (n == 1) {
      *result = *source;
      return;
    }
    int64_t p = 2;
    while (n % p != 0 && p * p <= n)
      ++p;
    if (n % p != 0)
      p = n;
    const int64_t m = n / p, step = length() / n;
    for (int64_t r = 0; r < p; ++r)
      run(source + r * stride, stride * p, m, result + r * m);
    std::vector<Complex> parts(p);
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t r = 0; r < p; ++r)
        parts[r] = result[r * m + k] * roots_[r * k * step];
      for (int64_t q = 0; q < p; ++q) {
        Complex sum = parts[0];
        for (int64_t r = 1; r < p; ++r)
          sum += parts[r] * roots_[r * q % p * (length() / p)];
        result[q * m + k] = sum;
      }
    }
  }

  std::vector<Complex> roots_;
  bool inverse_;
};

// A tensor whose last dimension holds real parts, or real and imaginary parts.
class Signal {
public:
  Signal(const Call &call, size_t input)
      : parts_(call.shape(input).back()), numbers_(call.input(input)) {
    if (parts_ != 1 && parts_ != 2)
      call.fail(fmt::format("its signal has the shape {}, the last dimension of which should be 1 "
                            "or 2",
                            formatShape(call.shape(input))));
  }

  Complex at(int64_t index) const {
    return {numbers_[index * parts_], parts_ == 2 ? numbers_[index * parts_ + 1] : 0};
  }

private:
  int64_t parts_;
  Numbers<double> numbers_;
};

int64_t checkedLength(const Call &call, int64_t length) {
  if (length < 1 || length > 1 << 26)
    call.fail(fmt::format("a transform of {} numbers", length));
  // It takes as many steps for each number as the largest prime factor.
  int64_t rest = length;
  for (int64_t factor = 2; factor * factor <= rest; ++factor)
    while (rest % factor == 0 && rest > factor)
      rest /= factor;
  if (length * rest > int64_t(1) << 32)
    call.fail(
        fmt::format("a transform of {} numbers, which has the prime factor {}", length, rest));
  return length;
}

void dft(Call &call) {
  checkRank(call, 0, 2);
  const Shape &from = call.shape(0);
  const bool inverse = call.flag("inverse", false), half = call.flag("onesided", false);
  const int64_t axis = call.axis(call.has(2)          ? call.integerScalar(2, "axis")
                                 : call.opset() >= 20 ? -2
                                                      : call.integer("axis", 1),
                                 call.rank(0));
  if (axis == call.rank(0) - 1)
    call.fail("the axis is that of real and imaginary parts");
  const bool completes = inverse && half; // a real signal from the first half of its transform
  const int64_t length =
      checkedLength(call, call.has(1) ? call.integerScalar(1, "dft_length")
                                      : (completes ? 2 * (from[axis] - 1) : from[axis]));
  Shape shape = from;
  shape[axis] = half && !inverse ? length / 2 + 1 : length;
  shape.back() = completes ? 1 : 2;
  Results<double> result(call, call.input(0).dtype, shape);
  const Signal signal(call, 0);
  const Fourier fourier(length, inverse);
  const int64_t outer = countBetween(from, 0, axis);
  const int64_t inner = countBetween(from, axis + 1, from.size() - 1);
  std::vector<Complex> source(length), target;
  for (int64_t row = 0; row < outer * inner; ++row) {
    const int64_t start = row / inner * from[axis] * inner + row % inner;
    for (int64_t i = 0; i < length; ++i)
      source[i] = i < from[axis] ? signal.at(start + i * inner) : 0;
    if (completes) {
      source[0] = source[0].real();
      for (int64_t i = length / 2 + 1; i < length; ++i)
        source[i] = std::conj(source[length - i]);
      if (length % 2 == 0)
        source[length / 2] = source[length / 2].real();
    }
    fourier.run(source, target);
    for (int64_t i = 0; i < shape[axis]; ++i) {
      const int64_t to = (row / inner * shape[axis] + i) * inner + row % inner;
      result[to * shape.back()] = target[i].real();
      if (!completes)
        result[to * 2 + 1] = target[i].imag();
    }
  }
  call.set(result.take());
}

void stft(Call &call) {
  checkRank(call, 0, 3, 3);
  const Shape &from = call.shape(0);
  const int64_t step = call.integerScalar(1, "frame_step");
  int64_t length = from[1];
  if (call.has(3))
    length = call.integerScalar(3, "frame_length");
  else if (call.has(2))
    length = call.input(2).elements();
  checkedLength(call, length);
  if (step < 1 || length > from[1])
    call.fail(fmt::format("frames of {} with a step of {} in {}", length, step, from[1]));
  const int64_t frames = 1 + (from[1] - length) / step;
  const int64_t bins = call.flag("onesided", true) ? length / 2 + 1 : length;
  std::optional<Numbers<double>> window;
  if (call.has(2))
    window.emplace(call.input(2));
  if (window && window->size() > length)
    call.fail(fmt::format("a window of {} for frames of {}", window->size(), length));
  const Signal signal(call, 0);
  Results<double> result(call, call.input(0).dtype, {from[0], frames, bins, 2});
  const Fourier fourier(length, false);
  std::vector<Complex> source(length), target;
  for (int64_t i = 0; i < from[0] * frames; ++i) {
    for (int64_t j = 0; j < length; ++j)
      source[j] = window && j >= window->size()
                      ? 0
                      : signal.at(i / frames * from[1] + i % frames * step + j) *
                            (window ? (*window)[j] : 1);
    fourier.run(source, target);
    for (int64_t j = 0; j < bins; ++j) {
      result[(i * bins + j) * 2] = target[j].real();
      result[(i * bins + j) * 2 + 1] = target[j].imag();
    }
  }
  call.set(result.take());
}

// a - b * cos(x) + c * cos(2 x), once around.
void cosineWindow(Call &call, double a, double b, double c) {
  const int64_t size = call.integerScalar(0, "size");
  Tensor result = call.make(call.type("output_datatype", DType::F32), {size});
  const double period = static_cast<double>(call.flag("periodic", true) ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) {
    const double x = period == 0 ? 0 : 2 * pi * static_cast<double>(i) / period;
    const double value = a - b * std::cos(x) + c * std::cos(2 * x);
    if (isFloat(result.dtype))
      setFloat(result, i, value);
    else
      setInteger(result, i, static_cast<int64_t>(value));
  }
  call.set(std::move(result));
}

void hannWindow(Call &call) { cosineWindow(call, 0.5, 0.5, 0); }
void hammingWindow(Call &call) { cosineWindow(call, 25.0 / 46, 21.0 / 46, 0); }
void blackmanWindow(Call &call) { cosineWindow(call, 0.42, 0.5, 0.08); }

void melWeightMatrix(Call &call) {
  const int64_t bands = call.integerScalar(0, "num_mel_bins");
  const int64_t length = checkedLength(call, call.integerScalar(1, "dft_length"));
  const double rate = call.scalar(2, "sample_rate");
  auto mel = [&](size_t input, const char *what) {
    return 2595 * std::log10(1 + call.scalar(input, what) / 700);
  };
  const double low = mel(3, "lower_edge_hertz"), high = mel(4, "upper_edge_hertz");
  const int64_t bins = length / 2 + 1;
  Tensor result = call.make(call.type("output_datatype", DType::F32), {bins, bands});
  auto edge = [&](int64_t i) { // the bin in which edge `i` of the bands lies
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin <= static_cast<double>(bins)))
      call.fail(fmt::format("a frequency of {} among {} bins", hertz, bins));
    return static_cast<int64_t>(bin);
  };
  auto put = [&](int64_t bin, int64_t band, double value) {
    if (bin >= bins)
      call.fail(fmt::format("bin {} of {}", bin, bins));
    isFloat(result.dtype) ? setFloat(result, bin * bands + band, value)
                          : setInteger(result, bin * bands + band, static_cast<int64_t>(value));
  };
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t left = edge(band), center = edge(band + 1), right = edge(band + 2);
    if (left == center)
      put(center, band, 1);
    for (int64_t i = left; i <= center && left < center; ++i)
      put(i, band, static_cast<double>(i - left) / static_cast<double>(center - left));
    for (int64_t i = center; i < right; ++i)
      put(i, band, static_cast<double>(right - i) / static_cast<double>(right - center));
  }
  call.set(std::move(result));
}

} // namespace

KernelTable signalKernels() {
  return {{"BlackmanWindow", blackmanWindow},   {"DFT", dft},
          {"HammingWindow", hammingWindow},     {"HannWindow", hannWindow},
          {"MelWeightMatrix", melWeightMatrix}, {"STFT", stft}};
}

} // namespace tilewright::host

// Rounds weights so that their errors make up for each other (Frantar et al., GPTQ, 2023).
//
//   1. The expected square of what errors e of the weights do to their sum of products is e' * H *
//   e with the moments H of what they are multiplied with. With H = L * D * L', L of unit diagonal,
//   that is the sum of D[k] * (e[k] + sum over i > k of L[i][k] * e[i]) ^ 2.
//   2. From the last weight to the first, each is rounded such that its term is least; where a
//   quarter are zeros, these stay.
//   3. The most used weights come last: they are rounded when many others can still make up for it.
//   4. Where samples are fewer than weights, errors may make up for each other on these samples
//   alone. If they would outweigh the weights on independent inputs, weights become the nearest
//   integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::quantization {

// To the nearest integer, ties to even, for magnitudes below 2^51.
inline double roundEven(double value) {
  constexpr double whole = 3ull << 51; // doubles of this size are integers: adding it rounds
  return value + whole - whole;
}

class Rounding {
public:
  // `moments`: [K, K], of which the lower triangle counts; sums over so many `samples`.
  Rounding(std::vector<double> moments, int64_t samples);

  // Makes K weights, in units of their scale, integers of at most `greatest`.
  void apply(double *weights, double greatest) const;

private:
  bool isWorthless(const std::vector<double> &exact, const double *rounded) const;

  std::vector<std::size_t> order_;
  std::vector<double> factor_; // L, [K, K], in that order
  std::vector<double> uses_;   // its diagonal before, of fewer samples than weights; else empty
};

} // namespace tilewright::quantization

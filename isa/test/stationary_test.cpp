// ctest -R Stationary: which contractions keep their sums in the array, and what is said of those
// that cannot.
#include "tilewright/isa/stationary.h"

#include "description.h"

#include <gtest/gtest.h>

using namespace tilewright::isa;

namespace {

const std::string product = "(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i] - a_zp) * "
                            "(w[v * w_k1 + u * w_k0 + i * w_s0 + j] - w_zp)";

void expectRefusal(const std::string &expr, const std::string &reason) {
  const Isa isa = withOverlay("output-stationary", product, expr);
  const std::string text = diagnosticOf([&] { (void)stationarySums(*isa.find("msum")); });
  EXPECT_NE(text.find("instruction 'msum': error: not output-stationary: " + reason +
                      "\n  fix: docs/microarchitecture.md says which it makes"),
            std::string::npos)
      << text;
}

} // namespace

TEST(Stationary, IsFoundInTheSemantics) {
  // Whichever factor comes first.
  for (const std::string &expr :
       {product, std::string("(w[v * w_k1 + u * w_k0 + i * w_s0 + j] - w_zp) * (a[y * a_s1 + x * "
                             "a_s0 + v * a_k1 + u * a_k0 + i] - a_zp)")}) {
    const Isa isa = withOverlay("output-stationary", product, expr);
    const Instruction &msum = *isa.find("msum");
    const auto sums = stationarySums(msum);
    ASSERT_TRUE(sums.has_value());
    EXPECT_EQ(msum.accesses[sums->activations].operand, msum.operandIndex("a"));
    EXPECT_EQ(msum.accesses[sums->weights].operand, msum.operandIndex("w"));
    EXPECT_FALSE(stationarySums(*isa.find("mmul")).has_value());
    EXPECT_FALSE(stationarySums(*isa.find("mload")).has_value());
  }
}

TEST(Stationary, OthersAreRefused) {
  expectRefusal("(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + 2 * i] - a_zp) * (w[v * w_k1 + u * "
                "w_k0 + i * w_s0 + j] - w_zp)",
                "its activations are not the same for every column, and side by side");
  expectRefusal("(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i + j] - a_zp) * (w[v * w_k1 + u * "
                "w_k0 + i * w_s0 + j] - w_zp)",
                "its activations are not the same for every column, and side by side");
  expectRefusal("(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i] - a_zp) * (w[v * w_k1 + u * "
                "w_k0 + i * w_s0 + 2 * j] - w_zp)",
                "its weights and results are not side by side, a column each");
  expectRefusal("(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i] - a_zp) * (w[x + v * w_k1 + u * "
                "w_k0 + i * w_s0 + j] - w_zp)",
                "its weights are not the same for every pixel");
  expectRefusal("(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i] - a_zp) * (w[v * w_k1 + u * "
                "w_k0 + i * w_s0 + j] - weights[0, j])",
                "it reads more than activations and weights");
}

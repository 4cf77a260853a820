// ctest -R StationaryPattern: by which instructions a convolution can be output-stationary.
#include "tilewright/compiler/patterns/stationary_pattern.h"

#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::patterns;

namespace {

// The shipped overlay with one text in place of another.
isa::Isa standing(const std::string &from = "", const std::string &to = "") {
  std::string text = readFile(sourcePath("isa/what-if/output-stationary.yaml"));
  if (!from.empty()) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  const std::string path = testing::TempDir() + std::to_string(::getpid()) + ".standing.yaml";
  writeFile(path, text);
  isa::LoadOptions options;
  options.overlays = {path};
  isa::Isa isa = isa::load(options);
  std::remove(path.c_str());
  return isa;
}

} // namespace

TEST(StationaryPattern, IsFoundByWhatItComputes) {
  const isa::Isa isa = standing();
  const auto pattern = findStationary(isa);
  ASSERT_TRUE(pattern.has_value());
  const isa::Instruction &msum = *isa.find("msum");
  EXPECT_EQ(pattern->instruction, &msum);
  EXPECT_EQ(pattern->activations, msum.operandIndex("a"));
  EXPECT_EQ(pattern->weights, msum.operandIndex("w"));
  EXPECT_EQ(pattern->sums, msum.operandIndex("d"));
  EXPECT_EQ(pattern->outputs, (std::array{msum.operandIndex("n1"), msum.operandIndex("n0")}));
  EXPECT_EQ(pattern->columns, msum.operandIndex("n"));
  const auto &registers = isa.findUnit("matrix")->registers;
  auto nameOf = [&](int number) { return registers.at(static_cast<size_t>(number)).name; };
  EXPECT_EQ(nameOf(pattern->taps[0]), "taps1");
  EXPECT_EQ(nameOf(pattern->taps[1]), "taps0");
  EXPECT_EQ(nameOf(pattern->depth), "depth");
  EXPECT_EQ(nameOf(pattern->pixelStrides[0]), "a_s1");
  EXPECT_EQ(nameOf(pattern->pixelStrides[1]), "a_s0");
  EXPECT_EQ(nameOf(pattern->sumStrides[0]), "d_s1");
  EXPECT_EQ(nameOf(pattern->sumStrides[1]), "d_s0");
  EXPECT_EQ(nameOf(pattern->tapStrides[0]), "a_k1");
  EXPECT_EQ(nameOf(pattern->tapStrides[1]), "a_k0");
  EXPECT_EQ(nameOf(pattern->weightTapStrides[0]), "w_k1");
  EXPECT_EQ(nameOf(pattern->weightTapStrides[1]), "w_k0");
  EXPECT_EQ(nameOf(pattern->weightStride), "w_s0");
  EXPECT_EQ(nameOf(pattern->activationZeroPoint), "a_zp");
  EXPECT_EQ(nameOf(pattern->weightZeroPoint), "w_zp");
}

TEST(StationaryPattern, FactorsMayBeTurned) {
  const isa::Isa isa = standing(
      "(a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + i] - a_zp) * (w[v * w_k1 + u * w_k0 + i * "
      "w_s0 + j] - w_zp)",
      "(w[v * w_k1 + u * w_k0 + i * w_s0 + j] - w_zp) * (a[y * a_s1 + x * a_s0 + v * a_k1 + u * "
      "a_k0 + i] - a_zp)");
  const auto pattern = findStationary(isa);
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(pattern->activations, pattern->instruction->operandIndex("a"));
  EXPECT_EQ(
      isa.findUnit("matrix")->registers.at(static_cast<size_t>(pattern->weightZeroPoint)).name,
      "w_zp");
}

TEST(StationaryPattern, OthersAreNone) {
  EXPECT_FALSE(findStationary(isa::load({})).has_value());
  for (const auto &[from, to] :
       {std::pair<const char *, const char *>{"init: 0", "init: 7"},
        {"op: \"add\"", "op: \"max\""},
        {"- a_zp) *", "+ a_zp) *"},
        {" - w_zp)", ")"},
        {"+ j] - w_zp", "+ j + 4] - w_zp"},
        {"\"i in depth\"", "\"i in 16\""},
        {"v * w_k1", "v * 2 * w_k1"},
        {"out: \"d[y * d_s1 + x * d_s0 + j]\"", "out: \"d[y * d_s1 + x * 16 + j]\""}})
    EXPECT_FALSE(findStationary(standing(from, to)).has_value()) << to;
}

// ctest -R Expansion: which instructions unpack weights, and how weights are packed for them.
#include "expansion.h"

#include "tilewright/isa/isa.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tilewright {

namespace {

constexpr const char *element = "s[z * s_s2 + y * s_s1 + x]";

// The shipped machine with `load.new`, which moves elements as `load` does unless `to` says
// otherwise.
isa::Isa with(const std::string &source, const std::string &result, const std::string &expr,
              const std::string &to = "z * d_s2 + y * d_s1 + x * d_s0") {
  const std::string path = fmt::format("{}/expansion_test_{}.yaml", testing::TempDir(), ::getpid());
  std::ofstream(path) << fmt::format(
      "schema: \"tilewright/overlay/1\"\nname: \"t\"\nsummary: \"t\"\n"
      "instructions:\n  load.new:\n    name: \"load.new\"\n    summary: \"t\"\n"
      "    unit: \"load\"\n    encode: {{ op: \"0xc0\" }}\n    operands:\n"
      "      s: {{ kind: \"mem\", space: \"dram\", type: \"{}\", access: \"read\" }}\n"
      "      d: {{ kind: \"mem\", space: \"spad\", type: \"{}\", access: \"write\" }}\n"
      "      n1: {{ kind: \"imm\", type: \"u12\" }}\n      n0: {{ kind: \"imm\", type: \"u16\" }}\n"
      "    semantics:\n      map:\n        iter: [ \"z in n2\", \"y in n1\", \"x in n0\" ]\n"
      "        out: \"d[{}]\"\n        expr: \"{}\"\n",
      source, result, to, fmt::format(fmt::runtime(expr), element));
  isa::LoadOptions options;
  options.overlays = {path};
  return isa::load(options);
}

std::unique_ptr<Expansion> made(const isa::Isa &isa) {
  return Expansion::of(isa, *isa.find("load.new"));
}

const char *const nibbles = "cast<i16>((cast<i16>(cast<i4>({0} >> 4)) << 8) | "
                            "cast<i16>(cast<u8>(cast<i4>({0}))))";

} // namespace

TEST(Expansion, PacksWhatTheInstructionUnpacks) {
  const isa::Isa isa = with("u8", "i16", nibbles);
  const auto expansion = made(isa);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->instruction(), "load.new");
  EXPECT_EQ(expansion->dramBytes(), 1);
  EXPECT_EQ(expansion->chipBytes(), 2);
  EXPECT_EQ(expansion->packed({1, 7, -8, -1, 0, 0}), std::string({0x71, '\xf8', 0}));
}

TEST(Expansion, TakesNoWeightThatNoElementBecomes) {
  const isa::Isa isa = with("u8", "i16", nibbles);
  EXPECT_FALSE(made(isa)->packed({1, 7, -9, 0}));
  EXPECT_FALSE(made(isa)->packed({1, 8}));
}

TEST(Expansion, OfSignedElementsAndFourBytes) {
  const isa::Isa isa = with("i16", "i32", "cast<i32>({0} * 3)");
  const auto expansion = made(isa);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->packed({-3, -1, -1, -1}), std::string({-1, -1}));
  EXPECT_FALSE(expansion->packed({-4, -1, -1, -1}));
}

TEST(Expansion, OtherLoadsAreNone) {
  const isa::Isa plain = with("u8", "u8", "{0}");
  EXPECT_FALSE(made(plain)) << "it makes no more bytes than it reads";
  EXPECT_FALSE(Expansion::of(plain, *plain.find("load")));
  EXPECT_FALSE(Expansion::of(plain, *plain.find("load.i8"))) << "it writes accumulators";
  EXPECT_FALSE(Expansion::of(plain, *plain.find("vadd")));
  const isa::Isa other = with("u8", "i16", "cast<i16>({0})", "z * d_s2 + y * d_s1 + x");
  EXPECT_FALSE(made(other)) << "elements go elsewhere";
  const isa::Isa counting = with("u8", "i16", "cast<i16>({0} + n2)");
  EXPECT_FALSE(made(counting)) << "its value depends on a register";
}

} // namespace tilewright

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

// Four weights of a mask in the low byte and two bytes.
const char *const twoOfFour =
    "cast<i32>(((({0}) & 1) == 1 ? ({0} >> 8) & 255 : 0) | "
    "(((({0}) >> 1) & 1) == 1 ? (({0} >> (8 + 8 * ({0} & 1))) & 255) << 8 : 0) | "
    "(((({0}) >> 2) & 1) == 1 ? (({0} >> (8 + 8 * (({0} & 1) + (({0} >> 1) & 1)))) & 255) << 16 : "
    "0))";

TEST(Expansion, OfElementsThatAreTooManyToTry) {
  const isa::Isa isa = with("u24", "i32", twoOfFour);
  const auto expansion = made(isa);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->dramBytes(), 3);
  EXPECT_EQ(expansion->chipBytes(), 4);
  EXPECT_EQ(expansion->packed({-128, 0, 7, 0}), std::string({5, -128, 7}));
  EXPECT_EQ(expansion->packed({0, 9, 0, 0, 0, 0, 0, 0}), std::string({2, 9, 0, 0, 0, 0}));
  EXPECT_FALSE(expansion->packed({1, 1, 2, 0})) << "three weights";
  EXPECT_FALSE(expansion->packed({0, 0, 0, 1})) << "no mask names the last one";
}

TEST(Expansion, OfElementsWhoseFirstByteIsNotTheMask) {
  const isa::Isa isa =
      with("u24", "i32", "cast<i32>({0} >> 23 == 1 ? {0} & 65535 : cast<u32>({0} & 65535) << 16)");
  const auto expansion = made(isa);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->packed({5, 6, 0, 0, 0, 0, 7, 8}), std::string({5, 6, -128, 7, 8, 0}));
}

TEST(Expansion, BitsThatAreCopiedTwiceAgree) {
  const isa::Isa isa = with("u24", "i32", "cast<i32>({0} | (cast<u32>({0} & 255) << 24))");
  const auto expansion = made(isa);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->packed({3, 4, 5, 3}), std::string({3, 4, 5}));
  EXPECT_FALSE(expansion->packed({3, 4, 5, 4}));
}

TEST(Expansion, LongElementsThatAreComputedWithAreNotServed) {
  EXPECT_FALSE(made(with("u24", "i32", "cast<i32>({0} * 3)")));
  EXPECT_FALSE(made(with("u24", "i32", "cast<i32>({0} + ({0} >> 4))")));
}

TEST(BitCopies, OfEveryOperation) {
  BitSources element = constantBits(0);
  for (int16_t i = 0; i < 16; ++i)
    element[static_cast<size_t>(i)].number = i;
  isa::ScalarNames names;
  names.operands = {{"s", {true, 16}}};
  auto bits = [&](const char *text) {
    const std::optional<BitSources> found =
        bitsOf(*isa::normalize(isa::parseScalar(text, names)), element);
    std::vector<int> numbers;
    for (size_t i = 0; found && i < 20; ++i)
      numbers.push_back((*found)[i].number);
    return numbers;
  };
  const std::vector<int> none;
  const int z = BitSource::constant0, o = BitSource::constant1;
  const std::vector<int> whole{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                               10, 11, 12, 13, 14, 15, 15, 15, 15, 15};
  EXPECT_EQ(bits("s[c]"), whole) << "its sign goes on";
  EXPECT_EQ(bits("cast<u4>(s[c])"),
            (std::vector<int>{0, 1, 2, 3, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z}));
  EXPECT_EQ(bits("cast<i32>(cast<i4>(s[c])) << 2"),
            (std::vector<int>{z, z, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(bits("s[c] >> 12"), (std::vector<int>{12, 13, 14, 15, 15, 15, 15, 15, 15, 15,
                                                  15, 15, 15, 15, 15, 15, 15, 15, 15, 15}));
  EXPECT_EQ(bits("cast<u16>(s[c]) >> 14 | 4"),
            (std::vector<int>{14, 15, o, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z}));
  EXPECT_EQ(bits("cast<u2>(s[c]) * 4 + 1"),
            (std::vector<int>{o, z, 0, 1, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z}));
  EXPECT_EQ(bits("cast<u3>(s[c]) ^ 0"),
            (std::vector<int>{0, 1, 2, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z}));
  EXPECT_EQ(bits("(s[c] & 0) == 0 ? cast<u1>(s[c]) : s[c]"),
            (std::vector<int>{0, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z}));
  EXPECT_EQ(bits("s[c] + 1"), none);
  EXPECT_EQ(bits("s[c] ^ 1"), none);
  EXPECT_EQ(bits("s[c] & (s[c] >> 1)"), none);
  EXPECT_EQ(bits("s[c] * 3"), none);
  EXPECT_EQ(bits("1 << cast<u2>(s[c])"), none);
  EXPECT_EQ(bits("s[c] == 0 ? 1 : 2"), none);
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

#include "line_up.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/loops.h"
#include "tilewright/compiler/schedule/stream_check.h"
#include "tilewright/isa/assembler.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

class LineUp : public ::testing::Test {
protected:
  const isa::Isa isa_ = [] {
    isa::LoadOptions options;
    options.target = "edge16";
    return isa::load(options);
  }();

  Stream assembled(const std::string &text) const {
    Stream stream(isa_);
    for (isa::DecodedInstruction &decoded : isa::assemble(isa_, text, "test.s"))
      stream.push_back({decoded, 0});
    return stream;
  }

  std::vector<uint32_t> orderOf(const Stream &stream, size_t atOnce = mostAtOnce) const {
    return lineUp(stream, estimateTimes(stream, isa_, timing::makeTimings(isa_), 0), isa_,
                  *LoopMachine::of(isa_), atOnce);
  }

  Stream lined(const Stream &stream) const {
    Stream made(isa_);
    for (uint32_t number : orderOf(stream))
      made.push_back(stream[number]);
    return made;
  }

  int unitOf(const StreamInstruction &each) const {
    return isa_.instructions()[static_cast<size_t>(each.decoded.instruction)].unit;
  }

  // Whether each number comes once, and those of a unit in their order.
  void expectUnitsKeepTheirOrder(const Stream &stream) const {
    const std::vector<uint32_t> order = orderOf(stream);
    std::vector<uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (uint32_t i = 0; i < stream.size(); ++i)
      ASSERT_EQ(sorted[i], i);
    std::vector<int64_t> last(isa_.units().size(), -1);
    for (uint32_t number : order) {
      int64_t &before = last[static_cast<size_t>(unitOf(stream[number]))];
      EXPECT_LT(before, number);
      before = number;
    }
  }

  // Pairs of weights and products, and before some of them a setting of the vector unit.
  static std::string products(int pairs, const std::vector<int> &settings) {
    std::string text;
    for (int i = 0; i < pairs; ++i) {
      if (std::count(settings.begin(), settings.end(), i) != 0)
        text += fmt::format("vector.set r0=n1, v0={}, r1=n1, v1={}\n", i + 1, i + 1);
      text += fmt::format("mload w={}, k=16, n=16\nmmul a={}, d=0, n1=1, n0=16, k=16, n=16, "
                          "accumulate=0, swap=1\n",
                          256 * i, 16 * i);
    }
    return text;
  }
};

} // namespace

TEST_F(LineUp, WhatOtherUnitsGetInBetweenStandsTogether) {
  const Stream stream = assembled(products(64, {5, 13, 22, 37, 50}) + "halt\n");
  expectUnitsKeepTheirOrder(stream);
  EXPECT_GT(rollLoops(stream, isa_).size(), 20u);
  EXPECT_EQ(rollLoops(lined(stream), isa_).size(), 9u); // a loop of 2, 5 settings and a halt
}

// Where they cannot all be early, they stand between copies whose number is round.
TEST_F(LineUp, PointsBetweenCopiesAreRound) {
  std::vector<int> settings;
  for (int i = 3; i < 128; i += 3)
    settings.push_back(i);
  const Stream made = lined(assembled(products(128, settings) + "halt\n"));
  int products = 0;
  for (const StreamInstruction &each : made)
    if (unitOf(each) == isa_.findUnit("matrix")->index)
      ++products;
    else if (unitOf(each) == isa_.findUnit("vector")->index)
      EXPECT_EQ(products % 8, 0); // four copies
}

TEST_F(LineUp, NothingLeavesItsPartOfALongStream) {
  const Stream stream = assembled(products(64, {5, 13, 22, 37, 50}) + "halt\n");
  constexpr size_t part = 30;
  const std::vector<uint32_t> order = orderOf(stream, part);
  ASSERT_EQ(order.size(), stream.size());
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i] / part, i / part);
}

TEST_F(LineUp, NothingPassesAFence) {
  const Stream stream =
      assembled(products(8, {3}) + "fence\n" + products(8, {5}) + "fence\n" + "halt\n");
  const Stream made = lined(stream);
  EXPECT_EQ(made[17].decoded.instruction, isa_.find("fence")->index);
  EXPECT_EQ(made[35].decoded.instruction, isa_.find("fence")->index);
}

TEST_F(LineUp, AWaitStaysBehindItsSignal) {
  const Stream stream =
      assembled(products(8, {}) +
                "mmul a=0, d=1024, n1=1, n0=16, k=16, n=16, accumulate=0, swap=0 !signal=8\n" +
                products(2, {}) + "vrescale a=1024, d=0x20000, n0=16, nc=16 !wait=8 !signal=10\n" +
                products(8, {}) + "store s=0x20000, d=0, n1=1, n0=256 !wait=10\nhalt\n");
  expectUnitsKeepTheirOrder(stream);
  EXPECT_EQ(checkStream(stream, isa_), "");
  EXPECT_EQ(checkStream(lined(stream), isa_), "");
}

// Products at random, signals of which the vector unit waits for, and stores that wait for that.
TEST_F(LineUp, IsSynchronizedAsBefore) {
  std::mt19937 random(1);
  for (int run = 0; run < 20; ++run) {
    std::string text;
    for (int64_t tile = 0; tile < 12; ++tile) {
      text += products(static_cast<int>(random() % 9), {static_cast<int>(random() % 9)});
      const int64_t sums = 256 * (tile % 2), bytes = 0x20000 + 0x1000 * (tile % 2);
      text += fmt::format("mmul a=0, d={}, n1=1, n0=16, k=16, n=16, accumulate=0, swap=0{} "
                          "!signal=8\n",
                          1024 + sums, tile >= 2 ? " !wait=11" : "");
      text += products(static_cast<int>(random() % 3), {});
      text += fmt::format("vrescale a={}, d={}, n0=16, nc=16 !wait={} !signal=10{}\n", 1024 + sums,
                          bytes, tile >= 2 ? "8,3" : "8", tile < 10 ? ",11" : "");
      text += fmt::format("store s={}, d={}, n1=1, n0=256 !wait=10{}\n", bytes, 256 * tile,
                          tile < 10 ? " !signal=3" : "");
    }
    const Stream stream = assembled(text + "halt\n");
    ASSERT_EQ(checkStream(stream, isa_), "");
    EXPECT_EQ(checkStream(lined(stream), isa_), "");
    expectUnitsKeepTheirOrder(stream);
  }
}

} // namespace tilewright

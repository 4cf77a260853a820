// ctest -R TimingBlocks: blocks of output-stationary sums, against all products one by one.
#include "execution.h"

#include "tilewright/simulator/timing/blocks.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace tilewright::timing {
namespace {

using test::Execution;
using test::Values;

// Pixels n1 x n0, columns n, taps taps1 x taps0, depth; `msum` as its manual page has it.
struct Shape {
  Values values;
  int64_t at(const char *name) const { return values.at(name); }

  int64_t pixels() const { return at("n1") * at("n0"); }
  int64_t taps() const { return at("taps1") * at("taps0"); }
  int64_t activation(int64_t pixel, int64_t tap, int64_t i) const {
    return at("a") + pixel / at("n0") * at("a_s1") + pixel % at("n0") * at("a_s0") +
           tap / at("taps0") * at("a_k1") + tap % at("taps0") * at("a_k0") + i;
  }
  int64_t weight(int64_t tap, int64_t i) const { // of the first column
    return at("w") + tap / at("taps0") * at("w_k1") + tap % at("taps0") * at("w_k0") +
           i * at("w_s0");
  }
  int64_t sum(int64_t pixel) const { // of the first column, in bytes
    return 4 * (at("d") + pixel / at("n0") * at("d_s1") + pixel % at("n0") * at("d_s0"));
  }
};

Shape randomShape(std::mt19937 &random) {
  auto from = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  return {{{"a", 4096},
           {"w", 8192},
           {"d", 256},
           {"n1", from(1, 5)},
           {"n0", from(1, 9)},
           {"n", from(1, 16)},
           {"taps1", from(1, 3)},
           {"taps0", from(1, 3)},
           {"depth", from(1, 40)},
           {"a_s1", from(-99, 99)},
           {"a_s0", from(-99, 99)},
           {"a_k1", from(-99, 99)},
           {"a_k0", from(-99, 99)},
           {"w_k1", from(-99, 99)},
           {"w_k0", from(-99, 99)},
           {"w_s0", from(-99, 99)},
           {"d_s1", from(-9, 9)},
           {"d_s0", from(-9, 9)}}};
}

class TimingBlocks : public testing::Test {
protected:
  static Blocks blocksOf(const Shape &shape) {
    const Execution execution(isa(), "msum", shape.values);
    return {execution.timing(), isa(), execution.context(), execution.addresses()};
  }
  static const isa::Isa &isa() { return test::machine("output-stationary"); }
  static int64_t arrayRows() { return isa().param("rows"); }

  template <typename Check> static void forRandomShapes(const Check &check) {
    std::mt19937 random(4);
    for (int i = 0; i < 100; ++i) {
      const Shape shape = randomShape(random);
      check(shape, blocksOf(shape));
    }
  }
};

// Bytes, and how often each is read.
using Reads = std::map<int64_t, int64_t>;

void add(Reads &reads, const Blocks::Piece &piece) {
  for (int64_t i = 0; i < piece.bytes; ++i)
    ++reads[piece.address + i];
}

TEST_F(TimingBlocks, ReadTheActivationsOfEachPixelOnce) {
  forRandomShapes([](const Shape &shape, const Blocks &blocks) {
    Reads expected, seen;
    for (int64_t pixel = 0; pixel < shape.pixels(); ++pixel)
      for (int64_t tap = 0; tap < shape.taps(); ++tap)
        for (int64_t i = 0; i < shape.at("depth"); ++i)
          ++expected[shape.activation(pixel, tap, i)];
    int64_t bytes = 0;
    for (int64_t block = 0; block < blocks.count(); ++block)
      for (int64_t cycle = 0; cycle < blocks.cycles(block); ++cycle) {
        const Blocks::Piece piece = blocks.activationPiece(block, cycle);
        EXPECT_LE(piece.bytes, arrayRows());
        add(seen, piece);
        bytes += piece.bytes;
      }
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(blocks.activationBytes(), bytes);
  });
}

TEST_F(TimingBlocks, ReadTheWeightsOnceForEachBlock) {
  forRandomShapes([](const Shape &shape, const Blocks &blocks) {
    Reads expected;
    for (int64_t tap = 0; tap < shape.taps(); ++tap)
      for (int64_t i = 0; i < shape.at("depth"); ++i)
        add(expected, {shape.weight(tap, i), shape.at("n")});
    int64_t bytes = 0;
    for (int64_t block = 0; block < blocks.count(); ++block) {
      Reads seen;
      for (int64_t cycle = 0; cycle < blocks.cycles(block); ++cycle) {
        const Blocks::Piece piece = blocks.weightPiece(block, cycle);
        add(seen, piece);
        bytes += piece.bytes;
      }
      EXPECT_EQ(seen, expected);
    }
    EXPECT_EQ(blocks.weightBytes(), bytes);
  });
}

TEST_F(TimingBlocks, HaveAllPixels) {
  forRandomShapes([](const Shape &shape, const Blocks &blocks) {
    int64_t pixels = 0;
    for (int64_t block = 0; block < blocks.count(); ++block) {
      EXPECT_GE(blocks.rows(block), 1);
      EXPECT_LE(blocks.rows(block), arrayRows());
      pixels += blocks.rows(block);
    }
    EXPECT_EQ(pixels, shape.pixels());
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      EXPECT_EQ(blocks.sumPiece(pixel).address, shape.sum(pixel));
      EXPECT_EQ(blocks.sumPiece(pixel).bytes, 4 * shape.at("n"));
    }
  });
}

TEST_F(TimingBlocks, TakeOfEachChunkTheLongerOfActivationsAndPixels) {
  forRandomShapes([](const Shape &shape, const Blocks &blocks) {
    for (int64_t block = 0; block < blocks.count(); ++block) {
      int64_t cycles = 0, both = 0;
      for (int64_t first = 0; first < shape.at("depth"); first += arrayRows()) {
        const int64_t chunk = std::min(arrayRows(), shape.at("depth") - first);
        cycles += std::max(chunk, blocks.rows(block));
        both += std::min(chunk, blocks.rows(block));
      }
      EXPECT_EQ(blocks.cycles(block), shape.taps() * cycles);
      EXPECT_EQ(blocks.bothReads(block), both);
    }
  });
}

// [low, high) of bytes from many addresses.
struct Bounds {
  int64_t low = INT64_MAX, high = INT64_MIN;
  void add(int64_t address, int64_t bytes) {
    low = std::min(low, address);
    high = std::max(high, address + bytes);
  }
  void expect(const Blocks::Reach &reach) const {
    EXPECT_EQ(reach.low, low);
    EXPECT_EQ(reach.high, high);
  }
};

TEST_F(TimingBlocks, ReachAsFarAsTheirPieces) {
  forRandomShapes([](const Shape &shape, const Blocks &blocks) {
    Bounds activations, weights, sums;
    for (int64_t block = 0; block < blocks.count(); ++block) {
      Bounds ofBlock, sumsOfBlock;
      const int64_t begin = block * arrayRows(), end = begin + blocks.rows(block);
      for (int64_t tap = 0; tap < shape.taps(); ++tap) {
        Bounds ofTap, weightsOfTap;
        for (int64_t i = 0; i < shape.at("depth"); ++i) {
          weightsOfTap.add(shape.weight(tap, i), shape.at("n"));
          for (int64_t pixel = begin; pixel < end; ++pixel)
            ofTap.add(shape.activation(pixel, tap, i), 1);
        }
        ofTap.expect(blocks.activations(block, tap));
        weightsOfTap.expect(blocks.weights(tap));
        ofBlock.add(ofTap.low, ofTap.high - ofTap.low);
        weights.add(weightsOfTap.low, weightsOfTap.high - weightsOfTap.low);
      }
      for (int64_t pixel = begin; pixel < end; ++pixel)
        sumsOfBlock.add(shape.sum(pixel), 4 * shape.at("n"));
      ofBlock.expect(blocks.activations(block));
      sumsOfBlock.expect(blocks.sums(block));
      activations.add(ofBlock.low, ofBlock.high - ofBlock.low);
      sums.add(sumsOfBlock.low, sumsOfBlock.high - sumsOfBlock.low);
    }
    activations.expect(blocks.activations());
    weights.expect(blocks.weights());
    sums.expect(blocks.sums());
  });
}

TEST_F(TimingBlocks, AreNoneWithoutPixelsOrColumns) {
  std::mt19937 random(5);
  for (const char *extent : {"n1", "n0", "n"}) {
    Shape shape = randomShape(random);
    shape.values[extent] = 0;
    EXPECT_EQ(blocksOf(shape).count(), 0) << extent;
  }
}

TEST_F(TimingBlocks, TakeACycleWithoutProducts) {
  std::mt19937 random(6);
  for (const char *extent : {"taps1", "taps0", "depth"}) {
    Shape shape = randomShape(random);
    shape.values[extent] = 0;
    const Blocks blocks = blocksOf(shape);
    EXPECT_EQ(blocks.cycles(0), 1) << extent;
    EXPECT_EQ(blocks.activationPiece(0, 0).bytes, 0);
    EXPECT_EQ(blocks.weightPiece(0, 0).bytes, 0);
  }
}

} // namespace
} // namespace tilewright::timing

#include "scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tilewright {
namespace {

using Shape = llvm::SmallVector<int64_t>;

// What is stored where, box by box: for each place in DRAM the element of the tensor.
class Stored {
public:
  Stored(const Scatter &scatter, Shape shape) : scatter_(scatter), shape_(std::move(shape)) {}

  void store(const Shape &start, const Shape &size) {
    const Shape strides = kernel::denseStrides(size);
    std::vector<int64_t> tile; // of each element of the box, its number in the tensor
    each(size, [&](const Shape &at) {
      int64_t number = 0;
      for (size_t dim = 0; dim < at.size(); ++dim)
        number += (start[dim] + at[dim]) * kernel::denseStrides(shape_)[dim];
      tile.push_back(number);
    });
    forEachRun(scatter_, shape_, start, size, strides, [&](const ScatteredRun &run) {
      Shape sizes;
      for (const CopyDim &dim : run.dims)
        sizes.push_back(dim.size);
      each(sizes, [&](const Shape &at) {
        int64_t from = run.tile, to = run.address + run.dram;
        for (size_t dim = 0; dim < at.size(); ++dim) {
          from += at[dim] * run.dims[dim].chip;
          to += at[dim] * run.dims[dim].dram;
        }
        EXPECT_TRUE(places.emplace(to, tile.at(static_cast<size_t>(from))).second) << to;
      });
    });
  }

  std::map<int64_t, int64_t> places;

private:
  template <typename Visit> static void each(const Shape &size, Visit visit) {
    Shape at(size.size(), 0);
    for (;;) {
      visit(at);
      size_t dim = size.size();
      while (dim > 0 && ++at[dim - 1] == size[dim - 1])
        at[--dim] = 0;
      if (dim == 0)
        return;
    }
  }

  const Scatter &scatter_;
  Shape shape_;
};

// All of the tensor in boxes that do not divide it.
std::map<int64_t, int64_t> storedInBoxes(const Scatter &scatter, const Shape &shape,
                                         const Shape &box) {
  Stored stored(scatter, shape);
  Shape start(shape.size(), 0);
  for (;;) {
    Shape size;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      size.push_back(std::min(box[dim], shape[dim] - start[dim]));
    stored.store(start, size);
    size_t dim = shape.size();
    while (dim > 0 && (start[dim - 1] += box[dim - 1]) >= shape[dim - 1])
      start[--dim] = 0;
    if (dim == 0)
      return stored.places;
  }
}

TEST(Scatter, PutsAttentionsHeadsApart) {
  // [6 tokens, 4 heads x 3] as [4, 6, 3], its boxes cut through heads.
  kernel::Region region;
  region.sizes = {4, 6, 3};
  region.sourceStrides = {3, 12, 1};
  region.resultStrides = {18, 3, 1};
  const Scatter scatter{{{region, 1000}}};
  const auto places = storedInBoxes(scatter, {6, 12}, {4, 5});
  ASSERT_EQ(places.size(), 72U);
  for (int64_t head = 0; head < 4; ++head)
    for (int64_t token = 0; token < 6; ++token)
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(places.at(1000 + head * 18 + token * 3 + i), token * 12 + head * 3 + i);
}

TEST(Scatter, LeavesOutWhatNoMoveTakes) {
  kernel::Region region; // columns 2 and 3 of 6, transposed
  region.sizes = {2, 5};
  region.sourceStrides = {1, 6};
  region.resultStrides = {5, 1};
  region.sourceOffset = 2;
  const auto places = storedInBoxes({{{region, 0}}}, {5, 6}, {2, 4});
  ASSERT_EQ(places.size(), 10U);
  EXPECT_EQ(places.at(0 * 5 + 3), 3 * 6 + 2);
  EXPECT_EQ(places.at(1 * 5 + 4), 4 * 6 + 3);
}

TEST(Scatter, RepeatsWhatAMoveRepeats) {
  kernel::Region region;
  region.sizes = {2, 6};
  region.sourceStrides = {0, 1};
  region.resultStrides = {6, 1};
  const auto places = storedInBoxes({{{region, 0}}}, {2, 3}, {1, 2});
  ASSERT_EQ(places.size(), 12U);
  EXPECT_EQ(places.at(7), 1);
}

// Random transposes and parts, in random boxes, against the moves element by element.
TEST(Scatter, IsWhatTheMovesDo) {
  std::mt19937 random(7);
  auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  int served = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Shape shape = {1 + below(3), 1 + below(6), 2 * (1 + below(4))};
    Shape split = {shape[0], shape[1], shape[2] / 2, 2};
    llvm::SmallVector<size_t> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    Scatter scatter;
    std::map<int64_t, int64_t> expected;
    kernel::Region region;
    Shape result;
    for (size_t dim : order) {
      const int64_t begin = trial % 3 == 0 ? below(split[dim]) : 0;
      region.sourceOffset += begin * kernel::denseStrides(split)[dim];
      region.sizes.push_back(split[dim] - begin);
      region.sourceStrides.push_back(kernel::denseStrides(split)[dim]);
    }
    region.resultStrides = kernel::denseStrides(region.sizes);
    scatter.pieces.push_back({kernel::coalesce(region), 50});
    if (!isInRuns(scatter, shape))
      continue;
    ++served;
    Shape at(4, 0);
    for (at[0] = 0; at[0] < region.sizes[0]; ++at[0])
      for (at[1] = 0; at[1] < region.sizes[1]; ++at[1])
        for (at[2] = 0; at[2] < region.sizes[2]; ++at[2])
          for (at[3] = 0; at[3] < region.sizes[3]; ++at[3]) {
            int64_t from = region.sourceOffset, to = 50;
            for (size_t dim = 0; dim < 4; ++dim) {
              from += at[dim] * region.sourceStrides[dim];
              to += at[dim] * region.resultStrides[dim];
            }
            expected[to] = from;
          }
    const Shape box = {1 + below(shape[0]), 1 + below(shape[1]), 1 + below(shape[2])};
    EXPECT_EQ(storedInBoxes(scatter, shape, box), expected) << trial;
  }
  EXPECT_GT(served, 300);
}

} // namespace
} // namespace tilewright

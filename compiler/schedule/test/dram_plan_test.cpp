// Addresses in DRAM, against all orders of small problems.
#include "tilewright/compiler/schedule/dram_plan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace tilewright {

namespace {

constexpr int64_t alignment = 64;

std::vector<LiveTensor> problemOf(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<LiveTensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    const auto first = static_cast<int64_t>(random() % 8),
               bytes = static_cast<int64_t>(random() % 9);
    tensors.push_back({bytes * 40 + 1, first, first + static_cast<int64_t>(random() % 4)});
  }
  return tensors;
}

// Bytes of what lives at one time, step by step.
int64_t mostLive(const std::vector<LiveTensor> &tensors) {
  int64_t most = 0;
  for (int64_t step = 0; step < 16; ++step) {
    int64_t live = 0;
    for (const LiveTensor &tensor : tensors)
      if (tensor.first <= step && step <= tensor.last)
        live += (tensor.bytes + alignment - 1) / alignment * alignment;
    most = std::max(most, live);
  }
  return most;
}

// The least that any plan takes: each tensor at 0 or on top of another one, in all ways.
int64_t leastBytes(const std::vector<LiveTensor> &tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  int64_t least = INT64_MAX;
  do {
    std::vector<int64_t> end(tensors.size(), -1);
    int64_t bytes = 0;
    for (size_t index : order) {
      const LiveTensor &tensor = tensors[index];
      const int64_t size = (tensor.bytes + alignment - 1) / alignment * alignment;
      for (int64_t address = 0; end[index] < 0; address += alignment) {
        bool isFree = true;
        for (size_t other = 0; other < tensors.size(); ++other) {
          const int64_t itsSize = (tensors[other].bytes + alignment - 1) / alignment * alignment;
          isFree &= end[other] < 0 || tensors[other].last < tensor.first ||
                    tensor.last < tensors[other].first || end[other] <= address ||
                    address + size <= end[other] - itsSize;
        }
        if (isFree)
          end[index] = address + size;
      }
      bytes = std::max(bytes, end[index]);
    }
    least = std::min(least, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

} // namespace

TEST(DramPlan, SmallProblemsTakeTheLeast) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<LiveTensor> tensors = problemOf(seed, 6);
    const DramPlan plan = planDram(tensors, alignment);
    ASSERT_TRUE(verify(tensors, plan)) << seed;
    ASSERT_EQ(plan.lowerBound, mostLive(tensors)) << seed;
    ASSERT_EQ(plan.bytes, leastBytes(tensors)) << seed;
  }
}

TEST(DramPlan, LargeProblemsComeCloseToTheBound) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<LiveTensor> tensors = problemOf(seed, 80);
    const DramPlan plan = planDram(tensors, alignment);
    ASSERT_TRUE(verify(tensors, plan)) << seed;
    EXPECT_GE(plan.bytes, plan.lowerBound) << seed;
    EXPECT_LE(plan.bytes * 100, plan.lowerBound * 105) << seed;
    EXPECT_EQ(plan.addresses, planDram(tensors, alignment).addresses) << seed;
  }
}

TEST(DramPlan, NothingTakesNothing) {
  const DramPlan plan = planDram({}, alignment);
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(DramPlan, WhatMeetsIsFound) {
  const std::vector<LiveTensor> tensors{{64, 0, 1}, {64, 1, 2}, {64, 2, 3}};
  EXPECT_TRUE(verify(tensors, {{0, 64, 0}, 128, 128}));
  EXPECT_FALSE(verify(tensors, {{0, 32, 96}, 160, 128}));
  EXPECT_FALSE(verify(tensors, {{0, 64, 128}, 128, 128}));
  EXPECT_FALSE(verify(tensors, {{-64, 64, 0}, 128, 128}));
  EXPECT_FALSE(verify(tensors, {{0, 64}, 128, 128}));
}

} // namespace tilewright

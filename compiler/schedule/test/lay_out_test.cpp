#include "tilewright/compiler/schedule/lay_out.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tilewright {
namespace {

isa::Isa edge16() {
  isa::LoadOptions options;
  options.target = "edge16";
  return isa::load(options);
}

// Loads, or computes on, these buffers.
Task naming(std::vector<int> buffers) {
  Task task;
  for (const int buffer : buffers) {
    task.values.push_back(0);
    task.buffers.push_back(buffer);
  }
  return task;
}

int64_t bytesOf(const isa::Isa &isa) {
  return static_cast<int64_t>(isa.memory(isa::Space::Spad).bytes);
}

// Four chunks of weights that fill half of the scratchpad, twice: the next ones are loaded under
// the last step of those before.
TEST(LayOut, NextWeightsTakeTheSpaceOfThoseThatLeave) {
  const isa::Isa isa = edge16();
  const int64_t chunk = bytesOf(isa) / 8, input = bytesOf(isa) / 6;
  Steps steps;
  std::vector<int> weights;
  int inputs[2] = {};
  for (int pass = 0; pass < 2; ++pass)
    for (int place = 0; place < 3; ++place)
      for (int i = 0; i < 4; ++i) {
        Step &step = steps.steps.emplace_back();
        if (place == 0) {
          weights.push_back(steps.add(isa::Space::Spad, chunk, "weights"));
          step.constants.push_back(naming({weights.back()}));
        }
        if (i == 0) {
          inputs[place % 2] = steps.add(isa::Space::Spad, input, "input tile");
          step.loads.push_back(naming({inputs[place % 2]}));
        }
        step.compute.push_back(naming({inputs[place % 2], weights[pass * 4 + i]}));
      }
  const std::vector<int64_t> layout = layOut(steps, isa);
  ASSERT_EQ(layout.size(), steps.buffers.size());
  std::set<int64_t> first, second;
  for (int i = 0; i < 4; ++i) {
    first.insert(layout[weights[i]]);
    second.insert(layout[weights[4 + i]]);
  }
  EXPECT_EQ(first, second);
}

// The first step that names a buffer, or the one before it where that loads, to the last one.
TEST(LayOut, WhatLivesAtTheSameTimeStandsApart) {
  const isa::Isa isa = edge16();
  std::mt19937 random(1);
  int laidOut = 0;
  for (int round = 0; round < 200; ++round) {
    Steps steps;
    steps.steps.resize(8);
    std::vector<std::pair<int, int>> lives;
    const int count = 2 + static_cast<int>(random() % 12);
    for (int i = 0; i < count; ++i) {
      const int buffer = steps.add(isa::Space::Spad, 1 + random() % (bytesOf(isa) / 3), "buffer");
      const int first = static_cast<int>(random() % 8),
                last = first + static_cast<int>(random() % (8 - first));
      const bool isLoaded = random() % 2 == 0;
      Step &step = steps.steps[first];
      (isLoaded ? step.loads : step.compute).push_back(naming({buffer}));
      steps.steps[last].compute.push_back(naming({buffer}));
      lives.emplace_back(first - isLoaded, last);
    }
    const std::vector<int64_t> layout = layOut(steps, isa);
    laidOut += !layout.empty();
    for (size_t a = 0; a < layout.size(); ++a) {
      EXPECT_GE(layout[a], 0);
      EXPECT_LE(layout[a] + steps.buffers[a].bytes, bytesOf(isa));
      for (size_t b = 0; b < a; ++b)
        if (lives[a].first <= lives[b].second && lives[b].first <= lives[a].second)
          EXPECT_TRUE(layout[a] + steps.buffers[a].bytes <= layout[b] ||
                      layout[b] + steps.buffers[b].bytes <= layout[a]);
    }
  }
  EXPECT_GT(laidOut, 50);
  EXPECT_LT(laidOut, 200);
}

TEST(LayOut, AccumulatorsHaveNoPlaceInTheScratchpad) {
  Steps steps;
  const int sums = steps.add(isa::Space::Acc, 64, "accumulator tile"),
            input = steps.add(isa::Space::Spad, 64, "input tile");
  steps.steps.resize(1);
  steps.steps[0].compute.push_back(naming({sums, input}));
  EXPECT_EQ(layOut(steps, edge16()), (std::vector<int64_t>{-1, 0}));
}

} // namespace
} // namespace tilewright

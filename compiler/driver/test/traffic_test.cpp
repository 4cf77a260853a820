// DRAM traffic of layers, as the plan tells it: what they move, and what they have to.
#include "outcome.h"

#include <cmath>
#include <regex>
#include <utility>
#include <vector>

namespace tilewright {

namespace {

struct Traffic {
  int64_t bytes, least;
};

std::vector<Traffic> trafficOf(const NetworkOutcome &outcome) {
  std::vector<Traffic> layers;
  const std::regex line("moves (\\d+) bytes of at least (\\d+)\n");
  for (std::sregex_iterator each(outcome.plan.begin(), outcome.plan.end(), line), end; each != end;
       ++each)
    layers.push_back({std::stoll((*each)[1]), std::stoll((*each)[2])});
  return layers;
}

std::vector<Traffic> trafficOf(const Network &network, const std::string &target, bool fusion) {
  const NetworkOutcome outcome = outcomeOf(network, target, fusion, "cycle");
  const std::vector<Traffic> layers = trafficOf(outcome);
  int64_t bytes = 0;
  for (const Traffic &layer : layers) {
    EXPECT_GE(layer.bytes, layer.least) << outcome.plan;
    bytes += layer.bytes;
  }
  EXPECT_EQ(bytes, outcome.dramBytes) << outcome.plan;
  return layers;
}

} // namespace

TEST(Traffic, LayersHaveToMoveTheirTensorsOnce) {
  const auto layers =
      trafficOf(Network(28, 28, 32).conv(32, 3, 1).addArgument().maxPool(3, 1).depthwise(3, 1),
                "edge16", false);
  constexpr int64_t image = 28 * 28 * 32;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].least,
            2 * image + 9 * 32 * 32); // the argument is read twice, and needed once
  EXPECT_EQ(layers[1].least, 2 * image);
  EXPECT_EQ(layers[2].least, 2 * image + 9 * 32);
}

TEST(Traffic, WhatNoWindowHasIsNotNeeded) {
  const auto layers = trafficOf(Network(31, 31, 32).conv(32, 1, 2).conv(32, 1, 3), "edge16", false);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].least, 2 * 16 * 16 * 32 + 32 * 32);
  EXPECT_EQ(layers[1].least, 2 * 6 * 6 * 32 + 32 * 32);
}

TEST(Traffic, WhatStaysOnChipIsNotMoved) {
  const auto layers =
      trafficOf(Network(56, 56, 24).conv(96, 1, 1).depthwise(3, 1).conv(24, 1, 1), "edge16", true);
  constexpr int64_t image = 56 * 56 * 24, weights = 24 * 96;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].least, image + weights);
  EXPECT_EQ(layers[1].least, 9 * 96);
  EXPECT_EQ(layers[2].least, image + weights);
}

TEST(Traffic, AnImageOfTwoIsMovedOnce) {
  const auto layers = trafficOf(
      Network(55, 55, 16).conv(64, 1, 1).from(0).conv(64, 3, 1).concat({1, 2}), "edge16", true);
  constexpr int64_t pixels = 55 * 55;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].least, pixels * (16 + 64) + 16 * 64);
  EXPECT_EQ(layers[1].least, pixels * 64 + 9 * 16 * 64);
  EXPECT_EQ(layers[2].least, 0);
}

// With little memory on chip, products ask for more than the tensors have.
TEST(Traffic, ProductsAskForTraffic) {
  const isa::Isa isa = isa::load({"tiny4", {}, ""});
  const uint64_t sums = isa.memory(isa::Space::Acc).bytes / 4;
  const auto elements = static_cast<double>(isa.memory(isa::Space::Spad).bytes + sums);
  constexpr int64_t pixels = 16 * 16, channels = 256;
  const auto layers = trafficOf(
      outcomeOf(Network(16, 16, channels).conv(channels, 1, 1), "tiny4", false, "functional"));
  const double products = static_cast<double>(pixels * channels * channels),
               least = 2 * products / std::sqrt(elements) - 2 * elements;
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].least, static_cast<int64_t>(least));
  EXPECT_GT(layers[0].least, 2 * pixels * channels + channels * channels);
  EXPECT_GE(layers[0].bytes, layers[0].least);
}

// Where an element is in nine windows, products ask for a third.
TEST(Traffic, WindowsShareElements) {
  constexpr int64_t pixels = 16 * 16, channels = 64;
  const auto layers = trafficOf(
      outcomeOf(Network(16, 16, channels).conv(channels, 3, 1), "tiny4", false, "functional"));
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].least, 2 * pixels * channels + 9 * channels * channels);
}

// What a report says that a layer has to move is what the plan says.
TEST(Traffic, ReportsCountTheSame) {
  const Network network = Network(31, 31, 32).conv(32, 1, 2).conv(32, 3, 1).depthwise(3, 1);
  const NetworkOutcome outcome = outcomeOf(network, "edge16", false, "functional");
  const auto layers = trafficOf(outcome);
  ASSERT_EQ(layers.size(), 3u);
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerInfo &info = outcome.layers[i];
    EXPECT_EQ(info.inputBytes + info.weightBytes + info.outputBytes, layers[i].least) << info.name;
  }
}

} // namespace tilewright

// Fused stacks: the same integers as layer by layer, and what lies between stays on chip.
#include "outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace tilewright {

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// An image and a factor for each of its channels, made from one of its pixels.
Network excited(int64_t size, int64_t channels) {
  Network network(size, size, 16);
  network.conv(channels, 1, 1).pixel().conv(channels, 1, 1).scale(1, 3);
  return network;
}

// The first layer's result is read by the second one and the last one.
Network readLater() {
  Network network(41, 29, 24);
  network.conv(72, 1, 1).depthwise(5, 1).conv(24, 1, 1).conv(72, 3, 1).add(1);
  return network;
}

// Squeeze-and-excitation: an image that is made by windows, and a factor for each of its channels
// from the sum of its pixels.
Network squeezed(int64_t size, int64_t channels) {
  Network network(size, size, 24);
  network.conv(channels, 1, 1).depthwise(3, 1).sumOfImage().conv(channels, 1, 1);
  return network.scale(2, 4).conv(24, 1, 1);
}

// The same network of an image that comes channel by channel.
std::string byChannels(const Network &network, int64_t height, int64_t width, int64_t channels) {
  const std::string image = fmt::format("tensor<1x{}x{}x{}xi8>", height, width, channels),
                    planes = fmt::format("tensor<1x{}x{}x{}xi8>", channels, height, width);
  std::string text = network.text();
  const size_t argument = text.find("%v0: " + image);
  text.replace(argument, 5 + image.size(), "%p: " + planes);
  return text.insert(text.find("{\n") + 2,
                     fmt::format("  %v0 = tosa.transpose %p {{perms = array<i32: 0, 2, 3, 1>}} : "
                                 "({}) -> {}\n",
                                 planes, image));
}

struct Case {
  const char *name;
  Network network;
  int layers; // of the fused stack on edge16
};

std::vector<Case> cases() {
  return {
      {"ExpandDepthwiseProject", Network(56, 56, 24).conv(96, 1, 1).depthwise(3, 1).conv(24, 1, 1),
       3},
      {"WithItsInputAdded",
       Network(28, 30, 32).conv(192, 1, 1).depthwise(3, 1).conv(32, 1, 1).addArgument(), 3},
      {"Stride2Of5Taps", Network(57, 41, 16).conv(72, 1, 1).depthwise(5, 2).conv(40, 1, 1), 3},
      {"WeightsThatDoNotFit", Network(14, 14, 160).conv(960, 1, 1).depthwise(3, 1).conv(160, 1, 1),
       3},
      {"FirstLayerAndPool", Network(97, 97, 3).conv(64, 7, 2).maxPool(3, 2), 2},
      {"DepthwisePointwise", Network(56, 56, 64).depthwise(3, 1).conv(128, 1, 1), 2},
      {"RowsOfMoreSumsThanAccumulatorsHold", Network(12, 80, 128).depthwise(3, 1).conv(240, 1, 1),
       2},
      {"DepthwiseAlone", Network(30, 30, 64).depthwise(7, 1), 1},
      {"PixelsOfManyWindows", Network(56, 56, 24).conv(96, 1, 1).depthwise(5, 1).conv(24, 1, 1), 3},
      {"WindowsThatStayWide",
       Network(28, 28, 24).conv(96, 1, 1).depthwise(3, 1, true).conv(24, 1, 1), 3},
      {"RowsThatAreKept", Network(56, 56, 24).conv(144, 1, 1).depthwise(3, 1).conv(24, 1, 1), 3},
      {"RowsThatTheNextConvolutionKeeps", Network(112, 56, 32).conv(64, 1, 1).conv(24, 5, 1), 2},
      {"FactorsOfChannels", excited(28, 120).conv(40, 1, 1), 2},
      {"TwoConvolutions", Network(56, 56, 16).conv(16, 3, 1).conv(128, 1, 1), 2},
      {"SumOfAnImage", Network(7, 7, 160).conv(640, 1, 1).sumOfImage(), 2},
      {"SumOfWindows", Network(28, 28, 24).conv(96, 1, 1).depthwise(5, 1).sumOfImage(), 3},
      {"SumOfWindowsThatAreReadAgain", squeezed(28, 120), 3},
      {"SumOfManyWindowsThatAreReadAgain", squeezed(14, 480), 3},
      {"SumOfATail", Network(56, 56, 24).conv(96, 1, 1).depthwise(3, 1).conv(48, 1, 1).sumOfImage(),
       4},
      {"SumOfATailThatIsReadAgain",
       Network(28, 28, 24)
           .conv(96, 1, 1)
           .depthwise(3, 1)
           .conv(48, 1, 1)
           .sumOfImage()
           .conv(48, 1, 1)
           .scale(3, 5)
           .conv(24, 1, 1),
       4},
      {"SumOfMaxima", Network(57, 57, 24).conv(96, 3, 1).maxPool(3, 2).sumOfImage(), 3},
      {"TablesOf16Bits",
       Network(14, 14, 40).curved().conv(160, 1, 1).depthwise(3, 1).conv(40, 1, 1), 3},
      {"ItsHeadAdded", Network(56, 56, 16).conv(48, 1, 1).depthwise(3, 1).conv(48, 1, 1).add(1), 3},
      {"ItsHeadReadByOthers", readLater(), 3},
  };
}

void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

class OnMachines : public ::testing::TestWithParam<std::tuple<Case, const char *>> {};
class OnEach : public ::testing::TestWithParam<const char *> {};
class OnEdge16 : public ::testing::TestWithParam<Case> {};

} // namespace

TEST_P(OnMachines, GivesWhatItsLayersGive) {
  const auto &[each, target] = GetParam();
  const NetworkOutcome apart = outcomeOf(each.network, target, false, "functional"),
                       together = outcomeOf(each.network, target, true, "functional"),
                       timed = outcomeOf(each.network, target, true, "cycle");
  EXPECT_THAT(apart.plan, Not(HasSubstr("fused stack of")));
  EXPECT_EQ(together.output, apart.output);
  EXPECT_EQ(timed.output, apart.output);
}

// Shapes that a fused stack has no place for, or only just.
TEST_P(OnEach, GivesWhatItsLayersGiveAtTheEdges) {
  const Network networks[] = {
      // A row of the result that sees nothing but padding.
      Network(14, 14, 8).conv(48, 1, 1).depthwise(3, 1).conv(16, 1, 1, {1, 0}),
      Network(6, 6, 8).conv(48, 1, 1).conv(16, 1, 1, {3, 2}),
      // A last part of the head's channels that is less than a block of parameters.
      Network(14, 5, 8).conv(70, 1, 1).maxPool(3, 1).conv(70, 1, 1),
      // Rows that the next layer passes over, but another one reads.
      Network(29, 29, 16)
          .conv(48, 1, 1)
          .depthwise(1, 2)
          .conv(48, 1, 1)
          .from(1)
          .sumOfImage()
          .scale(3, 4),
  };
  for (const Network &network : networks)
    EXPECT_EQ(outcomeOf(network, GetParam(), true, "functional").output,
              outcomeOf(network, GetParam(), false, "functional").output)
        << network.text().substr(0, 80);
}

// Rows that two tiles read are copied from one to the next, by columns of taps or by rows.
TEST_P(OnEach, GivesWhatItsLayersGiveOfPicturesByChannels) {
  const std::string texts[] = {
      byChannels(Network(97, 97, 3).conv(64, 7, 2).maxPool(3, 2), 97, 97, 3),
      byChannels(Network(97, 65, 3).conv(32, 3, 2).depthwise(3, 1).conv(16, 1, 1), 97, 65, 3)};
  for (const std::string &text : texts)
    EXPECT_EQ(outcomeOf(text, GetParam(), true, "cycle").output,
              outcomeOf(text, GetParam(), false, "cycle").output);
}

TEST(PicturesByChannels, RowsThatTwoTilesReadAreLoadedOnce) {
  const std::string text =
      byChannels(Network(97, 65, 3).conv(32, 3, 2).depthwise(3, 1).conv(16, 1, 1), 97, 65, 3);
  const NetworkOutcome outcome = outcomeOf(text, "edge16", true, "functional");
  constexpr int64_t picture = 97 * 65 * 3, result = 49 * 33 * 16, others = 4096;
  EXPECT_THAT(outcome.plan, HasSubstr("fused stack of 3 layers: 25 tiles"));
  EXPECT_LT(outcome.dramBytes, picture + result + others);
}

// Fused stacks of which each reads what the one before leaves on chip.
TEST_P(OnEach, GivesWhatItsLayersGiveInRuns) {
  const Network network = Network(15, 15, 64)
                              .conv(128, 1, 1)
                              .depthwise(3, 1)
                              .conv(144, 3, 1)
                              .depthwise(5, 2)
                              .conv(96, 1, 1)
                              .depthwise(3, 1)
                              .conv(40, 1, 1);
  const NetworkOutcome apart = outcomeOf(network, GetParam(), false, "functional"),
                       together = outcomeOf(network, GetParam(), true, "functional");
  EXPECT_EQ(together.output, apart.output);
}

// Against the formula, on the values that the network has on the way.
TEST_P(OnEach, ScalesChannelsByComputedFactors) {
  constexpr size_t size = 9, channels = 24;
  const Network squeezed = Network(size, size, 16).conv(channels, 1, 1).pixel();
  auto outputOf = [&](const Network &network) {
    return outcomeOf(network, GetParam(), true, "functional").output;
  };
  const std::string image = outputOf(Network(size, size, 16).conv(channels, 1, 1)),
                    factors = outputOf(Network(squeezed).conv(channels, 1, 1));
  std::string expected;
  for (size_t i = 0; i < size * size * channels; ++i) {
    const int64_t product = (static_cast<int8_t>(image[i]) - Network::imageZero) *
                            (static_cast<int8_t>(factors[i % channels]) - Network::factorZero);
    expected += static_cast<char>(std::clamp<int64_t>((product + 32) >> 6, -128, 127));
  }
  EXPECT_EQ(outputOf(excited(size, channels)), expected);
}

// As windows of the convolution that follows, where the machine has them, and as products.
TEST_P(OnEach, FactorsOfChannelsAreWindows) {
  const std::string overlay =
      fmt::format("{}/no_narrow_windows.{}.yaml", ::testing::TempDir(), getpid());
  std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"none\"\nsummary: \"No "
                            "vdw.i8.\"\ninstructions: { vdw.i8: null }\n";
  const Network network = excited(9, 24).conv(16, 1, 1);
  EXPECT_EQ(outcomeOf(network, GetParam(), true, "functional").output,
            outcomeOf(network, GetParam(), true, "functional", {overlay}).output);
}

TEST(Runs, LeaveTheirTensorsOnChip) {
  const Network network =
      Network(7, 7, 256).conv(256, 1, 1).depthwise(3, 1).conv(256, 1, 1).depthwise(3, 1);
  const NetworkOutcome apart = outcomeOf(network, "edge16", false, "cycle"),
                       together = outcomeOf(network, "edge16", true, "cycle");
  EXPECT_THAT(together.plan, HasSubstr("; result stays on chip"));
  EXPECT_EQ(together.output, apart.output);
  EXPECT_LT(together.cycles, apart.cycles);
  // Two of three tensors between the layers stayed within fused stacks, the third one between them.
  const int64_t tensor = 7 * 7 * 256;
  EXPECT_LE(together.dramBytes, apart.dramBytes - 6 * tensor);
}

// A fused stack that is handed its image, and reads factors that another layer has made.
TEST(Runs, LoadFactorsOfChannels) {
  Network network(7, 7, 192);
  network.pixel().conv(256, 1, 1).from(0).conv(256, 1, 1).depthwise(3, 1);
  network.conv(256, 1, 1).scale(5, 2).conv(192, 1, 1);
  const NetworkOutcome apart = outcomeOf(network, "edge16", false, "functional"),
                       together = outcomeOf(network, "edge16", true, "functional");
  EXPECT_THAT(together.plan, ::testing::ContainsRegex("depthwise_conv2d_0 [^\n]*; result stays"));
  EXPECT_THAT(together.plan, HasSubstr("mul_0 (mul): fused stack of 3 layers"));
  EXPECT_EQ(together.output, apart.output);
}

// A fused stack that is handed its image stores its own by parts, and not over that one.
TEST(Runs, KeepTheirTensorsWhileASumIsMade) {
  const Network network = Network(7, 7, 64)
                              .conv(128, 1, 1)
                              .depthwise(3, 1)
                              .conv(512, 1, 1)
                              .depthwise(3, 1)
                              .sumOfImage();
  const NetworkOutcome apart = outcomeOf(network, "edge16", false, "functional"),
                       together = outcomeOf(network, "edge16", true, "functional");
  EXPECT_THAT(together.plan, HasSubstr("; result stays on chip"));
  EXPECT_THAT(together.plan, HasSubstr("fused stack of 3 layers"));
  EXPECT_EQ(together.output, apart.output);
}

// What the next fused stack reads beside it comes from DRAM.
TEST(Runs, LoadWhatAnEarlierStackStored) {
  Network network(7, 7, 384);
  network.conv(384, 1, 1).depthwise(3, 1).conv(384, 1, 1).depthwise(3, 1).add(1);
  const NetworkOutcome apart = outcomeOf(network, "edge16", false, "functional"),
                       together = outcomeOf(network, "edge16", true, "functional");
  EXPECT_THAT(together.plan, ::testing::ContainsRegex("conv2d_0 [^\n]*; result stays"));
  EXPECT_EQ(together.output, apart.output);
}

// A head that the tail adds never comes to DRAM; others read it there.
TEST(Heads, ComeToDramForOthersAlone) {
  const int64_t image = 56 * 56 * 48;
  const Network block = Network(56, 56, 16).conv(48, 1, 1).depthwise(3, 1).conv(48, 1, 1);
  const int64_t plain = outcomeOf(block, "edge16", true, "cycle").dramBytes,
                added = outcomeOf(Network(block).add(1), "edge16", true, "cycle").dramBytes;
  EXPECT_LT(added, plain + image);
}

// Windows come to DRAM for others than their sum alone.
TEST(Sums, LeaveTheirImageOnChip) {
  const int64_t image = 28 * 28 * 120;
  const Network network = Network(28, 28, 24).conv(120, 1, 1).depthwise(5, 1).sumOfImage();
  EXPECT_LT(outcomeOf(network, "edge16", true, "cycle").dramBytes, image);
  const NetworkOutcome both = outcomeOf(squeezed(28, 120), "edge16", true, "cycle");
  EXPECT_GT(both.dramBytes, 2 * image); // a store and a load
  EXPECT_LT(both.dramBytes, 3 * image);
}

// The next layers wait for their weights: the image is on its way before all of it is added up.
TEST(Sums, StoreTheirImageAsItIsMade) {
  constexpr int64_t channels = 512, image = 7 * 7 * channels;
  CompileOptions options;
  options.to = Stage::Asm;
  options.model = ::testing::TempDir() + "/sums.mlir";
  std::ofstream(options.model) << squeezed(7, channels).text();
  const CompileResult compiled = compile(options);
  ASSERT_THAT(compiled.plan, HasSubstr("fused stack of 3 layers: 1 tiles"));
  std::istringstream lines(compiled.output);
  std::vector<int64_t> stored; // bytes, when each part is added
  int64_t bytes = 0;
  for (std::string line; std::getline(lines, line);) {
    auto valueOf = [&](const char *name) { return std::stoll(line.substr(line.find(name) + 3)); };
    if (line.rfind("store ", 0) == 0)
      bytes += valueOf("n1=") * valueOf("n0=");
    if (line.rfind("vsumpool ", 0) == 0)
      stored.push_back(bytes);
  }
  ASSERT_FALSE(stored.empty());
  EXPECT_EQ(stored.front(), 0);
  EXPECT_GE(stored[stored.size() / 2], image / 4);
}

// A machine that has nothing to add parts of a sum with.
std::string withoutSumsOfParts() {
  std::string overlay = fmt::format("{}/no_vsum.{}.yaml", ::testing::TempDir(), getpid());
  std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"none\"\nsummary: \"No "
                            "vsum.\"\ninstructions: { vsum: null }\n";
  return overlay;
}

// A sum of tiles takes an instruction that the machine may lack.
TEST_P(OnEach, SumsWindowsWithoutAnInstructionForTiles) {
  const Network network = squeezed(9, 24);
  EXPECT_EQ(outcomeOf(network, GetParam(), true, "functional", {withoutSumsOfParts()}).output,
            outcomeOf(network, GetParam(), false, "functional").output);
}

TEST_P(OnEach, SumsPartsOfAnImageAsTheyComeIn) {
  for (auto [height, width, channels] :
       {std::array<int64_t, 3>{28, 28, 60}, {9, 13, 33}, {3, 5, 7}, {1, 40, 20}, {40, 1, 200}}) {
    const Network network = Network(height, width, channels).sumOfImage();
    EXPECT_EQ(outcomeOf(network, GetParam(), false, "cycle").output,
              outcomeOf(network, GetParam(), false, "functional", {withoutSumsOfParts()}).output)
        << height << "x" << width << "x" << channels;
  }
}

// Against the formula: images of more pixels, and of more channels, than come on chip at once.
TEST_P(OnEach, SumsLargeImagesPartByPart) {
  for (auto [pixels, channels] : {std::array<int64_t, 2>{34, 16}, {34, 200}}) {
    const std::string image = anyInput(static_cast<size_t>(pixels * pixels * channels));
    std::vector<int64_t> sums(static_cast<size_t>(channels));
    for (size_t i = 0; i < image.size(); ++i)
      sums[i % sums.size()] += static_cast<int8_t>(image[i]) - Network::imageZero;
    std::string expected;
    for (int64_t sum : sums)
      expected += static_cast<char>(std::clamp<int64_t>((sum + 32) >> 6, -128, 127));
    EXPECT_EQ(
        outcomeOf(Network(pixels, pixels, channels).sumOfImage(), GetParam(), true, "cycle").output,
        expected)
        << channels;
  }
}

TEST(Sums, TakeSomeChannelsAtOnceWhereAllDoNotFit) {
  EXPECT_THAT(outcomeOf(Network(64, 48, 200).sumOfImage(), "tiny4", false, "functional").plan,
              ContainsRegex("steps of [0-9]+x48x16 .y, x, channels. of the image"));
}

// Cut by channels, an image that is loaded twice over would come in short runs.
TEST(Sums, LoadTheirImageByRows) {
  const Network network = Network(28, 28, 120).sumOfImage();
  const NetworkOutcome byRows = outcomeOf(network, "edge16", false, "cycle"),
                       byChannels =
                           outcomeOf(network, "edge16", false, "cycle", {withoutSumsOfParts()});
  EXPECT_LT(byRows.cycles, byChannels.cycles * 2 / 3);
}

// Operations on accumulators give their place to their result: of larger elements than those of the
// products there would be no space for two such tiles.
TEST(Accumulators, OfATableAreThoseOfTheProducts) {
  const Network network = Network(14, 14, 112).curved().conv(672, 1, 1);
  EXPECT_THAT(outcomeOf(network, "edge16", false, "functional").plan,
              ContainsRegex("accumulator tiles of 7x14x(32|64)"));
}

TEST(SharedRows, AreKept) {
  for (const Network &network : {Network(56, 56, 24).conv(144, 1, 1).depthwise(3, 1).conv(24, 1, 1),
                                 Network(112, 56, 32).conv(64, 1, 1).conv(24, 5, 1)})
    EXPECT_THAT(outcomeOf(network, "edge16", true, "functional").plan,
                HasSubstr("overlap cached across"));
}

TEST(DepthwiseOnTheArray, TakesLessTime) {
  const Network network = Network(56, 56, 24).conv(96, 1, 1).depthwise(5, 1).conv(24, 1, 1);
  EXPECT_THAT(outcomeOf(network, "edge16", true, "cycle").plan,
              HasSubstr("in 16 of the depthwise products on the array"));
}

// Parameters of later chunks do not come before the first products.
TEST(Parameters, OfTheFirstChunkComeFirst) {
  constexpr int64_t channels = 1152, hidden = 192;
  const Network network =
      Network(7, 7, hidden).conv(channels, 1, 1).depthwise(5, 1).conv(hidden, 1, 1);
  CompileOptions options;
  options.to = Stage::Asm;
  options.model = ::testing::TempDir() + "/parameters.mlir";
  std::ofstream(options.model) << network.text();
  std::istringstream lines(compile(options).output);
  int64_t bytes = 0;
  std::string line;
  while (std::getline(lines, line) && line.rfind("mmul", 0) != 0)
    if (const size_t n0 = line.find("n0="); line.rfind("load ", 0) == 0)
      bytes += std::stoll(line.substr(n0 + 3));
  EXPECT_GT(bytes, 7 * 7 * hidden); // the input
  // All that stands by channel, of the depthwise layer alone.
  EXPECT_LT(bytes, channels * (5 * 5 + 12));
}

// Of a kernel of one tap the loads leave out what a stride passes over, but nothing beyond the
// image.
TEST(Strides, ColumnsOfPaddingAloneAreAlike) {
  constexpr size_t channels = 4, columns = 3;
  const std::string output =
      outcomeOf(Network(4, 4, 64).conv(channels, 1, 3, {0, 3}), "edge16", false, "functional")
          .output;
  ASSERT_EQ(output.size(), 2 * columns * channels);
  EXPECT_EQ(output.substr(2 * channels, channels), output.substr(5 * channels, channels));
}

// The last layer's accumulators hold no row of all channels.
TEST(Tails, ComeLastWhereTheirSumsDoNotFit) {
  EXPECT_THAT(
      outcomeOf(Network(12, 80, 128).depthwise(3, 1).conv(240, 1, 1), "edge16", true, "functional")
          .plan,
      HasSubstr("the last layer when all channels are there"));
}

// Whether a fused stack pays depends on the machine; on this one these do.
TEST(Depthwise, IsDividedBetweenArrayAndLanes) {
  EXPECT_THAT(outcomeOf(Network(30, 30, 64).depthwise(7, 1), "edge16", true, "functional").plan,
              ContainsRegex("[1-9] in 16 of the depthwise products on the array"));
}

TEST_P(OnEdge16, MovesLessAndTakesLessTime) {
  const Case &each = GetParam();
  const NetworkOutcome apart = outcomeOf(each.network, "edge16", false, "cycle"),
                       together = outcomeOf(each.network, "edge16", true, "cycle");
  EXPECT_THAT(together.plan, HasSubstr(fmt::format("fused stack of {} layers", each.layers)));
  EXPECT_LT(together.dramBytes, apart.dramBytes);
  EXPECT_LT(together.cycles, apart.cycles);
}

INSTANTIATE_TEST_SUITE_P(FusedStack, OnMachines,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::Values("edge16", "odd12x20", "wide32x8")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "On" +
                                  std::get<1>(info.param);
                         });
INSTANTIATE_TEST_SUITE_P(FusedStack, OnEach, ::testing::Values("edge16", "odd12x20", "tiny4"));
INSTANTIATE_TEST_SUITE_P(FusedStack, OnEdge16, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace tilewright

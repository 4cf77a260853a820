// ctest -R StreamingRate: the lesser of DRAM's rate and the port's.
#include "description.h"

#include "tilewright/isa/documents.h"
#include "tilewright/isa/streaming_rate.h"
#include "tilewright/testing/source_path.h"

#include <gmock/gmock.h>

namespace tilewright::isa {
namespace {

Isa withDram(const std::string &preset, int64_t clockHz = 1'000'000'000) {
  Description description;
  description.overlay("target: { dram: \"" + preset + "\", clock_hz: \"" + std::to_string(clockHz) +
                      "\" }\n");
  return description.load();
}

TEST(StreamingRate, IsThePortsWhereDramIsFaster) {
  const StreamingRate rate = streamingRate(8'000'000'000, 8, 500'000'000);
  EXPECT_EQ(rate.bytes, 8);
  EXPECT_EQ(rate.cycles, 1);
  EXPECT_EQ(rate.bytesPerSecond(500'000'000), 4'000'000'000);
}

TEST(StreamingRate, IsDramsWhereThePortIsFaster) {
  const StreamingRate rate = streamingRate(8'000'000'000, 8, 3'000'000'000);
  EXPECT_EQ(rate.bytes, 8);
  EXPECT_EQ(rate.cycles, 3);
  EXPECT_EQ(rate.bytesPerSecond(3'000'000'000), 8'000'000'000);
  EXPECT_DOUBLE_EQ(rate.bytesPerCycle(), 8.0 / 3);
}

TEST(StreamingRate, WithoutARateOfDramIsThePorts) {
  EXPECT_EQ(streamingRate(0, 128, 1).bytes, 128);
}

TEST(StreamingRate, CyclesAreRoundedUp) {
  const StreamingRate rate{8, 3};
  EXPECT_EQ(rate.cyclesFor(0), 0);
  EXPECT_EQ(rate.cyclesFor(8), 3);
  EXPECT_EQ(rate.cyclesFor(9), 4);
  EXPECT_EQ((StreamingRate{8, 1}.cyclesFor(9)), 2);
  EXPECT_EQ((StreamingRate{1, 1000}.cyclesFor(INT64_MAX)), INT64_MAX) << "more than it counts";
}

TEST(StreamingRate, OfOneDramDoesNotFollowTheClock) {
  EXPECT_EQ(streamingRate(withDram("lpddr4", 500'000'000)).bytesPerCycle(), 8);
  EXPECT_EQ(streamingRate(withDram("lpddr4", 1'000'000'000)).bytesPerCycle(), 8);
  EXPECT_EQ(streamingRate(withDram("lpddr4", 2'000'000'000)).bytesPerCycle(), 4);
}

// Channels x width x rate of the standards' names.
TEST(DramBytesPerSecond, OfThePresetsArePublished) {
  EXPECT_EQ(dramBytesPerSecond(withDram("lpddr4")), 8'000'000'000);
  EXPECT_EQ(dramBytesPerSecond(withDram("lpddr4_3200")), 12'800'000'000);
  EXPECT_EQ(dramBytesPerSecond(withDram("lpddr4_4266")), 17'064'000'000);
  EXPECT_EQ(dramBytesPerSecond(withDram("ddr4")), 19'200'000'000);
  EXPECT_EQ(dramBytesPerSecond(withDram("hbm2")), 256'000'000'000);
  EXPECT_EQ(dramBytesPerSecond(withDram("ideal")), 0);
}

TEST(DramParameters, OfShippedPresetsThatFit) {
  Description description;
  description.overlay("dram: { parameters: { rate_mts: 1000 } }\n");
  LoadOptions options;
  options.directory = description.path();
  const auto presets = shippedDramParameters(description.load(), options);
  EXPECT_EQ(bytesPerSecondOf(presets.at("lpddr4")), 8'000'000'000) << "as it is, without overlays";
  EXPECT_EQ(bytesPerSecondOf(presets.at("ddr4")), 19'200'000'000);
  description.replace("dram/ddr4.yaml", "row_bytes: \"8192\"", "row_bytes: \"64\"");
  EXPECT_EQ(shippedDramParameters(description.load(), options).count("ddr4"), 0u);
}

TEST(Manual, TellsWhatStreams) {
  EXPECT_THAT(manualIndex(withDram("lpddr4", 2'000'000'000)),
              testing::HasSubstr("\nDRAM: lpddr4, 1 x 32 bits at 2000 MT/s: 8 GB/s. Port: 16 GB/s. "
                                 "What streams is the lesser: 4 bytes a cycle.\n"));
  EXPECT_THAT(manualIndex(withDram("ideal")),
              testing::HasSubstr("\nDRAM: ideal, which has no rate of its own. Port: 8 GB/s. What "
                                 "streams is the lesser: 8 bytes a cycle.\n"));
}

} // namespace
} // namespace tilewright::isa

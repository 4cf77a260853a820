// The shipped presets on the DRAM model: what they stream, and what masters rely on.
#include "tilewright/isa/streaming_rate.h"
#include "tilewright/simulator/memory/dram_model.h"

#include "tilewright/testing/overlaid.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace tilewright {
namespace {

// edge16 with patches on its target and its DRAM preset.
isa::Isa load(const std::string &target = "{}", const std::string &dram = "{}") {
  return overlaid("target: " + target + "\ndram: " + dram);
}

// Bytes a cycle of a stream of bursts of `bytes`, `outstanding` on the way, as a share of what
// streams at most.
double efficiency(const isa::Isa &isa, int64_t bytes, size_t outstanding, bool writesToo) {
  DramModel dram(DramConfig::of(isa));
  std::vector<int64_t> done;
  int64_t t = 0;
  const int bursts = 4000;
  for (int i = 0; i < bursts; ++i) {
    if (done.size() >= outstanding)
      t = std::max(t + 1, done[done.size() - outstanding] + 1);
    const uint64_t address = static_cast<uint64_t>(i) * static_cast<uint64_t>(bytes);
    done.push_back(dram.read(t, address, bytes));
    if (writesToo)
      dram.write(t, address + (uint64_t(1) << 28), bytes);
  }
  return static_cast<double>(bursts * bytes * (writesToo ? 2 : 1)) /
         (static_cast<double>(done.back()) * isa::streamingRate(isa).bytesPerCycle());
}

TEST(DramPresets, Lpddr4StreamsWithRealisticEfficiency) {
  const isa::Isa isa = load();
  const double stream = efficiency(isa, 256, 8, false);
  EXPECT_GT(stream, 0.85);
  EXPECT_LT(stream, 0.93) << "refresh alone takes 7 %";
  // Bursts of 16 bytes waste three quarters of each access of 64.
  EXPECT_LT(efficiency(isa, 16, 8, false), 0.25);
  const double mixed = efficiency(isa, 256, 8, true);
  EXPECT_GT(mixed, 0.65);
  EXPECT_LT(mixed, stream);
}

TEST(DramPresets, TimesBecomeCyclesRoundedUp) {
  EXPECT_EQ(DramConfig::of(load()).tRCD, 18) << "18 ns at 1 GHz";
  EXPECT_EQ(DramConfig::of(load("{ dram: \"ddr4\" }")).tRCD, 14) << "13.32 ns, rounded up";
  EXPECT_EQ(DramConfig::of(load("{ clock_hz: \"500000000\" }")).tRCD, 9);
}

TEST(DramPresets, AnAccessTakesItsTimeAtAnyClock) {
  constexpr int64_t cycle = DramConfig::ticksPerCycle;
  for (const char *bus : {"4", "8", "64"}) {
    const std::string params = std::string(", params: { bus_bytes: \"") + bus + "\" } }";
    EXPECT_EQ(DramConfig::of(load("{ clock_hz: \"500000000\"" + params)).accessTicks, 4 * cycle);
    EXPECT_EQ(DramConfig::of(load("{ clock_hz: \"2000000000\"" + params)).accessTicks, 16 * cycle);
  }
  EXPECT_EQ(DramConfig::of(load("{ dram: \"hbm2\" }")).accessTicks, 2 * cycle) << "of a channel";
  EXPECT_EQ(DramConfig::of(load("{ dram: \"ddr4\" }")).accessTicks, 10 * cycle / 3 + 1);
  EXPECT_EQ(DramConfig::of(load("{ dram: \"ideal\" }")).accessTicks, 0);
}

// What the masters rely on, whatever the traffic.
TEST(DramPresets, BeatsOfReadsComeInOrderAndOneACycle) {
  for (const char *name : {"ideal", "lpddr4", "lpddr4_4266", "ddr4", "hbm2"}) {
    for (const char *bus : {"4", "32"}) {
      DramModel dram(DramConfig::of(
          load(std::string("{ dram: \"") + name + "\", params: { bus_bytes: \"" + bus + "\" } }")));
      std::mt19937_64 random(7);
      int64_t t = 0, last = -1, response = -1;
      for (int i = 0; i < 3000; ++i) {
        t += static_cast<int64_t>(random() % 60);
        const uint64_t offset = random() % 256, address = random() % 4096 * 256 + offset;
        const auto bytes = static_cast<int64_t>(1 + random() % (256 - offset));
        if (random() % 3 == 0) {
          const int64_t answered = dram.write(t, address, bytes);
          ASSERT_GT(answered, std::max(t, response)) << name << ", bus of " << bus << ": " << i;
          response = answered;
          continue;
        }
        const int64_t end = dram.read(t, address, bytes), beats = dram.beats(address, bytes);
        ASSERT_GT(end - beats + 1, std::max(t, last)) << name << ", bus of " << bus << ": " << i;
        last = end;
      }
    }
  }
}

TEST(DramPresets, AllStream) {
  for (const char *name : {"ideal", "lpddr4", "lpddr4_3200", "lpddr4_4266", "ddr4", "hbm2"}) {
    for (const char *bus : {"8", "64"}) {
      const isa::Isa isa =
          load(std::string("{ dram: \"") + name + "\", params: { bus_bytes: \"" + bus + "\" } }");
      const double stream = efficiency(isa, 256, 64, false);
      EXPECT_GT(stream, 0.85) << name << ", bus of " << bus;
      EXPECT_LE(stream, 1.0) << name << ", bus of " << bus;
    }
  }
}

} // namespace
} // namespace tilewright

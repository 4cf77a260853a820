// Loads that stream from the shipped LPDDR4: at each clock, the lesser of DRAM's rate and the
// port's, less what refresh takes.
#include "tilewright/testing/harness.h"

#include "tilewright/isa/streaming_rate.h"

#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

struct Clock {
  const char *name, *hertz;
  double gigabytes; // a second, of the lesser
};
void PrintTo(const Clock &clock, std::ostream *stream) { *stream << clock.name; }
class Streaming : public testing::TestWithParam<Clock> {};

// Of 256 KiB without gaps, in GB/s.
double streamed(const isa::Isa &isa) {
  const RunSetup setup{isa, DramConfig::of(isa), {}};
  const RunRecord record = run("load.set r0=s_s1, v0=4096, r1=d_s1, v1=4096\n"
                               "load s=0, d=0, n1=64, n0=4096\nfence\nhalt\n",
                               setup);
  return static_cast<double>(record.dramReadBytes) / static_cast<double>(record.cycles) *
         static_cast<double>(isa.clockHz()) / 1e9;
}

TEST_P(Streaming, LoadsMoveTheLesserOfDramsRateAndThePorts) {
  const std::string target = std::string("target: { clock_hz: \"") + GetParam().hertz + "\" }\n";
  const isa::Isa isa = overlaid(target);
  const double lesser = GetParam().gigabytes;
  EXPECT_EQ(isa::streamingRate(isa).bytesPerSecond(isa.clockHz()),
            static_cast<int64_t>(lesser * 1e9));
  const double rate = streamed(isa);
  EXPECT_LE(rate, lesser);
  EXPECT_GT(rate, 0.91 * lesser) << "refresh stops DRAM for 7 % of the time";
  const double steady = streamed(overlaid(target + "dram: { parameters: { tREFI_ps: \"0\" } }"));
  EXPECT_LE(steady, lesser);
  EXPECT_GT(steady, 0.99 * lesser);
}

INSTANTIATE_TEST_SUITE_P(Clocks, Streaming,
                         testing::Values(Clock{"HalfAGigahertz", "500000000", 4},
                                         Clock{"OneGigahertz", "1000000000", 8},
                                         Clock{"TwoGigahertz", "2000000000", 8}),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace tilewright::cycle

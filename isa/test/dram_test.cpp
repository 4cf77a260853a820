// ctest -R LoadDram: what makes no working device is refused at its place.
#include "description.h"

#include <gmock/gmock.h>

namespace tilewright::isa {
namespace {

struct DramCase {
  const char *name, *parameters, *message; // of what stands at the place of the mistake
};
void PrintTo(const DramCase &c, std::ostream *stream) { *stream << c.name; }
class LoadDram : public testing::TestWithParam<DramCase> {};

TEST_P(LoadDram, IsRefused) {
  Description description;
  description.overlay(std::string("dram: { parameters: { ") + GetParam().parameters + " } }\n");
  EXPECT_THAT(description.error(), testing::MatchesRegex("(overlay0.yaml:4:[0-9]+|dram/lpddr4.yaml:"
                                                         "9:3): error: .*"));
  EXPECT_THAT(description.error(), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LoadDram,
    testing::Values(
        DramCase{"Missing", "tRCD_ps: null",
                 "dram/lpddr4.yaml:9:3: error: parameter 'tRCD_ps' is missing\n  fix: see "
                 "isa/dram/lpddr4.yaml for all of them"},
        DramCase{"Unknown", "tXYZ_ps: 1", "a DRAM preset has no parameter 'tXYZ_ps'"},
        DramCase{"Negative", "tRP_ps: -1",
                 "the parameter 'tRP_ps' is -1, not within 0..1000000000"},
        DramCase{"Long", "tRRD_ps: 1000000001",
                 "the parameter 'tRRD_ps' is 1000000001, not within 0..1000000000: above a "
                 "millisecond runs only become endless"},
        DramCase{"ManyBanks", "banks: 8192",
                 "the parameter 'banks' is 8192, not within 1..4096: no device has more"},
        DramCase{"Banks", "banks: 6",
                 "6 banks cannot be permuted\n  fix: make banks a power of two, or bank_xor 0"},
        DramCase{"ChannelBits", "channel_bits: 12", "channel_bits 12 is no whole number of bytes"},
        DramCase{"Accesses", "access_bytes: 6",
                 "access_bytes 6 is no whole number of transfers of 32 bits\n  fix: make it "
                 "channel_bits / 8 times the burst length"},
        DramCase{"Rate", "rate_mts: 1, access_bytes: 1048576, row_bytes: 1048576",
                 "at rate_mts 1 an access of 1048576 bytes takes longer than a millisecond"},
        DramCase{"Interleaving", "channels: 2, interleave_bytes: 96",
                 "interleave_bytes 96 is no multiple of access_bytes 64"},
        DramCase{"RowsOfChannels", "channels: 2, row_bytes: 2048",
                 "row_bytes 2048 is no multiple of access_bytes 64 and interleave_bytes 4096"},
        DramCase{"Rows", "row_bytes: 128",
                 "row_bytes 128 is no multiple of access_bytes 64 and burst_bytes 256"},
        DramCase{"WriteMarks", "write_low: 12",
                 "write_low < write_high <= write_queue does not hold"},
        DramCase{"Refreshes", "tREFI_ps: 400000",
                 "refreshes every 400 cycles leave no time for an access of 967 cycles\n  fix: "
                 "make tREFI_ps greater"}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace tilewright::isa

// Constants that come in early, under the layer before, may cut the scratchpad in two: what then
// has no room begins on an empty chip.
#include "outcome.h"

namespace tilewright {

TEST(Room, AnInputTileThatEarlyConstantsLeaveNoRoomFor) {
  const std::string overlay = ::testing::TempDir() + "/room.yaml";
  std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"room\"\n"
                            "summary: \"Another clock and DRAM.\"\n"
                            "target: { clock_hz: \"1100000000\", dram: \"hbm2\" }\n";
  Network network(13, 13, 1024); // the last block's shortcut of ResNet-50, and what follows
  network.conv(512, 1, 2).conv(2048, 1, 1).from(0).conv(2048, 1, 2).add(2).conv(512, 1, 1);
  const Outcome cut = outcomeOf(network, "edge16", true, "functional", {overlay}),
                plain = outcomeOf(network, "edge16", true, "functional");
  EXPECT_EQ(cut.output, plain.output);
}

} // namespace tilewright

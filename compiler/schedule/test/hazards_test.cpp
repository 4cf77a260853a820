#include "tilewright/compiler/hazards.h"

#include <gtest/gtest.h>

namespace tilewright {

static MemoryAccess access(int64_t begin, int64_t end, bool write) {
  return {isa::Space::Spad, {begin, end}, write};
}

TEST(Hazards, ReadAfterWriteWaitsForTheWriter) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, true)});
  EXPECT_EQ(tracker.visit(2, 1, {access(32, 40, false)}), (LaneClock{0, 1, 0}));
}

TEST(Hazards, ReadsDoNotWaitForReads) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, false)});
  EXPECT_EQ(tracker.visit(2, 1, {access(0, 64, false)}), (LaneClock{0, 0, 0}));
}

TEST(Hazards, WriteWaitsForReadersOfAnyPart) {
  HazardTracker tracker(4);
  tracker.visit(1, 5, {access(0, 10, false)});
  tracker.visit(2, 7, {access(10, 20, false)});
  EXPECT_EQ(tracker.visit(3, 1, {access(0, 20, true)}), (LaneClock{0, 5, 7, 0}));
}

TEST(Hazards, NeighborsDoNotConflict) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, true)});
  EXPECT_EQ(tracker.visit(2, 1, {access(64, 128, true)}), (LaneClock{0, 0, 0}));
}

TEST(Hazards, ALaterReaderSeesTheLatestWriterOnly) {
  HazardTracker tracker(4);
  tracker.visit(1, 1, {access(0, 64, true)});
  tracker.visit(2, 1, {access(0, 64, true)});
  EXPECT_EQ(tracker.visit(3, 1, {access(0, 64, false)}), (LaneClock{0, 0, 1, 0}));
}

TEST(Hazards, SpacesAreApart) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {{isa::Space::Acc, {0, 64}, true}});
  EXPECT_EQ(tracker.visit(2, 1, {access(0, 64, false)}), (LaneClock{0, 0, 0}));
}

TEST(Hazards, AFenceForgetsEverything) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, true)});
  tracker.clear();
  EXPECT_EQ(tracker.visit(2, 1, {access(0, 64, false)}), (LaneClock{0, 0, 0}));
}

} // namespace tilewright

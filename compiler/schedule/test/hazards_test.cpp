#include "tilewright/compiler/hazards.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

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

// Byte for byte, with each lane's latest reader and the latest writer of every byte.
TEST(Hazards, AgreesWithATrackerOfBytes) {
  constexpr int lanes = 3, bytes = 40;
  struct Byte {
    LaneClock writers = LaneClock(lanes, 0), readers = LaneClock(lanes, 0);
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    HazardTracker tracker(lanes);
    std::vector<Byte> memory(bytes);
    for (int64_t sequence = 1; sequence < 60; ++sequence) {
      const int lane = static_cast<int>(random() % lanes);
      std::vector<MemoryAccess> accesses;
      LaneClock expected(lanes, 0);
      for (unsigned i = 0; i < 1 + random() % 2; ++i) {
        const int64_t begin = random() % bytes, end = begin + 1 + random() % (bytes - begin);
        accesses.push_back(access(begin, end, random() % 3 == 0));
      }
      for (const MemoryAccess &each : accesses)
        for (int64_t at = each.range.begin; at < each.range.end; ++at)
          for (int i = 0; i < lanes; ++i)
            expected[i] = std::max(
                {expected[i], memory[at].writers[i], each.write ? memory[at].readers[i] : 0});
      for (const MemoryAccess &each : accesses)
        for (int64_t at = each.range.begin; at < each.range.end; ++at) {
          if (each.write)
            memory[at] = {};
          (each.write ? memory[at].writers : memory[at].readers)[lane] = sequence;
        }
      ASSERT_EQ(tracker.visit(lane, sequence, accesses), expected) << seed << " " << sequence;
    }
  }
}

TEST(Hazards, AFenceForgetsEverything) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, true)});
  tracker.clear();
  EXPECT_EQ(tracker.visit(2, 1, {access(0, 64, false)}), (LaneClock{0, 0, 0}));
}

} // namespace tilewright

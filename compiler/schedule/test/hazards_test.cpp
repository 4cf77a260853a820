#include "tilewright/compiler/schedule/hazards.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <array>
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
  constexpr int64_t base = 3 * 8192 - 20; // a page of the tracker ends among the bytes
  struct Byte {
    LaneClock writers = LaneClock(lanes, 0), readers = LaneClock(lanes, 0);
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    HazardTracker tracker(lanes);
    std::vector<Byte> memory(bytes);
    for (int32_t sequence = 1; sequence < 60; ++sequence) {
      const int lane = static_cast<int>(random() % lanes);
      MemoryAccesses accesses;
      LaneClock expected(lanes, 0);
      for (unsigned i = 0; i < 1 + random() % 2; ++i) {
        const auto begin = static_cast<int64_t>(random() % bytes),
                   end = begin + 1 + static_cast<int64_t>(random() % (bytes - begin));
        accesses.push_back(access(base + begin, base + end, random() % 3 == 0));
      }
      for (const MemoryAccess &each : accesses)
        for (int64_t at = each.range.begin - base; at < each.range.end - base; ++at)
          for (int i = 0; i < lanes; ++i)
            expected[i] = std::max(
                {expected[i], memory[at].writers[i], each.write ? memory[at].readers[i] : 0});
      for (const MemoryAccess &each : accesses)
        for (int64_t at = each.range.begin - base; at < each.range.end - base; ++at) {
          if (each.write)
            memory[at] = {};
          (each.write ? memory[at].writers : memory[at].readers)[lane] = sequence;
        }
      ASSERT_EQ(tracker.visit(lane, sequence, accesses), expected) << seed << " " << sequence;
    }
  }
}

// Programs that were not made here may reach beyond their memories.
TEST(Hazards, AnyRangeIsTracked) {
  constexpr int64_t far = int64_t(1) << 60;
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(-far, -far + 1, true)});
  tracker.visit(1, 2, {access(far, far + 1, true)});
  EXPECT_EQ(tracker.visit(2, 1, {access(-far + 1, far, false)}), (LaneClock{0, 0, 0}));
  EXPECT_EQ(tracker.visit(2, 2, {access(-far, 0, false)}), (LaneClock{0, 1, 0}));
  EXPECT_EQ(tracker.visit(2, 3, {access(0, far + 1, false)}), (LaneClock{0, 2, 0}));
}

TEST(Hazards, AFenceForgetsEverything) {
  HazardTracker tracker(3);
  tracker.visit(1, 1, {access(0, 64, true)});
  tracker.clear();
  EXPECT_EQ(tracker.visit(2, 1, {access(0, 64, false)}), (LaneClock{0, 0, 0}));
}

// Few values, so that many instructions differ in their addresses alone and others in one register.
TEST(Accesses, AreTheRangesOfOperands) {
  isa::LoadOptions options;
  options.directory = sourcePath("isa");
  const isa::Isa isa = isa::load(options);
  std::mt19937 random(1);
  AccessFinder finder(isa);
  int compared = 0;
  for (const isa::Instruction &instruction : isa.instructions()) {
    std::vector<int64_t> registers(
        isa.units()[static_cast<size_t>(instruction.unit)].registers.size(), 1);
    for (int i = 0; i < 400; ++i) {
      isa::DecodedInstruction decoded;
      decoded.instruction = instruction.index;
      for (const isa::Operand &operand : instruction.operands)
        decoded.values.push_back(static_cast<int64_t>(
            random() % (operand.kind == isa::Operand::Kind::Memory ? 1000 : 3)));
      if (!registers.empty() && random() % 4 == 0)
        registers[random() % registers.size()] = static_cast<int64_t>(random() % 3);
      std::array<isa::Range, isa::limits::operands.count()> ranges;
      isa::operandRanges(instruction, isa, decoded, registers.data(), decoded.values.data(),
                         ranges.data());
      const MemoryAccesses found = finder.of(decoded, registers);
      size_t next = 0;
      for (const isa::Operand &operand : instruction.operands) {
        if (operand.kind != isa::Operand::Kind::Memory)
          continue;
        ASSERT_LT(next, found.size());
        const MemoryAccess &access = found[next++];
        const isa::Range &range = ranges[static_cast<size_t>(operand.index)];
        EXPECT_EQ(access.space, operand.space);
        EXPECT_EQ(access.write, operand.access != isa::Access::Read);
        ASSERT_EQ(access.range.begin, range.begin) << instruction.name << " " << i;
        ASSERT_EQ(access.range.end, range.end) << instruction.name << " " << i;
        ++compared;
      }
      EXPECT_EQ(next, found.size());
    }
  }
  EXPECT_GT(compared, 1000);
}

} // namespace tilewright

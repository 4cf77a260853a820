// Engines that lie on purpose: each lie is found, and the difference names its unit, cycle,
// instruction and address.
#include "compare_sample.h"
#include "machine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::lockstep {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Compare, FindsNothingWhereThereIsNothing) {
  const std::unique_ptr<Engine> other = makeCycleEngine(tiny());
  const Comparison comparison = compareWith({&functionalEngine(), &cycleEngine(), other.get()});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
  const Compared &compared = comparison.compared;
  EXPECT_EQ(compared.instructions, 19u);
  EXPECT_EQ(compared.writes + compared.reads, truth().accesses.size());
  EXPECT_GT(compared.writtenBytes, 4 * 64u + 3 * 20 * 16 + 2 * 80 + 80 - 1);
  EXPECT_EQ(compared.dramBytes, 2 * sample().dramBytes);
  EXPECT_GT(compared.cycles, 100);
  EXPECT_GT(compared.stallCycles, 0u);
  EXPECT_FALSE(compared.error);
}

TEST(Compare, FindsAWriteThatComesACycleLate) {
  const AccessEvent event = writeOf("load", 3);
  const Difference difference =
      found(onWrite("load", 3, [](AccessEvent &event) { ++event.cycle; }));
  EXPECT_EQ(difference.cycle, event.cycle);
  EXPECT_EQ(difference.unit, unitIndex("load"));
  EXPECT_EQ(difference.instruction, 4u);
  EXPECT_EQ(difference.space, isa::Space::Spad);
  EXPECT_EQ(difference.address, event.address);
  EXPECT_EQ(difference.text,
            fmt::format("cycle {}, load, instruction 4 `load          s=0x0, d=0x0, n1=4, n0=64 "
                        "!signal=0`: cycle writes 4 bytes at {:#x} of spad, liar does so in cycle "
                        "{}",
                        event.cycle, event.address, event.cycle + 1));
}

// The sum over the run is the same.
TEST(Compare, FindsTwoWritesInTheOtherOrder) {
  const AccessEvent first = writeOf("matrix", 24), second = writeOf("matrix", 25);
  const Difference difference = found([&] {
    Lie lie;
    lie.access = [&, nth = 0](AccessEvent &event) mutable {
      if (!event.isWrite || event.unit != unitIndex("matrix"))
        return;
      if (nth == 24)
        event.address = second.address;
      if (nth == 25)
        event.address = first.address;
      ++nth;
    };
    return lie;
  });
  EXPECT_EQ(difference.cycle, first.cycle);
  EXPECT_EQ(difference.unit, unitIndex("matrix"));
  EXPECT_THAT(difference.text, HasSubstr("instruction 7 (layer 'conv') `mmul"));
  EXPECT_THAT(difference.text,
              EndsWith(fmt::format("cycle writes 16 bytes at {:#x} of acc, liar writes 16 bytes at "
                                   "{:#x} of acc",
                                   first.address, second.address)));
}

TEST(Compare, FindsAWriteOfOtherSizeAndOneForAnotherInstruction) {
  EXPECT_THAT(found(onWrite("vector", 5, [](AccessEvent &event) { event.bytes -= 1; })).text,
              EndsWith("liar writes 3 bytes at 0x1014 of spad"));
  EXPECT_THAT(found(onWrite("vector", 5, [](AccessEvent &event) { event.pc = 3; })).text,
              EndsWith("liar writes 4 bytes at 0x1014 of spad for instruction 3"));
}

TEST(Compare, FindsABeatOfDramThatIsLate) {
  const AccessEvent event = writeOf("store", 19);
  const Difference difference =
      found(onWrite("store", 19, [](AccessEvent &event) { event.cycle += 3; }));
  EXPECT_EQ(difference.cycle, event.cycle);
  EXPECT_EQ(difference.space, isa::Space::Dram);
  EXPECT_THAT(difference.text, HasSubstr("cycle writes 4 bytes at 0x404c of dram"));
}

TEST(Compare, FindsABurstThatIsRequestedElsewhere) {
  const Difference difference = found([] {
    Lie lie;
    lie.access = [left = 1](AccessEvent &event) mutable {
      if (!event.isWrite && event.unit == unitIndex("load") && left-- == 0)
        event.address += 4;
    };
    return lie;
  });
  EXPECT_EQ(difference.unit, unitIndex("load"));
  EXPECT_THAT(difference.text, HasSubstr("liar requests 64 bytes at 0x"));
}

// Busy in one stalled cycle, and stalled in a busy one: totals are equal.
TEST(Compare, FindsAStallThatIsACycleShort) {
  int64_t cycle = -1;
  const Difference difference = found([&] {
    Lie lie;
    lie.activity = [&cycle, done = false](const ActivityEvent &event) mutable {
      std::vector<ActivityEvent> told = {event};
      if (done || event.kind != ActivityEvent::Kind::Stalled || event.unit != unitIndex("matrix") ||
          event.cause != Stall::Semaphore)
        return told;
      done = true;
      cycle = event.cycle + event.cycles - 1;
      ActivityEvent busy = event;
      busy.cycle = cycle;
      busy.cycles = 1;
      busy.kind = ActivityEvent::Kind::Busy;
      busy.cause = Stall::None;
      busy.pc = noInstruction;
      told[0].cycles -= 1;
      told.push_back(busy);
      return told;
    };
    return lie;
  });
  EXPECT_EQ(difference.cycle, cycle);
  EXPECT_EQ(difference.unit, unitIndex("matrix"));
  EXPECT_THAT(difference.text, EndsWith("cycle is stalled (semaphore) by instruction 5, liar is "
                                        "busy"));
}

TEST(Compare, FindsAStallWithAnotherCause) {
  const Difference difference = found([&] {
    Lie lie;
    lie.activity = [](ActivityEvent event) {
      if (event.cause == Stall::Dram)
        event.cause = Stall::SpadPort;
      return std::vector<ActivityEvent>{event};
    };
    return lie;
  });
  EXPECT_EQ(difference.unit, unitIndex("load"));
  EXPECT_THAT(difference.text, EndsWith("cycle is stalled (dram) by instruction 4, liar is stalled "
                                        "(spad_port) by instruction 4"));
}

TEST(Compare, FindsAConflictWithAnotherUnit) {
  const Program program =
      assemble("vector.set r0=a_s0, v0=4, r1=d_s0, v1=4\nmatrix.set r0=a_s0, v0=4, r1=d_s0, v1=4\n"
               "vrescale a=0, d=0x1000, n0=60, nc=4\n"
               "mmul a=0, d=0, n1=1, n0=60, k=4, n=4, accumulate=1, swap=0\nfence\nhalt\n");
  LyingEngine liar(cycleEngine(), [] {
    Lie lie;
    lie.conflict = [](ConflictEvent &event) { event.winner = unitIndex("store"); };
    return lie;
  });
  CompareOptions options;
  options.values = false;
  const Comparison comparison = compareWith({&cycleEngine(), &liar}, options, program);
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->unit, unitIndex("vector"));
  EXPECT_THAT(comparison.difference->text,
              EndsWith("vector: cycle loses 1 pieces to matrix, liar loses 1 pieces to store"));
}

// What an instruction leaves in memory.
std::function<Lie()> wrongByte(uint64_t pc, isa::Space where, uint64_t at) {
  return [=] {
    Lie lie;
    lie.written = [=](uint64_t by, isa::Space space, uint64_t address,
                      std::vector<uint8_t> &bytes) {
      if (by == pc && space == where && at >= address && at < address + bytes.size())
        bytes[at - address] ^= 0x80;
    };
    return lie;
  };
}

TEST(Compare, FindsAValue) {
  const Difference difference = found(wrongByte(11, isa::Space::Spad, 0x1107));
  EXPECT_EQ(difference.unit, unitIndex("vector"));
  EXPECT_EQ(difference.instruction, 11u);
  EXPECT_EQ(difference.address, 0x1107u);
  int64_t cycle = -1;
  for (const AccessEvent &event : truth().accesses)
    if (event.isWrite && event.pc == 11 && event.address == 0x1104)
      cycle = event.cycle;
  EXPECT_EQ(difference.cycle, cycle);
  EXPECT_THAT(difference.text,
              StartsWith(fmt::format("cycle {}, vector, instruction 11 `vadd.i8", cycle)));
  EXPECT_THAT(difference.text,
              testing::ContainsRegex("at 0x1107 of spad cycle leaves 0x.., liar leaves 0x..$"));
}

TEST(Compare, LeavesValuesAloneWhenToldSo) {
  LyingEngine liar(cycleEngine(), wrongByte(11, isa::Space::Spad, 0x1107));
  CompareOptions options;
  options.values = false;
  EXPECT_FALSE(compareWith({&cycleEngine(), &liar}, options).difference);
}

// The functional engine knows no cycle; the one with time does.
TEST(Compare, FindsAValueOfAnEngineWithoutTime) {
  LyingEngine liar(functionalEngine(), wrongByte(13, isa::Space::Dram, 0x4009));
  const Comparison comparison = compareWith({&liar, &cycleEngine()});
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.engines, "liar,cycle");
  EXPECT_EQ(comparison.difference->cycle, writeOf("store", 2).cycle);
  EXPECT_THAT(comparison.difference->text,
              testing::ContainsRegex("instruction 13 `store .*`: at 0x4009 of dram \\(output 'y', "
                                     "element 9\\) liar leaves 0x.., cycle leaves 0x..$"));
}

TEST(Compare, FindsMemoryThatNoInstructionShows) {
  const Difference difference = found([] {
    Lie lie;
    lie.memory = [](DramImage &memory) { memory.data()[0x4002] ^= 1; };
    return lie;
  });
  EXPECT_THAT(difference.text, testing::ContainsRegex(
                                   "^at the end, 0x4002 of dram \\(output 'y', element 2\\): cycle "
                                   "has 0x.., liar has 0x..$"));
}

TEST(Compare, CountsElementsOf64BitsByTheirHalves) {
  Program program = sample();
  program.outputs[0].dtype = DType::I64;
  program.outputs[0].shape = {10};
  LyingEngine liar(cycleEngine(), wrongByte(13, isa::Space::Dram, 0x402e));
  const Comparison comparison = compareWith({&cycleEngine(), &liar}, {}, program);
  ASSERT_TRUE(comparison.difference);
  EXPECT_THAT(comparison.difference->text, HasSubstr("0x402e of dram (output 'y', element 1)"));
}

TEST(Compare, FindsTimesOfAnInstruction) {
  EXPECT_THAT(ofRecord([](RunRecord &record) { record.trace[4].start += 1; }),
              testing::ContainsRegex("load, instruction 4 `load .*`: cycle starts it in cycle "
                                     "[0-9]+, liar in cycle [0-9]+$"));
  EXPECT_THAT(ofRecord([](RunRecord &record) { record.trace[18].dispatch -= 1; }),
              HasSubstr("sequencer, instruction 14 `halt`: cycle dispatches it in cycle"));
  EXPECT_THAT(ofRecord([](RunRecord &record) { record.trace[7].end += 2; }),
              HasSubstr("cycle ends it in cycle"));
}

TEST(Compare, FindsStallsAndBytesOfAnInstruction) {
  EXPECT_THAT(ofRecord([](RunRecord &record) {
                ++record.trace[5].stalls[static_cast<int>(Stall::Semaphore)];
              }),
              testing::ContainsRegex("instruction 5 `mload .*`: cycle stalls it for [0-9]+ cycles "
                                     "\\(semaphore\\), liar for [0-9]+$"));
  EXPECT_THAT(ofRecord([](RunRecord &record) { record.trace[4].dramReadBytes = 1; }),
              EndsWith("cycle moves 256 bytes of DRAM, liar 1"));
}

TEST(Compare, FindsAnotherPath) {
  EXPECT_THAT(ofRecord([](RunRecord &record) { record.trace.pop_back(); }),
              EndsWith("as number 18 cycle executes instruction 14, liar is at its end"));
}

TEST(Compare, FindsTotals) {
  EXPECT_THAT(ofRecord([](RunRecord &record) { ++record.dramRowHits; }),
              StartsWith("cycle and liar differ in DRAM row hits: "));
  EXPECT_THAT(ofRecord([](RunRecord &record) { ++record.fetchBytes; }),
              StartsWith("cycle and liar differ in bytes fetched: "));
  EXPECT_THAT(ofRecord([](RunRecord &record) { ++record.bankConflicts[3][4]; }),
              StartsWith("cycle and liar differ in conflicts of matrix with vector: 0 and 1"));
}

TEST(Compare, TellsTheEarliestOfTwoLies) {
  const AccessEvent event = writeOf("load", 3);
  const Difference difference = found([] {
    Lie lie;
    lie.access = [nth = 0](AccessEvent &event) mutable {
      if (event.isWrite && event.unit == unitIndex("load") && nth++ == 3)
        event.bytes = 1;
    };
    lie.record = [](RunRecord &record) { record.trace[18].dispatch += 1; };
    return lie;
  });
  EXPECT_EQ(difference.cycle, event.cycle);
}

// Everything but the order of what is told: steady cycles come at once, or one by one.
TEST(Compare, TakesSkippedCyclesForSteppedOnes) {
  LyingEngine stepping(cycleEngine(), [] {
    ::setenv("TILEWRIGHT_STEP_EVERY_CYCLE", "1", 1);
    Lie lie;
    lie.record = [](RunRecord &) { ::unsetenv("TILEWRIGHT_STEP_EVERY_CYCLE"); };
    return lie;
  });
  const Comparison comparison = compareWith({&cycleEngine(), &stepping});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

} // namespace
} // namespace tilewright::lockstep

// The timeline and the memory map.
#include "drawings.h"

#include "sample.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

namespace {

const std::vector<int> eachItsRow = {0, 1};

Timeline timelineOf(const RunRecord &run) {
  return makeTimeline(sampleProgram(), run, sampleIsa(), eachItsRow);
}

const Lane &laneNamed(const Timeline &timeline, const std::string &name) {
  for (const Lane &lane : timeline.lanes)
    if (lane.name == name)
      return lane;
  throw std::out_of_range(name);
}

std::vector<int64_t> numbers(const Span &span) {
  return {span.begin, span.end, span.layer, span.busy};
}

TEST(Timeline, hasALaneOfLayersThatCoversTheRun) {
  const Timeline timeline = timelineOf(sampleRecord());
  int64_t next = 0;
  for (const Span &span : laneNamed(timeline, "layers").segments) {
    EXPECT_EQ(span.begin, next);
    next = span.end;
  }
  EXPECT_EQ(next, 100);
}

TEST(Timeline, hasWhatAUnitDoes) {
  const Timeline timeline = timelineOf(sampleRecord());
  const Lane &matrix = laneNamed(timeline, "matrix");
  ASSERT_THAT(matrix.segments, SizeIs(2));
  EXPECT_THAT(numbers(matrix.segments[0]), ElementsAre(20, 60, 0, 40));
  EXPECT_THAT(numbers(matrix.segments[1]), ElementsAre(60, 80, 1, 20));
  EXPECT_EQ(timeline.resolution, 0);
}

TEST(Timeline, cutsTheLaterOfTwoThatOverlap) {
  RunRecord run = sampleRecord();
  run.trace[5] = record(5, 30, 80);
  const Timeline timeline = timelineOf(run);
  EXPECT_THAT(numbers(laneNamed(timeline, "matrix").segments[1]), ElementsAre(60, 80, 1, 20));
}

TEST(Timeline, namesRowsNotKernels) {
  const Timeline timeline = makeTimeline(sampleProgram(), sampleRecord(), sampleIsa(), {0, 0});
  ASSERT_THAT(laneNamed(timeline, "matrix").segments, SizeIs(1));
  EXPECT_THAT(numbers(laneNamed(timeline, "matrix").segments[0]), ElementsAre(20, 80, 0, 60));
}

TEST(Timeline, ofALongRunIsMergedOverGapsAndKeepsTheBusyCycles) {
  RunRecord run;
  for (int64_t i = 0; i < 50000; ++i)
    run.trace.push_back(record(1, 10 * i, 10 * i + 4));
  run.cycles = 500000;
  const Timeline timeline = timelineOf(run);
  size_t count = 0;
  for (const Lane &lane : timeline.lanes)
    count += lane.segments.size();
  EXPECT_LE(count, 24000u);
  EXPECT_EQ(timeline.resolution, 8); // the gaps are 6
  int64_t busy = 0;
  for (const Span &span : laneNamed(timeline, "matrix").segments)
    busy += span.busy;
  EXPECT_EQ(busy, 200000);
}

// load n bytes from DRAM address `from` to the scratchpad's `to`, or back.
void append(Program &program, const char *name, int64_t dram, int64_t chip, int64_t bytes) {
  const isa::Instruction &instruction = *sampleIsa().find(name);
  isa::DecodedInstruction decoded;
  decoded.instruction = instruction.index;
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory)
      decoded.values.push_back(operand.space == isa::Space::Dram ? dram : chip);
    else
      decoded.values.push_back(operand.name == "n0" ? bytes : 1);
  decoded.bases.assign(instruction.operands.size(), 0);
  isa::Bits bits = sampleIsa().encode(decoded);
  program.code.append(bits.begin(), bits.end());
}

// Stride registers are reset: a run of bytes is what `n0` says.
class Memory : public testing::Test {
protected:
  Memory() {
    program_ = sampleProgram();
    program_.code.clear();
    program_.runs = {{0, 0}};
    program_.dramBytes = 4096;
    run_.cycles = 1000;
  }
  void step(const char *name, int64_t dram, int64_t chip, int64_t start, int64_t end) {
    append(program_, name, dram, chip, 1);
    run_.trace.push_back(record(run_.trace.size(), start, end));
  }
  MemorySpace map(isa::Space space) {
    return makeMemoryMap(program_, run_, sampleIsa(), eachItsRow)
        .spaces[static_cast<size_t>(space)];
  }

  Program program_;
  RunRecord run_;
};

TEST_F(Memory, holdsWhatWasLoadedUntilItIsReadForTheLastTime) {
  step("load", 0, 128, 10, 20);
  step("store", 64, 128, 30, 40);
  step("store", 64, 128, 50, 60);
  const MemorySpace spad = map(isa::Space::Spad);
  ASSERT_THAT(spad.liveRanges, SizeIs(1));
  const LiveRange &range = spad.liveRanges[0];
  EXPECT_EQ(range.begin, 128);
  EXPECT_EQ(range.end, 192); // a block
  EXPECT_EQ(range.start, 10);
  EXPECT_EQ(range.stop, 61);
  EXPECT_EQ(range.layer, 0);
  EXPECT_EQ(range.content, Content::Loaded);
}

TEST_F(Memory, holdsSomethingNewWhenWhatWasReadIsWrittenAgain) {
  step("load", 0, 128, 10, 20);
  step("store", 64, 128, 30, 40);
  step("load", 0, 128, 50, 60);
  step("store", 64, 128, 70, 80);
  EXPECT_THAT(map(isa::Space::Spad).liveRanges,
              ElementsAre(Field(&LiveRange::start, 10), Field(&LiveRange::start, 50)));
}

TEST_F(Memory, holdsOneThingThatIsWrittenInTwoSteps) {
  step("load", 0, 128, 10, 20);
  step("load", 1, 129, 20, 30);
  step("store", 64, 128, 30, 40);
  EXPECT_THAT(map(isa::Space::Spad).liveRanges, SizeIs(1));
}

TEST_F(Memory, neighborsOfTheSameTimeAreOne) {
  step("load", 0, 128, 10, 20);
  step("load", 0, 192, 10, 20);
  const MemorySpace spad = map(isa::Space::Spad);
  ASSERT_THAT(spad.liveRanges, SizeIs(1));
  EXPECT_EQ(spad.liveRanges[0].end, 256);
}

TEST_F(Memory, tellsConstantsFromActivations) {
  program_.data = {{1024, std::string(64, 'w')}};
  step("load", 1024, 128, 10, 20);
  step("load", 0, 512, 10, 20);
  EXPECT_THAT(map(isa::Space::Spad).liveRanges,
              ElementsAre(Field(&LiveRange::content, Content::Constant),
                          Field(&LiveRange::content, Content::Loaded)));
}

TEST_F(Memory, constantsStandInDramUntilTheyAreReadForTheLastTime) {
  program_.data = {{1024, std::string(64, 'w')}};
  step("load", 1024, 128, 10, 20);
  const MemorySpace dram = map(isa::Space::Dram);
  ASSERT_THAT(dram.liveRanges, SizeIs(1));
  EXPECT_EQ(dram.liveRanges[0].content, Content::Constant);
  EXPECT_EQ(dram.liveRanges[0].start, 0);
  EXPECT_EQ(dram.liveRanges[0].stop, 21);
}

TEST_F(Memory, outputsStandInDramToTheEnd) {
  program_.outputs = {{"y", DType::I8, {1}, 2048, {}, 0}};
  step("load", 0, 128, 10, 20);
  step("store", 2048, 128, 30, 40);
  EXPECT_THAT(map(isa::Space::Dram).liveRanges,
              Contains(testing::AllOf(Field(&LiveRange::begin, 2048), Field(&LiveRange::start, 30),
                                      Field(&LiveRange::stop, 1000))));
}

TEST_F(Memory, namesTheTensorsOfTheProgram) {
  program_.inputs = {{"x", DType::I16, {3}, 512, {}, 0}};
  const MemoryMap map = makeMemoryMap(program_, run_, sampleIsa(), eachItsRow);
  ASSERT_THAT(map.tensors, SizeIs(1));
  EXPECT_EQ(map.tensors[0].name, "x");
  EXPECT_EQ(map.tensors[0].begin, 512);
  EXPECT_EQ(map.tensors[0].end, 518);
}

TEST_F(Memory, followsRegistersAndBases) {
  const std::string set = "xset";
  const isa::Instruction &instruction = *sampleIsa().find(set);
  isa::DecodedInstruction decoded;
  decoded.instruction = instruction.index;
  for (const isa::Operand &operand : instruction.operands)
    decoded.values.push_back(operand.name == "rd" ? 1 : 256);
  decoded.bases.assign(instruction.operands.size(), 0);
  isa::Bits bits = sampleIsa().encode(decoded);
  program_.code.append(bits.begin(), bits.end());
  run_.trace.push_back(record(0, 1, 1));
  const isa::Instruction &load = *sampleIsa().find("load");
  isa::DecodedInstruction moved;
  moved.instruction = load.index;
  for (const isa::Operand &operand : load.operands) {
    moved.values.push_back(operand.kind == isa::Operand::Kind::Immediate ? 1 : 0);
    moved.bases.push_back(operand.space == isa::Space::Spad ? 1 : 0);
  }
  bits = sampleIsa().encode(moved);
  program_.code.append(bits.begin(), bits.end());
  run_.trace.push_back(record(1, 10, 20));
  EXPECT_THAT(map(isa::Space::Spad).liveRanges, ElementsAre(Field(&LiveRange::begin, 256)));
}

TEST(ThinOut, joinsOverTimeAndWidensByTurns) {
  MemorySpace space{"spad", 4096, 1, 64, {}};
  for (int64_t i = 0; i < 100; ++i)
    space.liveRanges.push_back({64, 128, 100 * i, 100 * i + 50, 0, Content::Loaded});
  thinOut(space, 10000, 10);
  ASSERT_THAT(space.liveRanges, SizeIs(1));
  EXPECT_EQ(space.liveRanges[0].start, 0);
  EXPECT_EQ(space.liveRanges[0].stop, 9950);
  EXPECT_EQ(space.resolution, 64); // the gaps are 50
  EXPECT_EQ(space.granule, 64 << 5);
}

TEST(ThinOut, alwaysEnds) {
  MemorySpace space{"spad", 4096, 1, 64, {}};
  for (int layer = 0; layer < 100; ++layer)
    for (int64_t i = 0; i < 64; ++i)
      space.liveRanges.push_back({64 * i, 64 * i + 64, layer, layer + 1, layer, Content::Loaded});
  thinOut(space, 1000, 10);
  EXPECT_THAT(space.liveRanges, SizeIs(100)); // one a layer
}

} // namespace

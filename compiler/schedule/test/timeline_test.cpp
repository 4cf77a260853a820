// Which steps of two groups stand side by side, and in which order their tasks are then.
#include "timeline.h"

#include <gtest/gtest.h>

namespace tilewright {

class GroupsInOneOrder : public ::testing::Test {
protected:
  static isa::Isa edge16() {
    isa::LoadOptions options;
    options.target = "edge16";
    return isa::load(options);
  }
  static constexpr int64_t bytes = 64; // of each tile in DRAM
  static constexpr int64_t rows = 8, pitch = 4 * bytes;
  using Counts = std::vector<size_t>;

  // A step for each address, at which it writes the products of the array.
  Steps projections(const std::vector<int64_t> &addresses) {
    Steps steps;
    const int input = steps.add(isa::Space::Spad, 4096, "input"),
              sums = steps.add(isa::Space::Acc, 16384, "sums");
    for (const int64_t address : addresses) {
      Step &step = steps.steps.emplace_back();
      step.compute.push_back(context_.form(isa::Role::MatrixProduct)
                                 .build()
                                 .buffer("a", input, 0)
                                 .buffer("d", sums, 0)
                                 .imm("n1", 1)
                                 .imm("n0", 256)
                                 .imm("k", 16)
                                 .imm("n", 16)
                                 .imm("accumulate", 0));
      move(Direction::Store, address, input, step.stores);
    }
    return steps;
  }
  // A step for each address, of which it reads a tile for the vector unit.
  Steps attention(const std::vector<int64_t> &addresses) {
    Steps steps;
    const int input = steps.add(isa::Space::Spad, bytes, "tile"),
              sums = steps.add(isa::Space::Acc, 16384, "scores");
    for (const int64_t address : addresses) {
      Step &step = steps.steps.emplace_back();
      move(Direction::Load, address, input, step.loads);
      step.compute.push_back(context_.form(*isa_.find("vabs"))
                                 .build()
                                 .buffer("a", sums, 0)
                                 .buffer("d", sums, 0)
                                 .imm("n0", 100)
                                 .imm("nc", 16)
                                 .reg("n1", 1));
    }
    return steps;
  }
  void move(Direction direction, int64_t address, int buffer, std::vector<Task> &out) {
    const Tile tile = denseTile(isa::Space::Spad, buffer, {1, 1, bytes});
    copyStrided(context_, out, direction, address, 1, Signedness::Signed, tile, {{bytes, 1, 1}});
  }
  // A step that reads `length` bytes at the address.
  Steps reader(int64_t address, int64_t length) {
    Steps steps = attention({address});
    steps.buffers[0].bytes = length;
    steps.steps[0].loads.clear();
    copyStrided(context_, steps.steps[0].loads, Direction::Load, address, 1, Signedness::Signed,
                denseTile(isa::Space::Spad, 0, {1, 1, length}), {{length, 1, 1}});
    return steps;
  }
  // Moves columns of a matrix of `pitch` bytes a row.
  void moveColumns(Direction direction, int64_t column, std::vector<Task> &out) {
    const Tile tile = denseTile(isa::Space::Spad, 0, {1, rows, bytes});
    copyStrided(context_, out, direction, column, 1, Signedness::Signed, tile,
                {{rows, pitch, bytes}, {bytes, 1, 1}});
  }
  // The step that reads columns of a matrix of which each of four steps stores a quarter.
  size_t stepThatReadsColumns(int64_t column) {
    Steps made = projections({0, 0, 0, 0}), read = attention({0});
    for (size_t i = 0; i < made.steps.size(); ++i) {
      made.steps[i].stores.clear();
      moveColumns(Direction::Store, static_cast<int64_t>(i) * bytes, made.steps[i].stores);
    }
    read.steps[0].loads.clear();
    moveColumns(Direction::Load, column, read.steps[0].loads);
    Timeline timeline(context_);
    timeline.add(std::move(made));
    timeline.add(std::move(read));
    const Steps together = timeline.take();
    return static_cast<size_t>(
        llvm::find_if(together.steps, [](const Step &step) { return !step.loads.empty(); }) -
        together.steps.begin());
  }
  Counts loadsByStep() {
    Counts counts;
    for (const Step &step : timeline_.take().steps)
      counts.push_back(step.loads.size());
    return counts;
  }
  // Names of what a step computes and stores.
  std::vector<std::string> namesOf(const Step &step) const {
    std::vector<std::string> names;
    for (const Task &task : step.compute)
      names.push_back(isa_.instructions()[static_cast<size_t>(task.instruction)].name);
    return names;
  }

  const isa::Isa isa_ = edge16();
  ConstantPool constants_{0};
  const DramTensors tensors_;
  LoweringContext context_{isa_, constants_, tensors_, Buffering::Double, nullptr};
  Timeline timeline_{context_};
};

// A step's loads are emitted while the one before computes: what is loaded was stored before that.
TEST_F(GroupsInOneOrder, AStepStandsTwoStepsBehindTheOneThatMakesWhatItReads) {
  timeline_.add(projections({0, 1000, 2000, 3000}));
  EXPECT_EQ(timeline_.add(attention({0})), 1u);
  const Steps together = timeline_.take();
  ASSERT_EQ(together.steps.size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(together.steps[i].loads.size(), i == 2 ? 1u : 0u) << i;
}

TEST_F(GroupsInOneOrder, TheVectorUnitBeginsBeforeTheLastProducts) {
  timeline_.add(projections({0, 1000, 2000, 3000}));
  EXPECT_EQ(timeline_.add(attention({0, 1000})), 2u);
  const Steps together = timeline_.take();
  ASSERT_EQ(together.steps.size(), 4u);
  EXPECT_EQ(namesOf(together.steps[2]), (std::vector<std::string>{"vabs", "mmul", "store"}));
  EXPECT_EQ(together.steps[3].compute.size(), 3u);
}

TEST_F(GroupsInOneOrder, NothingStandsBesideTheStepThatMakesWhatIsRead) {
  timeline_.add(projections({0, 1000, 2000, 3000}));
  EXPECT_EQ(timeline_.add(attention({3000, 0})), 0u);
}

// Neither may write what an earlier one reads.
TEST_F(GroupsInOneOrder, WhatIsReadEarlierIsNotOverwritten) {
  timeline_.add(attention({0, 1000, 2000}));
  EXPECT_EQ(timeline_.add(projections({2000})), 0u);
}

TEST_F(GroupsInOneOrder, StepsOfOneUnitStandBehindOneAnother) {
  timeline_.add(projections({0, 1000}));
  EXPECT_EQ(timeline_.add(projections({2000, 3000})), 0u);
  EXPECT_EQ(timeline_.take().steps.size(), 4u);
}

// They have no bank of their own: where the array puts the newest sums, it is not in their way.
TEST_F(GroupsInOneOrder, SumsOfOthersStandWithTheArraysNewest) {
  Steps array = projections({0, 1000, 2000});
  array.buffers[1].bank = 1;
  timeline_.add(std::move(array));
  timeline_.add(attention({0}));
  const Steps together = timeline_.take();
  EXPECT_EQ(together.buffers[3].bank, 1);
}

TEST_F(GroupsInOneOrder, WhatStepsMakeOneAfterTheOtherIsLoadedInPieces) {
  timeline_.add(projections({0, 64, 128, 192}));
  timeline_.add(reader(0, 4 * bytes), 8);
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 1, 1, 1, 1, 0}));
}

TEST_F(GroupsInOneOrder, PiecesOfALoadFollowOneAnother) {
  timeline_.add(projections({0, 64, 128, 192}));
  timeline_.add(reader(0, 4 * bytes), 8);
  const Steps together = timeline_.take();
  const TaskForm &form = context_.form(isa::Role::LoadBytes);
  int64_t next = 0;
  for (const Step &step : together.steps)
    for (const Task &task : step.loads) {
      EXPECT_EQ(task.values[form.operand("s")], next);
      EXPECT_EQ(task.values[form.operand("d")], next);
      next += task.values[form.operand("n0")];
    }
  EXPECT_EQ(next, 4 * bytes);
}

TEST_F(GroupsInOneOrder, WithoutALeadALoadWaitsForAllThatItReads) {
  timeline_.add(projections({0, 64, 128, 192}));
  timeline_.add(reader(0, 4 * bytes));
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 0, 0, 0, 1}));
}

// The other half comes when the steps before are done: two pieces that could have come earlier, and
// the last two.
TEST_F(GroupsInOneOrder, OfALeadOfFourEighthsHalfComesEarly) {
  timeline_.add(projections({0, 64, 128, 192, 256, 320, 384, 448}));
  timeline_.add(reader(0, 8 * bytes), 4);
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 1, 1, 1, 1, 0, 0, 3, 1, 0}));
}

TEST_F(GroupsInOneOrder, LoadsIntoAccumulatorsStayWithTheFirstStep) {
  timeline_.add(projections({0, 64, 128, 192}));
  Steps steps = reader(0, 4 * bytes);
  copyStrided(context_, steps.steps[0].loads, Direction::Load, 0, 1, Signedness::Signed,
              denseTile(isa::Space::Acc, 1, {1, 1, 4 * bytes}), {{4 * bytes, 1, 1}});
  timeline_.add(std::move(steps), 8);
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 1, 1, 1, 1, 1}));
}

// Earlier, they would only take up memory.
TEST_F(GroupsInOneOrder, WhatWaitsForNobodyComesWithTheFirstPiece) {
  timeline_.add(projections({0, 64, 128, 192}));
  Steps steps = reader(0, 4 * bytes);
  move(Direction::Load, 5000, 0, steps.steps[0].loads);
  timeline_.add(std::move(steps), 8);
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 2, 1, 1, 1, 0}));
}

TEST_F(GroupsInOneOrder, ALeadOfLoadsThatWaitForNobodyChangesNothing) {
  timeline_.add(projections({0, 64, 128, 192}));
  timeline_.add(reader(5000, 4 * bytes), 8);
  EXPECT_EQ(loadsByStep(), (Counts{1, 0, 0, 0}));
}

TEST_F(GroupsInOneOrder, ALeadOfOneStepChangesNothing) {
  timeline_.add(projections({0, 64, 128, 192}));
  timeline_.add(reader(64, bytes), 8);
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 0, 1}));
}

TEST_F(GroupsInOneOrder, ColumnsOfAMatrixWaitForNoOthers) {
  for (const size_t quarter : {0, 1})
    EXPECT_EQ(stepThatReadsColumns(static_cast<int64_t>(quarter) * bytes), quarter + 2);
}

TEST_F(GroupsInOneOrder, ColumnsOfAMatrixWaitForThoseThatTheyOverlap) {
  EXPECT_EQ(stepThatReadsColumns(bytes / 2), 3u) << "of the first and second quarter";
  EXPECT_EQ(stepThatReadsColumns(1), 3u) << "all of the first but one, and one of the second";
}

// The end of a row and the beginning of the next one.
TEST_F(GroupsInOneOrder, ColumnsThatGoOnInTheNextRowWaitForItsFirst) {
  Steps made = projections({0, 0}), read = attention({0});
  for (Step &step : made.steps)
    step.stores.clear();
  moveColumns(Direction::Store, 0, made.steps[1].stores);
  read.steps[0].loads.clear();
  moveColumns(Direction::Load, pitch - bytes / 2, read.steps[0].loads);
  timeline_.add(std::move(made));
  timeline_.add(std::move(read));
  EXPECT_EQ(loadsByStep(), (Counts{0, 0, 0, 1}));
}

} // namespace tilewright

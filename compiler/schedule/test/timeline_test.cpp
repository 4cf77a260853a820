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

} // namespace tilewright

#include "tilewright/compiler/schedule/task_times.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tilewright {

class TaskTimesOfEdge16 : public ::testing::Test {
protected:
  static isa::Isa edge16() {
    isa::LoadOptions options;
    options.target = "edge16";
    return isa::load(options);
  }
  TaskForm::Builder task(const char *name) {
    return forms_.emplace_back(std::make_unique<TaskForm>(isa_, *isa_.find(name)))->build();
  }

  const isa::Isa isa_ = edge16();
  const ConvMachine machine_ = ConvMachine::of(isa_);
  const std::vector<timing::InstructionTiming> plans_ = timing::makeTimings(isa_);
  std::vector<std::unique_ptr<TaskForm>> forms_;
  TaskTimes times_{isa_, machine_, plans_};
};

TEST_F(TaskTimesOfEdge16, ProductsTakeARowACycle) {
  EXPECT_EQ(times_.cyclesOf(task("mmul").imm("n1", 7).imm("n0", 8).imm("k", 16)), 56);
  EXPECT_EQ(times_.cyclesOf(task("mmul").imm("n1", 1).imm("n0", 8).imm("k", 16)), 17);
  EXPECT_EQ(times_.cyclesOf(task("mload").imm("k", 16).imm("n", 16)), 0); // under products
}

TEST_F(TaskTimesOfEdge16, TheBusMovesWhatIsLoadedAndStored) {
  for (const char *name : {"load", "store"}) {
    const int64_t cycles = times_.cyclesOf(task(name).imm("n1", 10).imm("n0", 8000).reg("n2", 3));
    EXPECT_GE(cycles, 30000) << name;
    EXPECT_LT(cycles, 36000) << name;
  }
  EXPECT_TRUE(times_.isStore(task("store").imm("n0", 1)));
  EXPECT_FALSE(times_.isStore(task("load").imm("n0", 1)));
  EXPECT_EQ(times_.fetchCycles(), 2);
}

} // namespace tilewright

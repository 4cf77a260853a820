#include "tilewright/compiler/schedule/task.h"

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

Steps someSteps() {
  Steps steps;
  steps.add(isa::Space::Spad, 64, "input tile");
  steps.add(isa::Space::Acc, 256, "accumulator tile");
  steps.layout = {0, 1024};
  Task task;
  task.instruction = 3;
  task.values = {16, 0, 5};
  task.buffers = {0, 1, -1};
  task.registers.emplace_back(2, 7);
  steps.steps.resize(1);
  steps.steps[0].compute = {task, task};
  return steps;
}

TEST(Task, StepsHashTellsProgramsApart) {
  const uint64_t hash = hashOf(someSteps());
  std::set<uint64_t> hashes{hash};
  auto differs = [&](auto change) {
    Steps steps = someSteps();
    change(steps, steps.steps[0].compute[1]);
    return hashes.insert(hashOf(steps)).second;
  };
  EXPECT_TRUE(differs([](Steps &, Task &task) { task.instruction = 4; }));
  EXPECT_TRUE(differs([](Steps &, Task &task) { task.values[2] = 6; }));
  EXPECT_TRUE(differs([](Steps &, Task &task) { task.buffers[0] = 1; }));
  EXPECT_TRUE(differs([](Steps &, Task &task) { task.registers[0].second = 8; }));
  EXPECT_TRUE(differs([](Steps &, Task &task) { task.registers[0].first = 3; }));
  EXPECT_TRUE(differs([](Steps &steps, Task &) { steps.layout[1] = 2048; }));
  EXPECT_TRUE(differs([](Steps &steps, Task &) { steps.buffers[0].bytes = 128; }));
  EXPECT_TRUE(differs([](Steps &steps, Task &) { steps.steps[0].compute.pop_back(); }));
  EXPECT_TRUE(differs(
      [](Steps &steps, Task &) { steps.steps[0].stores = std::move(steps.steps[0].compute); }));
}

TEST(Task, StepsHashLeavesOutWordsAndLayers) {
  Steps steps = someSteps();
  steps.layer = 5;
  steps.plan = "a plan in words";
  steps.buffers[0].purpose = "weights";
  steps.steps[0].compute[0].layer = 1;
  EXPECT_EQ(hashOf(steps), hashOf(someSteps()));
}

} // namespace
} // namespace tilewright

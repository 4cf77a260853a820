#include "tilewright/compiler/schedule/task.h"
#include "tilewright/isa/roles.h"

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

// Steps with one that is packed are the same as without.
TEST(Task, PackedStepsAreTheSame) {
  isa::LoadOptions options;
  options.target = "edge16";
  const isa::Isa isa = isa::load(options);
  auto make = [&] {
    Steps steps = someSteps();
    const isa::Instruction &mload = *isa.withRole(isa::Role::LoadWeights);
    Task task;
    task.instruction = mload.index;
    task.values.assign(mload.operands.size(), 3);
    task.buffers.assign(mload.operands.size(), -1);
    for (int i = 0; i < 4; ++i) {
      Step &step = steps.steps.emplace_back();
      for (const isa::Operand &operand : mload.operands)
        if (operand.kind == isa::Operand::Kind::Memory) {
          task.values[static_cast<size_t>(operand.index)] = (int64_t(i) << 33) + int64_t(16) * i;
          task.buffers[static_cast<size_t>(operand.index)] = i % 2;
        }
      task.layer = i / 2;
      step.constants = {task};
      step.compute = {task, task, task};
    }
    return steps;
  };
  const uint64_t hash = hashOf(make());
  Steps steps = make();
  for (size_t i = 1; i < steps.steps.size(); ++i)
    steps.pack(i, isa);
  EXPECT_TRUE(steps.isPacked(1));
  EXPECT_TRUE(steps.steps[1].compute.empty());
  EXPECT_EQ(hashOf(steps), hash);
  const Steps copy = steps;
  for (size_t i = 0; i < steps.steps.size(); ++i)
    steps.unpack(i);
  EXPECT_FALSE(steps.isPacked(1));
  EXPECT_EQ(steps.steps[3].compute[2].layer, 1);
  EXPECT_EQ(hashOf(steps), hash);
  EXPECT_EQ(hashOf(copy), hash);
}

} // namespace
} // namespace tilewright

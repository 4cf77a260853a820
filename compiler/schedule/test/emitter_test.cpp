#include "tilewright/compiler/emitter.h"

#include "tilewright/compiler/task.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

constexpr int64_t kibi = 1024;

isa::Isa edge16() {
  isa::LoadOptions options;
  options.target = "edge16";
  return isa::load(options);
}

// Clears a buffer.
Task fill(const isa::Isa &isa, int buffer, int64_t bytes) {
  return TaskForm(isa, "fill").build().buffer("d", buffer, 0).imm("n1", 1).imm("n0", bytes);
}

// A group that uses a buffer for good, or, with `constant`, one of them before the other.
Steps groupOf(const isa::Isa &isa, int64_t bytes, int64_t constant = 0) {
  Steps steps;
  steps.layer = 0;
  const int buffer = steps.add(isa::Space::Spad, bytes, "input tile");
  Step &step = steps.steps.emplace_back();
  step.loads.push_back(fill(isa, buffer, 16));
  step.compute.push_back(fill(isa, buffer, 16));
  if (constant > 0) {
    const int weights = steps.add(isa::Space::Spad, constant, "weights");
    step.constants.push_back(fill(isa, weights, 16));
    step.compute.push_back(fill(isa, weights, 16));
  }
  return steps;
}

} // namespace

// The second group's constants come in above the first one's buffer, and cut the memory in two.
class HoistedConstants : public ::testing::Test {
protected:
  const isa::Isa isa_ = edge16();
  const Steps first_ = groupOf(isa_, 96 * kibi), second_ = groupOf(isa_, 150 * kibi, 33 * kibi);
};

TEST_F(HoistedConstants, MayLeaveAGroupWithoutRoom) {
  Emitter emitter(isa_, Buffering::Double);
  emitter.append(first_, "first");
  emitter.append(second_, "second");
  try {
    emitter.finish();
    FAIL() << "there is no room for the second group's input";
  } catch (const NoRoom &error) {
    EXPECT_EQ(error.group(), 1u);
  }
}

TEST_F(HoistedConstants, WaitForAGroupThatBeginsOnAnEmptyChip) {
  Emitter emitter(isa_, Buffering::Double, {1}), alone(isa_, Buffering::Double);
  emitter.append(first_, "first");
  emitter.append(second_, "second");
  emitter.finish();
  alone.append(second_, "second");
  alone.finish();
  EXPECT_EQ(emitter.layout(), alone.layout());
}

} // namespace tilewright

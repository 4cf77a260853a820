#include "tilewright/compiler/schedule/emitter.h"

#include "tilewright/compiler/schedule/task.h"
#include "tilewright/compiler/schedule/task_times.h"
#include "tilewright/isa/assembler.h"

#include <gtest/gtest.h>
#include <set>

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
  return TaskForm(isa, *isa.find("fill"))
      .build()
      .buffer("d", buffer, 0)
      .imm("n1", 1)
      .imm("n0", bytes);
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
  } catch (const NoSpace &error) {
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

// Of steps that are alike: a program that repeats is short.
TEST(Emitter, AddressesOfStreamsComeRound) {
  const isa::Isa isa = edge16();
  Steps steps;
  steps.streamsWeights = true;
  steps.layer = 0;
  for (int i = 0; i < 12; ++i) {
    const int buffer = steps.add(isa::Space::Spad, 24 * kibi, "input tile");
    Step &step = steps.steps.emplace_back();
    step.loads.push_back(fill(isa, buffer, 16));
    step.compute.push_back(fill(isa, buffer, 16));
  }
  Emitter emitter(isa, Buffering::Double);
  emitter.append(steps, "layer");
  emitter.finish();
  const std::vector<int64_t> &given = emitter.layout();
  const std::set<int64_t> different(given.begin(), given.end());
  EXPECT_LE(different.size(), 3u);
  for (size_t i = different.size(); i < given.size(); ++i)
    EXPECT_EQ(given[i], given[i - different.size()]);
}

// Whichever bank would be next.
TEST(Emitter, WhatIsReadWithALargeOperandStandsInAnotherBank) {
  const isa::Isa isa = edge16();
  Steps steps;
  steps.layer = 0;
  Step &step = steps.steps.emplace_back();
  auto tile = [&](int64_t rows, int64_t columns) {
    const int buffer = steps.add(isa::Space::Acc, rows * columns * 4, "result tile");
    step.compute.push_back(TaskForm(isa, *isa.find("fill.acc"))
                               .build()
                               .buffer("d", buffer, 0)
                               .imm("value", 1)
                               .imm("n1", 1)
                               .imm("n0", rows * columns));
    return buffer;
  };
  const int values = tile(64, 16);
  tile(64, 16);
  const int factors = tile(64, 1);
  step.compute.push_back(TaskForm(isa, *isa.find("vmul"))
                             .build()
                             .buffer("a", values, 0)
                             .buffer("b", factors, 0)
                             .buffer("d", values, 0)
                             .imm("n0", 64)
                             .imm("nc", 16));
  Emitter emitter(isa, Buffering::Double);
  emitter.append(steps, "layer");
  emitter.finish();
  const auto bank = static_cast<int64_t>(isa.memory(isa::Space::Acc).bankBytes());
  EXPECT_NE(emitter.layout()[values] / bank, emitter.layout()[factors] / bank);
}

// What the array does while weights of the group after it come in.
class EarlyConstants : public ::testing::Test {
protected:
  // One step that loads a byte and multiplies so many rows.
  Steps products(int64_t rows, bool isPlaced) {
    Steps steps;
    steps.layer = 0;
    const int input = steps.add(isa::Space::Spad, 16, "input tile"),
              sums = steps.add(isa::Space::Acc, 64, "accumulator tile");
    if (isPlaced)
      steps.layout = {0, -1};
    Step &step = steps.steps.emplace_back();
    step.compute.push_back(load(input, 16));
    for (int64_t row = 0; row < rows; row += 100)
      step.compute.push_back(TaskForm(isa_, *isa_.find("mmul"))
                                 .build()
                                 .buffer("a", input, 0)
                                 .buffer("d", sums, 0)
                                 .imm("n1", 1)
                                 .imm("n0", 100)
                                 .imm("k", 1)
                                 .imm("n", 1));
    step.compute.push_back(load(input, 16));
    return steps;
  }
  // Steps of one part each, of 800 bytes of weights.
  Steps weights(int64_t parts, bool streams) {
    Steps steps;
    steps.layer = 1;
    steps.streamsWeights = streams;
    for (int64_t part = 0; part < parts; ++part) {
      const int buffer = steps.add(isa::Space::Spad, 800, "weights");
      steps.layout.push_back(kibi + part * 800);
      Step &step = steps.steps.emplace_back();
      step.constants.push_back(load(buffer, 800));
      step.compute.push_back(load(buffer, 800));
    }
    return steps;
  }
  Task load(int buffer, int64_t bytes) {
    return TaskForm(isa_, *isa_.find("load"))
        .build()
        .buffer("d", buffer, 0)
        .imm("n1", 1)
        .imm("n0", bytes);
  }
  // Loads of the second group that come before the last of the first one.
  int64_t early(const Steps &first, const Steps &second, std::set<size_t> alone = {}) {
    return early(std::vector{first, second}, 1, std::move(alone));
  }
  // The same for a later group's.
  int64_t early(const std::vector<Steps> &groups, int layer, std::set<size_t> alone = {}) {
    Emitter emitter(isa_, Buffering::Double, std::move(alone), &times_);
    for (const Steps &group : groups)
      emitter.append(group, "group");
    int64_t loads = 0, before = 0;
    for (const StreamInstruction &each : emitter.finish())
      if (each.decoded.instruction == isa_.find("load")->index) {
        loads += each.layer == layer;
        before = each.layer == 0 ? loads : before;
      }
    return before;
  }

  const isa::Isa isa_ = edge16();
  const ConvMachine machine_ = ConvMachine::of(isa_);
  const std::vector<timing::InstructionTiming> plans_ = timing::makeTimings(isa_);
  TaskTimes times_{isa_, machine_, plans_};
};

// What sets registers of the load DMA, in the program.
class SetRegisters : public EarlyConstants {
protected:
  // A group of fills of one buffer; each needs these registers to hold these values.
  std::vector<std::string> sets(const std::vector<std::pair<const char *, int64_t>> &needs) {
    Steps steps;
    steps.layer = 0;
    const int buffer = steps.add(isa::Space::Spad, 64, "input tile");
    const TaskForm form(isa_, *isa_.find("fill"));
    Step &step = steps.steps.emplace_back();
    for (const auto &[name, value] : needs)
      step.compute.push_back(
          form.build().buffer("d", buffer, 0).imm("n1", 1).imm("n0", 16).reg(name, value));
    Emitter emitter(isa_, Buffering::Double, {}, &times_);
    emitter.append(steps, "group");
    std::vector<std::string> found;
    for (const StreamInstruction &each : emitter.finish())
      if (each.decoded.instruction == isa_.find("load.set")->index)
        found.push_back(isa::disassemble(isa_, each.decoded));
    return found;
  }
};

TEST_F(SetRegisters, AnEarlierInstructionSetsWhatNothingHasNeededSince) {
  EXPECT_EQ(sets({{"d_s1", 5}, {"d_s2", 7}}),
            (std::vector<std::string>{"load.set      r0=d_s1, v0=5, r1=d_s2, v1=7"}));
}

TEST_F(SetRegisters, NoneSetsWhatIsNeededBetween) {
  EXPECT_EQ(sets({{"d_s1", 5}, {"d_s2", 0}, {"d_s2", 7}}).size(), 2u);
}

// They take half as long again: DRAM is not always as fast as its bus.
TEST_F(EarlyConstants, StreamWhileTheBusIsIdle) {
  EXPECT_EQ(early(products(10000, true), weights(4, true)), 4);
  EXPECT_EQ(early(products(200, true), weights(4, true)), 2);
  EXPECT_EQ(early(products(100, true), weights(4, true)), 1);
}

// Units that compute wait for each other: the group takes longer than any of them.
TEST_F(EarlyConstants, StreamByTheGroupsOwnTime) {
  Steps slow = products(300, true);
  slow.cycles = 10000;
  EXPECT_EQ(early(slow, weights(4, true)), 4);
}

TEST_F(EarlyConstants, StreamForTheGroupAfterTheNextOne) {
  const Steps next = weights(2, true);
  Steps last = weights(2, true), other = last;
  last.layer = other.layer = 2;
  for (int64_t &address : last.layout)
    address += 2 * kibi;
  other.streamsWeights = false;
  EXPECT_EQ(early({products(10000, true), next, last}, 2), 2);
  EXPECT_EQ(early({products(10000, true), next, other}, 2), 0);
  EXPECT_EQ(early({products(100, true), next, last}, 2), 0); // there is time for the next one's
}

// Loads of a group's first step, but of what the group before stores.
TEST_F(EarlyConstants, ComeWithLoadsThatNeedNotWait) {
  Steps first = products(10000, true), second;
  first.steps.front().compute.pop_back(); // its last load
  first.steps.front().stores.push_back(TaskForm(isa_, *isa_.find("store"))
                                           .build()
                                           .buffer("s", 0, 0)
                                           .dram("d", kibi)
                                           .imm("n1", 1)
                                           .imm("n0", 16));
  second.layer = 1;
  second.cycles = 1000;
  Step &step = second.steps.emplace_back();
  for (int64_t address : {kibi + 8, 2 * kibi}) {
    const int buffer = second.add(isa::Space::Spad, 16, "input tile");
    second.layout.push_back(kibi * (buffer + 1));
    step.loads.push_back(TaskForm(isa_, *isa_.find("load"))
                             .build()
                             .buffer("d", buffer, 0)
                             .dram("s", address)
                             .imm("n1", 1)
                             .imm("n0", 16));
    step.compute.push_back(fill(isa_, buffer, 16));
  }
  Emitter emitter(isa_, Buffering::Double, {}, &times_);
  emitter.append(first, "first");
  emitter.append(second, "second");
  std::vector<int64_t> beforeTheStore;
  bool isStored = false;
  for (const StreamInstruction &each : emitter.finish()) {
    isStored |= each.decoded.instruction == isa_.find("store")->index;
    if (each.layer == 1 && each.decoded.instruction == isa_.find("load")->index && !isStored)
      beforeTheStore.push_back(each.decoded.values[0]);
  }
  EXPECT_EQ(beforeTheStore, std::vector<int64_t>{2 * kibi});
}

TEST_F(EarlyConstants, WaitUntilNothingIsLeftToLoad) {
  EXPECT_EQ(early(products(10000, true), weights(4, false)), 0);
}

TEST_F(EarlyConstants, WaitForAGroupWithoutPlaces) {
  EXPECT_EQ(early(products(10000, false), weights(4, true)), 0);
}

TEST_F(EarlyConstants, WaitForAGroupThatBeginsOnAnEmptyChip) {
  EXPECT_EQ(early(products(10000, true), weights(4, true), {1}), 0);
}

TEST_F(EarlyConstants, LeaveRoomForWhatComesBefore) {
  Steps full = products(10000, true);
  const auto bytes = static_cast<int64_t>(isa_.memory(isa::Space::Spad).bytes);
  const int rest = full.add(isa::Space::Spad, bytes - 2 * kibi, "result tile");
  full.layout.push_back(2 * kibi);
  full.steps.emplace_back().compute.push_back(load(rest, 16));
  EXPECT_EQ(early(full, weights(4, true)), 1); // the other ones' places are the first group's
}

TEST_F(EarlyConstants, ComeBeforeTheLastStep) {
  Steps first = products(100, true);
  first.steps.front().compute.pop_back(); // its last load
  first.steps.push_back(first.steps.front());
  first.steps.back().compute.erase(first.steps.back().compute.begin());
  auto productsAfter = [&](const Steps &second) {
    Emitter emitter(isa_, Buffering::Double, {}, &times_);
    emitter.append(first, "first");
    emitter.append(second, "second");
    int64_t products = 0;
    bool isLoaded = false;
    for (const StreamInstruction &each : emitter.finish()) {
      isLoaded |= each.layer == 1;
      products += isLoaded && each.decoded.instruction == isa_.find("mmul")->index;
    }
    return products;
  };
  Steps unplaced = weights(1, false);
  unplaced.layout.clear();
  EXPECT_EQ(productsAfter(unplaced), 1);
  EXPECT_EQ(productsAfter(weights(1, false)), 2);
}

} // namespace tilewright

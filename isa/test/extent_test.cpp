// ctest -R Extent: ranges of operands against enumeration of every element, and what traps.
#include "description.h"
#include "random_instruction.h"
#include "tilewright/isa/extent.h"
#include "type.h"

#include <algorithm>
#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;

namespace {

// Walks every element that a step touches and collects the least and greatest byte of each operand.
class Enumeration {
public:
  Enumeration(const Isa &isa, const Instruction &instruction, const DecodedInstruction &decoded,
              const std::vector<int64_t> &state, const std::vector<int64_t> &addresses)
      : isa_(isa), instruction_(instruction), addresses_(addresses),
        ranges_(instruction.operands.size()) {
    context_.immediates = decoded.values.data();
    context_.state = state.data();
    for (const Step &step : instruction.steps) {
      iterators_.assign(step.iterators.size() + step.reductions.size(), 0);
      context_.iterators = iterators_.data();
      spatial(step, 0);
    }
  }
  const std::vector<Range> &ranges() const { return ranges_; }

private:
  void spatial(const Step &step, size_t depth) {
    if (depth < step.iterators.size()) {
      int64_t extent = evaluate(*step.iterators[depth].extent, context_);
      for (iterators_[depth] = 0; iterators_[depth] < extent; ++iterators_[depth])
        spatial(step, depth + 1);
      return;
    }
    if (step.out.isMemory)
      touch(step.out.index, evaluate(*step.out.where[0], context_));
    if (step.init)
      reads(*step.init);
    if (step.post)
      reads(*step.post);
    bool active = !step.when || evaluate(*step.when, context_) != 0;
    if (step.kind == StepKind::Reduce)
      reduction(step, 0);
    else if (active)
      reads(*step.expr);
  }

  void reduction(const Step &step, size_t depth) {
    if (depth == step.reductions.size())
      return reads(*step.expr);
    size_t at = step.iterators.size() + depth;
    int64_t extent = evaluate(*step.reductions[depth].extent, context_);
    for (iterators_[at] = 0; iterators_[at] < extent; ++iterators_[at])
      reduction(step, depth + 1);
    iterators_[at] = 0;
  }

  void reads(const Expr &expr) {
    if (expr.kind == ExprKind::MemoryRead)
      touch(expr.index, evaluate(*expr.args[0], context_));
    for (const ExprPtr &arg : expr.args)
      reads(*arg);
  }

  void touch(int operand, int64_t index) {
    const Operand &memory = instruction_.operands[static_cast<size_t>(operand)];
    int64_t bytes = memory.type.bits / 8;
    int64_t begin =
        addresses_[static_cast<size_t>(operand)] * isa_.memory(memory.space).addressBytes +
        index * bytes;
    Range &range = ranges_[static_cast<size_t>(operand)];
    range = range.empty() ? Range{begin, begin + bytes}
                          : Range{std::min(range.begin, begin), std::max(range.end, begin + bytes)};
  }

  const Isa &isa_;
  const Instruction &instruction_;
  const std::vector<int64_t> &addresses_;
  ScalarContext context_;
  std::vector<int64_t> iterators_;
  std::vector<Range> ranges_;
};

// Small extents, strides of both signs.
void smallState(const Unit &unit, std::mt19937_64 &random, std::vector<int64_t> &state) {
  state.clear();
  for (const StateRegister &reg : unit.registers) {
    bool extent = reg.name[0] == 'n' || reg.name[0] == 'k';
    int64_t value =
        extent ? static_cast<int64_t>(random() % 4) : static_cast<int64_t>(random() % 41) - 20;
    state.push_back(static_cast<int64_t>(wrap(value, reg.type)));
  }
}

} // namespace

TEST(Extent, RangesAreThoseOfEnumeration) {
  std::mt19937_64 random(1);
  for (const char *target : {"edge16", "odd12x20"}) {
    const Isa &isa = shipped(target);
    int compared = 0;
    for (const Instruction &instruction : isa.instructions()) {
      for (int i = 0; i < 120 && !instruction.steps.empty(); ++i) {
        DecodedInstruction decoded = randomInstruction(isa, instruction, random);
        std::vector<int64_t> state, addresses;
        smallState(isa.units()[static_cast<size_t>(instruction.unit)], random, state);
        for (const Operand &operand : instruction.operands) {
          auto index = static_cast<size_t>(operand.index);
          if (operand.kind == Operand::Kind::Immediate && operand.name != "value")
            decoded.values[index] =
                std::min<int64_t>(decoded.values[index], static_cast<int64_t>(random() % 5));
          addresses.push_back(static_cast<int64_t>(random() % 100000) - 500);
        }
        std::vector<Range> ranges =
            operandRanges(instruction, isa, decoded, state.data(), addresses.data());
        Enumeration expected(isa, instruction, decoded, state, addresses);
        for (size_t j = 0; j < ranges.size(); ++j) {
          EXPECT_EQ(ranges[j].empty(), expected.ranges()[j].empty()) << instruction.name;
          if (ranges[j].empty())
            continue;
          EXPECT_EQ(ranges[j].begin, expected.ranges()[j].begin)
              << instruction.name << " " << instruction.operands[j].name;
          EXPECT_EQ(ranges[j].end, expected.ranges()[j].end)
              << instruction.name << " " << instruction.operands[j].name;
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 2000);
  }
}

namespace {

// The trap of an instruction with reset registers, changed as told.
std::string trap(const char *name, std::vector<int64_t> values,
                 const std::map<std::string, int64_t> &registers = {}) {
  const Isa &isa = shipped();
  const Instruction &instruction = *isa.find(name);
  std::vector<int64_t> state;
  for (const StateRegister &reg : isa.units()[static_cast<size_t>(instruction.unit)].registers)
    state.push_back(registers.count(reg.name) ? registers.at(reg.name) : reg.reset);
  DecodedInstruction decoded;
  decoded.instruction = instruction.index;
  decoded.values = values;
  decoded.bases.assign(values.size(), 0);
  return trapReason(instruction, isa, decoded, state.data(), values.data());
}

} // namespace

TEST(ExtentTrap, AccessesUpToTheEnd) {
  EXPECT_EQ(trap("fill", {262144 - 64, 0, 1, 64}), "");
  EXPECT_EQ(trap("fill", {262144 - 63, 0, 1, 64}),
            "operand 'd' of 'fill' touches bytes 262081..262144 of spad, which has 262144");
  EXPECT_EQ(trap("fill.acc", {16384 - 64, 0, 1, 64}), "");
  EXPECT_THAT(trap("fill.acc", {16384 - 63, 0, 1, 64}), HasSubstr("of acc, which has 65536"));
}

TEST(ExtentTrap, AccessesBelowZero) {
  EXPECT_EQ(trap("fill", {63, 0, 1, 64}, {{"d_s0", -1}}), "");
  EXPECT_THAT(trap("fill", {62, 0, 1, 64}, {{"d_s0", -1}}), HasSubstr("touches bytes -1..62"));
}

TEST(ExtentTrap, NothingTouchedNeverTraps) { EXPECT_EQ(trap("fill", {262143, 0, 4, 0}), ""); }

TEST(ExtentTrap, GuardedReadsEndAtTheirGuard) {
  // 16 x 16 weights with stride 16: k = 4 rows of n = 8.
  EXPECT_EQ(trap("mload", {262144 - 56, 4, 8}, {{"w_s0", 16}}), "");
  EXPECT_THAT(trap("mload", {262144 - 55, 4, 8}, {{"w_s0", 16}}), HasSubstr("operand 'w'"));
  EXPECT_EQ(trap("mload", {262143, 0, 8}, {{"w_s0", 16}}), "");
}

TEST(ExtentTrap, TheSameElementsMayBeReadAndWritten) {
  std::map<std::string, int64_t> rows = {{"a_s0", 16}, {"d_s0", 16}, {"b_s0", 16}};
  EXPECT_EQ(trap("vadd", {0, 4096, 0, 8, 16}, rows), "");
  EXPECT_EQ(trap("vadd", {0, 4096, 1, 8, 16}, rows),
            "operand 'd' of 'vadd' overlaps 'a', which it reads, at other elements");
  rows["d_s0"] = 32;
  EXPECT_THAT(trap("vadd", {0, 4096, 0, 8, 16}, rows), HasSubstr("overlaps 'a'"));
}

TEST(ExtentTrap, StridesOfSingleElementsDoNotMatter) {
  EXPECT_EQ(trap("vadd", {0, 4096, 0, 1, 16}, {{"a_s0", 16}, {"d_s0", 99}, {"b_s0", 16}}), "");
}

TEST(ExtentTrap, TypesOfDifferentWidthOverlap) {
  EXPECT_THAT(trap("vrescale.i8", {0, 0, 8, 16}, {{"a_s0", 16}, {"d_s0", 16}}), "");
  EXPECT_THAT(trap("vrescale", {0, 0, 8, 16}, {{"a_s0", 16}, {"d_s0", 16}}), ""); // other memories
}

TEST(ExtentTrap, AnElementUpdatedTwice) {
  EXPECT_EQ(trap("mmul", {0, 0, 1, 4, 16, 16, 1, 0}, {{"a_s0", 16}, {"d_s0", 16}}), "");
  EXPECT_THAT(trap("mmul", {0, 0, 1, 4, 16, 16, 1, 0}, {{"a_s0", 16}, {"d_s0", 0}}),
              HasSubstr("operand 'd' of 'mmul' overlaps 'd'"));
}

TEST(ExtentTrap, AReductionOverWhatItWrites) {
  EXPECT_THAT(trap("vsum", {0, 0, 4, 16}, {{"a_s0", 16}, {"d_s0", 16}, {"k0", 2}, {"a_k0", 16}}),
              HasSubstr("overlaps 'a'"));
  EXPECT_EQ(trap("vsum", {0, 0, 4, 16}, {{"a_s0", 16}, {"d_s0", 16}}), "");
}

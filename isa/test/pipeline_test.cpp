// ctest -R Pipeline: the stages of a lane follow from semantics, technology and clock.
#include "description.h"
#include "tilewright/isa/pipeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tilewright::isa {
namespace {

using testing::HasSubstr;

// The description with the instruction `vnew`, whose element is `expr`.
Isa with(const std::string &expr, const std::string &more = "") {
  Description description;
  description.overlay(fmt::format(R"Y(instructions:
  vnew:
    name: "vnew"
    summary: "A new one."
    unit: "vector"
    encode: {{ op: "0xd0" }}
    operands:
      a: {{ kind: "mem", space: "acc", type: "i32", access: "read" }}
      b: {{ kind: "mem", space: "acc", type: "i32", access: "read" }}
      d: {{ kind: "mem", space: "acc", type: "i32", access: "write" }}
      nc: {{ kind: "imm", type: "u12" }}
    semantics:
      map:
        iter: [ "c in nc" ]
        let: {{ first: "cast<i32>(a[c] * b[c])", unused: "b[c]" }}
        out: "d[c]"
        expr: "{}"
{})Y",
                                  expr, more));
  return description.load();
}

const Pipeline &pipelineOf(const Isa &isa, const char *name = "vnew") {
  return isa.find(name)->pipeline;
}

int64_t stagesOf(const std::string &expr, const std::string &more = "") {
  return pipelineOf(with("cast<i32>(" + expr + ")", more)).stages;
}

// The first of this kind within an expression, itself included; null if there is none.
const Expr *within(const Expr &expr, ExprKind kind) {
  if (expr.kind == kind)
    return &expr;
  for (const ExprPtr &arg : expr.args)
    if (const Expr *found = within(*arg, kind))
      return found;
  return nullptr;
}

std::string clockOf(int64_t hz) { return fmt::format("target: {{ clock_hz: {} }}\n", hz); }

TEST(Pipeline, LatencyIsItsStagesAndTheRegistersAroundThem) {
  const Pipeline &add = pipelineOf(shipped(), "vadd");
  EXPECT_EQ(add.stages, 1);
  EXPECT_EQ(add.latency, 5);
}

TEST(Pipeline, ProductsInARowTakeStagesOfItsOwn) {
  const int64_t one = pipelineOf(with("first")).stages,
                three = pipelineOf(with("cast<i32>(cast<i32>(first * a[c]) * a[c])")).stages;
  EXPECT_GE(one, 2); // a product of 64 bits is longer than a cycle
  EXPECT_EQ(three, 3 * one);
}

TEST(Pipeline, AFasterClockTakesMoreStagesAndASlowerOneFewer) {
  const std::string path = "cast<i32>(cast<i32>(first * a[c]) * a[c])";
  const int64_t half = pipelineOf(with(path, clockOf(500'000'000))).stages,
                usual = pipelineOf(with(path)).stages,
                twice = pipelineOf(with(path, clockOf(2'000'000'000))).stages;
  EXPECT_LT(half, usual);
  EXPECT_LT(usual, twice);
}

// Each operator's stages hold its delay, and none begins before those that it waits for end.
TEST(Pipeline, StagesHoldTheirOperators) {
  for (const int64_t hz : {300'000'000, 1'000'000'000, 2'000'000'000}) {
    Description description;
    description.overlay(clockOf(hz));
    const Isa isa = description.load();
    const int64_t budget = isa.technology().budget(hz);
    for (const Instruction &instruction : isa.instructions()) {
      const Pipeline &pipeline = instruction.pipeline;
      for (const PipelineOperation &operation : pipeline.operations) {
        EXPECT_LE(operation.delay, (operation.last - operation.first + 1) * budget)
            << instruction.name << ": " << operation.what;
        EXPECT_LT(operation.last, pipeline.stages);
        if (operation.before >= 0)
          EXPECT_GE(operation.first,
                    pipeline.operations[static_cast<size_t>(operation.before)].last);
      }
    }
  }
}

// What begins in a stage with others behind it still fits into the cycle: walked back along the
// path of each operation, the delays within a stage sum up to the budget at most.
TEST(Pipeline, PathsWithinAStageFitTheCycle) {
  const Isa &isa = shipped();
  const int64_t budget = isa.technology().budget(isa.clockHz());
  for (const Instruction &instruction : isa.instructions()) {
    const auto &operations = instruction.pipeline.operations;
    for (const PipelineOperation &operation : operations) {
      int64_t sum = operation.first == operation.last ? operation.delay : 0;
      for (int at = operation.before; sum > 0 && at >= 0;
           at = operations[static_cast<size_t>(at)].before) {
        const PipelineOperation &before = operations[static_cast<size_t>(at)];
        if (before.first != before.last || before.first != operation.first)
          break;
        sum += before.delay;
      }
      EXPECT_LE(sum, budget) << instruction.name << ": " << operation.what;
    }
  }
}

// As many levels as halve the lanes down to one, each behind the one before, then the sum.
TEST(Pipeline, LanesAreJoinedInPairs) {
  const Isa &isa = shipped();
  for (const char *name : {"vsum.lanes", "vmaximum.lanes"}) {
    const Pipeline &pipeline = pipelineOf(isa, name);
    ASSERT_EQ(pipeline.tree.size(), 1u);
    const std::vector<int64_t> &tree = pipeline.tree[0];
    EXPECT_EQ(int64_t(1) << (tree.size() - 1), isa.param("lanes"));
    EXPECT_TRUE(std::is_sorted(tree.begin(), tree.end()));
    EXPECT_LE(tree.back(), pipeline.accumulation[0]);
  }
  EXPECT_TRUE(pipelineOf(isa, "vsum").tree[0].empty());
}

// By the shape: what the innermost iterator of a reduction steps through, and no spatial one does.
TEST(Pipeline, AReductionAlongTheLanesIsKnownByItsStrides) {
  const auto joins = [](const std::string &iter, const std::string &taps, const std::string &out,
                        const std::string &expr) {
    Description description;
    description.overlay(fmt::format(R"Y(instructions:
  vnew:
    name: "vnew"
    summary: "A new one."
    unit: "vector"
    encode: {{ op: "0xd0" }}
    operands:
      a: {{ kind: "mem", space: "acc", type: "i32", access: "read" }}
      d: {{ kind: "mem", space: "acc", type: "i32", access: "write" }}
      nc: {{ kind: "imm", type: "u12" }}
    semantics:
      reduce:
        iter: [ {} ]
        reduce: {{ iter: [ {} ], op: "add", type: "i32", order: "any" }}
        init: "0"
        out: "{}"
        expr: "{}"
)Y",
                                    iter, taps, out, expr));
    return description.load().find("vnew")->steps[0].reducesLanes;
  };
  EXPECT_TRUE(joins("\"y in n1\"", "\"c in nc\"", "d[y * d_s0]", "a[y * a_s0 + c]"));
  EXPECT_TRUE(joins("\"y in n1\"", "\"c in nc\"", "d[y * d_s0]", "a[y * a_s0 + c * a_sc]"));
  EXPECT_TRUE(joins("\"y in n1\"", "\"v in k1\", \"c in nc\"", "d[y * d_s0]",
                    "a[y * a_s0 + v * a_k1 + c]"));
  EXPECT_FALSE(joins("\"y in n1\"", "\"c in nc\"", "d[y * d_s0]", "a[y * a_s0 + c * a_k0]"));
  EXPECT_FALSE(joins("\"y in n1\"", "\"c in nc\", \"v in k1\"", "d[y * d_s0]",
                     "a[y * a_s0 + v * a_k1 + c]"));
  EXPECT_FALSE(joins("\"y in n1\"", "\"c in nc\"", "d[y]", "a[y * a_s0 + c]"));
  EXPECT_FALSE(joins("\"y in n1\"", "\"c in nc\"", "d[y * d_s0]", "a[y + c]"));
}

TEST(Pipeline, AConstantShiftIsWires) { EXPECT_EQ(stagesOf("a[c] >> 3"), stagesOf("a[c]")); }

// It needs no shared adder, whose operands come from registers.
TEST(Pipeline, AConstantIsAddedInTheStageOfWhatItIsAddedTo) {
  EXPECT_EQ(stagesOf("((a[c] >> b[c]) + 1) >> 1"), stagesOf("a[c] >> b[c]"));
  EXPECT_GT(stagesOf("(a[c] >> b[c]) + b_zp"), stagesOf("a[c] >> b[c]"));
}

TEST(Pipeline, AProductIsAsFastAsItsNarrowFactor) {
  EXPECT_EQ(stagesOf("a[c] * cast<i6>(a_zp)"), 1);
  EXPECT_GT(stagesOf("a[c] * b[c]"), 1);
}

TEST(Pipeline, WhatRegistersAloneSayIsThereBeforeTheElements) {
  EXPECT_EQ(stagesOf("cast<i32>(a_zp * a_zp) & 3"), stagesOf("b_zp & 3"));
}

TEST(Pipeline, ATableIsReadInStagesOfItsOwn) {
  const Pipeline &table = pipelineOf(shipped(), "vtable");
  EXPECT_EQ(table.stages, 3); // its index, its row, the element
  EXPECT_THAT(criticalPath(table), HasSubstr("read of table (stages 2 to 3)"));
}

TEST(Pipeline, AReductionsAccumulationFollowsItsProduct) {
  EXPECT_THAT(criticalPath(pipelineOf(shipped(), "vdw")), HasSubstr("; accumulate, 32 bits ("));
}

TEST(Pipeline, NamedValuesNameItsOperators) {
  EXPECT_THAT(criticalPath(pipelineOf(with("first + b[c] > 0 ? 1 : 0"))),
              HasSubstr("multiply, 64 bits (stages 1 to 2)"));
}

TEST(Pipeline, ASumThatIsWrappedIsAsWideAsWhatIsRead) {
  EXPECT_THAT(criticalPath(pipelineOf(with("cast<i32>(a[c] - (b[c] + a[c]))"))),
              HasSubstr("add, 32 bits (stage 1); subtract, 32 bits (stage 2)"));
  EXPECT_THAT(criticalPath(pipelineOf(with("cast<i32>((a[c] + b[c]) >> 1)"))),
              HasSubstr("add, 33 bits (stage 1)"));
}

TEST(Pipeline, ValuesAreThoseThatAnExpressionCanTake) {
  const Expr &shift = *shipped().find("vasr")->steps[0].expr;
  EXPECT_EQ(static_cast<int>(valuesOf(*shift.args[1]).least), 0);
  EXPECT_EQ(static_cast<int>(valuesOf(*shift.args[1]).greatest), 31);
  EXPECT_EQ(factorBits(*shift.args[1]), 6);
  EXPECT_EQ(factorBits(*shift.args[0]), 32);
}

TEST(Pipeline, WhatIsReadOfAValueIsDemandedOfWhatItIsMadeOf) {
  const Isa isa = with("cast<i32>(cast<i64>(a[c]) * 3 + cast<i64>(b[c]) >> 2) & 15");
  const auto demanded = demandedBits(isa.find("vnew")->steps[0]);
  const Expr &shift = *within(*isa.find("vnew")->steps[0].expr, ExprKind::ShiftRight);
  EXPECT_EQ(demanded.at(&shift), 4);
  EXPECT_EQ(demanded.at(within(shift, ExprKind::Add)), 6);
  EXPECT_EQ(demanded.at(within(shift, ExprKind::Multiply)), 6);
}

TEST(Pipeline, TimingMayAskForMore) {
  const Isa isa = with("first", "timing: { instructions: { vnew: { latency: 30 } } }\n");
  EXPECT_EQ(pipelineOf(isa).latency, 30);
  EXPECT_EQ(pipelineOf(isa).least, pipelineOf(with("first")).latency);
}

TEST(Pipeline, TimingMayNotAskForLess) {
  Description description;
  description.overlay("timing: { instructions: { vmul: { latency: 1 } } }\n");
  EXPECT_EQ(description.error(),
            "overlay0.yaml:4:44: error: 'vmul' is asked for in 1 cycles and takes 7: read, align "
            "and write (4); multiply, 64 bits (stages 1 to 2); shift right, 64 bits (stage 3); "
            "add, 33 bits (stage 3); select, 64 bits (stage 3), and a cycle of 1000000000 Hz is "
            "62.5 FO4 of 'logic16ps'\n  fix: ask for 7 or more, or leave the line out");
}

TEST(Pipeline, AClockThatLeavesNoLogicIsRefused) {
  Description description;
  description.overlay("target: { clock_hz: 20000000000 }\n");
  EXPECT_THAT(description.error(),
              HasSubstr("a cycle of 20000000000 Hz is 3.1 FO4 of 'logic16ps', and registers with "
                        "their selection alone take 10.8\n  fix: make the clock slower"));
}

TEST(Pipeline, AnAccumulationLongerThanACycleIsRefused) {
  Description description;
  description.overlay("target: { clock_hz: 4000000000 }\n");
  EXPECT_THAT(description.error(),
              HasSubstr("a cycle of 4000000000 Hz is 15.6 FO4 of 'logic16ps', of which logic has "
                        "4.8; the accumulate, 32 bits of 'vdw' takes 17.2 and cannot be cut into "
                        "stages\n  fix: make the clock slower"));
}

TEST(Technology, DelaysAreLinearBetweenWidths) {
  const Technology &technology = shipped().technology();
  const int64_t at16 = technology.delay(LogicOperator::Add, 16),
                at32 = technology.delay(LogicOperator::Add, 32);
  EXPECT_EQ(technology.delay(LogicOperator::Add, 24), (at16 + at32) / 2);
  EXPECT_EQ(technology.delay(LogicOperator::Add, 1), technology.delay(LogicOperator::Add, 8));
  EXPECT_GT(technology.delay(LogicOperator::Add, 128), technology.delay(LogicOperator::Add, 64));
}

struct TechnologyCase {
  const char *name, *overlay, *message;
};
void PrintTo(const TechnologyCase &c, std::ostream *stream) { *stream << c.name; }
class LoadTechnology : public testing::TestWithParam<TechnologyCase> {};

TEST_P(LoadTechnology, IsRefused) {
  Description description;
  description.overlay(std::string(GetParam().overlay) + "\n");
  EXPECT_THAT(description.error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LoadTechnology,
    testing::Values(
        TechnologyCase{"Unknown", "target: { technology: logic16 }",
                       "there is no technology 'logic16'\n  fix: did you mean 'logic16ps'?"},
        TechnologyCase{"FewFigures", "technology: { operators: { add: { mfo4: [ 1, 2 ] } } }",
                       "'mfo4' of 'add' has 2 figures, not 5\n  fix: give those of 8, 16, 32, 48, "
                       "64 bits"},
        TechnologyCase{"Slow",
                       "technology: { operators: { add: { mfo4: [ 1, 2, 3, 4, 9999999 ] } } }",
                       "'mfo4' of 'add' is 9999999, not within 0..1000000: no operator is as slow"},
        TechnologyCase{"NoInverter", "technology: { fo4_fs: 0 }",
                       "'fo4_fs' is 0, not within 100..500000: no process has an inverter"},
        TechnologyCase{"OperatorsOfAnother", "technology: { operators_of: osu018 }",
                       "an overlay cannot change whose operators a technology takes\n  fix: choose "
                       "another one: target: { technology: NAME }"},
        TechnologyCase{"NoOperators", "technology: { operators: null }",
                       "technology 'logic16ps' has no operators"}),
    [](const auto &info) { return info.param.name; });

TEST(LoadTechnologyFile, HasOperatorsOrTakesThoseOfAnother) {
  Description description;
  description.replace("technologies/logic16ps.yaml", "operators_of: \"osu018\"\n", "");
  EXPECT_THAT(description.error(),
              HasSubstr("'operators' and 'operators_of' stand both here, or neither\n  fix: give "
                        "one of them"));
}

TEST(LoadTechnologyFile, TakesOperatorsOfOneThatHasThem) {
  Description description;
  description.replace("technologies/logic16ps.yaml", "operators_of: \"osu018\"",
                      "operators_of: \"logic16ps\"");
  EXPECT_THAT(description.error(), HasSubstr("'logic16ps' has no operators of its own"));
}

// --- values that `let` names

TEST(LoadLet, ValuesChangeNothing) {
  EXPECT_EQ(with("cast<i32>(a[c] * b[c])").hash(), with("first").hash());
}

TEST(LoadLet, NamesAreLowercase) {
  Description description;
  description.replace("description/instructions/vadd.i8.yaml", "      first:", "      First:");
  EXPECT_THAT(description.error(), HasSubstr("'First' is not a lowercase name"));
}

TEST(LoadLet, NamesMeanNothingElse) {
  Description description;
  description.replace("description/instructions/vadd.i8.yaml", "      first:", "      a_zp:");
  EXPECT_THAT(description.error(),
              HasSubstr("the value 'a_zp' has a name that means something else"));
}

TEST(LoadLet, ATapsValueIsNotForBehindTheReduction) {
  Description description;
  description
      .replace("description/instructions/vdw.i8.yaml",
               "    init:", "    let: { tap: \"a[v * a_k1 + c]\" }\n    init:")
      .replace("description/instructions/vdw.i8.yaml", "requantize(result,",
               "requantize(cast<i32>(result + tap),");
  EXPECT_THAT(description.error(),
              HasSubstr("a value of 'let' that is of one tap stands behind the reduction\n  fix: "
                        "use it in 'expr'"));
}

TEST(LoadLet, TheResultsValueIsNotForBeforeIt) {
  Description description;
  description
      .replace("description/instructions/vdw.i8.yaml",
               "    init:", "    let: { half: \"result >> 1\" }\n    init:")
      .replace("description/instructions/vdw.i8.yaml", "expr: \"(a[",
               "expr: \"cast<i8>(half) + (a[");
  EXPECT_THAT(description.error(),
              HasSubstr("a value of 'let' that is of the result stands before there is one\n  fix: "
                        "use it in 'post'"));
}

} // namespace
} // namespace tilewright::isa

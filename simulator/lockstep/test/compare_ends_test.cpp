// Engines that trap, or do not end, where others do or do not.
#include "compare_sample.h"
#include "machine.h"

#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tilewright::lockstep {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(CompareEnds, TakesTheSameErrorForEqual) {
  const Program program = assemble("load s=0, d=0x3ff8, n1=1, n0=64\nhalt\n");
  const Comparison comparison = compareWith({&functionalEngine(), &cycleEngine()}, {}, program);
  EXPECT_FALSE(comparison.difference);
  ASSERT_TRUE(comparison.compared.error);
  EXPECT_THAT(comparison.compared.error->what(), HasSubstr("instruction 0"));
}

// Which comes first is a matter of time: the load traps when it starts, and by then the sequencer
// of an engine without time is at the end of the code.
TEST(CompareEnds, TakesTheFirstOfTwoErrorsForAMatterOfTime) {
  const Program program = assemble("load s=0, d=0x3ff8, n1=1, n0=64\nxset rd=1, value=1\n");
  const Comparison comparison = compareWith({&functionalEngine(), &cycleEngine()}, {}, program);
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
  EXPECT_THAT(comparison.compared.error->what(), HasSubstr("instruction 0"));
}

TEST(CompareEnds, FindsAnotherMessageOfTheSameInstruction) {
  const Program program = assemble("load s=0, d=0x3ff8, n1=1, n0=64\nhalt\n");
  class Other : public Engine {
  public:
    const char *name() const override { return "other"; }
    RunRecord run(const Program &, DramImage &, const RunOptions &) override {
      throw UserError({"test.elf", 0, 0, "instruction 0"}, "something else");
    }
  } other;
  const Comparison comparison = compareWith({&functionalEngine(), &other}, {}, program);
  ASSERT_TRUE(comparison.difference);
  EXPECT_THAT(comparison.difference->text,
              EndsWith("other ends with `test.elf: instruction 0: error: something else`"));
}

// Less than a window before it.
TEST(CompareEnds, FindsAWriteThatIsLateBeforeATrap) {
  const Program program = assemble("load s=0, d=0x40, n1=1, n0=64\nfence\n"
                                   "load s=0, d=0x3ff8, n1=1, n0=64\nhalt\n");
  LyingEngine liar(cycleEngine(), onWrite("load", 2, [](AccessEvent &event) { ++event.cycle; }));
  const Comparison comparison = compareWith({&cycleEngine(), &liar}, {}, program);
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->address, 0x48u);
  EXPECT_THAT(comparison.difference->text, HasSubstr("instruction 0 `load"));
}

TEST(CompareEnds, FindsAnErrorOfOneEngineAlone) {
  class Failing : public Engine {
  public:
    const char *name() const override { return "failing"; }
    RunRecord run(const Program &, DramImage &, const RunOptions &) override {
      throw std::logic_error("two and two are five");
    }
  } failing;
  const Comparison comparison = compareWith({&functionalEngine(), &failing});
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->text,
            "functional comes to its end; failing finds itself wrong: two and two are five");
}

TEST(CompareEnds, StopsAtTheLimit) {
  CompareOptions options;
  options.maxCycles = 10;
  EXPECT_EQ(compareWith({&functionalEngine(), &cycleEngine()}, options).compared.stopped,
            "functional");
}

// An engine that goes round and round where the program halts.
class EndlessEngine : public Engine {
public:
  explicit EndlessEngine(Engine &truth) : truth_(truth) {}
  const char *name() const override { return "endless"; }
  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    Program changed = program;
    const std::string jump = assemble("branch rs=0, negate=0, offset=0\n").code;
    changed.code.replace(changed.code.size() - jump.size(), jump.size(), jump);
    return truth_.run(changed, dram, options);
  }

private:
  Engine &truth_;
};

// It is cut off though there is no limit.
TEST(CompareEnds, FindsThatAnEngineDoesNotEnd) {
  EndlessEngine endless(cycleEngine());
  const Comparison comparison = compareWith({&cycleEngine(), &endless});
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->unit, 0);
  EXPECT_THAT(comparison.difference->text,
              testing::ContainsRegex("^cycle [0-9]+, .*; endless is still running after [0-9]+ "
                                     "cycles, at instruction 14 `halt *`$"));
}

TEST(CompareEnds, FindsThatAnEngineWithoutTimeDoesNotEnd) {
  EndlessEngine endless(functionalEngine());
  const Comparison comparison = compareWith({&cycleEngine(), &endless});
  ASSERT_TRUE(comparison.difference);
  EXPECT_THAT(comparison.difference->text,
              testing::ContainsRegex("^cycle comes to its end; endless is still running after "
                                     "[0-9]+ instructions, at instruction 14 `halt *`$"));
}

// All is done that there is to do, and yet it goes on: it stands at what has not ended.
TEST(CompareEnds, FindsThatAnEngineOnlyDoesNotEnd) {
  EXPECT_THAT(ofRecord([](RunRecord &record) {
                record.stopped = true;
                record.trace[8].end = 0;
              }),
              testing::ContainsRegex("^cycle comes to its end; liar is still running after [0-9]+ "
                                     "cycles, at instruction 8 \\(layer 'conv'\\) `mload .*`$"));
  EXPECT_THAT(ofRecord([](RunRecord &record) {
                record.stopped = true;
                record.trace.clear();
              }),
              testing::ContainsRegex("is still running after [0-9]+ cycles, before its first "
                                     "instruction$"));
}

// A limit that is asked for is no fault.
TEST(CompareEnds, StopsAtTheLimitBeforeTheEndOfAnother) {
  CompareOptions options;
  options.maxCycles = 2000;
  EndlessEngine endless(cycleEngine());
  EXPECT_EQ(compareWith({&cycleEngine(), &endless}, options).compared.stopped, "endless");
}

} // namespace
} // namespace tilewright::lockstep

// Random programs on engines of which one lies: the difference is found, and its program shrunk.
#include "machine.h"
#include "tilewright/testing/lying_engine.h"

#include "tilewright/lockstep/fuzz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::lockstep {
namespace {

using testing::HasSubstr;

Fuzzer fuzzerOf(Engine &second) {
  return Fuzzer(tiny(), functionalEngine(), {&functionalEngine(), &cycleEngine(), &second});
}

// The first program on which the engines differ, shrunk; its seed is told.
RandomCase failing(const Fuzzer &fuzzer) {
  for (uint64_t seed = 1; seed < 200; ++seed) {
    const RandomCase test = fuzzer.make(seed, 40);
    if (fuzzer.check(test).comparison.difference)
      return fuzzer.shrink(test);
  }
  ADD_FAILURE() << "no program shows the difference";
  return {};
}

std::string listing(const RandomCase &test) {
  std::string text;
  for (const isa::Bits &bits : test.code) {
    isa::DecodedInstruction decoded;
    std::string reason;
    text +=
        tiny().decode(bits.data(), decoded, reason) ? isa::disassemble(tiny(), decoded) : reason;
    text += "\n";
  }
  return text;
}

TEST(Fuzzer, MakesTheSameProgramOfASeed) {
  const Fuzzer fuzzer = fuzzerOf(cycleEngine());
  EXPECT_EQ(fuzzer.make(7, 60).code, fuzzer.make(7, 60).code);
  EXPECT_NE(fuzzer.make(7, 60).code, fuzzer.make(8, 60).code);
}

TEST(Fuzzer, MakesProgramsOfEachKindMostOfThemOrdered) {
  const Fuzzer fuzzer = fuzzerOf(cycleEngine());
  int kinds[caseKinds] = {};
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const Checked checked = fuzzer.check(fuzzer.make(seed, 60));
    ASSERT_FALSE(checked.comparison.difference)
        << "seed " << seed << ": " << checked.comparison.difference->text;
    ++kinds[static_cast<int>(checked.kind)];
  }
  EXPECT_GT(kinds[static_cast<int>(CaseKind::Ordered)], 75);
  EXPECT_GT(kinds[static_cast<int>(CaseKind::Racing)], 7);
  EXPECT_GT(kinds[static_cast<int>(CaseKind::Ending)], 7);
}

TEST(Fuzzer, NamesTheKinds) {
  EXPECT_STREQ(name(CaseKind::Ordered), "race-free");
  EXPECT_STREQ(name(CaseKind::Racing), "racing");
  EXPECT_STREQ(name(CaseKind::Ending), "trapping or deadlocked");
}

// The writes of a store are a cycle late from its third beat on.
TEST(Fuzzer, ShrinksToTheInstructionThatDiffers) {
  LyingEngine liar(cycleEngine(), [] {
    Lie lie;
    lie.access = [](AccessEvent &event) {
      if (event.isWrite && event.space == isa::Space::Dram && event.address % 16 == 8)
        ++event.cycle;
    };
    return lie;
  });
  const Fuzzer fuzzer = fuzzerOf(liar);
  const RandomCase small = failing(fuzzer);
  EXPECT_LE(small.code.size(), 3u) << listing(small);
  EXPECT_THAT(listing(small), HasSubstr("store"));
  const auto difference = fuzzer.check(small).comparison.difference;
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->unit, tiny().findUnit("store")->index);
  EXPECT_EQ(difference->address % 16, 8u);
}

TEST(Fuzzer, ShrinksADifferenceInValues) {
  LyingEngine liar(cycleEngine(), [] {
    Lie lie;
    lie.written = [](uint64_t, isa::Space space, uint64_t address, std::vector<uint8_t> &bytes) {
      if (space == isa::Space::Acc && address % 64 == 0)
        bytes[0] ^= 1;
    };
    return lie;
  });
  const Fuzzer fuzzer = fuzzerOf(liar);
  const RandomCase small = failing(fuzzer);
  EXPECT_LE(small.code.size(), 3u) << listing(small);
  EXPECT_EQ(fuzzer.check(small).kind == CaseKind::Racing, false);
}

// A unit may be done with a store to the code, or not yet, where an error ends the engines.
TEST(Fuzzer, LeavesOutWhatOverwritesItsCode) {
  LyingEngine liar(cycleEngine(), [] {
    Lie lie;
    lie.access = [](AccessEvent &event) { ++event.cycle; };
    return lie;
  });
  const Fuzzer fuzzer = fuzzerOf(liar);
  const std::string code = "fence\nhalt\n";
  auto storeTo = [&](uint64_t address) {
    RandomCase test;
    test.codeAddress = 0x20000;
    const Program program =
        assemble(fmt::format("store.i8 s=0, d=0x{:x}, n1=1, n0=1\n{}", address, code));
    for (size_t at = 0; at < program.code.size(); at += tiny().instructionBytes())
      test.code.emplace_back(program.code.begin() + static_cast<ptrdiff_t>(at),
                             program.code.begin() +
                                 static_cast<ptrdiff_t>(at + tiny().instructionBytes()));
    return fuzzer.check(test).comparison;
  };
  EXPECT_TRUE(storeTo(0x100).difference);
  const Comparison comparison = storeTo(0x20000);
  EXPECT_TRUE(comparison.overwritesCode);
  EXPECT_FALSE(comparison.difference);
}

TEST(Fuzzer, ShrinksToTheSameProgramEachTime) {
  LyingEngine liar(cycleEngine(), [] {
    Lie lie;
    lie.conflict = [](ConflictEvent &event) { ++event.pieces; };
    return lie;
  });
  const Fuzzer fuzzer = fuzzerOf(liar);
  EXPECT_EQ(failing(fuzzer).code, failing(fuzzer).code);
}

} // namespace
} // namespace tilewright::lockstep

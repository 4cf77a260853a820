// Random programs of descriptions that lack what those of the shipped one have: they are made of
// what is there, come to their end, and are equal on both engines.
#include "machine.h"
#include "tilewright/testing/overlaid.h"

#include "tilewright/lockstep/fuzz.h"
#include "tilewright/lockstep/random_program.h"

#include <gtest/gtest.h>

namespace tilewright::lockstep {
namespace {

// Kinds of `count` programs, each equal on both engines.
std::vector<int> kindsOf(const isa::Isa &isa, uint64_t count, const std::string &what) {
  const auto functional = makeFunctionalEngine(isa), cycle = makeCycleEngine(isa);
  const Fuzzer fuzzer(isa, *functional, {functional.get(), cycle.get()});
  std::vector<int> kinds(caseKinds, 0);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    RandomCase test;
    test.seed = seed;
    test.codeAddress = 0x20000;
    for (const isa::DecodedInstruction &decoded : randomProgram(isa, seed, 40))
      test.code.push_back(isa.encode(decoded));
    const Checked checked = fuzzer.check(test);
    EXPECT_FALSE(checked.comparison.difference)
        << what << ", seed " << seed << ": " << checked.comparison.difference->text;
    ++kinds[static_cast<size_t>(checked.kind)];
    const Checked other = fuzzer.check(fuzzer.make(seed, 40)); // with mistakes and fences
    EXPECT_FALSE(other.comparison.difference) << what << ", seed " << seed;
  }
  return kinds;
}

// All 32 subsets of the sequencer's instructions beside halt.
TEST(RemovedInstructions, OfControlFlowAreDoneWithout) {
  const char *removable[] = {"fence", "xset", "xadd", "loop", "branch"};
  for (unsigned subset = 1; subset < 32; ++subset) {
    std::string body = "instructions: {";
    for (unsigned i = 0; i < 5; ++i)
      if ((subset >> i & 1) != 0)
        body += std::string(i == 0 || body.back() == '{' ? " " : ", ") + removable[i] + ": null";
    const isa::Isa isa = overlaid(body + " }", "tiny4");
    const std::vector<int> kinds = kindsOf(isa, 10, body);
    EXPECT_EQ(kinds[static_cast<size_t>(CaseKind::Ending)], 0) << body;
  }
}

// A unit without registers has no instruction that waits for a semaphore and does nothing.
TEST(RemovedInstructions, OfAUnitsRegistersAreDoneWithout) {
  const isa::Isa isa = overlaid("instructions: { matrix.set: null, mload: null, mmul: null }\n"
                                "machine: { state: { matrix: null } }\n",
                                "tiny4");
  const std::vector<int> kinds = kindsOf(isa, 20, "matrix");
  EXPECT_EQ(kinds[static_cast<size_t>(CaseKind::Ending)], 0);
}

// A second one that sets registers of the same unit takes no token twice.
TEST(RemovedInstructions, MayBeThereTwice) {
  const isa::Isa isa = overlaid(
      "instructions:\n  vector.again:\n    name: vector.again\n    summary: s\n    unit: vector\n"
      "    encode: { op: \"0xf0\" }\n    operands:\n      r0: { kind: imm, type: register }\n"
      "      v0: { kind: imm, type: i32 }\n    semantics: { set: [ { register: r0, to: v0 } ] }\n",
      "tiny4");
  const std::vector<int> kinds = kindsOf(isa, 20, "vector.again");
  EXPECT_EQ(kinds[static_cast<size_t>(CaseKind::Ending)], 0);
}

// Instructions of control flow are known by what they do.
TEST(RemovedInstructions, MayHaveOtherNames) {
  const isa::Isa isa =
      overlaid("instructions:\n  loop: null\n  repeat:\n    name: repeat\n    summary: s\n"
               "    unit: sequencer\n    format: control\n    encode: { op: \"0x05\" }\n"
               "    operands:\n      count: { kind: imm, type: u24 }\n"
               "      length: { kind: imm, type: u16 }\n    require: { C1: \"length >= 1\" }\n"
               "    semantics: { control: loop }\n",
               "tiny4");
  const int repeat = isa.find("repeat")->index;
  int loops = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const isa::DecodedInstruction &decoded : randomProgram(isa, seed, 40))
      loops += decoded.instruction == repeat;
  EXPECT_GT(loops, 10);
}

} // namespace
} // namespace tilewright::lockstep

// ctest -R Assembler: text to instructions and back, each message with its place.
#include "description.h"
#include "random_instruction.h"
#include "tilewright/isa/assembler.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

static std::string errorOf(const std::string &text) {
  return diagnosticOf([&] { assemble(shipped(), text, "p.s"); });
}

TEST(Assembler, RandomWordsComeBack) {
  std::mt19937_64 random(1);
  for (const char *target : {"edge16", "odd12x20"}) {
    const Isa &isa = shipped(target);
    std::vector<DecodedInstruction> instructions;
    std::string text;
    for (const Instruction &instruction : isa.instructions())
      for (int i = 0; i < 50; ++i) {
        instructions.push_back(randomInstruction(isa, instruction, random));
        text += disassemble(isa, instructions.back()) + "\n";
      }
    std::vector<DecodedInstruction> back = assemble(isa, text, "p.s");
    ASSERT_EQ(back.size(), instructions.size());
    for (size_t i = 0; i < instructions.size(); ++i)
      ASSERT_TRUE(sameInstruction(instructions[i], back[i]))
          << disassemble(isa, instructions[i]) << "\n"
          << disassemble(isa, back[i]);
  }
}

TEST(Assembler, CanonicalText) {
  const std::string text = "load          s=0x1000+x1, d=0x40, n1=4, n0=64 !wait=3,4 !signal=0";
  std::vector<DecodedInstruction> instructions = assemble(shipped(), text, "p.s");
  EXPECT_EQ(disassemble(shipped(), instructions.at(0)), text);
  EXPECT_EQ(instructions[0].wait, 0x18u);
  EXPECT_EQ(instructions[0].signal, 1u);
  EXPECT_EQ(instructions[0].bases[0], 1);
}

TEST(Assembler, NamesOfRegisters) {
  std::vector<DecodedInstruction> instructions =
      assemble(shipped(), "vector.set r0=lo, v0=-128, r1=25, v1=127", "p.s");
  EXPECT_EQ(instructions.at(0).values, (std::vector<int64_t>{24, -128, 25, 127}));
  EXPECT_EQ(disassemble(shipped(), instructions[0]), "vector.set    r0=lo, v0=-128, r1=hi, v1=127");
}

TEST(Assembler, LabelsOfBranchesAndLoops) {
  std::vector<DecodedInstruction> instructions =
      assemble(shipped(),
               "start: fence ; a comment\n  loop count=3, "
               "length=end\n\tfence\r\nfence\nend:\nbranch rs=x2, negate=1, offset=start\nhalt\n",
               "p.s");
  ASSERT_EQ(instructions.size(), 6u);
  EXPECT_EQ(instructions[1].values, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(instructions[4].values, (std::vector<int64_t>{2, 1, -4}));
}

TEST(Assembler, NothingGivesNothing) {
  EXPECT_TRUE(assemble(shipped(), "\n; nothing\n  \n", "p.s").empty());
}

TEST(Assembler, UnknownMnemonic) {
  EXPECT_EQ(errorOf("fence\n  laod s=0\n"),
            "p.s:2:3: error: unknown mnemonic 'laod'\n  fix: did you mean 'load'?");
}

TEST(Assembler, UnknownOperand) {
  EXPECT_EQ(errorOf("fill d=0, value=1, n1=1, n2=1"),
            "p.s:1:26: error: 'fill' has no operand 'n2'\n  fix: it has d, value, n1, n0");
  EXPECT_EQ(errorOf("halt n=1"), "p.s:1:6: error: 'halt' has no operand 'n'\n  fix: it has none");
}

TEST(Assembler, MissingAndRepeatedOperands) {
  EXPECT_EQ(errorOf("fill d=0, value=1, n1=1"),
            "p.s:1:1: error: the operand 'n0' of 'fill' is missing");
  EXPECT_EQ(errorOf("fill d=0, d=1"), "p.s:1:11: error: the operand 'd' is given twice");
}

TEST(Assembler, ValuesOutOfRange) {
  EXPECT_EQ(errorOf("fill d=0, value=128, n1=1, n0=1"),
            "p.s:1:17: error: 'value' is 128, not within -128..127");
  EXPECT_EQ(errorOf("fill d=0x40000, value=1, n1=1, n0=1"),
            "p.s:1:8: error: 'd' is 262144, not within 0..262143");
  EXPECT_THAT(errorOf("fill d=99999999999999999999, value=1, n1=1, n0=1"),
              HasSubstr("is no value of 'd'"));
}

TEST(Assembler, ConstraintsOfTheInstruction) {
  EXPECT_EQ(errorOf("fence\nvchannel a=0, nc=65"),
            "p.s:2:1: error: 'vchannel': C1 does not hold: nc <= channels");
}

TEST(Assembler, Labels) {
  EXPECT_EQ(errorOf("a: fence\na: halt"),
            "p.s:2:1: error: the label 'a' stands twice, first on line 1");
  EXPECT_EQ(errorOf("end1: branch rs=x1, negate=0, offset=end"),
            "p.s:1:38: error: the label 'end' is not defined\n  fix: did you mean 'end1'?");
  EXPECT_EQ(errorOf("1a: fence"), "p.s:1:1: error: the label '1a' starts with a digit");
  EXPECT_EQ(errorOf("a: loop count=1, length=a"),
            "p.s:1:25: error: the label 'a' is -1 instructions away, not within 0..65535");
  EXPECT_EQ(errorOf("a: loop count=a, length=1"),
            "p.s:1:15: error: 'a' is no value of 'count'\n  fix: it is a number");
}

TEST(Assembler, Registers) {
  EXPECT_EQ(
      errorOf("vector.set r0=low, v0=0, r1=hi, v1=0"),
      "p.s:1:15: error: unit 'vector' has no scalar register 'low'\n  fix: did you mean 'lo'?");
  EXPECT_EQ(errorOf("xset rd=x8, value=0"),
            "p.s:1:9: error: 'x8' is no base register\n  fix: they are x0 to x7");
  EXPECT_EQ(errorOf("fill d=0+y1, value=1, n1=1, n0=1"),
            "p.s:1:10: error: 'y1' is no base register\n  fix: they are x0 to x7");
}

TEST(Assembler, Semaphores) {
  EXPECT_EQ(errorOf("halt !wait=16"),
            "p.s:1:12: error: '16' is no semaphore\n  fix: they are 0 to 15");
  EXPECT_EQ(errorOf("halt !wait=1,1"), "p.s:1:14: error: the semaphore 1 is given twice");
  EXPECT_EQ(errorOf("halt !wait=1 !wait=2"), "p.s:1:15: error: '!wait' is given twice");
  EXPECT_EQ(errorOf("halt !go=1"), "p.s:1:7: error: '!go' is neither '!wait' nor '!signal'");
}

TEST(Assembler, Punctuation) {
  EXPECT_EQ(errorOf("fill d 0"), "p.s:1:8: error: '=' is missing after 'd'");
  EXPECT_EQ(errorOf("fill d=0,"), "p.s:1:10: error: an operand is missing");
  EXPECT_EQ(errorOf("fill d=, value=1"), "p.s:1:8: error: the value of 'd' is missing before ','");
  EXPECT_EQ(errorOf("halt !wait=1 x"), "p.s:1:14: error: unexpected 'x'");
  EXPECT_EQ(errorOf("\x01"), "p.s:1:1: error: a mnemonic or a label is missing before '\\x01'");
  EXPECT_THAT(errorOf(":"), StartsWith("p.s:1:1: error:"));
}

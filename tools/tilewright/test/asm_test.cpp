// tilewright asm and disasm, and what they refuse.
#include "tool.h"

#include <gmock/gmock.h>

using namespace tilewright::test;
using ::testing::HasSubstr;

namespace {

class Asm : public ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    write("p.s", "halt\n");
  }
  std::string diagnosticOf(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"asm", "p.s", "-o", "p.elf"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(files(), (std::vector<std::string>{"p.s"})) << "a rejected run left a file";
    return ended.diagnostics;
  }
};

TEST_F(Asm, andDisasmGiveTheText) {
  makeCopyProgram();
  std::string text = run({"disasm", "copy.elf"}).output;
  EXPECT_THAT(text, HasSubstr("; input x int8[1x4] at 0x0\n; output y int8[1x4] at 0x100\n"));
  EXPECT_THAT(text, HasSubstr("\nstore         s=0x0, d=0x100, n1=1, n0=4 !wait=0 !signal=1"));
  EXPECT_THAT(text, HasSubstr("\nhalt "));
}

TEST_F(Asm, readsWhatDisasmPrints) {
  makeCopyProgram();
  run({"disasm", "copy.elf", "-o", "again.s"});
  Ended ended = run({"asm", "again.s", "-o", "again.elf", "--input", "x=0:int8:1x4",
                     "--output-tensor", "y=0x100:int8:1x4", "--dram-bytes", "4096"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(read("again.elf"), read("copy.elf"));
}

TEST_F(Asm, putsDataIntoDram) {
  write("d.bin", "abcd");
  ASSERT_EQ(run({"asm", "p.s", "-o", "p.elf", "--data", "0x10=d.bin"}).code, 0);
  EXPECT_THAT(run({"disasm", "p.elf"}).output, HasSubstr("; data 0x4 bytes at 0x10\n"));
}

TEST_F(Asm, refusesTextWithoutInstructions) {
  write("p.s", "; nothing\n");
  EXPECT_EQ(diagnosticOf({}), "p.s: error: has no instructions\n");
}

TEST_F(Asm, refusesDataWithoutFile) {
  EXPECT_EQ(diagnosticOf({"--data", "12"}), "--data: error: '12' is not ADDRESS=FILE\n");
}

TEST_F(Asm, refusesAnAddressThatIsNoNumber) {
  EXPECT_EQ(diagnosticOf({"--data", "x=p.s"}), "--data: error: 'x' is not a number\n");
}

TEST_F(Asm, refusesDataPastTheEnd) {
  EXPECT_EQ(diagnosticOf({"--dram-bytes", "64", "--data", "60=p.s"}),
            "--data: error: 5 bytes at 0x3c do not fit in the 64 bytes of DRAM\n  fix: raise "
            "--dram-bytes\n");
}

TEST_F(Asm, refusesOverlappingData) {
  EXPECT_EQ(diagnosticOf({"--data", "0=p.s", "--data", "4=p.s"}),
            "--data: error: two files overlap at 0x4\n");
}

TEST_F(Asm, refusesMoreDramThanTheTargetHas) {
  EXPECT_EQ(diagnosticOf({"--dram-bytes", "4294967296"}),
            "--dram-bytes: error: 4294967296 bytes and the code are more DRAM than the target has, "
            "4294967296\n");
}

TEST_F(Asm, refusesATensorOfAnotherForm) {
  EXPECT_EQ(diagnosticOf({"--input", "x"}), "--input: error: 'x' is not NAME=ADDRESS:DTYPE:SHAPE\n"
                                            "  fix: write for example x=0x100:int8:16x16\n");
}

TEST_F(Asm, refusesATensorOfAnUnknownType) {
  EXPECT_EQ(diagnosticOf({"--input", "x=0:int7:4"}),
            "--input: error: 'int7' is not an element type\n"
            "  fix: give bool, int8, uint8, int16, uint16 or int32\n");
}

TEST_F(Asm, refusesATensorOfSizeZero) {
  EXPECT_EQ(diagnosticOf({"--input", "x=0:int8:4x0"}),
            "--input: error: a size of 0 is not in 1 to 2^40\n");
}

TEST_F(Asm, refusesATensorTwice) {
  EXPECT_EQ(diagnosticOf({"--input", "x=0:int8:4", "--input", "x=8:int8:4"}),
            "--input: error: 'x' is given twice\n");
}

TEST_F(Asm, refusesATensorWhoseSizeOverflows) {
  EXPECT_EQ(diagnosticOf({"--input", "x=0:int8:1099511627776x1099511627776"}),
            "--input: error: 18446744073709551615 bytes at 0x0 do not fit in the 1048576 bytes of "
            "DRAM\n  fix: raise --dram-bytes\n");
}

TEST_F(Asm, refusesToWriteOverADirectory) {
  Ended ended = run({"asm", "p.s", "-o", "."});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics,
            ".: -o: error: is a directory, not a file\n  fix: give another -o\n");
}

TEST_F(Asm, disasmRefusesWhatIsNoProgram) {
  Ended ended = run({"disasm", "p.s"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.diagnostics, HasSubstr("p.s: error: is not a program"));
}

} // namespace

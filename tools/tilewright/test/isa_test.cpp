// tilewright isa: what machines differ in, and what an instruction that fits no memory ends in.
#include "tool.h"

#include <filesystem>
#include <gmock/gmock.h>

using namespace tilewright::test;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

const char *const head = "schema: tilewright/overlay/1\nname: o\nsummary: s\n";

class Isa : public ToolTest {
protected:
  void writeTarget(const std::string &params) const {
    write("t.yaml", "schema: tilewright/target/1\nname: t\nsummary: s\nclock_hz: 1000000000\n"
                    "dram: lpddr4\nparams: " +
                        params + "\n");
  }
  // The scratchpad holds no table of 513 entries of 16 bits.
  void writeSmallScratchpad() const {
    write("o.yaml", std::string(head) + "target: { params: { spad_bytes: 1024 } }\n");
  }
};

TEST_F(Isa, diffOfATargetIsFromTheReference) {
  writeTarget("{ rows: 8 }");
  const Ended ended = run({"isa", "diff", "--target", "./t.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, HasSubstr("- param rows = 16\n+ param rows = 8\n"));
  EXPECT_EQ(run({"isa", "diff", "--from", "edge16", "--target", "./t.yaml"}).output, ended.output);
}

TEST_F(Isa, diffWithOverlaysIsFromTheTargetItself) {
  writeTarget("{ rows: 8 }");
  write("o.yaml", std::string(head) + "timing: { vector: { start: 9 } }\n");
  const Ended ended = run({"isa", "diff", "--target", "./t.yaml", "--what-if", "o.yaml"});
  EXPECT_THAT(ended.output, HasSubstr("+ timing vector.start = 9\n"));
  EXPECT_THAT(ended.output, Not(HasSubstr("param rows")));
}

TEST_F(Isa, diffSaysThatThereIsNone) {
  writeTarget("{}");
  Ended ended = run({"isa", "diff", "--target", "./t.yaml"});
  EXPECT_EQ(ended.output, "");
  EXPECT_EQ(ended.diagnostics, "'./t.yaml' is the same machine as 'edge16'\n");
  write("o.yaml", head);
  ended = run({"isa", "diff", "--target", "tiny4", "--what-if", "o.yaml"});
  EXPECT_EQ(ended.output, "");
  EXPECT_EQ(ended.diagnostics, "'tiny4' is the same machine as 'tiny4' without overlays\n");
}

TEST_F(Isa, manualLeavesFilesOfOthers) {
  ASSERT_EQ(run({"isa", "doc", "-o", "m"}).code, 0);
  const std::string page = read("m/mmul.md");
  write("m/gone.md", page);
  write("m/short.md", "<!-- Gen");
  write("m/large.bin", "");
  std::filesystem::resize_file(directory_ + "/m/large.bin", uintmax_t(3) << 30); // without blocks
  const Ended ended = run({"isa", "doc", "-o", "m"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/m/gone.md"));
  EXPECT_EQ(read("m/short.md"), "<!-- Gen");
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/m/large.bin"));
  EXPECT_EQ(read("m/mmul.md"), page);
}

TEST_F(Isa, seedsAndCountsOfVectorsAreWholeNumbers) {
  for (const char *seed : {"-1", "99999999999999999999"})
    EXPECT_THAT(run({"isa", "vectors", "--seed", seed}).diagnostics,
                HasSubstr("is not a whole number from 0 to 18446744073709551615\n"));
  EXPECT_THAT(run({"isa", "vectors", "--count", "0"}).diagnostics,
              HasSubstr("'0' is not a whole number from 1 to 10000\n"));
}

TEST_F(Isa, vectorsNameAnInstructionThatFitsNoMemory) {
  writeSmallScratchpad();
  const Ended ended = run({"isa", "vectors", "--target", "tiny4", "--what-if", "o.yaml"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(
      ended.diagnostics,
      HasSubstr("vtable16.load.yaml: instruction 'vtable16.load': error: no execution of it "
                "was found that this machine allows\n  fix: make the memories that it reads "
                "and writes larger, or remove it\n"));
}

TEST_F(Isa, pageSaysThatAnInstructionFitsNoMemory) {
  writeSmallScratchpad();
  const Ended ended =
      run({"isa", "show", "vtable16.load", "--target", "tiny4", "--what-if", "o.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, HasSubstr("## Example\n\nNone: no execution of it was found that this "
                                      "machine allows.\n"));
}

} // namespace

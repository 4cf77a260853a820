// Programs in parts: what is written is read again, and what is damaged is refused.
#include "tilewright/program/parted_program.h"
#include "tilewright/support/error.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

PartedProgram sample() {
  PartedProgram program;
  program.inputs = {{"image", DType::U8, {1, 3, 16, 16}}};
  program.outputs = {{"chosen", DType::I64, {-1, 3}}};
  program.parts = {{false, "a program", {}},
                   {true, std::string("a model\0", 8), {{"nms", "NonMaxSuppression", "why"}}}};
  return program;
}

std::string diagnosticOf(const std::string &bytes) {
  try {
    readParted("p.elf", bytes);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

TEST(PartedProgram, IsReadAsItWasWritten) {
  const PartedProgram read = readParted("p.elf", writeParted(sample()));
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.inputs[0].name, "image");
  EXPECT_EQ(read.inputs[0].dtype, DType::U8);
  EXPECT_EQ(read.outputs[0].shape, (std::vector<int64_t>{-1, 3}));
  ASSERT_EQ(read.parts.size(), 2u);
  EXPECT_FALSE(read.parts[0].onHost);
  EXPECT_EQ(read.parts[0].bytes, "a program");
  EXPECT_TRUE(read.parts[1].onHost);
  EXPECT_EQ(read.parts[1].bytes, std::string("a model\0", 8));
  EXPECT_EQ(read.parts[1].operators[0].reason, "why");
}

TEST(PartedProgram, IsKnownByItsFirstBytes) {
  EXPECT_TRUE(isParted(writeParted(sample())));
  EXPECT_FALSE(isParted("\x7f"
                        "ELF"));
}

TEST(PartedProgram, HasTheSameBytesEachTime) {
  EXPECT_EQ(writeParted(sample()), writeParted(sample()));
}

TEST(PartedProgram, CutShort) {
  const std::string bytes = writeParted(sample());
  for (size_t size = 8; size < bytes.size(); ++size)
    EXPECT_NE(diagnosticOf(bytes.substr(0, size)), "") << size;
}

TEST(PartedProgram, WithAPartThatIsNoMember) {
  std::string bytes = writeParted(sample());
  bytes.replace(bytes.find("1.onnx/"), 7, "2.onnx/");
  EXPECT_EQ(diagnosticOf(bytes), "p.elf: error: has no member '1.onnx'\n"
                                 "  fix: the file is damaged; compile the model again");
}

TEST(PartedProgram, OnAnUnknownUnit) {
  std::string bytes = writeParted(sample());
  bytes.replace(bytes.find("\"host\""), 6, "\"hast\"");
  EXPECT_EQ(diagnosticOf(bytes), "p.elf: section parts.json: error: 'parts[1].on' is 'hast', and "
                                 "should be host or accelerator");
}

TEST(PartedProgram, OfAnotherVersion) {
  std::string bytes = writeParted(sample());
  bytes.replace(bytes.find("\"version\":1"), 11, "\"version\":2");
  EXPECT_EQ(diagnosticOf(bytes),
            "p.elf: section parts.json: error: 'version' is not one that is read");
}

} // namespace

} // namespace tilewright

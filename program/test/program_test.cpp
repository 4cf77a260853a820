// A program as a whole: read back as written, and every way in which its parts can disagree.
#include "sample.h"
#include "tilewright/support/error.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

// The diagnostic of a program whose info section has `from` replaced by `to` of the same length.
std::string replaced(const std::string &from, const std::string &to) {
  return readDiagnostic(changed([&](std::string &bytes) {
    ASSERT_EQ(from.size(), to.size());
    size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
  }));
}

TEST(Program, isReadBackAsWritten) {
  Program wrote = sampleProgram();
  Program read = readProgram("p.elf", writeProgram(wrote, sampleIsa()), sampleIsa());
  EXPECT_EQ(read.file, "p.elf");
  EXPECT_EQ(read.target, wrote.target);
  EXPECT_EQ(read.overlays, wrote.overlays);
  EXPECT_EQ(read.isaHash, wrote.isaHash);
  EXPECT_EQ(read.timingHash, wrote.timingHash);
  EXPECT_EQ(read.code, wrote.code);
  EXPECT_EQ(read.codeAddress, wrote.codeAddress);
  EXPECT_EQ(read.entry, wrote.entry);
  EXPECT_EQ(read.dramBytes, wrote.dramBytes);
  EXPECT_EQ(read.scratchpadPeakBytes, wrote.scratchpadPeakBytes);
  EXPECT_EQ(read.accumulatorPeakBytes, wrote.accumulatorPeakBytes);
}

TEST(Program, keepsItsData) {
  Program read = readProgram("p.elf", changed([](std::string &) {}), sampleIsa());
  ASSERT_EQ(read.data.size(), 2u);
  EXPECT_EQ(read.data[0].address, 0x100u);
  EXPECT_EQ(read.data[0].bytes, "abc");
  EXPECT_EQ(read.data[1].address, 0x200u);
  EXPECT_EQ(read.data[1].bytes, std::string(70, 'x'));
}

TEST(Program, keepsItsTensors) {
  Program read = readProgram("p.elf", changed([](std::string &) {}), sampleIsa());
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.inputs[0].name, "image");
  EXPECT_EQ(read.inputs[0].dtype, DType::I8);
  EXPECT_EQ(read.inputs[0].shape, (std::vector<int64_t>{1, 3, 4}));
  EXPECT_EQ(read.inputs[0].address, 0x300u);
  EXPECT_EQ(read.inputs[0].scale, 0.1);
  EXPECT_EQ(read.inputs[0].zeroPoint, -3);
  EXPECT_EQ(read.inputs[0].given, DType::F16);
  ASSERT_EQ(read.outputs.size(), 1u);
  EXPECT_EQ(read.outputs[0].dtype, DType::I32);
  EXPECT_FALSE(read.outputs[0].scale);
}

TEST(Program, keepsItsLayers) {
  Program read = readProgram("p.elf", changed([](std::string &) {}), sampleIsa());
  ASSERT_EQ(read.layers.size(), 2u);
  EXPECT_EQ(read.layers[0].name, "conv");
  EXPECT_EQ(read.layers[0].op, "Conv");
  EXPECT_EQ(read.layers[0].macs, 1000);
  EXPECT_EQ(read.layers[0].depthwiseMacs, 9);
  EXPECT_EQ(read.layers[1].depthwiseMacs, 0);
  EXPECT_EQ(read.layers[0].estimateCycles, 20);
  EXPECT_EQ(read.layers[0].inputBytes, 30);
  EXPECT_EQ(read.layers[0].weightBytes, 40);
  EXPECT_EQ(read.layers[0].outputBytes, 50);
  ASSERT_EQ(read.runs.size(), 2u);
  EXPECT_EQ(read.runs[1].firstInstruction, 1u);
  EXPECT_EQ(read.runs[1].layer, -1);
}

TEST(Program, hasTheSameBytesEveryTime) {
  EXPECT_EQ(writeProgram(sampleProgram(), sampleIsa()), writeProgram(sampleProgram(), sampleIsa()));
}

TEST(Program, saysItsTargetBeforeTheIsaIsKnown) {
  ProgramTarget target = readProgramTarget("p.elf", changed([](std::string &) {}));
  EXPECT_EQ(target.target, "edge16");
  EXPECT_EQ(target.overlays, std::vector<std::string>{"what-if/a.yaml"});
  EXPECT_EQ(target.isaHash, sampleIsa().hash());
}

TEST(Program, refusesOtherIsaNamingBothHashes) {
  std::string other(sampleIsa().hash().size(), 'e');
  EXPECT_EQ(
      replaced(sampleIsa().hash(), other),
      "p.elf: error: was made for another ISA: hash " + other + ", but target 'edge16' has " +
          sampleIsa().hash() +
          "\n  fix: compile the model again, or run it with the description that it was made for");
}

TEST(Program, refusesTensorOutsideDram) {
  EXPECT_EQ(
      replaced("\"address\":1024", "\"address\":8153"),
      "p.elf: error: has output tensor 'scores' outside its DRAM: 40 bytes at 0x1fd9, of 8192");
}

TEST(Program, acceptsTensorAtTheEndOfDram) {
  EXPECT_EQ(replaced("\"address\":1024", "\"address\":8152"), "");
}

TEST(Program, refusesCodeOutsideDram) {
  EXPECT_EQ(replaced("\"dram_bytes\":8192", "\"dram_bytes\":4096"),
            "p.elf: error: has the code outside its DRAM: 32 bytes at 0x1000, of 4096");
}

TEST(Program, refusesDramPastTheTargets) {
  Program program = sampleProgram();
  program.dramBytes = (uint64_t(4) << 30) + 1;
  try {
    writeProgram(program, sampleIsa());
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.diagnostic(),
              "program: error: needs 4294967297 bytes of DRAM, but the target has 4294967296");
  }
}

// The limit is read when a program is.
class Limit : public testing::Test {
protected:
  void TearDown() override { ::unsetenv("TILEWRIGHT_DRAM_LIMIT"); }
};

TEST_F(Limit, refusesDramPastIt) {
  std::string bytes = changed([](std::string &) {});
  ::setenv("TILEWRIGHT_DRAM_LIMIT", "8191", 1);
  EXPECT_EQ(readDiagnostic(bytes),
            "p.elf: error: needs 8192 bytes of DRAM, more than the limit of 8191\n"
            "  fix: set TILEWRIGHT_DRAM_LIMIT=8192 to allow it");
}

TEST_F(Limit, mustBeANumber) {
  std::string bytes = changed([](std::string &) {});
  ::setenv("TILEWRIGHT_DRAM_LIMIT", "4G", 1);
  EXPECT_EQ(readDiagnostic(bytes), "TILEWRIGHT_DRAM_LIMIT: error: is not a number of bytes: '4G'");
}

// What the compiler must not write is its mistake, not the user's.
std::string writeFailure(const std::function<void(Program &)> &change) {
  Program program = sampleProgram();
  change(program);
  try {
    writeProgram(program, sampleIsa());
    return "";
  } catch (const std::logic_error &error) {
    return error.what();
  }
}

TEST(ProgramWriter, refusesEmptyCode) {
  EXPECT_EQ(writeFailure([](Program &program) { program.code.clear(); }),
            "an invalid program was to be written: has no instructions");
}

TEST(ProgramWriter, refusesPartOfAnInstruction) {
  EXPECT_EQ(writeFailure([](Program &program) { program.code.resize(17); }),
            "an invalid program was to be written: has 17 bytes of code, no whole number of "
            "16-byte instructions");
}

TEST(ProgramWriter, refusesMisalignedCode) {
  EXPECT_EQ(writeFailure([](Program &program) { program.codeAddress = 0x1008; }),
            "an invalid program was to be written: has its code at 0x1008, no multiple of the 16 "
            "bytes of an instruction");
}

TEST(ProgramWriter, refusesEntryOutsideTheCode) {
  EXPECT_EQ(
      writeFailure([](Program &program) { program.entry = 2; }),
      "an invalid program was to be written: has its entry outside the code: instruction 2 of 2");
}

TEST(ProgramWriter, refusesDataOutsideDram) {
  EXPECT_EQ(writeFailure([](Program &program) { program.data[0].address = 0x1ffe; }),
            "an invalid program was to be written: has a data segment outside its DRAM: 3 bytes at "
            "0x1ffe, of 8192");
}

TEST(ProgramWriter, refusesTensorTwice) {
  EXPECT_EQ(writeFailure([](Program &program) { program.inputs.push_back(program.inputs[0]); }),
            "an invalid program was to be written: has input tensor 'image' twice");
}

TEST(ProgramWriter, refusesTensorWithoutName) {
  EXPECT_EQ(writeFailure([](Program &program) { program.outputs[0].name.clear(); }),
            "an invalid program was to be written: has an output tensor without a name");
}

TEST(ProgramWriter, refusesLayersOutOfOrder) {
  EXPECT_EQ(writeFailure([](Program &program) { program.runs = {{1, 0}, {1, 1}}; }),
            "an invalid program was to be written: has a layer that starts at instruction 1, "
            "outside [2, 2)");
}

TEST(ProgramWriter, refusesTensorWhoseSizeOverflows) {
  EXPECT_EQ(
      writeFailure(
          [](Program &program) { program.inputs[0].shape = {int64_t(1) << 40, int64_t(1) << 40}; }),
      "an invalid program was to be written: has input tensor 'image' of more than 2^64 bytes");
}

} // namespace

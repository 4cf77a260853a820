// The JSON sections of a program: read back as written, and every way in which they can be wrong.
#include "../lib/info.h"
#include "sample.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;
using nlohmann::json;

namespace {

std::string infoDiagnostic(const std::string &text) {
  try {
    Program program;
    readInfo("p.elf", text, program);
    return "";
  } catch (const UserError &error) {
    return error.diagnostic();
  }
}

std::string debugDiagnostic(const std::string &text) {
  try {
    Program program;
    readDebug("p.elf", text, program);
    return "";
  } catch (const UserError &error) {
    return error.diagnostic();
  }
}

// The sample's info with `value` at JSON pointer `where`.
std::string infoWith(const std::string &where, const json &value) {
  json info = json::parse(writeInfo(sampleProgram()));
  info[json::json_pointer(where)] = value;
  return info.dump();
}

std::string debugWith(const std::string &where, const json &value) {
  json debug = json::parse(writeDebug(sampleProgram()));
  debug[json::json_pointer(where)] = value;
  return debug.dump();
}

const std::string inInfo = "p.elf: section .tilewright.info: error: ";
const std::string inDebug = "p.elf: section .tilewright.debug: error: ";

TEST(Info, refusesWhatIsNotJson) {
  EXPECT_EQ(
      infoDiagnostic("{\"target\": "),
      inInfo +
          "is not JSON: mistake at byte 12\n  fix: the file is damaged; compile the model again");
}

TEST(Info, refusesNumbersBeyondDouble) {
  EXPECT_EQ(infoDiagnostic("{\"target\": 1e999}"),
            inInfo + "holds a number that no double can hold\n"
                     "  fix: the file is damaged; compile the model again");
}

TEST(Info, refusesInvalidUtf8) {
  EXPECT_THAT(infoDiagnostic("{\"target\": \"\xff\"}"),
              testing::StartsWith(inInfo + "is not JSON"));
}

TEST(Info, refusesWhatIsNoObject) {
  EXPECT_EQ(infoDiagnostic("[]"), inInfo + "the text is not an object");
}

TEST(Info, refusesDeepNesting) {
  EXPECT_EQ(infoDiagnostic(std::string(1000000, '[')), inInfo + "is nested more than 8 deep");
}

TEST(Info, refusesHugeText) {
  EXPECT_EQ(infoDiagnostic(std::string((24u << 20) + 1, ' ')),
            inInfo + "is too large: 25165825 bytes, at most 25165824 are read");
}

TEST(Info, refusesMissingKey) {
  json info = json::parse(writeInfo(sampleProgram()));
  info.erase("isa_hash");
  EXPECT_EQ(infoDiagnostic(info.dump()), inInfo + "'isa_hash' is missing");
}

TEST(Info, refusesTargetThatIsNoString) {
  EXPECT_EQ(infoDiagnostic(infoWith("/target", 3)), inInfo + "'target' is not a string");
}

TEST(Info, refusesOverlayThatIsNoString) {
  EXPECT_EQ(infoDiagnostic(infoWith("/overlays/0", nullptr)),
            inInfo + "'overlays' holds what is no string");
}

TEST(Info, refusesInputsThatAreNoArray) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs", "x")), inInfo + "'inputs' is not an array");
}

TEST(Info, refusesTensorThatIsNoObject) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0", 1)), inInfo + "'inputs[0]' is not an object");
}

TEST(Info, refusesDramBytesOfZero) {
  EXPECT_EQ(infoDiagnostic(infoWith("/dram_bytes", 0)), inInfo + "'dram_bytes' is 0, less than 1");
}

TEST(Info, refusesFractionalDramBytes) {
  EXPECT_EQ(infoDiagnostic(infoWith("/dram_bytes", 1.5)),
            inInfo + "'dram_bytes' is not an integer of 64 bits");
}

TEST(Info, refusesNumberPast63Bits) {
  EXPECT_EQ(infoDiagnostic(infoWith("/dram_bytes", UINT64_MAX)),
            inInfo + "'dram_bytes' is not an integer of 64 bits");
}

TEST(Info, refusesUnknownElementType) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0/dtype", "int7")),
            inInfo + "'inputs[0].dtype' is no element type: 'int7'");
}

TEST(Info, refusesNegativeSize) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0/shape", {1, -1})),
            inInfo + "'inputs[0].shape' holds what is no size of at least 1");
}

TEST(Info, refusesRankPastTheLimit) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0/shape", std::vector<int>(33, 1))),
            inInfo + "'inputs[0].shape' has 33 dimensions, at most 32 are allowed");
}

TEST(Info, refusesScaleOfZero) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0/scale", 0)),
            inInfo + "'inputs[0].scale' is not a positive number");
}

TEST(Info, escapesNamesInMessages) {
  EXPECT_EQ(infoDiagnostic(infoWith("/inputs/0/dtype", "a\nb")),
            inInfo + "'inputs[0].dtype' is no element type: 'a\\x0ab'");
}

TEST(Info, refusesToWriteAnInfiniteScale) {
  Program program = sampleProgram();
  program.inputs[0].scale = INFINITY;
  EXPECT_THROW(writeInfo(program), std::invalid_argument);
}

TEST(Debug, refusesRunThatIsNoPair) {
  EXPECT_EQ(debugDiagnostic(debugWith("/runs/0", {1, 2, 3})),
            inDebug + "'runs' holds what is no pair of instruction and layer");
}

TEST(Debug, refusesUnknownLayer) {
  EXPECT_EQ(debugDiagnostic(debugWith("/runs/0", {0, 2})),
            inDebug + "'runs' names layer 2, but there are 2");
}

TEST(Debug, refusesLayerNumberThatWraps) {
  EXPECT_EQ(debugDiagnostic(debugWith("/runs/0", {0, UINT64_MAX - 4})),
            inDebug + "'runs' names layer -5, but there are 2");
}

TEST(Debug, refusesNegativeMacs) {
  EXPECT_EQ(debugDiagnostic(debugWith("/layers/0/macs", -1)),
            inDebug + "'layers[0].macs' is -1, less than 0");
}

TEST(Debug, keepsTheRunnerUp) {
  Program program = sampleProgram();
  program.layers[0].runnerUp = RunnerUp{"another plan", 12, 10};
  Program back;
  readDebug("p.elf", writeDebug(program), back);
  ASSERT_TRUE(back.layers[0].runnerUp.has_value());
  EXPECT_EQ(back.layers[0].runnerUp->plan, "another plan");
  EXPECT_EQ(back.layers[0].runnerUp->cycles, 12);
  EXPECT_EQ(back.layers[0].runnerUp->chosenCycles, 10);
  EXPECT_FALSE(back.layers[1].runnerUp.has_value());
}

TEST(Debug, refusesARunnerUpWithoutCost) {
  EXPECT_EQ(debugDiagnostic(debugWith("/layers/0/runner_up", {{"plan", "p"}})),
            inDebug + "'layers[0].runner_up.cycles' is missing");
}

TEST(Debug, keepsNamesOfAnyBytes) {
  Program program = sampleProgram();
  program.layers[0].name = "a\"<script>\n\xff";
  Program back;
  readDebug("p.elf", writeDebug(program), back);
  EXPECT_EQ(back.layers[0].name, "a\"<script>\n\xef\xbf\xbd"); // the invalid byte becomes U+FFFD
}

} // namespace

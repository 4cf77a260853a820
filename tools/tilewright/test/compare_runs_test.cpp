// What `verify` says differs: the first difference, and where it is in the user's terms.
#include "compare_runs.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

Program sampleProgram() {
  Program program;
  program.dramBytes = 64;
  TensorInfo y;
  y.name = "y";
  y.dtype = DType::I32;
  y.shape = {4};
  y.address = 16;
  program.outputs = {y};
  program.layers = {{"conv", "Conv", 0, 0, 0, 0, 0}};
  program.runs = {{0, -1}, {2, 0}};
  return program;
}

RunOutcome outcome(const std::string &engine) {
  RunOutcome result;
  result.engine = engine;
  result.record.instructions = 3;
  for (uint64_t pc : {0, 1, 2}) {
    InstructionRecord instruction;
    instruction.pc = pc;
    result.record.trace.push_back(instruction);
  }
  result.memory.emplace_back(sampleProgram());
  return result;
}

std::string difference(const std::function<void(RunOutcome &)> &change) {
  RunOutcome a = outcome("functional"), b = outcome("cycle");
  change(b);
  return firstDifference(sampleProgram(), a, b);
}

TEST(CompareRuns, findsNone) {
  EXPECT_EQ(difference([](RunOutcome &) {}), "");
}

TEST(CompareRuns, ignoresTheTimeOfAnEngineWithoutTime) {
  EXPECT_EQ(difference([](RunOutcome &run) { run.record.cycles = 100; }), "");
}

TEST(CompareRuns, namesTheOutputsElement) {
  EXPECT_EQ(
      difference([](RunOutcome &run) { run.memory[0].data()[25] = 0x2a; }),
      "sample 0, DRAM address 0x19 (output 'y', element 2): functional has 0x00, cycle has 0x2a");
}

TEST(CompareRuns, namesAnAddressOutsideTensors) {
  EXPECT_EQ(difference([](RunOutcome &run) { run.memory[0].data()[63] = 1; }),
            "sample 0, DRAM address 0x3f: functional has 0x00, cycle has 0x01");
}

TEST(CompareRuns, namesTheStepWherePathsPart) {
  EXPECT_EQ(
      difference([](RunOutcome &run) { run.record.trace[1].pc = 2; }),
      "step 1: functional executes instruction 1, cycle executes instruction 2 (layer 'conv')");
}

TEST(CompareRuns, namesTheInstructionThatMovesOtherBytes) {
  EXPECT_EQ(difference([](RunOutcome &run) { run.record.trace[2].dramReadBytes = 8; }),
            "instruction 2 (layer 'conv'): functional moves 0 bytes, cycle moves 8");
}

TEST(CompareRuns, namesTheCountOfInstructions) {
  EXPECT_EQ(difference([](RunOutcome &run) { run.record.instructions = 4; }),
            "functional executes 3 instructions, cycle executes 4");
}

TEST(CompareRuns, namesTheCyclesOfTimedEngines) {
  RunOutcome a = outcome("cycle"), b = outcome("rtl");
  a.record.cycles = 100;
  b.record.cycles = 101;
  EXPECT_EQ(firstDifference(sampleProgram(), a, b), "cycle takes 100 cycles, rtl takes 101");
}

} // namespace

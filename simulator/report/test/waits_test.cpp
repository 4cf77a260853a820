// Who waited for whom.
#include "waits.h"

#include "sample.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;

namespace {

struct Step {
  const char *instruction;
  uint32_t wait, signal;
};

Program programOf(const std::vector<Step> &steps) {
  const isa::Isa &isa = sampleIsa();
  Program program = sampleProgram();
  program.code.clear();
  for (const Step &step : steps) {
    isa::DecodedInstruction decoded;
    const isa::Instruction &instruction = *isa.find(step.instruction);
    decoded.instruction = instruction.index;
    decoded.wait = step.wait;
    decoded.signal = step.signal;
    for (const isa::Operand &operand : instruction.operands)
      decoded.values.push_back(operand.kind == isa::Operand::Kind::Immediate ? 1 : 0);
    decoded.bases.assign(instruction.operands.size(), 0);
    isa::Bits bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.runs = {{0, 0}};
  return program;
}

RunRecord runOf(std::vector<InstructionRecord> trace) {
  RunRecord run;
  run.cycles = 100;
  run.trace = std::move(trace);
  return run;
}

int giverOf(size_t at, const Program &program, const RunRecord &run) {
  return semaphoreGivers(program, run, sampleIsa())[at];
}

int number(const char *name) { return static_cast<int>(unit(name)); }

TEST(Waits, takerWaitedForTheGiver) {
  Program program = programOf({{"load", 0, 1}, {"mmul", 1, 0}});
  EXPECT_EQ(giverOf(1, program, runOf({record(0, 0, 20), record(1, 21, 30)})), number("load"));
}

TEST(Waits, takerWaitedForTheGiverThatCameLast) {
  Program program = programOf({{"load", 0, 1}, {"vadd", 0, 2}, {"mmul", 3, 0}});
  RunRecord run = runOf({record(0, 0, 20), record(1, 0, 25), record(2, 26, 30)});
  EXPECT_EQ(giverOf(2, program, run), number("vector"));
  run.trace[0].end = 28;
  EXPECT_EQ(giverOf(2, program, run), number("load"));
}

TEST(Waits, secondTakerWaitedForTheSecondGiver) {
  Program program = programOf({{"load", 0, 1}, {"vadd", 0, 1}, {"mmul", 1, 0}, {"mmul", 1, 0}});
  RunRecord run = runOf({record(0, 0, 20), record(1, 0, 40), record(2, 21, 30), record(3, 41, 50)});
  EXPECT_EQ(giverOf(2, program, run), number("load"));
  EXPECT_EQ(giverOf(3, program, run), number("vector"));
}

TEST(Waits, giverThatCannotSignalWaitedForTheTaker) {
  Program program = programOf({{"load", 0, 1}, {"mmul", 1, 0}});
  EXPECT_EQ(giverOf(0, program, runOf({record(0, 0, 50), record(1, 51, 60)})), number("matrix"));
}

TEST(Waits, withoutSemaphoresNobodyIsWaitedFor) {
  Program program = programOf({{"load", 0, 0}});
  EXPECT_EQ(giverOf(0, program, runOf({record(0, 0, 50)})), -1);
}

// The only wait of an instruction with that stall.
Wait waitOf(Stall cause) {
  InstructionRecord instruction = record(0, 0, 10);
  instruction.stalls[static_cast<int>(cause)] = 7;
  WaitTable table(sampleIsa().units().size());
  addWaits(table, instruction, number("vector"), number("load"));
  std::vector<Wait> waits = table.list();
  EXPECT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits.at(0).cause, cause);
  EXPECT_EQ(waits.at(0).cycles, 7);
  return waits.at(0);
}

TEST(Waits, onSemaphoresIsForTheGiver) {
  EXPECT_EQ(waitOf(Stall::Semaphore).unit, number("vector"));
  EXPECT_EQ(waitOf(Stall::Semaphore).on, number("load"));
}

TEST(Waits, forAPortIsForNobody) {
  EXPECT_EQ(waitOf(Stall::AccPort).unit, number("vector"));
  EXPECT_EQ(waitOf(Stall::AccPort).on, -1);
}

TEST(Waits, onAFullQueueIsTheSequencersForTheUnit) {
  EXPECT_EQ(waitOf(Stall::QueueFull).unit, number("sequencer"));
  EXPECT_EQ(waitOf(Stall::QueueFull).on, number("vector"));
}

TEST(Waits, forInstructionsIsTheSequencers) {
  EXPECT_EQ(waitOf(Stall::Fetch).unit, number("sequencer"));
  EXPECT_EQ(waitOf(Stall::Fetch).on, -1);
}

TEST(Waits, ofARowAddUpToItsStalls) {
  Report report = build(sampleProgram(), sampleRecord(), sampleIsa(), {});
  for (const Row &row : report.layers) {
    Stalls sums{};
    for (const Wait &wait : row.waits)
      sums[static_cast<size_t>(wait.cause)] += wait.cycles;
    EXPECT_EQ(sums, row.stalls) << row.name;
  }
  EXPECT_EQ(allWaits(report).size(), 1u);
}

TEST(Waits, areListedFromTheLongest) {
  WaitTable table(2);
  table.add({0, Stall::Dram, -1, 3});
  table.add({1, Stall::Dram, 0, 4});
  table.add({0, Stall::Dram, -1, 2});
  std::vector<Wait> waits = table.list();
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].cycles, 5);
  EXPECT_EQ(waits[1].cycles, 4);
}

} // namespace

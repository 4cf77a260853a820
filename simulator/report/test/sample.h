// A program of two layers on the default target, and a run of it made by hand.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/engine/engine.h"

#include <string>
#include <vector>

namespace tilewright::test {

const isa::Isa &sampleIsa();

// The index of a unit in Isa::units().
size_t unit(const std::string &name);

// An instruction of `unit` that runs from `start` to `end`.
InstructionRecord record(uint64_t pc, int64_t start, int64_t end);

// Instructions, in order: load, mmul, vadd, store of layer 0 ("conv"); load, mmul of layer 1
// ("relu"); halt of none.
Program sampleProgram();

// 100 cycles. Layer 1's load runs under layer 0's product.
//   load    [ 0,20)         [20,50)
//   matrix         [20,60)            [60,80)
//   vector                  [60,70)
//   store                     [70,90)
RunRecord sampleRecord();

// The report of a run of the cycle engine.
report::Report sampleReport(const Program &program = sampleProgram(),
                            const RunRecord &run = sampleRecord());

std::vector<std::string> lines(const std::string &text);

} // namespace tilewright::test

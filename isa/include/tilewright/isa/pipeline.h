// How a lane of the vector unit computes an instruction: in stages that fit the clock's period.
//
// The data-flow graph of each step is scheduled as soon as possible by accumulated delay, as in
// XLS's delay-driven pipeline scheduler. What instructions share (multipliers, shifters, adders of
// 16 bits or more) takes its operands from registers, through a selection among them; a table is
// RAM whose reads are clocked: a cycle for the row, another to select the element. A unit that is
// longer than a cycle is cut into stages of equal delay. What depends on registers and immediates
// alone is computed from the instruction's start on, before the first elements arrive, by logic of
// its own.
#pragma once

#include "tilewright/isa/isa.h"

#include <unordered_map>

namespace tilewright::isa {

// Registers around the arithmetic: data of the memories, a tap's elements side by side, elements in
// their lanes, the result in its bytes.
inline constexpr int64_t pipelineOverhead = 4;

// The units that the vector instructions need between them: as many as the one that needs most, the
// widest as wide as anyone's widest, and so on.
Lane makeLane(const Isa &isa, const std::vector<Instruction> &instructions);

// Schedules the steps of an instruction on a lane that has what it needs. The result's `latency` is
// what the stages take; `Pipeline::tooLong` is set where a reduction's accumulation, which cannot
// be cut, does not fit into a cycle.
Pipeline derivePipeline(const Instruction &instruction, const Isa &isa, const Lane &lane);

// The values that an expression takes at most, whatever registers and elements hold.
struct Values {
  __int128 least, greatest;
};
Values valuesOf(const Expr &expr);
// The bits that these need as signed numbers.
int factorBits(const Expr &expr);

// The low bits of each expression of a step that some user reads: a sum that is wrapped at once
// needs no wider adder, and a value that is only added no wider register.
std::unordered_map<const Expr *, int> demandedBits(const Step &step);

// Whether an expression depends on nothing but registers and immediates.
bool isLaneConstant(const Expr &expr);
// Whether an element of an array is the one at the lane's position in the innermost iterator: a
// strip of them comes with the memories' data. Others are read as tables are.
bool isLanePosition(const std::vector<ExprPtr> &where, const Step &step);
bool hasPipeline(const Instruction &instruction, const std::vector<Unit> &units);

// Its critical path in words: "read, align and write (4); multiply, 64 bits (stages 2 to 3); ..".
std::string criticalPath(const Pipeline &pipeline);

// Its stages as a table of Markdown, with what begins in each and its delay in FO4.
std::string stageTable(const Pipeline &pipeline);

} // namespace tilewright::isa

// What a machine is made of: the logic of each block of its RTL, and its RAM macros, composed from
// the machine's sizes and its lanes' structure. Coefficients are of netlists in OSU 0.18 um cells
// (bench/area); bench/estimates compares both.
#pragma once

#include "tilewright/explore/machine.h"
#include "tilewright/rtl/lane_structure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::explore {

// Areas are in equivalents of a two-input NAND, flip-flops included.
struct LogicBlock {
  const char *name; // as in docs/area.md
  double nand2, flipFlops;
};
std::vector<LogicBlock> logicOf(const Machine &machine);
int64_t laneLogicOf(const rtl::LaneStructure &lane);
int64_t laneFlipFlopsOf(const rtl::LaneStructure &lane);

// The longest path between two registers of the machine, in FO4: that of its lanes, which
// description and clock cut into stages, or that of the rest, which is as it is.
double slowestPathOf(const Machine &machine);
// What the machine reaches with that path, in its technology.
double clockOf(const Machine &machine); // Hz

struct RamMacros { // one of several read ports counts as that many
  int64_t count, rows, bits;
};
std::vector<RamMacros> ramsOf(const Machine &machine);

} // namespace tilewright::explore

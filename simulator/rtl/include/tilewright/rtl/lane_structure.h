// What a lane of the vector unit is made of, counted on the plan that its SystemVerilog is written
// from: for estimates of its area, which bench/area measures on a netlist.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>

namespace tilewright::rtl {

// Of one lane; areas in equivalents of a two-input NAND, in the target's technology.
struct LaneStructure {
  int64_t units = 0;        // area of what instructions share: multipliers, adders, shifters
  int64_t operandBits = 0;  // bits that these choose among, from all their sources
  int64_t logic = 0;        // area of operators that single instructions have of their own
  int64_t joins = 0;        // area of what a lane has of the trees that join lanes
  int64_t registerBits = 0; // between stages, within units, of the sum and of the result
  int64_t writtenBits = 0;  // that the instructions put into registers between stages
  int64_t path = 0;         // the longest between two registers, in thousandths of an FO4
};

LaneStructure laneStructureOf(const isa::Isa &isa);

} // namespace tilewright::rtl

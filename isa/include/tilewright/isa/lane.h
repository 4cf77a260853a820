// What a lane of the vector unit is made of beside the logic of single instructions: the units that
// instructions share.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright::isa {

enum class LaneUnitKind {
  Multiplier,   // of two signed numbers
  Adder,        // adds or subtracts
  LeftShifter,  // by an amount that is no constant
  RightShifter, // arithmetic
};

// One unit. A wide operator takes more stages than a narrow one; each is bound to a unit as deep as
// it needs, the widest of an instruction to the widest of the lane.
struct LaneUnit {
  LaneUnitKind kind;
  int64_t stages = 1; // from its operands to its result
  int bits = 0;       // of the result
  int left = 0;       // of the operands, signed; a shifter's amount has eight, unsigned
  int right = 0;
};

struct Lane {
  std::vector<LaneUnit> units;
};

} // namespace tilewright::isa

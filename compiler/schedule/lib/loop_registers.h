// Which addresses of a nest of loops need which base registers.
//
// Addresses that move by the same amounts in a loop and in those around it are of one class; what
// does not move at all is of class 0. A register that holds a class serves all of its addresses,
// and in an inner loop one class that goes on from it: the others there need registers of their
// own, as long as that loop runs.
#pragma once

#include "loop_tree.h"

namespace tilewright {

struct RegisterNeed {
  bool fits = false;
  uint32_t resets = 0; // additions before loops of the body, beside those that they have anyway
  uint32_t moves = 0;  // registers that the body moves
};

RegisterNeed registersOf(const RolledLoop &loop, const LoopTree &tree, int registers);

} // namespace tilewright

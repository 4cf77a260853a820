// What a proof of the lanes compares (tests/proofs): the lanes as they are generated, and what the
// expressions of each step say.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>

namespace tilewright::rtl {

// A file of modules. `tilewright_proof_lanes` is the lanes with what the vector unit makes for them
// of an instruction, behind packed ports; `tilewright_proof_I_S` computes step S of instruction I
// at once, without stages or shared units.
std::string proofText(const isa::Isa &isa);
// What stands in the modules' names and when results come, as JSON.
std::string proofTable(const isa::Isa &isa);

} // namespace tilewright::rtl

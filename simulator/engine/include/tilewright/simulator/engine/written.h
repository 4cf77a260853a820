// What an instruction left in memory, told to the sink of a run.
#pragma once

#include "tilewright/simulator/engine/machine_state.h"
#include "tilewright/simulator/engine/run_sink.h"

namespace tilewright {

// After the instruction was executed on `state`: every run of neighboring bytes that its steps
// write, with what they hold now. `addresses` by operand index, base added.
void reportWritten(const isa::Isa &isa, const isa::DecodedInstruction &decoded,
                   const int64_t *addresses, const MachineState &state, InstructionRecord &record,
                   uint64_t instance, RunSink &sink);

} // namespace tilewright

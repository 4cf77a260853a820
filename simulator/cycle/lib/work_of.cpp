#include "counting_values.h"

#include "tilewright/simulator/cycle/timing_engine.h"

namespace tilewright {

// Registers are set in the order of the trace, and no address decides how much is moved.
RunWork workOf(const Program &program, const RunRecord &record, const isa::Isa &isa) {
  const std::vector<timing::InstructionTiming> timings = timing::makeTimings(isa);
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  cycle::CountingValues values(isa);
  cycle::DispatchedInstruction dispatched;
  std::string reason;
  for (const InstructionRecord &each : record.trace) {
    if ((record.stopped && each.end == 0) || each.pc >= program.code.size() / size ||
        !isa.decode(code + each.pc * size, dispatched.decoded, reason))
      continue;
    dispatched.timing = &timings[static_cast<size_t>(dispatched.decoded.instruction)];
    values.execute(dispatched);
  }
  return values.work();
}

} // namespace tilewright

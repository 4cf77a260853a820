#include "counting_values.h"

#include "tilewright/simulator/cycle/timing_engine.h"

namespace tilewright {

// Registers are set in the order of the trace, and no address decides how much is moved.
RunWork workOf(const Program &program, const RunRecord &record, const isa::Isa &isa) {
  const std::vector<timing::InstructionPlan> plans = timing::makePlans(isa);
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  cycle::CountingValues values(isa);
  cycle::Issued issued;
  std::string reason;
  for (const InstructionRecord &each : record.trace) {
    if ((record.stopped && each.end == 0) || each.pc >= program.code.size() / size ||
        !isa.decode(code + each.pc * size, issued.word, reason))
      continue;
    issued.plan = &plans[static_cast<size_t>(issued.word.instruction)];
    values.execute(issued);
  }
  return values.work();
}

} // namespace tilewright

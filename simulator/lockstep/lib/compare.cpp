#include "tilewright/lockstep/compare.h"

#include "difference.h"

#include <algorithm>
#include <cstring>

namespace tilewright::lockstep {

bool overwritesCode(const Program &program, const DramImage &memory) {
  return std::memcmp(memory.data() + program.codeAddress, program.code.data(),
                     program.code.size()) != 0;
}

Comparison compare(const isa::Isa &isa, const Program &program,
                   const std::function<DramImage()> &image, const std::vector<Engine *> &engines,
                   const CompareOptions &options) {
  const Setup setup{isa, program, image, options};
  Comparison result;
  Compared &compared = result.compared;
  std::vector<Outcome> outcomes;
  for (Engine *engine : engines) {
    const bool hasEnd = !outcomes.empty() && outcomes.front().hasTime();
    Outcome own = run(*engine, setup, hasEnd ? outcomes.front().digest.cycles() : -1);
    result.overwritesCode = result.overwritesCode || overwritesCode(program, own.memory);
    compared.instructions = std::max(compared.instructions, own.record.instructions);
    if (own.record.stopped && !own.runsOn) {
      compared.stopped = engine->name();
      return result;
    }
    if (own.record.cycles != 0)
      compared.cycles = own.record.cycles;
    for (const Outcome &other : outcomes) {
      const bool timed = other.hasTime() && own.hasTime();
      result.difference =
          timed ? timedDifference(setup, other, own) : untimedDifference(setup, other, own);
      if (result.difference) {
        result.engines = std::string(other.engine->name()) + "," + own.engine->name();
        return result;
      }
      if (timed) {
        compared.writes = own.digest.writes();
        compared.writtenBytes = own.digest.writtenBytes();
        compared.reads = own.digest.reads();
        compared.stallCycles = own.digest.stallCycles();
      }
      compared.dramBytes += options.values ? own.memory.size() : 0;
      // Equal to one with time is equal to all before it.
      if (timed || !own.hasTime())
        break;
    }
    compared.error = own.userError;
    // An engine with time comes first: it says more of those that follow.
    outcomes.insert(own.hasTime() ? outcomes.begin() : outcomes.end(), std::move(own));
  }
  return result;
}

} // namespace tilewright::lockstep

#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/loops.h"

namespace tilewright {

std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower,
                            int64_t enough) {
  return emitAlone(context, lower, [&](Emitter &emitter) {
    // Without steps: what these save ranks plans by less than their neighbors in the program change
    // them.
    const Stream stream = rollForTrial(emitter.finish(), context.isa);
    int64_t moved = 0;
    const int64_t cycles =
        estimateCycles(stream, context.isa, context.plans,
                       static_cast<uint64_t>(context.constants.end()), enough, &moved);
    const auto transfer = static_cast<int64_t>(double(moved) / context.machine.peakBytesPerCycle);
    return Trial{cycles, transfer, emitter.layout()};
  });
}

} // namespace tilewright

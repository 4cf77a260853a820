#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/loops.h"

namespace tilewright {

std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower,
                            int64_t enough, bool withLoops) {
  return emitAlone(context, lower, [&](Emitter &emitter) {
    std::vector<StreamInstruction> stream = emitter.finish();
    if (withLoops)
      stream = rollLoops(std::move(stream), context.isa);
    const int64_t cycles = estimateCycles(stream, context.isa, context.plans,
                                          static_cast<uint64_t>(context.constants.end()), enough);
    return Trial{cycles, emitter.layout()};
  });
}

} // namespace tilewright

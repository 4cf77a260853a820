#include "trial.h"

#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/loops.h"

namespace tilewright {

std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower,
                            int64_t enough) {
  return emitAlone(context, lower, [&](Emitter &emitter) {
    const Stream stream = rollLoops(emitter.finish(), context.isa);
    const int64_t cycles = estimateCycles(stream, context.isa, context.plans,
                                          static_cast<uint64_t>(context.constants.end()), enough);
    return Trial{cycles, emitter.layout()};
  });
}

} // namespace tilewright

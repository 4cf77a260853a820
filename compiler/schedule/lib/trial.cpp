#include "trial.h"

#include "tilewright/compiler/estimate.h"
#include "tilewright/support/error.h"

namespace tilewright {

std::optional<Trial> tryOut(LoweringContext &context, const std::function<void(Steps &)> &lower) {
  const size_t constants = context.constants.bytes().size();
  std::optional<Trial> trial;
  try {
    Steps steps;
    lower(steps);
    Emitter emitter(context.isa, context.buffering);
    emitter.append(std::move(steps), "");
    const int64_t cycles = estimateCycles(emitter.finish(), context.isa, context.plans,
                                          static_cast<uint64_t>(context.constants.end()));
    trial = {cycles, emitter.layout()};
  } catch (const UserError &) { // it does not fit
  }
  context.constants.rollBack(constants);
  return trial;
}

} // namespace tilewright

#include "tilewright/compiler/schedule/loops.h"

#include "line_up.h"
#include "loop_tree.h"
#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/program_order.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tilewright {

// Whether the same instructions of units execute in the same order, with the same addresses.
static bool isSameExecuted(const std::vector<StreamInstruction> &rolled,
                           const std::vector<StreamInstruction> &stream, const isa::Isa &isa) {
  ProgramOrder order(rolled, isa);
  size_t at = 0;
  for (; !order.atEnd(); order.advance()) {
    if (order.control() == isa::Control::Loop || order.control() == isa::Control::SetBase)
      continue;
    if (at == stream.size())
      return false;
    const isa::DecodedInstruction &is = order.resolved(), &was = stream[at].decoded;
    if (is.instruction != was.instruction || is.wait != was.wait || is.signal != was.signal ||
        is.values != was.values || is.bases != was.bases ||
        order.written().layer != stream[at].layer)
      return false;
    ++at;
  }
  return at == stream.size();
}

std::vector<StreamInstruction> rollLoops(std::vector<StreamInstruction> stream,
                                         const isa::Isa &isa) {
  const std::optional<LoopMachine> machine = LoopMachine::of(isa);
  if (!machine)
    return stream;
  std::vector<uint32_t> all(stream.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<StreamInstruction> rolled =
      writeLoops(stream, findLoops(stream, all, isa, *machine), isa, *machine);
  if (!isSameExecuted(rolled, stream, isa))
    throw std::logic_error("a program with loops executes something else");
  return rolled;
}

static std::vector<StreamInstruction> inOrder(const std::vector<StreamInstruction> &stream,
                                              const std::vector<uint32_t> &order) {
  std::vector<StreamInstruction> made;
  made.reserve(stream.size());
  for (uint32_t number : order)
    made.push_back(stream[number]);
  return made;
}

// Of the cycles that a program takes, in which another order may be slower.
static constexpr int64_t slower = 1000; // a thousandth

std::vector<StreamInstruction> makeLoops(std::vector<StreamInstruction> stream, const isa::Isa &isa,
                                         const std::vector<timing::InstructionTiming> &plans,
                                         uint64_t codeAddress) {
  const std::optional<LoopMachine> machine = LoopMachine::of(isa);
  if (!machine)
    return stream;
  const RunRecord times = estimate(stream, isa, plans, codeAddress);
  const int64_t most = times.cycles + times.cycles / slower;
  auto isFast = [&](const std::vector<StreamInstruction> &made) {
    return estimateCycles(made, isa, plans, codeAddress, most + 1) <= most;
  };
  std::vector<StreamInstruction> made =
      rollLoops(inOrder(stream, lineUp(stream, times, isa, *machine)), isa);
  if (isFast(made))
    return made;
  made = rollLoops(stream, isa);
  return isFast(made) ? made : stream;
}

} // namespace tilewright

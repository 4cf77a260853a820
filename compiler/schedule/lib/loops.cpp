#include "tilewright/compiler/schedule/loops.h"

#include "line_up.h"
#include "loop_tree.h"
#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/schedule/program_order.h"
#include "tilewright/support/parallel.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tilewright {

// Whether the same instructions of units execute in the same order, with the same addresses.
// `order`: of the instructions of `stream`, by number.
static bool isSameExecuted(const Stream &rolled, const Stream &stream,
                           const std::vector<uint32_t> &order, const isa::Isa &isa) {
  ProgramOrder program(rolled, isa);
  size_t at = 0;
  for (; !program.atEnd(); program.advance()) {
    if (program.control() == isa::Control::Loop || program.control() == isa::Control::SetBase)
      continue;
    if (at == order.size())
      return false;
    const StreamInstruction was = stream[order[at]];
    const isa::DecodedInstruction &is = program.resolved();
    if (is.instruction != was.decoded.instruction || is.wait != was.decoded.wait ||
        is.signal != was.decoded.signal || is.values != was.decoded.values ||
        is.bases != was.decoded.bases || program.layer() != was.layer)
      return false;
    ++at;
  }
  return at == order.size();
}

// With instructions in this order.
static Stream roll(const Stream &stream, const std::vector<uint32_t> &order, const isa::Isa &isa,
                   const LoopMachine &machine) {
  return writeLoops(stream, findLoops(stream, order, machine), isa, machine);
}

static void checkExecuted(const Stream &rolled, const Stream &stream,
                          const std::vector<uint32_t> &order, const isa::Isa &isa) {
  if (!isSameExecuted(rolled, stream, order, isa))
    throw std::logic_error("a program with loops executes something else");
}

static std::vector<uint32_t> asTheyStand(const Stream &stream) {
  std::vector<uint32_t> order(stream.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Stream rollForTrial(const Stream &stream, const isa::Isa &isa) {
  std::optional<LoopMachine> machine = LoopMachine::of(isa);
  if (!machine)
    return stream;
  machine->step = nullptr;
  return roll(stream, asTheyStand(stream), isa, *machine);
}

Stream rollLoops(const Stream &stream, const isa::Isa &isa) {
  const std::optional<LoopMachine> machine = LoopMachine::of(isa);
  if (!machine)
    return stream;
  const std::vector<uint32_t> order = asTheyStand(stream);
  Stream rolled = roll(stream, order, isa, *machine);
  checkExecuted(rolled, stream, order, isa);
  return rolled;
}

// Of the cycles that a program takes, in which another order may be slower.
static constexpr int64_t slower = 1000; // a thousandth

Stream makeLoops(Stream stream, const isa::Isa &isa,
                 const std::vector<timing::InstructionTiming> &plans, uint64_t codeAddress) {
  const std::optional<LoopMachine> machine = LoopMachine::of(isa);
  if (!machine)
    return stream;
  std::optional<StreamTimes> times = estimateTimes(stream, isa, plans, codeAddress);
  const int64_t most = times->cycles + times->cycles / slower;
  auto isFast = [&](const Stream &made) {
    return estimateCycles(made, isa, plans, codeAddress, most + 1) <= most;
  };
  const std::vector<uint32_t> order = lineUp(stream, *times, isa, *machine);
  times.reset(); // as large as the stream
  Stream made = roll(stream, order, isa, *machine);
  bool isMadeFast = false;
  parallelFor(2, 2, [&](unsigned, size_t i) {
    if (i == 0)
      isMadeFast = isFast(made);
    else
      checkExecuted(made, stream, order, isa);
  });
  if (isMadeFast)
    return made;
  made = rollLoops(stream, isa);
  return isFast(made) ? made : stream;
}

} // namespace tilewright

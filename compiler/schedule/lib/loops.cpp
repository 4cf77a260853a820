#include "tilewright/compiler/schedule/loops.h"

#include "loop_tree.h"
#include "tilewright/compiler/schedule/program_order.h"

#include <algorithm>
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
  std::vector<StreamInstruction> rolled =
      writeLoops(stream, findLoops(stream, isa, *machine), isa, *machine);
  if (!isSameExecuted(rolled, stream, isa))
    throw std::logic_error("a program with loops executes something else");
  return rolled;
}

} // namespace tilewright

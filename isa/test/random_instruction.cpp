#include "random_instruction.h"

#include <algorithm>

namespace tilewright::isa {

static int64_t randomValue(int64_t least, int64_t greatest, std::mt19937_64 &random) {
  switch (random() % 4) {
  case 0:
    return least;
  case 1:
    return greatest;
  case 2:
    return least +
           static_cast<int64_t>(random() %
                                static_cast<uint64_t>(std::min<int64_t>(greatest - least, 20) + 1));
  default:
    return least + static_cast<int64_t>(random() % (static_cast<uint64_t>(greatest - least) + 1));
  }
}

DecodedInstruction randomInstruction(const Isa &isa, const Instruction &instruction,
                                     std::mt19937_64 &random) {
  for (;;) {
    DecodedInstruction decoded;
    decoded.instruction = instruction.index;
    const uint32_t semaphores = (uint32_t(1) << (isa.semaphores() - 1)) * 2 - 1;
    for (uint32_t *mask : {&decoded.wait, &decoded.signal}) {
      *mask = static_cast<uint32_t>(random()) & semaphores;
      *mask &= static_cast<uint32_t>(random()); // a quarter of them
    }
    for (const Operand &operand : instruction.operands) {
      decoded.values.push_back(randomValue(operand.least, operand.greatest, random));
      decoded.bases.push_back(operand.kind == Operand::Kind::Memory
                                  ? static_cast<uint8_t>(random() >> (64 - operand.baseWidth))
                                  : 0);
    }
    ScalarContext context;
    context.immediates = decoded.values.data();
    if (std::all_of(instruction.requires_.begin(), instruction.requires_.end(),
                    [&](const Require &r) { return evaluate(*r.expr, context) != 0; }))
      return decoded;
  }
}

bool sameInstruction(const DecodedInstruction &a, const DecodedInstruction &b) {
  return a.instruction == b.instruction && a.wait == b.wait && a.signal == b.signal &&
         a.values == b.values && a.bases == b.bases;
}

} // namespace tilewright::isa

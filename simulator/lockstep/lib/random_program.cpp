#include "tilewright/lockstep/random_program.h"

#include "generator.h"

#include <algorithm>

namespace tilewright::lockstep {

Generator::Generator(const isa::Isa &isa, uint64_t seed, const RandomOptions &options)
    : isa_(isa), control_(isa), random_(seed), straight_(options.kind == RandomKind::Straight),
      mayBeLong_(options.mayBeLong), base_(static_cast<size_t>(isa.param("base_registers"))) {
  for (const isa::Unit &unit : isa.units()) {
    registers_.emplace_back();
    for (const isa::StateRegister &reg : unit.registers)
      registers_.back().push_back(reg.reset);
  }
  // Each semaphore goes from one unit to one other: no third can take its tokens.
  const int units = static_cast<int>(isa.units().size());
  for (int from = 0; from < units; ++from)
    for (int to = 0; to < units; ++to)
      if (from != to)
        channels_.push_back({from, to, 0, drawSignaler(from)});
  for (size_t i = channels_.size(); i > 1; --i)
    std::swap(channels_[i - 1], channels_[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  for (const isa::Instruction &instruction : isa.instructions()) {
    const bool hasRegisters = !registers_[static_cast<size_t>(instruction.unit)].empty();
    if (instruction.control == isa::Control::None && instruction.sets.empty())
      work_.push_back(&instruction);
    else if (!instruction.sets.empty() && hasRegisters)
      sets_.push_back(&instruction);
  }
  // Where nothing takes tokens and does nothing else, none are given.
  channels_.erase(std::remove_if(channels_.begin(), channels_.end(),
                                 [&](const Channel &channel) { return !idle(channel.to); }),
                  channels_.end());
  channels_.resize(std::min(channels_.size(), static_cast<size_t>(isa.semaphores())));
}

std::vector<isa::DecodedInstruction> Generator::make(int instructions) {
  std::vector<isa::DecodedInstruction> program;
  // A machine of which next to nothing is left may have nothing to do, or next to nothing fits.
  size_t before = 0;
  for (int inVain = 0; static_cast<int>(program.size()) < instructions && inVain < 40;
       inVain = program.size() == before ? inVain + 1 : 0) {
    before = program.size();
    switch (straight_ ? 5 + below(9) : below(15)) {
    case 0:
      loop(program, 2);
      break;
    case 1:
      switch (below(3)) {
      case 0:
        skipOver(program);
        break;
      case 1:
        countDown(program);
        break;
      default:
        notTaken(program);
        break;
      }
      break;
    case 2:
      if (below(3) == 0)
        fence(program);
      break;
    case 3:
      setBase(program);
      break;
    case 4:
      if (below(12) == 0)
        fillSemaphore(program);
      else
        below(2) == 0 ? repeat(program) : rush(program);
      break;
    case 5:
    case 6:
    case 7:
      anySet(program, false);
      break;
    default:
      work(program);
      break;
    }
  }
  isa::DecodedInstruction halt = blank(*control_.halt);
  if (!straight_) {
    acquire(halt);
    drain(program);
    release(halt);
  }
  program.push_back(halt);
  return program;
}

std::vector<isa::DecodedInstruction> randomProgram(const isa::Isa &isa, uint64_t seed,
                                                   int instructions, const RandomOptions &options) {
  return Generator(isa, seed, options).make(instructions);
}

} // namespace tilewright::lockstep

// Who signals whom, so that no program hangs and none depends on time.
#include "generator.h"

#include <algorithm>

namespace tilewright::lockstep {

Generator::Signaler Generator::signalerOf(const isa::Instruction &instruction) const {
  if (!instruction.sets.empty())
    return Signaler::Set;
  return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                     [](const isa::MemoryAccess &access) { return access.write; })
             ? Signaler::Writer
             : Signaler::Loader;
}

Generator::Signaler Generator::drawSignaler(int unit) {
  switch (isa_.units()[static_cast<size_t>(unit)].kind) {
  case isa::UnitTemplate::Sequencer:
  case isa::UnitTemplate::Vector:
    return Signaler::Any;
  case isa::UnitTemplate::Matrix:
    return static_cast<Signaler>(below(3));
  case isa::UnitTemplate::DmaLoad:
  case isa::UnitTemplate::DmaStore:
    return static_cast<Signaler>(below(2));
  }
  return Signaler::Any;
}

void Generator::synchronize(isa::DecodedInstruction &decoded, int unit) {
  if (straight_)
    return;
  const Signaler own = signalerOf(isa_.instructions()[static_cast<size_t>(decoded.instruction)]);
  for (size_t s = 0; s < channels_.size(); ++s) {
    Channel &channel = channels_[s];
    if (channel.to == unit && channel.tokens > 0 && below(2) == 0) {
      decoded.wait |= uint32_t(1) << s;
      --channel.tokens;
    }
    if (channel.from == unit && channel.tokens < 3 && below(6) == 0 &&
        (channel.signaler == Signaler::Any || channel.signaler == own)) {
      decoded.signal |= uint32_t(1) << s;
      ++channel.tokens;
    }
  }
}

void Generator::acquire(isa::DecodedInstruction &decoded) {
  for (size_t s = 0; s < channels_.size(); ++s)
    if (channels_[s].to == 0 && channels_[s].tokens > 0 && below(2) == 0) {
      decoded.wait |= uint32_t(1) << s;
      --channels_[s].tokens;
    }
}

void Generator::release(isa::DecodedInstruction &decoded) {
  for (size_t s = 0; s < channels_.size(); ++s)
    if (channels_[s].from == 0 && channels_[s].tokens < 3 && below(6) == 0) {
      decoded.signal |= uint32_t(1) << s;
      ++channels_[s].tokens;
    }
}

void Generator::drain(std::vector<isa::DecodedInstruction> &words) {
  for (bool any = true; any;) {
    any = false;
    for (size_t s = 0; s < channels_.size(); ++s) {
      if (channels_[s].tokens == 0)
        continue;
      words.push_back(*idle(channels_[s].to));
      words.back().wait = uint32_t(1) << s;
      --channels_[s].tokens;
      any = true;
    }
  }
}

void Generator::fillSemaphore(std::vector<isa::DecodedInstruction> &words) {
  if (channels_.empty() || control_.loop == nullptr)
    return;
  const int64_t most = isa_.param("semaphore_max");
  const auto s = static_cast<size_t>(below(static_cast<int64_t>(channels_.size())));
  const isa::Instruction *from = setOf(channels_[s].from), *to = setOf(channels_[s].to);
  if (most > 200 || from == nullptr || to == nullptr || control_.fence == nullptr)
    return;
  // Work that has begun may signal after set instructions that come later: its token would find the
  // semaphore full, and what takes tokens may wait for that work.
  drain(words);
  words.push_back(blank(*control_.fence));
  // What signals last is work, or set instructions like those before. A set instruction that comes
  // later overtakes the work, and its token stands in for the work's: so nothing comes until all
  // has ended.
  std::vector<isa::DecodedInstruction> last;
  if (below(3) != 0)
    for (int64_t i = 1 + below(4); i > 0; --i)
      signalingWork(from->unit, uint32_t(1) << s, last);
  const int64_t sets =
      last.empty() ? most + isa_.units()[static_cast<size_t>(from->unit)].queueDepth / 2 : most;
  loopOver(words, keeping(*from), uint32_t(1) << s, 0, sets);
  words.insert(words.end(), last.begin(), last.end());
  // Nothing is taken before the work is done; a fence would wait for what waits for the takers.
  if (!last.empty() && control_.idle != nullptr && control_.idle != control_.fence)
    loopOver(words, blank(*control_.idle), 0, 0, 100 + below(400));
  loopOver(words, keeping(*to), 0, uint32_t(1) << s, sets + static_cast<int64_t>(last.size()));
  if (!last.empty())
    words.push_back(blank(*control_.fence));
}

void Generator::signalingWork(int unit, uint32_t signal,
                              std::vector<isa::DecodedInstruction> &words) {
  isa::DecodedInstruction decoded;
  const bool wasStraight = straight_;
  straight_ = true; // no other tokens
  for (int attempt = 0; attempt < 200 && !work_.empty(); ++attempt) {
    const isa::Instruction *instruction = anyWork();
    if (instruction->unit != unit || !tryWork(*instruction, decoded, below(8) == 0))
      continue;
    decoded.signal = signal;
    words.push_back(decoded);
    break;
  }
  straight_ = wasStraight;
}

void Generator::loopOver(std::vector<isa::DecodedInstruction> &words,
                         isa::DecodedInstruction decoded, uint32_t signal, uint32_t wait,
                         int64_t count) {
  const isa::Instruction &instruction = *control_.loop;
  isa::DecodedInstruction head = blank(instruction);
  operand(head, instruction, "count") = count;
  operand(head, instruction, "length") = 1;
  words.push_back(head);
  decoded.signal = signal;
  decoded.wait = wait;
  words.push_back(decoded);
}

} // namespace tilewright::lockstep

// Instructions that compute or move.
#include "generator.h"

#include <algorithm>

namespace tilewright::lockstep {

bool Generator::tryWork(const isa::Instruction &instruction, isa::DecodedInstruction &decoded,
                        bool mayBeNothing) {
  draw(instruction, decoded);
  if (below(6) == 0)
    moveToEnd(instruction, decoded);
  return (mayBeNothing || touches(instruction, decoded)) && accept(instruction, decoded);
}

void Generator::work(std::vector<isa::DecodedInstruction> &words) {
  if (work_.empty())
    return;
  const isa::Instruction *instruction = anyWork();
  isa::DecodedInstruction decoded;
  if (mayBeLong_ && !inBody_ && below(40) == 0 && longestWork(*instruction, words))
    return;
  const bool mayBeNothing = below(8) == 0;
  for (int attempt = 0; attempt < 60; ++attempt) {
    spread_ = attempt % 20 < 10 ? 20 : attempt % 20 < 16 ? 6 : 2;
    const bool fits = tryWork(*instruction, decoded, mayBeNothing);
    spread_ = 20;
    if (fits) {
      words.push_back(decoded);
      return;
    }
    if ((attempt == 5 || attempt == 30) && !inBody_ && below(2) == 0 &&
        nestedWork(*instruction, words))
      return;
    if (attempt >= 40)
      instruction = anyWork();
  }
}

bool Generator::longestWork(const isa::Instruction &instruction,
                            std::vector<isa::DecodedInstruction> &words) {
  if (setOf(instruction.unit) == nullptr)
    return false;
  isa::DecodedInstruction decoded;
  draw(instruction, decoded);
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Immediate)
      decoded.values[static_cast<size_t>(operand.index)] =
          std::clamp<int64_t>(1, operand.least, operand.greatest);
  std::vector<int> immediates;
  for (const isa::MemoryAccess &access : instruction.accesses) {
    const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
    for (const isa::AffineTerm &term : access.index.terms) {
      if (term.iterator >= static_cast<int>(step.iterators.size()))
        continue;
      const isa::Expr &extent = *step.iterators[static_cast<size_t>(term.iterator)].extent;
      if (extent.kind == isa::ExprKind::State)
        words.push_back(setOne(instruction.unit, extent.index, 1));
      if (extent.kind != isa::ExprKind::Immediate)
        continue;
      immediates.push_back(extent.index);
      if (term.coefficient->kind == isa::ExprKind::State)
        words.push_back(setOne(instruction.unit, term.coefficient->index, 0));
    }
  }
  if (immediates.empty())
    return false;
  const auto at = static_cast<size_t>(
      immediates[static_cast<size_t>(below(static_cast<int64_t>(immediates.size())))]);
  decoded.values[at] = instruction.operands[at].greatest;
  if (!accept(instruction, decoded, true))
    return false;
  words.push_back(decoded);
  return true;
}

bool Generator::nestedWork(const isa::Instruction &instruction,
                           std::vector<isa::DecodedInstruction> &words) {
  if (setOf(instruction.unit) == nullptr)
    return false;
  isa::DecodedInstruction decoded;
  draw(instruction, decoded);
  if (!encodes(decoded))
    return false;
  nest(instruction, decoded, words);
  if (!accept(instruction, decoded))
    return false;
  words.push_back(decoded);
  return true;
}

const isa::Instruction *Generator::anyWork() {
  if (below(3) == 0) {
    const auto unit = static_cast<int>(below(static_cast<int64_t>(isa_.units().size())));
    std::vector<const isa::Instruction *> own;
    for (const isa::Instruction *instruction : work_)
      if (instruction->unit == unit)
        own.push_back(instruction);
    if (!own.empty())
      return own[static_cast<size_t>(below(static_cast<int64_t>(own.size())))];
  }
  return work_[static_cast<size_t>(below(static_cast<int64_t>(work_.size())))];
}

void Generator::repeat(std::vector<isa::DecodedInstruction> &words) {
  const size_t before = words.size();
  work(words);
  if (words.size() == before || lastIsLong_)
    return;
  isa::DecodedInstruction decoded = words.back();
  decoded.wait = decoded.signal = 0;
  words.insert(words.end(), static_cast<size_t>(1 + below(24)), decoded);
}

} // namespace tilewright::lockstep

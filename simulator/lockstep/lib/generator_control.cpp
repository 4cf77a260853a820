// Loops, branches and fences.
#include "generator.h"

#include <cstdint>

namespace tilewright::lockstep {

void Generator::fence(std::vector<isa::DecodedInstruction> &words) {
  if (control_.fence == nullptr)
    return;
  words.push_back(blank(*control_.fence));
  synchronize(words.back(), 0);
}

void Generator::loop(std::vector<isa::DecodedInstruction> &words, int depth) {
  if (control_.loop == nullptr)
    return;
  // The body starts and ends without tokens, so that it can run any number of times.
  bool wasInBody = true;
  const bool steps =
      control_.step != nullptr && control_.set != nullptr && steps_.empty() && below(3) == 0;
  isa::DecodedInstruction first = steps ? stepping() : blank(*control_.loop);
  if (!inBody_)
    acquire(first);
  drain(words);
  const size_t at = words.size();
  words.push_back(first);
  std::swap(inBody_, wasInBody);
  const bool mayLeave = below(4) == 0 && control_.branch != nullptr;
  if (mayLeave)
    words.push_back(blank(*control_.branch));
  const int64_t length = 1 + below(8);
  for (int64_t i = 0; i < length; ++i) {
    if (depth > 1 && below(6) == 0)
      loop(words, depth - 1);
    else if (below(4) == 0)
      anySet(words, true);
    else
      work(words);
  }
  drain(words);
  anySet(words, true); // loops do not end together by chance alone
  drain(words);
  std::swap(inBody_, wasInBody);
  if (steps)
    steps_.clear();
  if (words.size() == at + 1) { // there is nothing to do
    words.pop_back();
    return;
  }
  const bool leaves = mayLeave && leave(words, at + 1);
  isa::DecodedInstruction &head = words[at];
  const isa::Instruction &instruction = steps ? *control_.step : *control_.loop;
  const isa::Operand &count =
      instruction.operands[static_cast<size_t>(instruction.operandIndex("count"))];
  if (leaves && below(2) == 0)
    operand(head, instruction, "count") = count.greatest;
  else if (!steps)
    operand(head, instruction, "count") = below(4);
  operand(head, instruction, "length") = static_cast<int64_t>(words.size() - at - 1);
  // What it signals is taken after the loop.
  if (!inBody_)
    release(head);
  if (steps)
    takeBack(words, isa::DecodedInstruction(head));
}

isa::DecodedInstruction Generator::stepping() {
  const isa::Instruction &instruction = *control_.step;
  isa::DecodedInstruction head = blank(instruction);
  operand(head, instruction, "count") = runs_ = below(5);
  steps_.assign(base_.size(), 0);
  for (const auto &[target, amount] : instruction.loopSteps) {
    const isa::Operand &field = instruction.operands[static_cast<size_t>(amount)];
    const int64_t reg = below(static_cast<int64_t>(base_.size())),
                  step = below(8) == 0 ? value(field.least, field.greatest) : below(198) - 99;
    head.values[static_cast<size_t>(target)] = reg;
    head.values[static_cast<size_t>(amount)] = step;
    if (reg != 0)
      steps_[static_cast<size_t>(reg)] = step;
  }
  return head;
}

void Generator::takeBack(std::vector<isa::DecodedInstruction> &words,
                         const isa::DecodedInstruction &head) {
  for (const auto &[target, amount] : control_.step->loopSteps) {
    const int64_t reg = head.values[static_cast<size_t>(target)];
    words.push_back(blank(*control_.set));
    operand(words.back(), *control_.set, "rd") = reg;
    operand(words.back(), *control_.set, "value") = base_[static_cast<size_t>(reg)];
  }
}

bool Generator::leave(std::vector<isa::DecodedInstruction> &words, size_t from) {
  const isa::Instruction &instruction = *control_.branch;
  isa::DecodedInstruction &branch = words[from];
  const bool always = below(3) == 0;
  operand(branch, instruction, "rs") = always ? 0 : below(static_cast<int64_t>(base_.size()));
  operand(branch, instruction, "negate") = always ? 0 : below(2);
  operand(branch, instruction, "offset") = static_cast<int64_t>(words.size() - from);
  return always;
}

void Generator::notTaken(std::vector<isa::DecodedInstruction> &words) {
  if (control_.branch == nullptr)
    return;
  const isa::Instruction &instruction = *control_.branch;
  isa::DecodedInstruction branch = blank(instruction);
  const isa::Operand &offset =
      instruction.operands[static_cast<size_t>(instruction.operandIndex("offset"))];
  operand(branch, instruction, "negate") = 1;
  operand(branch, instruction, "offset") = value(offset.least, offset.greatest);
  if (!inBody_)
    synchronize(branch, 0);
  words.push_back(branch);
}

void Generator::skipOver(std::vector<isa::DecodedInstruction> &words) {
  if (control_.branch == nullptr || control_.idle == nullptr)
    return;
  const isa::Instruction &instruction = *control_.branch;
  isa::DecodedInstruction branch = blank(instruction);
  const int64_t over = 1 + below(30);
  operand(branch, instruction, "offset") = over + 1;
  if (below(2) == 0) {
    operand(branch, instruction, "rs") = below(static_cast<int64_t>(base_.size()));
    operand(branch, instruction, "negate") = below(2);
  }
  synchronize(branch, 0);
  words.push_back(branch);
  for (int64_t i = 0; i < over; ++i)
    words.push_back(blank(control_.fence != nullptr ? *control_.fence : *control_.idle));
}

void Generator::countDown(std::vector<isa::DecodedInstruction> &words) {
  if (inBody_ || control_.set == nullptr || control_.add == nullptr || control_.branch == nullptr)
    return;
  const isa::Instruction &set = *control_.set, &add = *control_.add, &branch = *control_.branch;
  const int64_t counter = static_cast<int64_t>(base_.size()) - 1;
  drain(words);
  isa::DecodedInstruction first = blank(set);
  operand(first, set, "rd") = counter;
  operand(first, set, "value") = 1 + below(3);
  words.push_back(first);
  // Nothing in the body reads the counter.
  base_.back() = INT64_MIN / 2;
  inBody_ = true;
  const size_t begin = words.size();
  for (int64_t i = 1 + below(5); i > 0; --i)
    below(4) == 0 ? anySet(words, true) : work(words);
  drain(words);
  inBody_ = false;
  isa::DecodedInstruction down = blank(add), back = blank(branch);
  operand(down, add, "rd") = operand(down, add, "rs") = counter;
  operand(down, add, "value") = -1;
  words.push_back(down);
  operand(back, branch, "rs") = counter;
  operand(back, branch, "negate") = 1;
  operand(back, branch, "offset") =
      static_cast<int64_t>(begin) - static_cast<int64_t>(words.size());
  words.push_back(back);
  base_.back() = 0;
}

void Generator::rush(std::vector<isa::DecodedInstruction> &words) {
  if (inBody_ || control_.loop == nullptr)
    return;
  drain(words);
  const size_t at = words.size();
  const isa::Instruction &instruction = *control_.loop;
  words.push_back(blank(instruction));
  inBody_ = straight_ = true; // no tokens in the body
  for (int64_t i = 1 + below(4); i > 0; --i)
    work(words);
  inBody_ = straight_ = false;
  if (words.size() == at + 1 || lastIsLong_) {
    words.resize(at);
    return;
  }
  operand(words[at], instruction, "count") = 1 + below(24);
  operand(words[at], instruction, "length") = static_cast<int64_t>(words.size() - at - 1);
}

} // namespace tilewright::lockstep

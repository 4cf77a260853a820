#include "code_edit.h"

#include "tilewright/support/error.h"

#include <algorithm>

namespace tilewright::lockstep {

namespace {

// Where an instruction goes beside the next one: a loop's end, a branch's target. -1: nowhere.
struct Reach {
  isa::DecodedInstruction decoded;
  size_t operand = 0; // that says how far
  int64_t from = 0;   // what it is counted from
  int64_t to = 0;
  bool isLoop = false;
};

bool reachOf(const isa::Isa &isa, const isa::Bits &bits, int64_t at, Reach &reach) {
  std::string reason;
  if (!isa.decode(bits.data(), reach.decoded, reason))
    return false;
  const isa::Instruction &instruction =
      isa.instructions()[static_cast<size_t>(reach.decoded.instruction)];
  if (instruction.control == isa::Control::Loop)
    reach.operand = static_cast<size_t>(instruction.operandIndex("length"));
  else if (instruction.control == isa::Control::Branch)
    reach.operand = static_cast<size_t>(instruction.operandIndex("offset"));
  else
    return false;
  reach.isLoop = instruction.control == isa::Control::Loop;
  reach.from = reach.isLoop ? at + 1 : at;
  reach.to = reach.from + reach.decoded.values[reach.operand];
  return true;
}

// The number that instruction `at` has when `moved` says where each goes.
template <typename Moved>
void retarget(const isa::Isa &isa, std::vector<isa::Bits> &code, const Moved &moved) {
  for (size_t i = 0; i < code.size(); ++i) {
    Reach reach;
    if (!reachOf(isa, code[i], static_cast<int64_t>(i), reach))
      continue;
    const int64_t own = moved(static_cast<int64_t>(i), false);
    const int64_t from = reach.isLoop ? own + 1 : own;
    reach.decoded.values[reach.operand] = moved(reach.to, reach.isLoop) - from;
    try {
      code[i] = isa.encode(reach.decoded);
    } catch (const UserError &) {
      // A loop without a body: who removed it takes it away.
    }
  }
}

} // namespace

void insertBefore(const isa::Isa &isa, std::vector<isa::Bits> &code, size_t at,
                  const isa::DecodedInstruction &decoded) {
  const auto place = static_cast<int64_t>(at);
  const auto size = static_cast<int64_t>(code.size());
  // A target stays where it is when it is the place itself; an instruction there, and the end of a
  // loop that ends behind it, move on.
  for (size_t i = 0; i < code.size(); ++i) {
    Reach reach;
    if (!reachOf(isa, code[i], static_cast<int64_t>(i), reach))
      continue;
    const int64_t own = static_cast<int64_t>(i) + (static_cast<int64_t>(i) >= place);
    const int64_t to = reach.to + (reach.to > place && reach.to <= size);
    reach.decoded.values[reach.operand] = to - (reach.isLoop ? own + 1 : own);
    try {
      code[i] = isa.encode(reach.decoded);
    } catch (const UserError &) {
      // Its field holds no more: it stays as it was, and means something else.
    }
  }
  code.insert(code.begin() + place, isa.encode(decoded));
}

void remove(const isa::Isa &isa, std::vector<isa::Bits> &code, size_t begin, size_t end) {
  std::vector<bool> gone(code.size());
  std::fill(gone.begin() + static_cast<long>(begin), gone.begin() + static_cast<long>(end), true);
  // Loops around nothing but what goes; from the last one on, since they nest.
  for (size_t i = code.size(); i-- > 0;) {
    Reach reach;
    if (gone[i] || !reachOf(isa, code[i], static_cast<int64_t>(i), reach) || !reach.isLoop ||
        reach.to > static_cast<int64_t>(code.size()))
      continue;
    gone[i] =
        std::all_of(gone.begin() + static_cast<long>(i) + 1,
                    gone.begin() + static_cast<long>(reach.to), [](bool each) { return each; });
  }
  std::vector<int64_t> number(code.size() + 1);
  for (size_t i = 0; i < code.size(); ++i)
    number[i + 1] = number[i] + !gone[i];
  retarget(isa, code, [&](int64_t at, bool) {
    if (at < 0 || at > static_cast<int64_t>(code.size()))
      return at; // out of the code: stays so
    return number[static_cast<size_t>(at)];
  });
  size_t kept = 0;
  for (size_t i = 0; i < code.size(); ++i)
    if (!gone[i])
      code[kept++] = code[i];
  code.resize(kept);
}

} // namespace tilewright::lockstep

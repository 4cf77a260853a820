#include "tilewright/lockstep/fuzz.h"

#include "code_edit.h"
#include "control_instructions.h"
#include "mix.h"

#include "tilewright/isa/extent.h"
#include "tilewright/lockstep/random_program.h"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace tilewright::lockstep {

namespace {

constexpr uint64_t dataBytes = 0x10000;   // random, from address 0
constexpr uint64_t codeAddress = 0x20000; // beyond all that a program stores
constexpr uint64_t behindCode = 0x10000;  // an operand at DRAM's end lies there

class Mistakes {
public:
  Mistakes(const isa::Isa &isa, RandomCase &test, uint64_t dramEnd, std::mt19937_64 &random)
      : isa_(isa), code_(test.code), dramEnd_(dramEnd), random_(random) {}

  void makeOne() {
    switch (below(8)) {
    case 0:
      return keepingTokens([&](isa::Bits &bits) { flipBits(bits); });
    case 1:
      return keepingTokens([&](isa::Bits &bits) { scramble(bits); });
    case 2:
      return moveOperand(true);
    case 3:
    case 4:
      return moveOperand(false);
    case 5:
      return leaveCode();
    case 6:
      return dropSignal();
    default:
      code_.pop_back(); // its halt
    }
  }

private:
  size_t below(size_t n) { return random_() % n; }
  isa::Bits &any() { return code_[below(code_.size())]; }

  // Who takes a token of two that wait for it is a matter of time: an instruction that is still one
  // waits for what it waited for.
  template <typename Change> void keepingTokens(const Change &change) {
    isa::Bits &bits = any();
    isa::DecodedInstruction before, after;
    std::string reason;
    const bool wasOne = isa_.decode(bits.data(), before, reason);
    change(bits);
    if (!isa_.decode(bits.data(), after, reason))
      return;
    after.wait = wasOne ? before.wait : 0;
    after.signal = wasOne ? before.signal : 0;
    bits = isa_.encode(after);
  }
  void flipBits(isa::Bits &bits) {
    for (size_t i = 1 + below(4); i > 0; --i) {
      const size_t bit = below(bits.size() * 8);
      bits[bit / 8] = static_cast<uint8_t>(bits[bit / 8] ^ 1u << (bit % 8));
    }
  }
  void scramble(isa::Bits &bits) {
    for (uint8_t &byte : bits)
      byte = static_cast<uint8_t>(random_());
    // Of a known opcode half of the time: then it is a field that is wrong.
    if (below(2) == 0)
      bits[0] = any()[0];
  }
  // Changes one decoded instruction; `change` says whether it did.
  template <typename Change> void edit(const Change &change) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      isa::Bits &bits = any();
      isa::DecodedInstruction decoded;
      std::string reason;
      if (!isa_.decode(bits.data(), decoded, reason) ||
          !change(decoded, isa_.instructions()[static_cast<size_t>(decoded.instruction)]))
        continue;
      try {
        bits = isa_.encode(decoded);
        return;
      } catch (const UserError &) {
        // It has no encoding: another one.
      }
    }
  }
  // Near another operand of the instruction, or where its memory ends.
  void moveOperand(bool toOther) {
    edit([&](isa::DecodedInstruction &decoded, const isa::Instruction &instruction) {
      std::vector<const isa::Operand *> operands;
      for (const isa::Operand &operand : instruction.operands)
        if (operand.kind == isa::Operand::Kind::Memory)
          operands.push_back(&operand);
      if (operands.empty())
        return false;
      const isa::Operand &operand = *operands[below(operands.size())],
                         &other = *operands[below(operands.size())];
      const int64_t end = operand.space == isa::Space::Dram
                              ? static_cast<int64_t>(dramEnd_)
                              : static_cast<int64_t>(isa_.memory(operand.space).addresses());
      const int64_t to = toOther ? decoded.values[static_cast<size_t>(other.index)] +
                                       static_cast<int64_t>(below(40)) - 20
                                 : end - static_cast<int64_t>(below(60));
      decoded.values[static_cast<size_t>(operand.index)] =
          std::clamp(to, operand.least, operand.greatest);
      decoded.bases[static_cast<size_t>(operand.index)] = 0;
      return true;
    });
  }
  void leaveCode() {
    edit([&](isa::DecodedInstruction &decoded, const isa::Instruction &instruction) {
      const bool isLoop = instruction.control == isa::Control::Loop;
      if (!isLoop && instruction.control != isa::Control::Branch)
        return false;
      const int operand = instruction.operandIndex(isLoop ? "length" : "offset");
      decoded.values[static_cast<size_t>(operand)] +=
          static_cast<int64_t>(code_.size()) * (isLoop || below(2) == 0 ? 1 : -1);
      return true;
    });
  }
  void dropSignal() {
    edit([&](isa::DecodedInstruction &decoded, const isa::Instruction &) {
      if (decoded.signal == 0)
        return false;
      decoded.signal &= decoded.signal - 1;
      return true;
    });
  }

  const isa::Isa &isa_;
  std::vector<isa::Bits> &code_;
  uint64_t dramEnd_;
  std::mt19937_64 &random_;
};

// "... instruction 12 ..." -> 12.
size_t instructionIn(const std::string &text) {
  const size_t at = text.find("instruction ");
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(text.c_str() + at + 12));
}

bool isRace(const UserError &error) { return error.message().rfind("race: ", 0) == 0; }

} // namespace

const char *name(CaseKind kind) {
  switch (kind) {
  case CaseKind::Ordered:
    return "race-free";
  case CaseKind::Racing:
    return "racing";
  case CaseKind::Ending:
    return "trapping or deadlocked";
  }
  return "";
}

RandomCase Fuzzer::make(uint64_t seed, int length) const {
  std::mt19937_64 random(mix(seed));
  auto below = [&](uint64_t n) { return random() % n; };
  const uint64_t sort = below(10);
  const bool endsBadly = sort < 2, mayRace = sort == 2 || sort == 3;
  RandomOptions options;
  options.kind = below(3) == 0 ? RandomKind::Straight : RandomKind::Any;
  options.mayBeLong = below(4) == 0;
  RandomCase test;
  test.seed = seed;
  const auto size = static_cast<uint64_t>(isa_.instructionBytes());
  test.codeAddress = codeAddress + size * below(9);
  for (const isa::DecodedInstruction &decoded : randomProgram(isa_, random(), length, options))
    test.code.push_back(isa_.encode(decoded));
  if (!mayRace)
    order(test);
  if (endsBadly)
    Mistakes(isa_, test, program(test).dramBytes, random).makeOne();
  return test;
}

// A fence between two instructions that race: before the later one; in a loop, where that does not
// help, before the other one too.
void Fuzzer::order(RandomCase &test) const {
  const isa::Instruction *instruction = ControlInstructions(isa_).fence;
  if (instruction == nullptr)
    return; // those that race stay ones that race
  isa::DecodedInstruction fence;
  fence.instruction = instruction->index;
  RunOptions options;
  options.checkRaces = true;
  options.trace = false;
  const isa::Bits fenceBits = isa_.encode(fence);
  for (;;) {
    const Program program = this->program(test);
    DramImage memory(program);
    try {
      reference_.run(program, memory, options);
      return;
    } catch (const UserError &error) {
      if (!isRace(error))
        return;
      const size_t one = instructionIn(error.location().subject),
                   other = instructionIn(error.message());
      size_t at = std::max(one, other);
      if (at > 0 && test.code[at - 1] == fenceBits)
        at = std::min(one, other);
      if (at > 0 && test.code[at - 1] == fenceBits)
        return; // it stays one that races
      insertBefore(isa_, test.code, at, fence);
    }
  }
}

CaseKind Fuzzer::kindOf(const RandomCase &test) const {
  RunOptions options;
  options.checkRaces = true;
  options.trace = false;
  options.maxCycles = 1000000; // instructions
  const Program program = this->program(test);
  DramImage memory(program);
  CaseKind kind = CaseKind::Ordered;
  try {
    reference_.run(program, memory, options);
  } catch (const UserError &error) {
    kind = isRace(error) ? CaseKind::Racing : CaseKind::Ending;
  }
  return kind;
}

Program Fuzzer::program(const RandomCase &test) const {
  Program program;
  program.file = "random.elf";
  program.target = isa_.target();
  program.isaHash = isa_.hash();
  program.timingHash = isa_.timingHash();
  program.codeAddress = test.codeAddress;
  for (const isa::Bits &bits : test.code)
    program.code.append(bits.begin(), bits.end());
  program.dramBytes = program.codeAddress + program.code.size() + behindCode;
  Segment data;
  data.bytes.resize(dataBytes);
  std::mt19937_64 random(mix(~test.seed));
  for (size_t i = 0; i < data.bytes.size(); i += 8) {
    const uint64_t bits = random();
    for (size_t byte = 0; byte < 8; ++byte)
      data.bytes[i + byte] = static_cast<char>(bits >> (8 * byte));
  }
  program.data.push_back(std::move(data));
  return program;
}

Checked Fuzzer::check(const RandomCase &test) const {
  Checked checked;
  checked.kind = kindOf(test);
  CompareOptions options;
  options.values = checked.kind != CaseKind::Racing;
  options.maxCycles = 2000000;
  const Program program = this->program(test);
  checked.comparison =
      compare(isa_, program, [&] { return DramImage(program); }, engines_, options);
  // Not known before: at a trap, a unit may have run ahead to a store to the code, or not yet.
  if (checked.comparison.overwritesCode)
    checked.comparison.difference.reset();
  return checked;
}

} // namespace tilewright::lockstep

// What makes a random program: it follows registers and tokens, so that each instruction may
// execute and the program ends, with the same values at any time.
#pragma once

#include "control_instructions.h"

#include "tilewright/lockstep/random_program.h"

#include <array>
#include <optional>
#include <random>
#include <vector>

namespace tilewright::lockstep {

class Generator {
public:
  Generator(const isa::Isa &isa, uint64_t seed, const RandomOptions &options);

  std::vector<isa::DecodedInstruction> make(int instructions);

private:
  // What signals it is of one kind: others of its unit may end before what was begun earlier, and
  // whose token comes first would be a matter of time.
  enum class Signaler { Set, Writer, Loader, Any };
  struct Channel {
    int from, to;
    int tokens;
    Signaler signaler;
  };

  // --- what is drawn: generator_draw.cpp ---

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  // Small values mostly, any magnitude sometimes, ends of the range now and then.
  int64_t value(int64_t least, int64_t greatest);
  isa::DecodedInstruction blank(const isa::Instruction &instruction) const;
  static int64_t &operand(isa::DecodedInstruction &decoded, const isa::Instruction &instruction,
                          const char *name) {
    return decoded.values[static_cast<size_t>(instruction.operandIndex(name))];
  }
  bool encodes(const isa::DecodedInstruction &decoded) const;
  bool touches(const isa::Instruction &instruction, const isa::DecodedInstruction &decoded) const;
  // Operands anywhere; addresses_ of the memory ones.
  void draw(const isa::Instruction &instruction, isa::DecodedInstruction &decoded);
  // Moves one operand so that what it touches begins or ends with its memory, or with a bank.
  void moveToEnd(const isa::Instruction &instruction, isa::DecodedInstruction &decoded);
  bool trapsLater(const isa::Instruction &instruction,
                  const isa::DecodedInstruction &decoded) const;
  // Whether it may execute, and soon ends; it gets tokens then.
  bool accept(const isa::Instruction &instruction, isa::DecodedInstruction &decoded,
              bool isMeantLong = false);

  // --- work: generator_work.cpp ---

  // Of any instruction, though some fit seldom.
  void work(std::vector<isa::DecodedInstruction> &words);
  bool tryWork(const isa::Instruction &instruction, isa::DecodedInstruction &decoded,
               bool mayBeNothing);
  // As many elements as the encoding allows along one iterator, which stands still in the memories
  // where a register is its stride; along the others as few as may be.
  bool longestWork(const isa::Instruction &instruction,
                   std::vector<isa::DecodedInstruction> &words);
  // With the registers that it takes for many elements to fit.
  bool nestedWork(const isa::Instruction &instruction, std::vector<isa::DecodedInstruction> &words);
  // Any instruction, or any of any unit: some units have few.
  const isa::Instruction *anyWork();
  // Many of one kind: its unit's queue fills up, and what is behind it too.
  void repeat(std::vector<isa::DecodedInstruction> &words);

  // --- registers: generator_registers.cpp ---

  // Sets two registers of a unit; in a loop they keep their values, since the loop's first
  // instructions meet them again.
  void anySet(std::vector<isa::DecodedInstruction> &words, bool keep);
  isa::DecodedInstruction setOf(const isa::Instruction &instruction, bool keep);
  int64_t registerValue(const isa::StateRegister &reg);
  // A unit's set instruction; null when it has none.
  const isa::Instruction *setOf(int unit) const;
  // Gives one register a value, as far as its type holds it.
  isa::DecodedInstruction setOne(int unit, int index, int64_t given);
  // Sets the registers that are strides of what it writes so that no element is written twice.
  void nest(const isa::Instruction &instruction, const isa::DecodedInstruction &decoded,
            std::vector<isa::DecodedInstruction> &words);
  // A set instruction that changes nothing.
  isa::DecodedInstruction keeping(const isa::Instruction &set) const;
  // An instruction of the unit that changes nothing; none where it has none.
  std::optional<isa::DecodedInstruction> idle(int unit) const;
  // A base register, from nothing or from another. Bodies meet the values of their first run again.
  void setBase(std::vector<isa::DecodedInstruction> &words);

  // --- the sequencer's flow: generator_control.cpp ---

  void fence(std::vector<isa::DecodedInstruction> &words);
  void loop(std::vector<isa::DecodedInstruction> &words, int depth);
  // The head of a loop that steps base registers; how often it runs is decided.
  isa::DecodedInstruction stepping();
  // Behind it: registers are what they were before.
  void takeBack(std::vector<isa::DecodedInstruction> &words, const isa::DecodedInstruction &head);
  // Makes the branch at `from`, the first instruction of a body that ends here, lead out of it: to
  // what comes next. There are no tokens at either end, and a body changes no register. True when
  // it is always taken.
  bool leave(std::vector<isa::DecodedInstruction> &words, size_t from);
  // A branch that is never taken may lead anywhere.
  void notTaken(std::vector<isa::DecodedInstruction> &words);
  // A branch over instructions that would change nothing for the program's order of tokens.
  void skipOver(std::vector<isa::DecodedInstruction> &words);
  // A loop made of a branch back, which counts a base register down to zero.
  void countDown(std::vector<isa::DecodedInstruction> &words);
  // A short body that runs often: no line has to be fetched, so that instructions come as fast as
  // they can be dispatched, and units meet that fetching keeps apart.
  void rush(std::vector<isa::DecodedInstruction> &words);

  // --- tokens: generator_tokens.cpp ---

  Signaler signalerOf(const isa::Instruction &instruction) const;
  // The sequencer and the vector unit do one thing after the other.
  Signaler drawSignaler(int unit);
  void synchronize(isa::DecodedInstruction &decoded, int unit);
  // Of an instruction of the sequencer that runs once.
  void acquire(isa::DecodedInstruction &decoded);
  void release(isa::DecodedInstruction &decoded);
  // Takes what was given and not taken.
  void drain(std::vector<isa::DecodedInstruction> &words);
  // More signals than a semaphore holds: the unit waits until another takes some.
  void fillSemaphore(std::vector<isa::DecodedInstruction> &words);
  void signalingWork(int unit, uint32_t signal, std::vector<isa::DecodedInstruction> &words);
  void loopOver(std::vector<isa::DecodedInstruction> &words, isa::DecodedInstruction decoded,
                uint32_t signal, uint32_t wait, int64_t count);

  const isa::Isa &isa_;
  const ControlInstructions control_;
  std::mt19937_64 random_;
  bool straight_, mayBeLong_;
  bool inBody_ = false; // what runs again
  bool lastIsLong_ = false;
  int64_t spread_ = 20; // of small values
  std::vector<int64_t> base_, addresses_;
  // Of the loop around that steps base registers: what a run adds to each, and its runs.
  std::vector<int64_t> steps_;
  int64_t runs_ = 0;
  std::array<int64_t, 3> recent_{}; // the last address, by space
  std::vector<std::vector<int64_t>> registers_;
  std::vector<Channel> channels_;
  std::vector<const isa::Instruction *> work_, sets_;
};

} // namespace tilewright::lockstep

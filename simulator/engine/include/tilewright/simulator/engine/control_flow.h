// What control instructions do to the program counter, the hardware loops and the base registers;
// every engine's sequencer.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright {

class ControlFlow {
public:
  ControlFlow(const isa::Isa &isa, const Program &program);
  // Of so many instructions, from the first one on, that stand elsewhere: `program` is for
  // messages.
  ControlFlow(const isa::Isa &isa, const Program &program, uint64_t instructions);

  uint64_t pc() const { return pc_; }
  uint64_t instructions() const { return instructions_; } // in the code
  // Throws the fault of a program that runs past its end.
  void checkPc() const;
  // The bits of the instruction at pc. pc is checked.
  const uint8_t *bits() const;

  // Executes the control instruction at pc (halt and fence change nothing: their waiting is the
  // engine's) and moves on. Throws the fault of a branch or loop that leaves the code and of loops
  // nested too deeply.
  void execute(const isa::DecodedInstruction &decoded, std::vector<int64_t> &base);
  // Moves on from a unit's instruction, whose addresses were added up.
  void advance(std::vector<int64_t> &base);
  // What follows the instruction at `pc`, if that changes nothing and the loops are as they are.
  uint64_t predictedAfter(uint64_t pc) const;
  // Ends a run whose trace holds `records` and would grow beyond 1 GiB, or 2 GiB where it is known
  // to end before: a program that does not is told so before memory runs out.
  void checkTrace(size_t records);
  // The last instruction was a branch that was taken, or a loop that was skipped.
  bool jumped() const { return jumped_; }

private:
  struct BaseStep { // that the end of a run adds
    size_t target = 0;
    int64_t amount = 0;
  };
  struct Loop {
    uint64_t begin = 0, end = 0; // instructions [begin, end)
    int64_t left = 0;            // runs after this one
    std::array<BaseStep, isa::limits::loopSteps> steps;
  };
  void goTo(uint64_t target);
  static void step(const Loop &loop, std::vector<int64_t> &base);
  void fallTo(uint64_t next, std::vector<int64_t> &base);
  bool endsWithin(uint64_t most) const;

  const isa::Isa &isa_;
  const Program &program_;
  uint64_t instructions_ = 0;
  uint64_t pc_ = 0;
  size_t depth_ = 0;
  bool jumped_ = false;
  std::optional<bool> mayGoOn_; // beyond the usual length of a trace
  std::vector<Loop> loops_;     // the first depth_ are running
};

} // namespace tilewright

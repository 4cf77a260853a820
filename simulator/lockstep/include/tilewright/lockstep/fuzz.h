// Random programs, asked of several engines at once: are they equal, cycle by cycle?
//
//   1. A seed makes a program (random_program.h), now and then with one mistake in it: an operand
//      that leaves its memory, an encoding that is none, a branch out of the code, a signal less.
//   2. Where two of its units race, fences are put between them until none does; of some programs
//      the races are left: those are compared in time only.
//   3. A program on which the engines differ is shrunk: instructions are taken away, and values
//      made simple, as long as the engines still differ.
#pragma once

#include "tilewright/lockstep/compare.h"

namespace tilewright::lockstep {

// A program by its instructions' bits: some are no instructions.
struct RandomCase {
  uint64_t seed = 0;
  std::vector<isa::Bits> code;
  uint64_t codeAddress = 0;
};

enum class CaseKind {
  Ordered, // nothing races: times and values are compared
  Racing,  // times only
  Ending,  // a trap or a deadlock: the message is compared, and what came before it
};
constexpr int caseKinds = 3;
const char *name(CaseKind kind); // "race-free"

struct Checked {
  CaseKind kind = CaseKind::Ordered;
  Comparison comparison;
};

// One machine and the engines that are compared on it.
class Fuzzer {
public:
  // `reference` is a functional engine; it says what races. `engines` are compared.
  Fuzzer(const isa::Isa &isa, Engine &reference, std::vector<Engine *> engines)
      : isa_(isa), reference_(reference), engines_(std::move(engines)) {}

  // The same for the same seed and machine: about `length` instructions.
  RandomCase make(uint64_t seed, int length) const;
  Program program(const RandomCase &test) const;
  Checked check(const RandomCase &test) const;
  // Of a case on which the engines differ: a smaller one on which they do. `tries`: the most
  // programs that it runs.
  RandomCase shrink(const RandomCase &test, int tries = 3000) const;

private:
  CaseKind kindOf(const RandomCase &test) const;
  void order(RandomCase &test) const;

  const isa::Isa &isa_;
  Engine &reference_;
  std::vector<Engine *> engines_;
};

} // namespace tilewright::lockstep

// The vector unit at work on an instruction: how long its reads and writes take, in which banks,
// and how the matrix unit, which comes first there, holds it up (rows VEC-* and PORT-* of
// docs/microarchitecture.md).
#pragma once

#include "holds.h"

#include "tilewright/simulator/timing/instruction_timing.h"

namespace tilewright {

// What the matrix unit holds.
struct MatrixHolds {
  Holds activations, weights; // read ports of the scratchpad
  Holds accumulatorReads, accumulatorWrites;
};

class VectorRun {
public:
  explicit VectorRun(const isa::Isa &isa);

  // Its first reads are in cycle t. `addresses` by operand.
  void begin(const timing::InstructionTiming &plan, const isa::ScalarContext &context,
             const int64_t *addresses, int64_t t);
  // Nothing left to read, as of where `advance` came.
  bool isDone() const { return now_.stretch == stretches_.size(); }
  // Goes on until cycle t; nothing will come to hold before it.
  void advance(int64_t t, MatrixHolds &holds) { advance(now_, t, holds); }
  // The cycle after its last read, as far as is known.
  int64_t end(MatrixHolds &holds) const;
  // The first cycle from t on in which it does not read these banks, or does not write them in
  // every cycle, as far as is known.
  enum class Access { Read, Write };
  int64_t leaves(isa::Space space, Access access, BankMask banks, int64_t t,
                 MatrixHolds &holds) const;

  // The first cycle from t on in which it reads these banks, if nothing holds it up from then on.
  int64_t comes(isa::Space space, BankMask banks, int64_t t, MatrixHolds &holds) const;
  // The cycle after so many pieces of another unit in these banks, one a cycle from t on, which
  // wait for each beat that this one writes there.
  int64_t writeBetween(isa::Space space, BankMask banks, int64_t t, int64_t pieces,
                       MatrixHolds &holds) const;

private:
  struct Banks { // by memory
    BankMask reads[2] = {0, 0}, writes[2] = {0, 0};
  };
  struct Stretch { // of work in the same banks
    int64_t cycles, beats;
    Banks banks;
    bool writesAlways() const { return beats >= cycles; }
  };
  struct Progress {
    int64_t at = 0; // the next cycle
    size_t stretch = 0;
    int64_t done = 0; // cycles of the stretch
  };

  void addStep(const timing::StepTiming &step, const isa::ScalarContext &context,
               const int64_t *addresses);
  void addStretch(const Stretch &stretch);
  void advance(Progress &progress, int64_t t, MatrixHolds &holds) const;

  const isa::Isa &isa_;
  int64_t lanes_;
  std::array<BankSize, 3> banks_; // by space
  int64_t latency_ = 0;
  std::vector<Stretch> stretches_;
  Banks all_;
  Progress now_;
};

} // namespace tilewright

// The vector unit at work on an instruction: how long its reads and writes take, in which banks,
// and how the matrix unit, which comes first there, holds it up (rows VEC-* and PORT-* of
// docs/microarchitecture.md).
#pragma once

#include "holds.h"

#include "tilewright/simulator/plan.h"

namespace tilewright {

// What the matrix unit holds.
struct MatrixHolds {
  Holds activations, weights; // read ports of the scratchpad
  Holds accumulatorReads, accumulatorWrites;
  void forget(int64_t t) {
    for (Holds *holds : {&activations, &weights, &accumulatorReads, &accumulatorWrites})
      holds->forget(t);
  }
};

class VectorRun {
public:
  explicit VectorRun(const isa::Isa &isa);

  // Its first reads are in cycle t. `addresses` by operand.
  void begin(const cycle::InstructionPlan &plan, const isa::ScalarContext &context,
             const int64_t *addresses, int64_t t);
  // Nothing left to read, as of where `advance` came.
  bool isDone() const { return now_.stretch == stretches_.size(); }
  // Goes on until cycle t; nothing will come to hold before it.
  void advance(int64_t t, const MatrixHolds &holds) { advance(now_, t, holds); }
  // The cycle after its last read, as far as is known.
  int64_t end(const MatrixHolds &holds) const;
  // Whether a hold of these banks may concern it.
  bool mayRead(isa::Space space, BankMask banks) const {
    return ((space == isa::Space::Spad ? all_.spadReads : all_.accumulatorReads) & banks) != 0;
  }
  bool mayWriteAccumulators(BankMask banks) const { return (all_.accumulatorWrites & banks) != 0; }
  // The first cycle from t on in which it does not read these banks, as far as is known.
  int64_t leaves(isa::Space space, BankMask banks, int64_t t, const MatrixHolds &holds) const;

private:
  struct Banks {
    BankMask spadReads = 0, accumulatorReads = 0, accumulatorWrites = 0;
    friend bool operator==(const Banks &a, const Banks &b) {
      return a.spadReads == b.spadReads && a.accumulatorReads == b.accumulatorReads &&
             a.accumulatorWrites == b.accumulatorWrites;
    }
    void operator|=(const Banks &other) {
      spadReads |= other.spadReads;
      accumulatorReads |= other.accumulatorReads;
      accumulatorWrites |= other.accumulatorWrites;
    }
  };
  struct Stretch { // of work in the same banks
    int64_t cycles;
    Banks banks;
  };
  struct Progress {
    int64_t at = 0; // the next cycle
    size_t stretch = 0;
    int64_t done = 0; // cycles of the stretch
  };

  void addStep(const cycle::StepPlan &step, const isa::ScalarContext &context,
               const int64_t *addresses);
  void addStretch(int64_t cycles, const Banks &banks);
  void advance(Progress &progress, int64_t t, const MatrixHolds &holds) const;

  const isa::Isa &isa_;
  int64_t lanes_;
  std::array<BankSize, 3> banks_; // by space
  int64_t latency_ = 0;
  std::vector<Stretch> stretches_;
  Banks all_;
  Progress now_;
};

} // namespace tilewright

// The functional engine: values without time. Units run behind queues and semaphores as in the
// machine, one instruction at a time in a fixed order, so that what a program forgot to synchronize
// shows as a wrong value or a deadlock here too.
#pragma once

#include "tilewright/simulator/engine/control_flow.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/kernels/kernels.h"

#include <optional>
#include <random>

namespace tilewright {

class FunctionalEngine : public Engine {
public:
  // `interleaving` 0: the sequencer goes as far as it can, then each unit takes one turn. Any other
  // value: turns drawn at random from that seed. A program that is synchronized gives the same
  // values under all.
  explicit FunctionalEngine(const isa::Isa &isa, uint64_t interleaving = 0);

  const char *name() const override { return "functional"; }
  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override;

private:
  const isa::Isa &isa_;
  uint64_t interleaving_;
  Kernels kernels_;
};

} // namespace tilewright

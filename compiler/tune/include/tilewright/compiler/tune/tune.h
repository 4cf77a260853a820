// Better plans than the planner's, found by measuring: each plan tried is a program of one kernel,
// timed to the cycle by the cycle engine's core (docs/tuner.md).
#pragma once

#include "tilewright/compiler/schedule/tuner.h"
#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

// What draws the plans to measure: evolution under a ranking model that learns from what was
// measured, or chance alone, which is what the model is compared with.
enum class SearchKind { Model, Random };

struct TuneProgress {
  size_t kernel, kernels; // at the kernel-th of so many, from 0
  int64_t trial, trials;  // of this kernel
  std::string layer;
};

struct TuneOptions {
  int64_t trials = 0; // plans measured for each kernel; 0: no tuning
  uint64_t seed = 0;
  SearchKind search = SearchKind::Model;
  std::string database; // file of what was measured before; empty: the one in the user's cache
  std::function<void(const TuneProgress &)> progress; // may be empty
};

struct TunedKernel {
  std::vector<std::string> layers; // all that run it
  int64_t defaultCycles = 0;       // alone on the chip, of the planner's plan
  int64_t tunedCycles = 0;         // of the best plan
  int64_t trials = 0;              // plans measured for it, now or before
  bool fromDatabase = false;       // no search was needed
};

// Tunes the kernels of one program, in the order in which the scheduler asks.
class KernelTuner : public Tuner {
public:
  // `isa` must outlive it; `kernels`: how many there are, for the progress. Throws UserError for a
  // database that cannot be used.
  KernelTuner(const isa::Isa &isa, const TuneOptions &options, size_t kernels);
  ~KernelTuner() override;

  std::optional<PlanPoint> choose(const TunableKernel &kernel) override;

  const std::vector<TunedKernel> &kernels() const;
  std::vector<std::string> warnings() const; // such as results that could not be kept
  // Cycles of a whole program, from the database or the cycle engine's core.
  int64_t cycles(const Program &program);

private:
  struct State;
  std::unique_ptr<State> state_;
};

// Leaves every plan as it is and counts kernels.
class KernelCount : public Tuner {
public:
  std::optional<PlanPoint> choose(const TunableKernel &kernel) override;
  size_t count() const { return signatures_.size(); }

private:
  std::vector<std::string> signatures_;
};

} // namespace tilewright

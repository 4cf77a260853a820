// One engine's run for comparison.
#pragma once

#include "digest_sink.h"
#include "window_sink.h"

#include "tilewright/lockstep/compare.h"

namespace tilewright::lockstep {

// What every run of a comparison is made with.
struct Setup {
  const isa::Isa &isa;
  const Program &program;
  const std::function<DramImage()> &image;
  const CompareOptions &options;
};

struct Outcome {
  Engine *engine = nullptr;
  int64_t bound = 0;                  // what the run may take, as RunOptions::maxCycles
  bool runsOn = false;                // it goes on beyond the end of a run before it
  RunRecord record;                   // of a run that no error ended
  DramImage memory;                   // after it
  DigestSink digest;                  // of a run of any end
  std::string error;                  // what ended it; empty: nothing did
  std::optional<UserError> userError; // the same; none: the engine found itself wrong

  bool isDone() const { return error.empty() && !runsOn; }
  bool isOurs() const { return !error.empty() && !userError; }
  bool hasTime() const { return record.cycles != 0 || digest.cycles() != 0; }
};

// `end`: the cycle in which a run before it ended; -1: there is none. A run that goes on long after
// it is cut off.
Outcome run(Engine &engine, const Setup &setup, int64_t end = -1);
// The same run again, told to another sink.
void rerun(const Outcome &outcome, const Setup &setup, RunSink &sink);

} // namespace tilewright::lockstep

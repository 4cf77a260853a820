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
  RunRecord record;                   // of a run that came to its end
  DramImage memory;                   // after it
  DigestSink digest;                  // of a run of any end
  std::string error;                  // what ended it; empty: nothing did
  std::optional<UserError> userError; // the same; none: the engine found itself wrong

  bool isOurs() const { return !error.empty() && !userError; }
  bool hasTime() const { return record.cycles != 0 || digest.cycles() != 0; }
};

Outcome run(Engine &engine, const Setup &setup);
// The same run again, told to another sink.
void rerun(Engine &engine, const Setup &setup, RunSink &sink);

} // namespace tilewright::lockstep

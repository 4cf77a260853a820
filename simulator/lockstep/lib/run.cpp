#include "run.h"

#include "tilewright/support/error.h"

namespace tilewright::lockstep {

// What a run may take when the one before it ended at `end`: an engine that waits for its DRAM to
// be idle finds a deadlock later than one that knows.
static int64_t boundFor(int64_t end) {
  constexpr int64_t least = 16 * DigestSink::window;
  return end + std::max(end, least);
}

static RunOptions runOptions(const Setup &setup, int64_t bound, RunSink &sink) {
  RunOptions options;
  options.maxCycles = bound;
  options.checkRaces = setup.options.checkRaces;
  options.sink = &sink;
  return options;
}

Outcome run(Engine &engine, const Setup &setup, int64_t end) {
  const int64_t most = setup.options.maxCycles;
  const bool isBound = end >= 0 && (most == 0 || boundFor(end) < most);
  Outcome outcome{&engine,       isBound ? boundFor(end) : most,       false, {},
                  setup.image(), DigestSink(setup.isa.units().size()), "",    {}};
  try {
    outcome.record =
        engine.run(setup.program, outcome.memory, runOptions(setup, outcome.bound, outcome.digest));
    outcome.runsOn = isBound && outcome.record.stopped;
  } catch (const UserError &error) {
    outcome.error = error.what();
    outcome.userError = error;
  } catch (const std::logic_error &error) {
    outcome.error = error.what();
  }
  outcome.digest.finish();
  return outcome;
}

void rerun(const Outcome &outcome, const Setup &setup, RunSink &sink) {
  DramImage memory = setup.image();
  try {
    outcome.engine->run(setup.program, memory, runOptions(setup, outcome.bound, sink));
  } catch (const UserError &) {
    // It ends as it did before.
  } catch (const std::logic_error &) {
  }
}

} // namespace tilewright::lockstep

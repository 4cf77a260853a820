#include "run.h"

#include "tilewright/support/error.h"

namespace tilewright::lockstep {

static RunOptions runOptions(const Setup &setup, RunSink &sink) {
  RunOptions options;
  options.maxCycles = setup.options.maxCycles;
  options.checkRaces = setup.options.checkRaces;
  options.sink = &sink;
  return options;
}

Outcome run(Engine &engine, const Setup &setup) {
  Outcome outcome{&engine, {}, setup.image(), DigestSink(setup.isa.units().size()), "", {}};
  try {
    outcome.record = engine.run(setup.program, outcome.memory, runOptions(setup, outcome.digest));
  } catch (const UserError &error) {
    outcome.error = error.what();
    outcome.userError = error;
  } catch (const std::logic_error &error) {
    outcome.error = error.what();
  }
  outcome.digest.finish();
  return outcome;
}

void rerun(Engine &engine, const Setup &setup, RunSink &sink) {
  DramImage memory = setup.image();
  try {
    engine.run(setup.program, memory, runOptions(setup, sink));
  } catch (const UserError &) {
    // It ends as it did before.
  } catch (const std::logic_error &) {
  }
}

} // namespace tilewright::lockstep

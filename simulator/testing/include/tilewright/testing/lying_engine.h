// An engine that does what another does, and tells something else: what a comparison must find.
#pragma once

#include "tilewright/simulator/engine/run_sink.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::lockstep {

// What is told instead; what is empty is told as it is. Activities may become several.
struct Lie {
  std::function<void(AccessEvent &)> access;
  std::function<void(ConflictEvent &)> conflict;
  std::function<std::vector<ActivityEvent>(const ActivityEvent &)> activity;
  std::function<void(uint64_t pc, isa::Space, uint64_t address, std::vector<uint8_t> &)> written;
  std::function<void(RunRecord &)> record;
  std::function<void(DramImage &)> memory;
};

class LyingSink : public RunSink {
public:
  LyingSink(const Lie &lie, RunSink &to) : lie_(lie), to_(to) {}
  void access(const AccessEvent &event) override {
    AccessEvent told = event;
    if (lie_.access)
      lie_.access(told);
    to_.access(told);
  }
  void conflict(const ConflictEvent &event) override {
    ConflictEvent told = event;
    if (lie_.conflict)
      lie_.conflict(told);
    to_.conflict(told);
  }
  void activity(const ActivityEvent &event) override {
    if (!lie_.activity)
      return to_.activity(event);
    for (const ActivityEvent &told : lie_.activity(event))
      to_.activity(told);
  }
  void written(InstructionRecord &record, uint64_t instance, isa::Space space, uint64_t address,
               const uint8_t *bytes, int64_t count) override {
    std::vector<uint8_t> told(bytes, bytes + count);
    if (lie_.written)
      lie_.written(record.pc, space, address, told);
    to_.written(record, instance, space, address, told.data(), count);
  }

private:
  const Lie &lie_;
  RunSink &to_;
};

class LyingEngine : public Engine {
public:
  // `make` gives the lie of one run: it may count.
  LyingEngine(Engine &truth, std::function<Lie()> make) : truth_(truth), make_(std::move(make)) {}
  const char *name() const override { return "liar"; }
  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    const Lie lie = make_();
    RunOptions told = options;
    LyingSink sink(lie, *options.sink);
    told.sink = &sink;
    RunRecord record = truth_.run(program, dram, told);
    if (lie.record)
      lie.record(record);
    if (lie.memory)
      lie.memory(dram);
    return record;
  }

private:
  Engine &truth_;
  std::function<Lie()> make_;
};

} // namespace tilewright::lockstep

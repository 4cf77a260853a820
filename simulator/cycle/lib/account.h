// Where a unit's cycles go: busy, idle, or stalled for one cause and charged to one instruction.
#pragma once

#include "tilewright/simulator/engine/run_sink.h"

namespace tilewright::cycle {

// What a unit does in one cycle, or in each of some steady cycles.
struct Activity {
  enum Kind { Busy, Idle, Stalled } kind = Idle;
  Stall cause = Stall::None;
  InstructionRecord *charged = nullptr;

  static Activity busy() { return {Busy, Stall::None, nullptr}; }
  static Activity idle() { return {}; }
  static Activity stalled(Stall cause, InstructionRecord *charged) {
    return {Stalled, cause, charged};
  }
};

class Account {
public:
  void charge(const Activity &activity, int64_t cycles) {
    switch (activity.kind) {
    case Activity::Busy:
      record_.busy += cycles;
      break;
    case Activity::Idle:
      record_.idle += cycles;
      break;
    case Activity::Stalled:
      record_.stalls[static_cast<int>(activity.cause)] += cycles;
      activity.charged->stalls[static_cast<int>(activity.cause)] += cycles;
      break;
    }
  }
  const UnitRecord &record() const { return record_; }

private:
  UnitRecord record_;
};

// Tells the sink of `cycles` cycles from t on.
void reportActivity(RunSink &sink, int unit, const Activity &activity, int64_t t, int64_t cycles);

// A horizon: how many cycles from the next one on nothing happens in a unit but steady work.
constexpr int64_t forever = int64_t(1) << 62;

} // namespace tilewright::cycle

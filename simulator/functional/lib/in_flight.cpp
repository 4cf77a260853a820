#include "in_flight.h"

#include "tilewright/simulator/timing/runs.h"

namespace tilewright {

namespace {

size_t mostOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  switch (kind) {
  case isa::UnitTemplate::DmaLoad:
    return static_cast<size_t>(isa.timing().at("load.inflight")) + 1;
  case isa::UnitTemplate::DmaStore:
    return static_cast<size_t>(isa.timing().at("store.inflight"));
  case isa::UnitTemplate::Matrix:
    return static_cast<size_t>(isa.timing().at("matrix.inflight"));
  case isa::UnitTemplate::Vector:
    return 2;
  case isa::UnitTemplate::Sequencer:
    break;
  }
  return 0;
}

} // namespace

InFlight::InFlight(const isa::Isa &isa, const isa::Unit &unit)
    : isa_(isa), unit_(unit), most_(mostOf(isa, unit.kind)),
      buffers_(unit.kind == isa::UnitTemplate::DmaLoad ? isa.timing().at("load.buffers") : 0) {}

bool InFlight::admits(const timing::InstructionTiming &timing) const {
  const bool isSet = timing.steps.empty(), hasCredit = ordered_.size() < most_;
  switch (unit_.kind) {
  case isa::UnitTemplate::DmaLoad:
    return buffersLeft() >= 0 && (isSet || hasCredit);
  case isa::UnitTemplate::DmaStore:
    return isSet || hasCredit;
  case isa::UnitTemplate::Matrix:
    return weights_.size() <= 1 && ordered_.size() <= most_; // else one is held
  case isa::UnitTemplate::Vector:
    return hasCredit;
  case isa::UnitTemplate::Sequencer:
    break;
  }
  return false;
}

void InFlight::push(Entry entry, const timing::InstructionTiming &timing,
                    const isa::ScalarContext &scalars, const int64_t *addresses) {
  if (unit_.kind == isa::UnitTemplate::DmaLoad && !ordered_.empty())
    entry.bursts = timing::countBursts(timing::Runs(timing, isa_, scalars, addresses),
                                       isa_.param("burst_bytes"), buffers_ + 1);
  (loadsWeights(timing) ? weights_ : ordered_).push_back(entry);
}

int64_t InFlight::buffersLeft() const {
  int64_t left = buffers_;
  for (size_t i = 2; i < ordered_.size(); ++i)
    left -= ordered_[i].bursts;
  return left;
}

} // namespace tilewright

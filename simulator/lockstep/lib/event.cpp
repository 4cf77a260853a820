#include "event.h"

#include <fmt/format.h>
#include <tuple>

namespace tilewright::lockstep {

static auto key(const Event &event) {
  return std::tie(event.cycle, event.kind, event.unit, event.pc, event.space, event.address,
                  event.bytes, event.winner, event.pieces, event.activity, event.cause);
}

bool operator<(const Event &a, const Event &b) { return key(a) < key(b); }
bool operator==(const Event &a, const Event &b) { return key(a) == key(b); }

Event eventOf(const AccessEvent &access) {
  Event event;
  event.cycle = access.cycle;
  event.kind = access.isWrite ? Event::Kind::Write : Event::Kind::Read;
  event.unit = access.unit;
  event.pc = access.pc;
  event.space = access.space;
  event.address = access.address;
  event.bytes = access.bytes;
  return event;
}

Event eventOf(const ConflictEvent &conflict) {
  Event event;
  event.cycle = conflict.cycle;
  event.kind = Event::Kind::Conflict;
  event.unit = conflict.loser;
  event.winner = conflict.winner;
  event.pieces = conflict.pieces;
  return event;
}

Event eventOf(const ActivityEvent &activity) {
  Event event;
  event.cycle = activity.cycle;
  event.kind = Event::Kind::Activity;
  event.unit = activity.unit;
  event.pc = activity.pc;
  event.activity = activity.kind;
  event.cause = activity.cause;
  return event;
}

std::string describe(const Event &event, const isa::Isa &isa) {
  switch (event.kind) {
  case Event::Kind::Write:
  case Event::Kind::Read:
    return fmt::format("{} {} bytes at {:#x} of {}",
                       event.kind == Event::Kind::Write ? "writes" : "requests", event.bytes,
                       event.address, isa.memory(event.space).name);
  case Event::Kind::Conflict:
    return fmt::format("loses {} pieces to {}", event.pieces,
                       isa.units()[static_cast<size_t>(event.winner)].name);
  case Event::Kind::Activity:
    break;
  }
  if (event.activity == ActivityEvent::Kind::Stalled)
    return fmt::format("is stalled ({}) by instruction {}", name(event.cause), event.pc);
  return event.activity == ActivityEvent::Kind::Busy ? "is busy" : "is idle";
}

} // namespace tilewright::lockstep

// Decoded instructions by pc: loops decode their bodies once, and a long program takes no memory
// for what it has left behind.
#pragma once

#include "tilewright/simulator/engine/control_flow.h"

#include <string>
#include <vector>

namespace tilewright {

class DecodeCache {
public:
  explicit DecodeCache(const isa::Isa &isa) : isa_(isa), entries_(entries) {}

  struct Entry {
    uint64_t pc = ~uint64_t(0);
    isa::DecodedInstruction decoded;
    std::string reason; // why it is no instruction
  };
  // The instruction at the flow's pc, which is checked. Valid until the next call.
  const Entry &at(const ControlFlow &flow) {
    Entry &entry = entries_[flow.pc() % entries];
    if (entry.pc != flow.pc()) {
      entry.pc = flow.pc();
      entry.reason.clear();
      if (!isa_.decode(flow.bits(), entry.decoded, entry.reason))
        entry.reason = "illegal instruction: " + entry.reason;
    }
    return entry;
  }

private:
  static constexpr size_t entries = 2048;
  const isa::Isa &isa_;
  std::vector<Entry> entries_;
};

} // namespace tilewright

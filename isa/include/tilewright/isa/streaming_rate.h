// What a machine streams from and to DRAM at most.
//
// DRAM moves what all its channels move together: channels x channel_bits / 8 x rate_mts million
// bytes a second, whatever the core's clock. The core's port moves bus_bytes a cycle of that clock,
// reads and writes together. What streams is the lesser of the two.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <map>
#include <string>

namespace tilewright::isa {

// `bytes` in `cycles` cycles of the core clock: at least one of each, in lowest terms.
struct StreamingRate {
  int64_t bytes = 1, cycles = 1;

  double bytesPerCycle() const;
  int64_t bytesPerSecond(int64_t clockHz) const; // rounded down
  // The least cycles in which so many bytes move; INT64_MAX where they are more than it counts.
  int64_t cyclesFor(int64_t moved) const;
};

// Both at least 1.
StreamingRate streamingRate(int64_t bytesPerSecond, int64_t clockHz);
// The lesser of DRAM's rate, of which 0 means that it has no limit, and the port's.
StreamingRate streamingRate(int64_t dramBytesPerSecond, int64_t busBytes, int64_t clockHz);
StreamingRate streamingRate(const Isa &isa);

// Of all channels together; 0: the preset has no limit of its own.
int64_t dramBytesPerSecond(const Isa &isa);
using DramParameters = std::map<std::string, int64_t>; // by name, as Isa::dramParameters()
int64_t bytesPerSecondOf(const DramParameters &parameters);
// By name, of the shipped presets, as they are, that fit the params and the clock of `isa`.
std::map<std::string, DramParameters> shippedDramParameters(const Isa &isa,
                                                            const LoadOptions &options);

} // namespace tilewright::isa

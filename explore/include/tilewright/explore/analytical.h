// The analytical tier: cycles of a network from its geometry and a machine's figures alone.
//
// A layer takes as long as the part of the machine that works longest for it:
//   array   folds (weight tiles of rows x cols) times the pixels that stream past each, at least
//           `rows` cycles a fold, which is what loading its weights takes. Accumulators hold half
//           their pixels at once, so a fold comes back for each such part.
//   vector  results over the lanes.
//   DRAM    inputs, weights and outputs once, and what does not fit on chip again: where neither
//           weights nor inputs stay in half the scratchpad, the cheaper of the two comes again for
//           each part of the other, at the lesser of DRAM's rate and the port's.
// A layer adds what fills and empties the pipeline. Nothing overlaps between layers.
#pragma once

#include "tilewright/explore/machine.h"
#include "tilewright/explore/network.h"
#include "tilewright/explore/technology.h"
#include "tilewright/isa/streaming_rate.h"

#include <cstdint>
#include <vector>

namespace tilewright::explore {

class Analytical {
public:
  explicit Analytical(const Network &network);

  struct Estimate {
    int64_t cycles = 0;
    int64_t dramBytes = 0;
  };
  Estimate estimate(const Machine &machine) const;
  // With what it costs; accesses on chip follow from the same counts.
  Work work(const Machine &machine) const;

private:
  struct Layer { // equal ones are one
    NetworkLayer::Kind kind;
    int64_t count;
    int64_t pixels, tapsY, tapsX, inChannels, outChannels, macs;
    int64_t vectorElements, inputBytes, weightBytes, outputBytes;
  };
  struct Cost {
    int64_t cycles, dramBytes;
  };
  static Cost costOf(const Layer &layer, const Machine &machine, const isa::StreamingRate &rate);
  std::vector<Layer> layers_;
};

} // namespace tilewright::explore

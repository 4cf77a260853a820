// The analytical tier: cycles of a network from its geometry and a machine's figures alone.
//
// A convolution, the depthwise convolution behind it and the convolution behind that are a fused
// stack; all else is a stack of one layer. A stack takes as long as the part of the machine that
// works longest for it:
//   array   folds (weight tiles of rows x cols) times the pixels that stream past each, at least
//           `rows` cycles a fold, which is what loading its weights takes. Accumulators hold half
//           their pixels at once, so a fold comes back for each such part.
//   vector  results, and taps of depthwise convolutions, over the lanes. As many of the latter as
//           make both take as long go to the array instead, on whose diagonal a column has a
//           channel.
//   DRAM    inputs, weights and outputs once, and what does not fit on chip again: where neither
//           weights nor inputs stay in half the scratchpad, the cheaper of the two comes again for
//           each part of the other, at the lesser of DRAM's rate and the port's. What a layer
//           passes to the next one stays on chip within a stack, and a part of it between stacks.
// A layer adds what fills and empties the pipeline. Nothing overlaps between stacks. The shares
// that say how good a schedule is (analytical.cpp) are fitted to simulated points
// (bench/analytical): an estimate for ordering machines. Beside it stands a bound, which no
// schedule is below.
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
  // The least that any schedule takes, in cycles: the roofline of the whole network
  // (tilewright/report/roofline.h), with inputs, filters and outputs moved once.
  int64_t leastCycles(const Machine &machine) const;
  // With what it costs; accesses on chip follow from the same counts.
  Work work(const Machine &machine) const;

private:
  struct Stack {
    int64_t count = 1; // equal ones are one
    std::vector<NetworkLayer> layers;
    int64_t receivedBytes = 0; // what the stack before passes
  };
  struct Cost {
    int64_t cycles, dramReads, dramWrites; // bytes
  };
  static Cost costOf(const Stack &stack, const Machine &machine, const isa::StreamingRate &rate);
  NetworkNeeds needs_;
  std::vector<Stack> stacks_;
};

} // namespace tilewright::explore

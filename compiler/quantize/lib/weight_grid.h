// The steps of which a model's own weights are multiples.
//
// A model that is quantized already holds integers q, which importers and passes turn into float32
// numbers q * step, reordered, merged, and scaled channel by channel. The steps are found again in
// these numbers:
//
//   1. The weight of the greatest magnitude in a channel is n steps, 1 <= n <= 255; n is the least
//      number by which all others are whole numbers of steps as well, as exactly as float32 has
//      them.
//   2. A channel whose integers need fewer bits takes as fine steps as 8 bits hold, so that its
//      bias is a whole number of them too.
//   3. Where a channel leaves the range of 8 bits with sign, there is one zero point for all that
//      brings them back into it.
#pragma once

#include "filter.h"

#include <optional>

namespace tilewright::quantization {

struct WeightGrid {
  std::vector<double> steps; // one an output; 0: it has no weights but zeros
  int64_t zeroPoint = 0;
};

// Nothing where a channel has no such step, or no zero point fits all.
std::optional<WeightGrid> weightGridOf(const Filter &filter);

} // namespace tilewright::quantization

// Layer runs in their canonical form.
#pragma once

#include "tilewright/program/program.h"

namespace tilewright::npu {

// Notes that `instruction`, the next one, belongs to `layer`: a run begins where the layer changes,
// and before the first run there is none.
inline void addRun(std::vector<LayerRun> &runs, uint64_t instruction, int layer) {
  if (layer != (runs.empty() ? -1 : runs.back().layer))
    runs.push_back({instruction, layer});
}

} // namespace tilewright::npu

#include "tilewright/program/absorbed.h"

#include <algorithm>

namespace tilewright {

// A program file may claim anything: what has instructions is a layer, whatever its plan says.
size_t layerCount(const Program &program) {
  int last = -1;
  for (const LayerRun &run : program.runs)
    last = std::max(last, run.layer);
  size_t count = program.layers.size();
  while (count > static_cast<size_t>(last + 1) && isAbsorbed(program.layers[count - 1]))
    --count;
  return count;
}

} // namespace tilewright

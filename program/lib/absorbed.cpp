#include "tilewright/program/absorbed.h"

#include <algorithm>

namespace tilewright {

// A program file may claim anything: what has instructions is a layer, whatever its plan says.
size_t layerCount(const Program &program) {
  size_t least = 0;
  for (const LayerRun &run : program.runs)
    least = std::max(least, static_cast<size_t>(run.layer) + 1); // -1: of no layer
  size_t count = program.layers.size();
  while (count > least && isAbsorbed(program.layers[count - 1]))
    --count;
  return count;
}

} // namespace tilewright

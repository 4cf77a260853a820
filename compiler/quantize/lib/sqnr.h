// How far the integer graph is from the float graph, layer by layer.
#pragma once

#include "emit.h"

namespace tilewright::quantization {

// Runs both graphs on the samples and compares every value that both have.
std::vector<LayerSqnr> compareLayers(mlir::ModuleOp real, const IntegerModule &integer,
                                     const ParameterMap &parameters, const Samples &samples);

} // namespace tilewright::quantization

// The compilation of a model whose operators not all run on the accelerator.
#pragma once

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/compiler/quantize/quantize.h"
#include "tilewright/onnx/model.h"

namespace tilewright {

constexpr int64_t randomSamples = 16; // where no calibration is given

// The inputs that always have one value.
std::map<std::string, Tensor> constantsOf(const CompileOptions &options);

// What `compile` (driver.h) does: as a whole where the accelerator can compute all of it, else in
// parts, of which the host runs some.
CompileResult compileInParts(const CompileOptions &options);

// One compilation for the accelerator alone. Throws Unsupported for a valid model that it
// cannot compute, with the node's place where there is one, and UserError for anything else.
CompileResult compileWhole(const CompileOptions &options);
// The same of a model that has been read: `samples` of its inputs, or null.
CompileResult compilePart(const CompileOptions &options, onnx::Model model,
                          const CalibrationData *samples);

} // namespace tilewright

// Post-training quantization: a float TOSA module and calibration data in, an integer TOSA 1.0
// module out.
//
// The integer module holds only integer TOSA operators (PRO-INT, and EXT-INT16's i16 table where
// softmax needs it): no quant types. Its @main takes and gives integer tensors; each argument and
// result carries, beside `tilewright.name`, `tilewright.scale` (f64) and `tilewright.zero_point`
// (i64) with which the host quantizes at the border: q = clamp(round_half_even(x / scale) +
// zero_point), x = (q - zero_point) * scale.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilewright/compiler/quantize/quantize_options.h"
#include "tilewright/support/npy.h"
#include "tilewright/support/phase_times.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct CalibrationData {
  std::string path; // of the archive or the directory; empty for random data
  // One sample a row: input name -> [samples, ...input shape without its batch dimension of 1, or
  // with it].
  std::map<std::string, Tensor> arrays;
};

// Reads a `.npz` file or a directory of `.npy` files. Throws UserError.
CalibrationData readCalibration(const std::string &path);
// `samples` rows of seeded normal data for each argument of @main: of standard deviation 1, or of a
// third of the range that a quantized model says it has.
CalibrationData randomCalibration(mlir::ModuleOp module, int64_t samples, uint64_t seed);

// What an integer module takes; nothing where the target cannot compute it. Uses the module up.
using CyclesOf = std::function<std::optional<NetworkCycles>(mlir::ModuleOp)>;

// Throws UserError naming the user's operator that has no integer form, or the calibration input
// that does not fit. `times`, if any, is told of each phase. `standard`, where it is asked for,
// becomes the module of standard precision where Precision::Automatic gave it up; else it stays
// empty. `cyclesOf` is asked where `options` have a budget. Weights of `module` that stand in
// resources are given up: it is not to be read behind it.
mlir::OwningOpRef<mlir::ModuleOp> quantize(mlir::ModuleOp module, const CalibrationData &data,
                                           const QuantizeOptions &options,
                                           QuantizationReport *report, PhaseTimes *times = nullptr,
                                           mlir::OwningOpRef<mlir::ModuleOp> *standard = nullptr,
                                           const CyclesOf &cyclesOf = nullptr);

} // namespace tilewright

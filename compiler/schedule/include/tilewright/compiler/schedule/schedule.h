// From fused kernels to a synchronized instruction stream with its memory plan.
#pragma once

#include "tilewright/compiler/schedule/emitter.h"
#include "tilewright/compiler/schedule/tuner.h"
#include "tilewright/program/program.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tilewright {

struct ScheduleOptions {
  Buffering buffering = Buffering::Double;
  bool fusion = true;     // layers may hand tensors on without DRAM
  Tuner *tuner = nullptr; // is asked for the plan of each convolution, matrix product and chain
};

// Of a layer, from and to DRAM.
struct LayerTraffic {
  int64_t bytes = 0;
  int64_t leastBytes = 0; // no schedule of the layer moves less, with what stays on chip beside it
};

struct Schedule {
  explicit Schedule(const isa::Isa &isa) : stream(isa) {}
  Stream stream;
  std::vector<LayerInfo> layers;     // estimates are not filled in yet (estimate.h)
  std::vector<LayerTraffic> traffic; // by layer
  std::vector<Segment> data;         // constants
  std::vector<TensorInfo> inputs, outputs;
  uint64_t dramBytes = 0;                       // tensors and constants: [0, dramBytes)
  MemoryPlan scratchpad, accumulators, tensors; // `tensors`: those in DRAM
};

// Schedules a module of kernel.groups (kernel-fuse's output). Throws UserError naming the layer: a
// tile that fits nowhere, an instruction that the ISA does not have.
Schedule schedule(mlir::ModuleOp module, const isa::Isa &isa, const ScheduleOptions &options);

} // namespace tilewright

// Programs as modules of the npu dialect: from the schedule, to and from the program file, and
// their checks.
#pragma once

#include "tilewright/compiler/emit/npu_dialect.h"
#include "tilewright/compiler/schedule/schedule.h"
#include "tilewright/program/program.h"
#include "tilewright/support/phase_times.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <optional>

namespace tilewright {

// A program as module and encoded.
struct NpuProgram {
  npu::ProgramOp op;
  Program program;
  MemoryPlan scratchpad, accumulators, tensors; // the schedule's
  std::vector<LayerTraffic> traffic;            // and this too
};

// Schedules a module of kernel.groups (kernel-fuse's output) and puts the program, with the
// estimates of its layers, in place of its function. `target` is what `isa` was loaded by. Throws
// UserError naming the layer, as `schedule` does; a program that toProgram does not accept is our
// mistake, a diagnostic and std::logic_error. `times`, if any, is told when the schedule stands.
NpuProgram kernelToNpu(mlir::ModuleOp module, const isa::Isa &isa, const isa::LoadOptions &target,
                       const ScheduleOptions &options, PhaseTimes *times = nullptr);

// The only operation of a module at this stage; a diagnostic and null when it is anything else.
npu::ProgramOp programOf(mlir::ModuleOp module);

// The ISA of the target that a program names; a diagnostic and nothing when it cannot be loaded.
std::optional<isa::Isa> isaOf(npu::ProgramOp op);

// What of a program toProgram proves.
enum class NpuCheck {
  Instructions, // each is one of the ISA's: mnemonic, operands, ranges, `require`s, semaphores
  All           // also that waits and signals order all conflicting accesses (stream_check.h)
};

// The program that a verified npu.program says: encoded, with what `readProgram` checks of a
// program checked. One diagnostic, at the operation that is wrong, otherwise; an ISA hash other
// than `isa`'s is named together with `isa`'s.
mlir::FailureOr<Program> toProgram(npu::ProgramOp op, const isa::Isa &isa,
                                   NpuCheck check = NpuCheck::All);

// The program as a module. Layer runs come back from `toProgram` in their canonical form: one at
// each change of layer. Throws UserError for a reserved encoding, which has no text.
mlir::OwningOpRef<mlir::ModuleOp> toModule(const Program &program, const isa::Isa &isa,
                                           mlir::MLIRContext &context);

// The text of the instructions, one a line, each layer's behind a comment with its name. The
// instructions must be the ISA's.
std::string assemblyText(npu::ProgramOp op, const isa::Isa &isa);

// `kernel-to-npu{target=... what-if=... buffering=...}`: kernelToNpu.
std::unique_ptr<mlir::Pass> createKernelToNpuPass();
// `npu-check`: toProgram with all its checks, by the target that the program names; the module
// stays as it is.
std::unique_ptr<mlir::Pass> createNpuCheckPass();
// Registers both for tilewright-opt.
void registerNpuPasses();

} // namespace tilewright

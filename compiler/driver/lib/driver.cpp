#include "tilewright/compiler/driver.h"

#include "tilewright/compiler/estimate.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/compiler/graph.h"
#include "tilewright/compiler/kernel_dialect.h"
#include "tilewright/compiler/quantize.h"
#include "tilewright/compiler/schedule.h"
#include "tilewright/compiler/select.h"
#include "tilewright/compiler/stream_check.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr int64_t randomSamples = 16;

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  module.print(stream, flags.enableDebugInfo(true, false));
  stream << '\n';
  return text;
}

// Runs passes; a failure becomes one UserError: the first diagnostic, at the user's operator.
void runPasses(mlir::ModuleOp module, const std::string &file,
               std::vector<std::unique_ptr<mlir::Pass>> passes) {
  mlir::PassManager manager(module->getContext());
  for (std::unique_ptr<mlir::Pass> &pass : passes)
    manager.addPass(std::move(pass));
  std::string message;
  mlir::Location where = mlir::UnknownLoc::get(module->getContext());
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      message = diagnostic.str();
      where = diagnostic.getLocation();
    }
    return mlir::success();
  });
  if (mlir::succeeded(manager.run(module)))
    return;
  Place place{file, 0, 0, ""};
  Layer layer = layerOf(where);
  if (!layer.name.empty())
    place.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  else if (auto position = where->findInstanceOf<mlir::FileLineColLoc>()) {
    place.line = static_cast<int>(position.getLine());
    place.column = static_cast<int>(position.getColumn());
  }
  throw UserError(place, escape(message, 2000));
}

bool isFloat(mlir::ModuleOp module) {
  bool found = false;
  module.walk([&](mlir::func::FuncOp function) {
    for (mlir::Type type :
         llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
      found |= llvm::isa<mlir::FloatType>(llvm::cast<mlir::ShapedType>(type).getElementType());
  });
  return found;
}

template <typename... Passes> std::vector<std::unique_ptr<mlir::Pass>> list(Passes... passes) {
  std::vector<std::unique_ptr<mlir::Pass>> result;
  (result.push_back(std::move(passes)), ...);
  return result;
}

Program assemble(Schedule schedule, const CompileOptions &options, const isa::Isa &isa) {
  Program program;
  program.target = options.target;
  program.overlays = options.overlays;
  program.isaHash = isa.hash();
  program.timingHash = isa.timingHash();
  int layer = -2;
  for (const StreamInstruction &instruction : schedule.stream) {
    isa::Bits bits = isa.encode(instruction.word);
    if (instruction.layer != layer) {
      layer = instruction.layer;
      program.runs.push_back(
          {program.code.size() / static_cast<size_t>(isa.instructionBytes()), layer});
    }
    program.code.append(bits.begin(), bits.end());
  }
  program.codeAddress = (schedule.dramBytes + 63) / 64 * 64;
  program.dramBytes = program.codeAddress + program.code.size();
  program.data = std::move(schedule.data);
  program.inputs = std::move(schedule.inputs);
  program.outputs = std::move(schedule.outputs);
  program.layers = std::move(schedule.layers);
  program.scratchpadPeakBytes = schedule.scratchpad.peakBytes;
  program.accumulatorPeakBytes = schedule.accumulators.peakBytes;
  // Cycles belong to layers by the same rule as in the report of a simulation.
  report::Report estimated =
      report::build(program, estimate(schedule.stream, isa, program.codeAddress), isa, {});
  for (size_t i = 0; i < program.layers.size(); ++i)
    program.layers[i].estimateCycles = estimated.layers[i].cycles;
  return program;
}

std::string assemblyText(const Schedule &schedule, const isa::Isa &isa) {
  std::string text;
  int layer = -2;
  for (const StreamInstruction &instruction : schedule.stream) {
    if (instruction.layer != layer) {
      layer = instruction.layer;
      if (layer >= 0)
        text += fmt::format("; {}\n", escape(schedule.layers[static_cast<size_t>(layer)].name));
    }
    text += isa::disassemble(isa, instruction.word) + "\n";
  }
  return text;
}

} // namespace

// Options that the command line knows and this version cannot serve: said so, never ignored.
static void refuseUnavailable(const CompileOptions &options) {
  auto refuse = [](const char *option) {
    throw UserError({}, fmt::format("{} is not available in this version", option));
  };
  if (options.quantize != "int8" && options.quantize != "none")
    refuse("--quantize int16");
  if (options.emit == "npu")
    refuse("--emit npu");
  if (!options.compileFrom.empty() || !options.compileTo.empty())
    refuse("--compile-from and --compile-to");
}

CompileResult compile(const CompileOptions &options) {
  refuseUnavailable(options);
  CompileResult result;
  isa::LoadOptions load;
  load.target = options.target;
  load.overlays = options.overlays;
  isa::Isa isa = isa::load(load);

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(options.model, {options.shapes}, context);
  if ((*module->getOps<mlir::func::FuncOp>().begin()).getNumResults() == 0)
    throw UserError({options.model, 0, 0, ""}, "the model has no outputs",
                    "return the tensors that it is to compute");
  runPasses(*module, options.model,
            list(createGraphFoldPass(), createGraphLayoutPass(), createGraphFoldPass()));
  if (isFloat(*module) && options.quantize != "none") {
    CalibrationData data;
    if (options.calibration.empty()) {
      data = randomCalibration(*module, randomSamples, options.seed);
      result.warnings.push_back(
          "no --calibration given: ranges come from seeded random samples, expect poor accuracy");
    } else {
      data = readCalibration(options.calibration);
    }
    module = quantize(*module, data, options.quantization,
                      options.quantizationReport ? &result.quantization : nullptr);
  }
  if (options.emit == "tosa") {
    result.output = printed(*module);
    return result;
  }
  if (isFloat(*module))
    throw UserError(
        {options.model, 0, 0, ""},
        "the model is float and --quantize none leaves it so; the target computes on integers",
        "leave --quantize at int8, or stop at --emit tosa");
  runPasses(*module, options.model, list(createTosaToKernelPass(), createKernelFusePass()));
  if (options.emit == "kernel") {
    result.output = printed(*module);
    return result;
  }
  ScheduleOptions scheduleOptions;
  scheduleOptions.buffering = options.buffering;
  Schedule plan;
  try {
    plan = schedule(*module, isa, scheduleOptions);
  } catch (const UserError &error) {
    Place place = error.place();
    place.file = options.model;
    throw UserError(place, error.message(), error.fix());
  }
  if (std::string problem = checkStream(plan.stream, isa); !problem.empty())
    throw std::logic_error("the schedule is not synchronized: " + problem);
  if (options.emit == "asm") {
    result.output = assemblyText(plan, isa);
    return result;
  }
  result.summary = fmt::format(
      "scratchpad {} of {} bytes (lower bound {}), accumulators {} of {} bytes (lower bound {})\n",
      plan.scratchpad.peakBytes, isa.memory(isa::Space::Spad).bytes,
      plan.scratchpad.lowerBoundBytes, plan.accumulators.peakBytes,
      isa.memory(isa::Space::Acc).bytes, plan.accumulators.lowerBoundBytes);
  result.output = writeProgram(assemble(std::move(plan), options, isa), isa);
  return result;
}

} // namespace tilewright

#include "tilewright/compiler/driver/driver.h"

#include "change_context.h"
#include "overlay_use.h"
#include "parts.h"
#include "phases.h"
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/frontend/parse_module.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/quantize/quantize.h"
#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/select/selection_report.h"
#include "tilewright/isa/roles.h"
#include "tilewright/program/absorbed.h"
#include "tilewright/simulator/cycle/timing_engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <fmt/format.h>
#include <future>
#include <malloc.h>
#include <memory>

namespace tilewright {

namespace {

bool isFloat(mlir::ModuleOp module) {
  bool found = false;
  module.walk([&](mlir::func::FuncOp function) {
    for (mlir::Type type :
         llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
      found |= llvm::isa<mlir::FloatType>(llvm::cast<mlir::ShapedType>(type).getElementType());
    // What a model quantizes inside it may take and give as integers.
    function.walk([&](mlir::tosa::ClampOp clamp) {
      found |= llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(clamp.getOutput()));
    });
  });
  return found;
}

std::unique_ptr<mlir::MLIRContext> makeContext() {
  return std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
}

void loadModelDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect,
                      npu::NpuDialect>();
}

// One compilation: `compile` below calls the stages in order, each leaves its module in `module_`.
class Compiler {
public:
  explicit Compiler(const CompileOptions &options)
      : options_(options), phases_(options.model, options.phaseEnded, options.times),
        context_(makeContext()) {}
  // Of a model that has been read, with samples of its inputs; null: as `options` has it.
  Compiler(const CompileOptions &options, onnx::Model model, const CalibrationData *samples)
      : Compiler(options) {
    model_ = std::move(model);
    samples_ = samples;
  }

  CompileResult compile() {
    if (options_.from <= Stage::Kernel)
      return compileModel();
    return compileProgram();
  }

private:
  CompileResult compileModel() {
    const isa::LoadOptions target{options_.target, options_.overlays, "",
                                  options_.to > Stage::Tosa};
    isa::Isa isa = isa::load(target);
    phases_.ended("target");
    loadModelDialects(*context_);
    if (options_.from < Stage::Kernel)
      import();
    else
      module_ = parseModule(options_.model, readFile(options_.model), *context_, checkKernels);
    if (options_.from == Stage::Import) {
      if (options_.to == Stage::Import)
        return ended(printed(*module_));
      prepare(isa, target);
    }
    if (options_.to <= Stage::Tosa)
      return ended(printed(*module_));
    if (options_.from < Stage::Kernel)
      select(isa);
    if (options_.explainSelection) {
      const SelectionReport report(isa, *module_);
      options_.explainSelection(options_.explainsAll ? report.all() : report.summary());
    }
    if (options_.to == Stage::Kernel)
      return ended(printed(*module_));
    // What instructions lack is asked before the kernels are gone.
    const std::vector<std::string> named = instructionsOf(options_.overlays, isa);
    std::optional<SelectionReport> selection;
    if (!named.empty())
      selection.emplace(isa, *module_);
    std::future<std::optional<int64_t>> standard =
        std::async([&] { return standard_ ? cyclesOfStandard(isa) : std::nullopt; });
    NpuProgram made = schedule(isa, target);
    comparePrecisions(standard.get(), made.program);
    summarize(made.program, isa, &made);
    for (const std::string &name : named)
      result_.overlayUse += useOf(name, made.program, isa, *selection);
    return write(made.op, made.program, isa);
  }

  // MODEL is a program already: as a module, or as the file.
  CompileResult compileProgram() {
    context_->loadDialect<npu::NpuDialect>();
    std::string bytes = readFile(options_.model);
    std::optional<isa::Isa> isa;
    Program program;
    if (options_.from == Stage::Elf) {
      ProgramTarget target = readProgramTarget(options_.model, bytes);
      isa = isa::load({target.target, target.overlays, ""});
      program = readProgram(options_.model, bytes, *isa);
      module_ = toModule(program, *isa, *context_);
    } else {
      module_ = parseModule(options_.model, bytes, *context_, [&](mlir::ModuleOp module) {
        npu::ProgramOp op = programOf(module);
        isa = op ? isaOf(op) : std::nullopt;
        if (!isa)
          return mlir::failure();
        mlir::FailureOr<Program> read = toProgram(op, *isa);
        if (mlir::succeeded(read))
          program = std::move(*read);
        return mlir::LogicalResult(read);
      });
    }
    phases_.ended("npu", *module_, false);
    summarize(program, *isa, nullptr);
    CompileResult result = write(programOf(*module_), program, *isa);
    // What was read from a file must be what `run` reads.
    if (options_.to == Stage::Elf)
      readProgram(options_.model, result.output, *isa);
    return result;
  }

  void import() {
    if (model_)
      module_ =
          importOnnx(options_.model, *std::exchange(model_, {}), {options_.shapes, {}}, *context_);
    else
      module_ =
          options_.from == Stage::Tosa
              ? importForeignTosa(options_.model, readFile(options_.model), *context_)
              : importModel(options_.model,
                            {options_.shapes, constantsOf(options_), options_.pictures}, *context_);
    phases_.ended("import", *module_);
  }

  // Folds the graph, and quantizes it where it is float.
  void prepare(const isa::Isa &isa, const isa::LoadOptions &target) {
    phases_.run(*module_, createWideDecomposePass());
    phases_.run(*module_, createGraphFoldPass());
    phases_.run(*module_, createGraphLayoutPass());
    phases_.run(*module_, createGraphFoldPass());
    phases_.run(*module_, createGraphDecomposePass());
    const bool isInteger = !isFloat(*module_);
    if (isInteger || options_.quantize == "none") {
      const std::string &option =
          options_.quantizerOption.empty() ? options_.quantizerReport : options_.quantizerOption;
      if (!option.empty())
        result_.warnings.push_back(
            fmt::format("{} has no effect: the model is integer already", option));
      return;
    }
    leaveConstants();
    CalibrationData data;
    QuantizeOptions quantization = options_.quantization;
    if (samples_) {
      data = *samples_;
    } else if (options_.calibration.empty()) {
      if (quantization.precision == Precision::Automatic) // of which random samples tell nothing
        quantization.precision = Precision::Standard;
      data = randomCalibration(*module_, randomSamples, options_.seed);
    } else {
      data = readCalibration(options_.calibration);
    }
    module_ = ofModel([&] {
      return quantize(*module_, data, quantization, &result_.quantization, options_.times,
                      &standard_,
                      [&](mlir::ModuleOp module) { return cyclesOf(module, isa, target); });
    });
    warnOfRanges();
    if (standard_) {
      standardContext_ = makeContext();
      loadModelDialects(*standardContext_);
      enterContext(*standardContext_, standard_);
    }
    leaveConstants();
    phases_.ended("quantize", *module_);
  }

  // Of ranges that nobody gave.
  void warnOfRanges() {
    const QuantizationReport &report = result_.quantization;
    const bool tellsWithSamples =
        options_.quantizerOption == "--calibration" && !options_.quantizerReport.empty();
    if (report.isGiven && report.open.empty() && !options_.quantizerOption.empty() &&
        !tellsWithSamples)
      result_.warnings.push_back(fmt::format("{} has no effect: the model is quantized already",
                                             options_.quantizerOption));
    if (samples_ || !options_.calibration.empty() || (report.isGiven && report.open.empty()))
      return;
    result_.warnings.push_back(
        report.isGiven
            ? fmt::format("no --calibration given: the model leaves the range of {} open; it comes "
                          "from seeded random samples, expect poor accuracy",
                          report.open)
            : "no --calibration given: ranges come from seeded random samples, expect poor "
              "accuracy");
  }

  // A context keeps every constant that it ever had: weights before they were folded, and all float
  // ones, end with theirs.
  void leaveConstants() {
    std::unique_ptr<mlir::MLIRContext> next = makeContext();
    loadModelDialects(*next);
    changeContext(context_, std::move(next), module_);
    // Of what weights took later phases use little: it stands elsewhere, partly with threads.
    malloc_trim(0);
  }

  // Another precision was chosen for its exactness. What it costs should not be found out from the
  // run: the module of standard precision is scheduled and estimated as well, not checked or
  // written. Without layer fusion, which takes most of the time to plan and only makes it faster:
  // it takes so many cycles at most. Beside the schedule of the other module, in a context of its
  // own. Nothing where it cannot be scheduled: of the program that is made, nothing is wrong.
  std::optional<int64_t> cyclesOfStandard(const isa::Isa &isa) const {
    try {
      toKernels(*standard_, isa);
      const Schedule plan =
          tilewright::schedule(*standard_, isa, {options_.buffering, false, nullptr});
      return estimateCycles(plan.stream, isa, timing::makeTimings(isa), plan.dramBytes);
    } catch (const UserError &) {
      return std::nullopt;
    }
  }

  // What the quantizer's module takes as a program. Nothing where the target has no kernels for it.
  std::optional<NetworkCycles> cyclesOf(mlir::ModuleOp module, const isa::Isa &isa,
                                        const isa::LoadOptions &target) const {
    try {
      toKernels(module, isa);
      const Program program =
          kernelToNpu(module, isa, target, {options_.buffering, options_.fusion, nullptr}).program;
      NetworkCycles found;
      found.total = *TimingEngine(isa).cycles(program);
      for (const LayerInfo &layer : program.layers)
        found.layers[layer.name] += layer.estimateCycles;
      return found;
    } catch (const UserError &) {
      return std::nullopt;
    }
  }

  void toKernels(mlir::ModuleOp module, const isa::Isa &isa) const {
    Phases silent(options_.model, nullptr, nullptr);
    silent.run(module, createIntegerDecomposePass());
    silent.run(module, createTosaToKernelPass());
    silent.run(module, createKernelFusePass(std::make_shared<Selection>(isa)));
  }

  void comparePrecisions(std::optional<int64_t> standardCycles, const Program &chosen) {
    if (!standardCycles)
      return;
    PrecisionCost &cost = result_.precisionCost.emplace();
    cost.standardCycles = *standardCycles;
    for (const LayerInfo &layer : chosen.layers)
      cost.chosenCycles += layer.estimateCycles;
  }

  void select(const isa::Isa &isa) {
    if (isFloat(*module_) && options_.from == Stage::Tosa)
      throw UserError({options_.model, 0, 0, ""},
                      "the module is float; --compile-from tosa goes on behind the quantizer",
                      "leave out --compile-from");
    if (isFloat(*module_))
      throw Unsupported(
          {options_.model, 0, 0, ""},
          "the model is float and --quantize none leaves it so; the target computes on integers",
          "leave --quantize at int8, or stop at --emit tosa");
    refusable([&] {
      phases_.run(*module_, createIntegerDecomposePass());
      phases_.run(*module_, createTosaToKernelPass());
      phases_.run(*module_, createKernelFusePass(std::make_shared<Selection>(isa)));
    });
  }

  NpuProgram schedule(const isa::Isa &isa, const isa::LoadOptions &target) {
    NpuProgram made = ofModel([&] {
      return options_.tune.trials > 0 ? tune(isa, target)
                                      : scheduled(*module_, isa, target, nullptr);
    });
    phases_.ended("npu", *module_, false);
    return made;
  }

  NpuProgram scheduled(mlir::ModuleOp module, const isa::Isa &isa, const isa::LoadOptions &target,
                       Tuner *tuner) {
    return kernelToNpu(module, isa, target, {options_.buffering, options_.fusion, tuner},
                       options_.times);
  }

  // Makes the program without and with tuned plans, and keeps the faster one: what a plan saves
  // alone it may cost the layers beside it.
  NpuProgram tune(const isa::Isa &isa, const isa::LoadOptions &target) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module_->clone();
    KernelCount count;
    NpuProgram untuned = scheduled(*copy, isa, target, &count);
    KernelTuner tuner(isa, options_.tune, count.count());
    NpuProgram tuned = scheduled(*module_, isa, target, &tuner);
    TuneResult &result = result_.tuning.emplace();
    result.kernels = tuner.kernels();
    result.untunedCycles = tuner.cycles(untuned.program);
    result.tunedCycles = tuner.cycles(tuned.program);
    for (const std::string &warning : tuner.warnings())
      result_.warnings.push_back(warning);
    if (result.tunedCycles < result.untunedCycles)
      return tuned;
    module_ = std::move(copy);
    return untuned;
  }

  // What `work` finds wrong is in the model's file, unless it names another.
  template <typename Work> auto ofModel(Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const Unsupported &error) {
      throw Unsupported(ofModel(error.location()), error.message(), error.fix());
    } catch (const UserError &error) {
      throw UserError(ofModel(error.location()), error.message(), error.fix());
    }
  }

  SourceLocation ofModel(SourceLocation location) const {
    if (location.file.empty())
      location.file = options_.model;
    return location;
  }

  // The same of a model that is right: what is wrong with a node is that it has no kernel.
  template <typename Work> auto refusable(Work work) -> decltype(work()) {
    try {
      return ofModel(work);
    } catch (const UserError &error) {
      if (error.location().subject.empty() || error.location().file != options_.model)
        throw;
      throw Unsupported(error.location(), error.message(), error.fix());
    }
  }

  // The memory plan, with its lower bounds where the schedule is known.
  void summarize(const Program &program, const isa::Isa &isa, const NpuProgram *plan) {
    auto use = [&](int64_t peak, isa::Space space, const MemoryPlan *plan) {
      std::string bound = plan ? fmt::format(" (lower bound {})", plan->lowerBoundBytes) : "";
      return fmt::format("{} of {} bytes{}", peak, isa.memory(space).bytes, bound);
    };
    const std::string tensors =
        plan ? fmt::format(", tensors in DRAM {} bytes (lower bound {})", plan->tensors.peakBytes,
                           plan->tensors.lowerBoundBytes)
             : "";
    result_.summary = fmt::format(
        "scratchpad {}, accumulators {}{}\n",
        use(program.scratchpadPeakBytes, isa::Space::Spad, plan ? &plan->scratchpad : nullptr),
        use(program.accumulatorPeakBytes, isa::Space::Acc, plan ? &plan->accumulators : nullptr),
        tensors);
    for (const auto &[index, layer] : llvm::enumerate(program.layers)) {
      if (isAbsorbed(layer)) {
        result_.plan += fmt::format("{} ({}): {}\n", escape(layer.name), escape(layer.op),
                                    escape(layer.plan, 400));
        continue;
      }
      const std::string traffic =
          plan ? fmt::format("; moves {} bytes of at least {}", plan->traffic[index].bytes,
                             plan->traffic[index].leastBytes)
               : "";
      result_.plan +=
          fmt::format("{} ({}): {}; estimate {} cycles{}\n", escape(layer.name), escape(layer.op),
                      escape(layer.plan, 400), layer.estimateCycles, traffic);
      if (layer.runnerUp)
        result_.plan +=
            fmt::format("  alone {} cycles; next best {}: {}\n", layer.runnerUp->chosenCycles,
                        layer.runnerUp->cycles, escape(layer.runnerUp->plan, 400));
    }
  }

  CompileResult write(npu::ProgramOp op, const Program &program, const isa::Isa &isa) {
    if (options_.to == Stage::Npu)
      return ended(printed(*module_, false));
    if (options_.to == Stage::Asm || phases_.isAsked()) {
      std::string assembly = assemblyText(op, isa);
      phases_.ended("program", assembly);
      if (options_.to == Stage::Asm)
        return ended(std::move(assembly));
    }
    // One by one, the operations are touched once; MLIR's destructors walk over all of them thrice.
    for (mlir::Operation &each : llvm::make_early_inc_range(llvm::reverse(op.getBody().front())))
      each.erase();
    std::string file = writeProgram(program, isa);
    phases_.ended("program");
    return ended(std::move(file));
  }

  CompileResult ended(std::string output) {
    result_.output = std::move(output);
    return std::move(result_);
  }

  const CompileOptions &options_;
  Phases phases_;
  std::optional<onnx::Model> model_; // until it is imported
  const CalibrationData *samples_ = nullptr;
  std::unique_ptr<mlir::MLIRContext> context_, standardContext_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::OwningOpRef<mlir::ModuleOp> standard_; // see cyclesOfStandard; mostly empty
  CompileResult result_;
};

} // namespace

CompileResult compileWhole(const CompileOptions &options) { return Compiler(options).compile(); }

CompileResult compilePart(const CompileOptions &options, onnx::Model model,
                          const CalibrationData *samples) {
  return Compiler(options, std::move(model), samples).compile();
}

CompileResult compile(const CompileOptions &options) {
  CompileResult result = compileInParts(options);
  if (options.times) // the compiler's memory is given back by now
    options.times->ended("release");
  return result;
}

} // namespace tilewright

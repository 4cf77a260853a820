#include "tilewright/compiler/driver.h"

#include "phases.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/compiler/graph.h"
#include "tilewright/compiler/kernel_dialect.h"
#include "tilewright/compiler/npu.h"
#include "tilewright/compiler/parse_module.h"
#include "tilewright/compiler/quantize.h"
#include "tilewright/compiler/select.h"
#include "tilewright/compiler/selection.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr int64_t randomSamples = 16;

bool isFloat(mlir::ModuleOp module) {
  bool found = false;
  module.walk([&](mlir::func::FuncOp function) {
    for (mlir::Type type :
         llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
      found |= llvm::isa<mlir::FloatType>(llvm::cast<mlir::ShapedType>(type).getElementType());
  });
  return found;
}

// One compilation: `compile` below calls the stages in order, each leaves its module in `module_`.
class Compiler {
public:
  explicit Compiler(const CompileOptions &options)
      : options_(options), phases_(options.model, options.dumpPhases),
        context_(mlir::MLIRContext::Threading::DISABLED) {}

  CompileResult compile() {
    if (options_.quantize != "int8" && options_.quantize != "none")
      throw UserError({}, "--quantize int16 is not available in this version",
                      "give --precision extended, which takes 16 bits where they count most");
    if (options_.from <= Stage::Kernel)
      return compileModel();
    return compileProgram();
  }

private:
  CompileResult compileModel() {
    isa::LoadOptions target{options_.target, options_.overlays, ""};
    isa::Isa isa = isa::load(target);
    context_.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect,
                         npu::NpuDialect>();
    if (options_.from < Stage::Kernel)
      import();
    else
      module_ = parseModule(options_.model, readFile(options_.model), context_, checkKernels);
    if (options_.from == Stage::Import) {
      if (options_.to == Stage::Import)
        return ended(printed(*module_));
      prepare();
    }
    if (options_.to <= Stage::Tosa)
      return ended(printed(*module_));
    if (options_.from < Stage::Kernel)
      select(isa);
    if (options_.explainSelection)
      explain(isa);
    if (options_.to == Stage::Kernel)
      return ended(printed(*module_));
    NpuProgram made = schedule(isa, target);
    summarize(made.program, isa, &made);
    return write(made.op, made.program, isa);
  }

  // MODEL is a program already: as a module, or as the file.
  CompileResult compileProgram() {
    context_.loadDialect<npu::NpuDialect>();
    std::string bytes = readFile(options_.model);
    std::optional<isa::Isa> isa;
    Program program;
    if (options_.from == Stage::Elf) {
      ProgramTarget target = readProgramTarget(options_.model, bytes);
      isa = isa::load({target.target, target.overlays, ""});
      program = readProgram(options_.model, bytes, *isa);
      module_ = toModule(program, *isa, context_);
    } else {
      module_ = parseModule(options_.model, bytes, context_, [&](mlir::ModuleOp module) {
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
    module_ = importModel(options_.model, {options_.shapes}, context_);
    phases_.ended("import", *module_);
  }

  // Folds the graph, and quantizes it where it is float.
  void prepare() {
    phases_.run(*module_, createGraphFoldPass());
    phases_.run(*module_, createGraphLayoutPass());
    phases_.run(*module_, createGraphFoldPass());
    if (!isFloat(*module_) || options_.quantize == "none")
      return;
    CalibrationData data;
    QuantizeOptions quantization = options_.quantization;
    if (options_.calibration.empty()) {
      if (quantization.precision == Precision::Automatic) // of which random samples tell nothing
        quantization.precision = Precision::Standard;
      data = randomCalibration(*module_, randomSamples, options_.seed);
      result_.warnings.push_back(
          "no --calibration given: ranges come from seeded random samples, expect poor accuracy");
    } else {
      data = readCalibration(options_.calibration);
    }
    module_ =
        ofModel([&] { return quantize(*module_, data, quantization, &result_.quantization); });
    phases_.ended("quantize", *module_);
  }

  void select(const isa::Isa &isa) {
    if (isFloat(*module_) && options_.from == Stage::Tosa)
      throw UserError({options_.model, 0, 0, ""},
                      "the module is float; --compile-from tosa goes on behind the quantizer",
                      "leave out --compile-from");
    if (isFloat(*module_))
      throw UserError(
          {options_.model, 0, 0, ""},
          "the model is float and --quantize none leaves it so; the target computes on integers",
          "leave --quantize at int8, or stop at --emit tosa");
    phases_.run(*module_, createTosaToKernelPass());
    phases_.run(*module_, createKernelFusePass(std::make_shared<Selection>(isa)));
  }

  void explain(const isa::Isa &isa) {
    Selection selection(isa);
    std::string text;
    module_->walk([&](kernel::GroupOp group) {
      const Layer layer = layerOf(group.getLoc());
      text += fmt::format("{} ({}):\n{}", escape(layer.name), escape(layer.op),
                          selection.explain(group));
    });
    for (const patterns::NoPattern &other : selection.patterns().others())
      text += fmt::format("{} serves no element-wise operator or reduction: {}\n",
                          other.instruction->name, other.reason);
    options_.explainSelection(text);
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
    return kernelToNpu(module, isa, target, {options_.buffering, options_.chains, tuner});
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
    } catch (const UserError &error) {
      Place place = error.place();
      if (place.file.empty())
        place.file = options_.model;
      throw UserError(place, error.message(), error.fix());
    }
  }

  // The memory plan, with its lower bounds where the schedule is known.
  void summarize(const Program &program, const isa::Isa &isa, const NpuProgram *plan) {
    auto use = [&](int64_t peak, isa::Space space, const MemoryPlan *plan) {
      std::string bound = plan ? fmt::format(" (lower bound {})", plan->lowerBoundBytes) : "";
      return fmt::format("{} of {} bytes{}", peak, isa.memory(space).bytes, bound);
    };
    result_.summary = fmt::format(
        "scratchpad {}, accumulators {}\n",
        use(program.scratchpadPeakBytes, isa::Space::Spad, plan ? &plan->scratchpad : nullptr),
        use(program.accumulatorPeakBytes, isa::Space::Acc, plan ? &plan->accumulators : nullptr));
    for (const LayerInfo &layer : program.layers) {
      result_.plan += fmt::format("{} ({}): {}; estimate {} cycles\n", escape(layer.name),
                                  escape(layer.op), escape(layer.plan, 400), layer.estimateCycles);
      if (layer.runnerUp)
        result_.plan +=
            fmt::format("  alone {} cycles; next best {}: {}\n", layer.runnerUp->chosenCycles,
                        layer.runnerUp->cycles, escape(layer.runnerUp->plan, 400));
    }
  }

  CompileResult write(npu::ProgramOp op, const Program &program, const isa::Isa &isa) {
    if (options_.to == Stage::Npu)
      return ended(printed(*module_, false));
    if (options_.to == Stage::Asm || phases_.isWriting()) {
      std::string assembly = assemblyText(op, isa);
      phases_.ended("program", assembly);
      if (options_.to == Stage::Asm)
        return ended(std::move(assembly));
    }
    // One by one, the operations are touched once; MLIR's destructors walk over all of them thrice.
    for (mlir::Operation &each : llvm::make_early_inc_range(llvm::reverse(op.getBody().front())))
      each.erase();
    return ended(writeProgram(program, isa));
  }

  CompileResult ended(std::string output) {
    result_.output = std::move(output);
    return std::move(result_);
  }

  const CompileOptions &options_;
  Phases phases_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  CompileResult result_;
};

} // namespace

CompileResult compile(const CompileOptions &options) { return Compiler(options).compile(); }

} // namespace tilewright

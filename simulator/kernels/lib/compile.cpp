#include "compile.h"

#include "check_emitter.h"
#include "step_emitter.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <stdexcept>

namespace tilewright::kernels {

namespace {

template <typename T> T expect(llvm::Expected<T> value, const char *what) {
  if (!value)
    throw std::runtime_error(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

PairProducts pairProducts(const llvm::TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return PairProducts::None;
  // The features of a CPU by name are in its subtarget alone.
  const auto *subtarget = machine.getMCSubtargetInfo();
  return subtarget->checkFeatures("+avx512bw") ? PairProducts::Avx512
         : subtarget->checkFeatures("+avx2")   ? PairProducts::Avx2
                                               : PairProducts::None;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  // The loops are already in their final shape: registers for slots, common values once, constants
  // out of loops.
  llvm::cantFail(builder.parsePassPipeline(
      passes, "function(mem2reg,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
              "loop-mssa(licm),early-cse,adce)"));
  passes.run(module, modules);
}

} // namespace

std::string runSymbol(const std::string &key) { return "tilewright_run_" + key; }
std::string checkSymbol(const std::string &key) { return "tilewright_check_" + key; }

llvm::orc::JITTargetMachineBuilder kernelMachine() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  static_cast<void>(initialized);
  auto machine =
      expect(llvm::orc::JITTargetMachineBuilder::detectHost(), "cannot detect this processor");
  if (const char *cpu = std::getenv("TILEWRIGHT_KERNEL_CPU"); cpu && *cpu) {
    machine.setCPU(cpu);
    machine.getFeatures() = llvm::SubtargetFeatures();
  }
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  return machine;
}

Compiler::Compiler(llvm::orc::JITTargetMachineBuilder machine)
    : machine_(expect(machine.createTargetMachine(), "cannot create a code generator")) {}

std::string Compiler::compile(const isa::Isa &isa, const isa::Instruction &instruction,
                              const std::string &key) {
  llvm::LLVMContext context;
  llvm::Module module(instruction.name, context);
  module.setTargetTriple(machine_->getTargetTriple());
  module.setDataLayout(machine_->createDataLayout());
  {
    KernelFunction run(module, runSymbol(key), isa, instruction, false);
    for (const auto &step : instruction.steps)
      emitStep(run, step, pairProducts(*machine_));
    run.finish();
    KernelFunction check(module, checkSymbol(key), isa, instruction, true);
    emitCheck(check);
  }
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems))
    throw std::runtime_error("kernel of '" + instruction.name + "' is malformed: " + problem);
  optimize(module, *machine_);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emission;
  llvm::MCContext *machineCode = nullptr;
  if (machine_->addPassesToEmitMC(emission, machineCode, stream))
    throw std::runtime_error("this processor's code generator emits no object files");
  emission.run(module);
  return std::string(object.data(), object.size());
}

} // namespace tilewright::kernels

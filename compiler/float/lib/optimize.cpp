#include "optimize.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace tilewright::float_kernels {

std::unique_ptr<llvm::TargetMachine> hostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return llvm::cantFail(builder.createTargetMachine());
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(
      passes,
      "function(simplifycfg,early-cse,loop-mssa(loop-rotate,licm),indvars,loop-vectorize,early-cse,"
      "instcombine,loop-mssa(licm),simplifycfg)"));
  passes.run(module, modules);
}

} // namespace tilewright::float_kernels

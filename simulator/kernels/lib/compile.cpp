#include "compile.h"

#include "check_emitter.h"
#include "step_emitter.h"

#include "tilewright/support/object_code.h"

#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <stdexcept>

namespace tilewright::kernels {

namespace {

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
  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  // The loops are already in their final shape: registers for slots, common values once, constants
  // out of loops.
  llvm::cantFail(builder.parsePassPipeline(
      passes, "function(mem2reg,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
              "loop-mssa(licm),early-cse,adce)"));
  passes.run(module, analyses.modules);
}

} // namespace

std::string runSymbol(const std::string &key) { return "tilewright_run_" + key; }
std::string checkSymbol(const std::string &key) { return "tilewright_check_" + key; }

llvm::orc::JITTargetMachineBuilder kernelMachine() {
  auto machine = hostMachine();
  if (const char *cpu = std::getenv("TILEWRIGHT_KERNEL_CPU"); cpu && *cpu) {
    machine.setCPU(cpu);
    machine.getFeatures() = llvm::SubtargetFeatures();
  }
  return machine;
}

Compiler::Compiler(llvm::orc::JITTargetMachineBuilder machine)
    : machine_(codeGenerator(std::move(machine))) {}

std::string Compiler::compile(const isa::Isa &isa, const isa::Instruction &instruction,
                              const std::string &key) {
  llvm::LLVMContext context;
  llvm::Module module(instruction.name, context);
  setTarget(module, *machine_);
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
  return emitObject(module, *machine_);
}

} // namespace tilewright::kernels

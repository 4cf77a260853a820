// Machine code for this host: from an LLVM module to an object file. For libraries that are built
// as LLVM is, without RTTI.
#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace tilewright {

// This machine's processor. The code generator optimizes little: the passes before it do.
// Throws std::runtime_error when LLVM does not know the processor.
llvm::orc::JITTargetMachineBuilder hostMachine();

// Throws std::runtime_error when LLVM has no code generator for the processor.
std::unique_ptr<llvm::TargetMachine> codeGenerator(llvm::orc::JITTargetMachineBuilder machine);

// Makes the module one for the machine; to be done before its passes run.
void setTarget(llvm::Module &module, const llvm::TargetMachine &machine);

// The analyses that LLVM's passes ask for, each registered with `builder`, which has to live as
// long.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &builder);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

// The bytes of an object file of the module, whose target is the machine. The code generator
// changes the module. Throws std::runtime_error when it emits no objects.
std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tilewright

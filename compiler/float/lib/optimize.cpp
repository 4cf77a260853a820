#include "optimize.h"

#include "float_version.h"
#include "tilewright/support/object_code.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <stdexcept>

namespace tilewright::float_kernels {

namespace {

constexpr const char *scalarPipeline =
    "simplifycfg,early-cse,loop-mssa(loop-rotate,licm),indvars,loop-vectorize,early-cse,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg";
// Of kernels in register blocks: what counts in them is vectors already, and looking for more in
// the loops around them takes a quarter of LLVM's time.
constexpr const char *vectorPipeline = "simplifycfg,early-cse,loop-mssa(loop-rotate,licm),"
                                       "instcombine<no-verify-fixpoint>,simplifycfg";

bool hasVectors(const llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction &instruction) {
    return instruction.getType()->isVectorTy();
  });
}

// A function of one argument, an array of pointers, for each kernel of many.
void addEntries(llvm::Module &module) {
  std::vector<llvm::Function *> kernels;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      kernels.push_back(&function);
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy();
  for (llvm::Function *kernel : kernels) {
    kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer}, false);
    auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                         entryOf(kernel->getName()), module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", entry));
    std::vector<llvm::Value *> buffers;
    for (unsigned i = 0; i < kernel->arg_size(); ++i)
      buffers.push_back(builder.CreateLoad(
          pointer, builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), i)));
    builder.CreateCall(kernel, buffers);
    builder.CreateRetVoid();
  }
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  Analyses analyses(builder);
  llvm::FunctionPassManager ofScalars, ofVectors;
  llvm::cantFail(builder.parsePassPipeline(ofScalars, scalarPipeline));
  llvm::cantFail(builder.parsePassPipeline(ofVectors, vectorPipeline));
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      (hasVectors(function) ? ofVectors : ofScalars).run(function, analyses.functions);
}

} // namespace

BlockShape hostBlocks() {
  // 32 registers of 16 floats, or 16 of 8; some are left to what sums are made of.
  std::string features = hostMachine().getFeatures().getString();
  return features.find("+avx512f") != std::string::npos ? BlockShape{16, 2, 8}
                                                        : BlockShape{8, 2, 6};
}

std::string entryOf(llvm::StringRef kernel) { return "tilewright_float_" + kernel.str(); }

std::string codeVersion() {
  auto machine = hostMachine();
  return std::string(floatVersion) + "\n" + LLVM_VERSION_STRING + "\n" + machine.getCPU() + "\n" +
         machine.getFeatures().getString() + "\n";
}

Translation::Translation(mlir::ModuleOp kernels)
    : context_(std::make_unique<llvm::LLVMContext>()),
      module_(mlir::translateModuleToLLVMIR(kernels, *context_, "kernels",
                                            /*disableVerification=*/true)) {
  if (!module_)
    throw std::runtime_error("cannot translate kernels to LLVM");
}

std::string Translation::compile() {
  auto machine = codeGenerator(hostMachine());
  setTarget(*module_, *machine);
  addEntries(*module_);
  optimize(*module_, *machine);
  return emitObject(*module_, *machine);
}

} // namespace tilewright::float_kernels

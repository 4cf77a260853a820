#include "tilewright/support/object_code.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

namespace tilewright {

namespace {

template <typename T> T expect(llvm::Expected<T> value, const char *what) {
  if (!value)
    throw std::runtime_error(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace

llvm::orc::JITTargetMachineBuilder hostMachine() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  static_cast<void>(initialized);
  auto machine =
      expect(llvm::orc::JITTargetMachineBuilder::detectHost(), "cannot detect this processor");
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  return machine;
}

std::unique_ptr<llvm::TargetMachine> codeGenerator(llvm::orc::JITTargetMachineBuilder machine) {
  return expect(machine.createTargetMachine(), "cannot create a code generator");
}

void setTarget(llvm::Module &module, const llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

Analyses::Analyses(llvm::PassBuilder &builder) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emission;
  llvm::MCContext *machineCode = nullptr;
  if (machine.addPassesToEmitMC(emission, machineCode, stream))
    throw std::runtime_error("this processor's code generator emits no object files");
  emission.run(module);
  return std::string(object.data(), object.size());
}

} // namespace tilewright

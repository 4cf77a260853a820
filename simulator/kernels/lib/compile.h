// From an instruction's semantics to native code: IR, a short optimization pipeline, an object
// file.
#pragma once

#include "tilewright/isa/isa.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace tilewright::kernels {

// Symbols of a kernel's two functions.
std::string runSymbol(const std::string &key);
std::string checkSymbol(const std::string &key);

// The processor the code is for: this one, or the one that TILEWRIGHT_KERNEL_CPU names (tests of
// other instruction sets).
llvm::orc::JITTargetMachineBuilder kernelMachine();

class Compiler {
public:
  explicit Compiler(llvm::orc::JITTargetMachineBuilder machine);

  // The bytes of an object file with the symbols of `key`.
  std::string compile(const isa::Isa &isa, const isa::Instruction &instruction,
                      const std::string &key);

private:
  std::unique_ptr<llvm::TargetMachine> machine_;
};

} // namespace tilewright::kernels

// Instructions as npu.inst, and back to decoded instructions of the ISA.
#pragma once

#include "tilewright/compiler/emit/npu_dialect.h"
#include "tilewright/isa/isa.h"

#include "mlir/IR/Block.h"

#include <vector>

namespace tilewright::npu {

// Each instruction's mnemonic and operand names as attributes, made when they are first needed:
// comparing them then is comparing pointers.
class InstructionNames {
public:
  InstructionNames(const isa::Isa &isa, mlir::MLIRContext *context);

  struct Names {
    mlir::StringAttr mnemonic;
    mlir::ArrayAttr operands; // in the ISA's order
  };
  const Names &of(const isa::Instruction &instruction);
  // Null when the ISA has no such instruction.
  const isa::Instruction *find(mlir::StringAttr mnemonic);
  const isa::Isa &isa() const { return isa_; }
  mlir::OperationName inst() const { return inst_; }

private:
  const isa::Isa &isa_;
  mlir::MLIRContext *context_;
  mlir::OperationName inst_; // npu.inst
  std::vector<Names> names_; // by instruction
  llvm::DenseMap<mlir::StringAttr, const isa::Instruction *> found_;
};

// At the end of `block`.
void appendInst(mlir::Block &block, mlir::Location location, InstructionNames &names,
                const isa::DecodedInstruction &decoded, int layer);

// What an instruction says, decoded: its mnemonic and operand names are the ISA's, each operand
// stands once, and only addresses have base registers. One diagnostic otherwise. Ranges and
// `require`s are Isa::encode's.
mlir::LogicalResult readInst(InstOp op, InstructionNames &names, isa::DecodedInstruction &decoded);

} // namespace tilewright::npu

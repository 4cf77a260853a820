// The LLVM function of one kernel while it is being built: its arguments, read once in the entry
// block.
//
//   void run(uint8_t **memories, const int64_t *values, const int64_t *addresses, const int64_t
//   *registers, uint8_t **arrays)
//
//   int64_t check(const int64_t *memoryBytes, and the same)
//
// memories and memoryBytes by isa::Space, values and addresses by operand index, registers and
// arrays by their index in the instruction's unit.
#pragma once

#include "tilewright/isa/isa.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>

namespace tilewright::kernels {

// Bits of the integer that holds a value of `type`, and of an element of a state array.
int storageBits(const isa::Type &type);

class KernelFunction {
public:
  KernelFunction(llvm::Module &module, const std::string &symbol, const isa::Isa &isa,
                 const isa::Instruction &instruction, bool returnsValue);

  const isa::Isa &isa;
  const isa::Instruction &instruction;
  const isa::Unit &unit;
  llvm::IRBuilder<> builder; // stands in the body
  llvm::Function *function;

  // All are i64 or pointers, computed in the entry block.
  llvm::Value *immediate(int operand);
  llvm::Value *address(int operand); // in the memory's address units
  llvm::Value *byteAddress(int operand);
  llvm::Value *registerValue(int index);
  llvm::Value *operandPointer(int operand); // the element of index 0
  llvm::Value *arrayPointer(int array);
  llvm::Value *memory(isa::Space space);
  llvm::Value *memoryBytes(isa::Space space); // of a check, whose first argument holds sizes

  // A stack slot that lives as long as the call.
  llvm::AllocaInst *slot(llvm::Type *type, const char *name);

  // for (i = begin; i < end; i += step) body(i), all i64.
  void loop(llvm::Value *begin, llvm::Value *end, int64_t step,
            const std::function<void(llvm::Value *)> &body);
  // if (condition) body()
  void branch(llvm::Value *condition, const std::function<void()> &body);
  void branch(llvm::Value *condition, const std::function<void()> &then,
              const std::function<void()> &otherwise);
  void finish(llvm::Value *result = nullptr);

  llvm::Value *constant(int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); }

private:
  llvm::Value *argumentElement(unsigned argument, int index, llvm::Type *type);
  llvm::IRBuilder<> entry_;
  std::map<std::pair<unsigned, int>, llvm::Value *> elements_;
  std::map<int, llvm::Value *> operandPointers_;
};

} // namespace tilewright::kernels

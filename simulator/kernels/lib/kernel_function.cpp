#include "kernel_function.h"

namespace tilewright::kernels {

using llvm::BasicBlock;
using llvm::Value;

namespace {
enum Argument : unsigned { Memories, Values, Addresses, Registers, Arrays };

llvm::Function *declare(llvm::Module &module, const std::string &symbol, bool returnsValue) {
  auto &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *result = returnsValue ? llvm::Type::getInt64Ty(context) : llvm::Type::getVoidTy(context);
  auto *type =
      llvm::FunctionType::get(result, {pointer, pointer, pointer, pointer, pointer}, false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  function->setDoesNotThrow();
  // Explicit vectors are as wide as the machine's; without this, processors that lower their clock
  // for them get halves.
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr("min-legal-vector-width", "512");
  BasicBlock::Create(context, "entry", function);
  return function;
}
} // namespace

int storageBits(const isa::Type &type) {
  return type.bits <= 8 ? 8 : type.bits <= 16 ? 16 : type.bits <= 32 ? 32 : 64;
}

KernelFunction::KernelFunction(llvm::Module &module, const std::string &symbol, const isa::Isa &isa,
                               const isa::Instruction &instruction, bool returnsValue)
    : isa(isa), instruction(instruction), unit(isa.units()[static_cast<size_t>(instruction.unit)]),
      builder(module.getContext()), function(declare(module, symbol, returnsValue)),
      entry_(module.getContext()) {
  auto *body = BasicBlock::Create(module.getContext(), "body", function);
  entry_.SetInsertPoint(&function->getEntryBlock());
  entry_.SetInsertPoint(entry_.CreateBr(body));
  builder.SetInsertPoint(body);
}

Value *KernelFunction::argumentElement(unsigned argument, int index, llvm::Type *type) {
  Value *&element = elements_[{argument, index}];
  if (!element) {
    Value *place = entry_.CreateConstGEP1_64(entry_.getInt64Ty(), function->getArg(argument),
                                             static_cast<uint64_t>(index));
    element = entry_.CreateLoad(type, place);
  }
  return element;
}

Value *KernelFunction::immediate(int operand) {
  return argumentElement(Values, operand, entry_.getInt64Ty());
}
Value *KernelFunction::address(int operand) {
  return argumentElement(Addresses, operand, entry_.getInt64Ty());
}
Value *KernelFunction::registerValue(int index) {
  return argumentElement(Registers, index, entry_.getInt64Ty());
}
Value *KernelFunction::arrayPointer(int array) {
  return argumentElement(Arrays, array, entry_.getPtrTy());
}
Value *KernelFunction::memory(isa::Space space) {
  return argumentElement(Memories, static_cast<int>(space), entry_.getPtrTy());
}

Value *KernelFunction::memoryBytes(isa::Space space) {
  return argumentElement(Memories, static_cast<int>(space), entry_.getInt64Ty());
}

Value *KernelFunction::byteAddress(int operand) {
  auto space = instruction.operands[static_cast<size_t>(operand)].space;
  return entry_.CreateMul(address(operand),
                          entry_.getInt64(static_cast<uint64_t>(isa.memory(space).addressBytes)));
}

Value *KernelFunction::operandPointer(int operand) {
  Value *&pointer = operandPointers_[operand];
  if (!pointer) {
    auto space = instruction.operands[static_cast<size_t>(operand)].space;
    pointer = entry_.CreateGEP(entry_.getInt8Ty(), memory(space), byteAddress(operand));
  }
  return pointer;
}

llvm::AllocaInst *KernelFunction::slot(llvm::Type *type, const char *name) {
  auto *slot = entry_.CreateAlloca(type, nullptr, name);
  slot->setAlignment(llvm::Align(64));
  return slot;
}

void KernelFunction::loop(Value *begin, Value *end, int64_t step,
                          const std::function<void(Value *)> &body) {
  auto &context = builder.getContext();
  auto *before = builder.GetInsertBlock();
  auto *head = BasicBlock::Create(context, "loop", function);
  auto *exit = BasicBlock::Create(context, "done", function);
  builder.CreateCondBr(builder.CreateICmpSLT(begin, end), head, exit);
  builder.SetInsertPoint(head);
  auto *index = builder.CreatePHI(builder.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  Value *next = builder.CreateAdd(index, constant(step));
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpSLT(next, end), head, exit);
  builder.SetInsertPoint(exit);
}

void KernelFunction::branch(Value *condition, const std::function<void()> &body) {
  branch(condition, body, [] {});
}

void KernelFunction::branch(Value *condition, const std::function<void()> &then,
                            const std::function<void()> &otherwise) {
  auto &context = builder.getContext();
  auto *yes = BasicBlock::Create(context, "then", function);
  auto *no = BasicBlock::Create(context, "else", function);
  auto *join = BasicBlock::Create(context, "join", function);
  builder.CreateCondBr(condition, yes, no);
  builder.SetInsertPoint(yes);
  then();
  builder.CreateBr(join);
  builder.SetInsertPoint(no);
  otherwise();
  builder.CreateBr(join);
  builder.SetInsertPoint(join);
}

void KernelFunction::finish(Value *result) {
  if (result)
    builder.CreateRet(result);
  else
    builder.CreateRetVoid();
}

} // namespace tilewright::kernels

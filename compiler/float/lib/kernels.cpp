#include "kernels.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilewright::float_kernels {

namespace {

// Whether the lowering of `user` looks into this constant, or gains much by it.
bool belongsIntoKernel(Operation *constant, Operation *user) {
  if (isa<tosa::ConstShapeOp>(constant))
    return true;
  auto type = cast<ShapedType>(constant->getResult(0).getType());
  return type.getNumElements() == 1 || isa<tosa::RescaleOp>(user);
}

// What `op` reads: its operands and what its regions use from outside, each once.
llvm::SetVector<Value> inputsOf(Operation *op) {
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, inputs);
  return inputs;
}

MemRefType bufferType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

class Splitter {
public:
  explicit Splitter(func::FuncOp main) : main_(main), builder_(main.getContext()) {}

  KernelProgram run() {
    program_.module = ModuleOp::create(builder_.getUnknownLoc());
    for (Operation &op : main_.getBody().front().without_terminator()) {
      if (op.hasTrait<OpTrait::ConstantLike>())
        continue;
      if (isa<tosa::ReshapeOp, tosa::IdentityOp>(op))
        for (OpResult result : op.getResults())
          program_.calls.push_back({"", {op.getOperand(result.getResultNumber())}, {result}});
      else
        addCall(&op);
    }
    return std::move(program_);
  }

private:
  void addCall(Operation *op) {
    KernelCall call;
    std::vector<Operation *> constants;
    for (Value input : inputsOf(op)) {
      Operation *source = input.getDefiningOp();
      if (source && source->hasTrait<OpTrait::ConstantLike>() && belongsIntoKernel(source, op))
        constants.push_back(source);
      else
        call.operands.push_back(input);
    }
    call.results.assign(op->result_begin(), op->result_end());
    call.kernel = kernelFor(op, constants, call);
    program_.calls.push_back(std::move(call));
  }

  // The name of the kernel for `op`; an equal one that exists already is taken.
  std::string kernelFor(Operation *op, const std::vector<Operation *> &constants,
                        const KernelCall &call) {
    SmallVector<Type> arguments;
    for (Value value : call.operands)
      arguments.push_back(bufferType(value));
    for (Value value : call.results)
      arguments.push_back(bufferType(value));
    builder_.setInsertionPointToEnd(program_.module->getBody());
    auto kernel =
        func::FuncOp::create(builder_, op->getLoc(), "k", builder_.getFunctionType(arguments, {}));
    builder_.setInsertionPointToStart(kernel.addEntryBlock());

    IRMapping mapping;
    for (Operation *constant : constants)
      builder_.clone(*constant, mapping);
    for (auto [value, argument] : llvm::zip(call.operands, kernel.getArguments()))
      mapping.map(value, bufferization::ToTensorOp::create(builder_, op->getLoc(), value.getType(),
                                                           argument,
                                                           /*restrict=*/true, /*writable=*/false));
    Operation *clone = builder_.clone(*op, mapping);
    for (auto [result, argument] :
         llvm::zip(clone->getResults(), kernel.getArguments().drop_front(call.operands.size())))
      bufferization::MaterializeInDestinationOp::create(builder_, op->getLoc(), Type(), result,
                                                        argument,
                                                        /*restrict=*/true, /*writable=*/true);
    func::ReturnOp::create(builder_, op->getLoc());

    // Buffers never overlap: LLVM need not check before it vectorizes.
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder_.getUnitAttr());

    std::string text;
    llvm::raw_string_ostream stream(text);
    kernel.print(stream, OpPrintingFlags().useLocalScope());
    auto [entry, isNew] = names_.try_emplace(text, "k" + std::to_string(names_.size()));
    if (isNew) {
      kernel.setSymName(entry->second);
      program_.kernels.push_back({kernel, std::move(text)});
    } else {
      kernel.erase();
    }
    return entry->second;
  }

  func::FuncOp main_;
  OpBuilder builder_;
  KernelProgram program_;
  llvm::StringMap<std::string> names_; // the kernel's text -> its name
};

} // namespace

KernelProgram splitIntoKernels(func::FuncOp main) { return Splitter(main).run(); }

} // namespace tilewright::float_kernels

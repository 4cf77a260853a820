#include "lower.h"

#include "loops.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright::float_kernels {

void registerLowering(MLIRContext &context) {
  DialectRegistry registry;
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<bufferization::BufferizationDialect, func::FuncDialect, linalg::LinalgDialect,
                      LLVM::LLVMDialect, memref::MemRefDialect, tensor::TensorDialect,
                      tosa::TosaDialect, vector::VectorDialect>();
}

// TOSA to linalg on tensors, with the plain arithmetic around it.
static void addTosaLowering(OpPassManager &pm) {
  // Transposed convolutions have no lowering of their own.
  pm.addPass(tosa::createTosaOptionalDecompositionsPass());
  pm.addPass(tosa::createTosaMakeBroadcastablePass());
  // Weights as they are: blocks of them are put in order when they are read (register_blocks.h).
  TosaToLinalgNamedOptions named;
  named.preferConv2DKernelLayoutHWCF = false;
  pm.addPass(tosa::createTosaToLinalgNamed(named));
  pm.addPass(tosa::createTosaToLinalg());
  pm.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  pm.addPass(createTosaToArithPass(arith));
  pm.addPass(createTosaToSCFPass());
}

// linalg to branches, on buffers.
static void addLoopLowering(OpPassManager &pm, const BlockShape &blocks) {
  pm.addPass(createBufferizeKernelPass());
  pm.addPass(createLoopsPass(blocks));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
}

static void addLlvmLowering(OpPassManager &pm) {
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions func;
  func.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(func));
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

// The first operator of TOSA that is left, or nothing.
static Operation *leftover(func::FuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    if (!found && isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) &&
        !op->hasTrait<OpTrait::ConstantLike>())
      found = op;
  });
  return found;
}

std::optional<LoweringFailure> lowerToLlvm(ModuleOp kernels, const BlockShape &blocks) {
  MLIRContext *context = kernels.getContext();
  std::string reason;
  std::optional<Location> place;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !place) {
      reason = diagnostic.str();
      place = diagnostic.getLocation();
    }
    return success();
  });

  // Kernel by kernel rather than nested in a module's pass manager, which would take several at a
  // time: MLIR 22's lowerings of integer operators then yield wrong code now and then.
  PassManager toLinalg(context, func::FuncOp::getOperationName()),
      toLoops(context, func::FuncOp::getOperationName());
  toLinalg.enableVerifier(false);
  toLoops.enableVerifier(false);
  addTosaLowering(toLinalg);
  addLoopLowering(toLoops, blocks);
  for (auto kernel : kernels.getOps<func::FuncOp>()) {
    bool done = succeeded(toLinalg.run(kernel));
    if (Operation *op = leftover(kernel))
      return LoweringFailure{op->getLoc(), op->getName().getStringRef().str(), reason};
    if (!done || failed(toLoops.run(kernel)))
      return LoweringFailure{place.value_or(kernel.getLoc()), "", reason};
  }
  PassManager toLlvm(context);
  toLlvm.enableVerifier(false);
  addLlvmLowering(toLlvm);
  if (failed(toLlvm.run(kernels)))
    return LoweringFailure{place.value_or(kernels.getLoc()), "", reason};
  return std::nullopt;
}

} // namespace tilewright::float_kernels

// The npu stage's functions as passes, for tilewright-opt.
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/select/select.h"
#include "tilewright/support/error.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright {

namespace {

class KernelToNpu : public PassWrapper<KernelToNpu, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelToNpu)
  KernelToNpu() = default;
  KernelToNpu(const KernelToNpu &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kernel-to-npu"; }
  StringRef getDescription() const override {
    return "Schedule fused kernels on a target: the program, instruction by instruction";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<npu::NpuDialect>();
  }

  void runOnOperation() override {
    if (failed(checkKernels(getOperation())))
      return signalPassFailure();
    isa::LoadOptions load;
    load.target = target_;
    load.overlays.assign(overlays_.begin(), overlays_.end());
    // Nothing may be thrown through the pass manager.
    try {
      kernelToNpu(getOperation(), isa::load(load), load, {buffering_, fusion_});
    } catch (const UserError &error) {
      std::string place = error.location().str();
      getOperation().emitError() << place << (place.empty() ? "" : ": ") << error.message();
      signalPassFailure();
    } catch (const std::exception &error) {
      getOperation().emitError() << "internal error: " << error.what();
      signalPassFailure();
    }
  }

private:
  Option<std::string> target_{*this, "target", llvm::cl::init("edge16"),
                              llvm::cl::desc("Name or file of the target description")};
  ListOption<std::string> overlays_{*this, "what-if",
                                    llvm::cl::desc("Overlay files on the description")};
  Option<Buffering> buffering_{
      *this, "buffering", llvm::cl::init(Buffering::Double),
      llvm::cl::desc("How far loads run ahead of the steps that need them"),
      llvm::cl::values(clEnumValN(Buffering::None, "none", "a fence after every step"),
                       clEnumValN(Buffering::Single, "single", "not beyond their own step"),
                       clEnumValN(Buffering::Double, "double", "to the step before"))};
  Option<bool> fusion_{
      *this, "fusion", llvm::cl::init(true),
      llvm::cl::desc("Let layers hand tensors on without DRAM; with double buffering alone")};
};

class NpuCheckPass : public PassWrapper<NpuCheckPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NpuCheckPass)
  StringRef getArgument() const override { return "npu-check"; }
  StringRef getDescription() const override {
    return "Check a program against its target's ISA, and its synchronization";
  }

  void runOnOperation() override {
    npu::ProgramOp op = programOf(getOperation());
    std::optional<isa::Isa> isa = op ? isaOf(op) : std::nullopt;
    if (!isa || failed(toProgram(op, *isa)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createKernelToNpuPass() { return std::make_unique<KernelToNpu>(); }

std::unique_ptr<Pass> createNpuCheckPass() { return std::make_unique<NpuCheckPass>(); }

void registerNpuPasses() {
  registerPass(createKernelToNpuPass);
  registerPass(createNpuCheckPass);
}

} // namespace tilewright

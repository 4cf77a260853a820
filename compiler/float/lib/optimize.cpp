#include "optimize.h"

#include "tilewright/simulator/object_cache.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <future>
#include <mutex>
#include <stdexcept>

namespace tilewright::float_kernels {

namespace {

template <typename T> T expect(llvm::Expected<T> value, const char *what) {
  if (!value)
    throw std::runtime_error(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

constexpr const char *pipeline =
    "function(simplifycfg,early-cse,loop-mssa(loop-rotate,licm),indvars,loop-vectorize,early-cse,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";

struct Part {
  // The context outlives the module.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

// Definitions in turn, declarations to all. MLIR's context may not be used by two threads at a
// time, so this is done before they start.
std::vector<Part> translate(mlir::ModuleOp kernels, unsigned count) {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  for (unsigned i = 0; i < count; ++i) {
    modules.push_back(mlir::ModuleOp::create(kernels.getLoc()));
    modules.back()->getOperation()->setAttrs(kernels->getAttrs());
  }
  size_t next = 0;
  for (mlir::Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
    auto function = llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(op);
    if (function && !function.isExternal()) {
      op.moveBefore(modules[next]->getBody(), modules[next]->getBody()->end());
      next = (next + 1) % count;
    } else {
      for (auto &module : modules)
        module->getBody()->push_back(op.clone());
    }
  }
  std::vector<Part> parts(count);
  for (auto [module, part] : llvm::zip(modules, parts)) {
    part.module = mlir::translateModuleToLLVMIR(*module, *part.context, "kernels",
                                                /*disableVerification=*/true);
    if (!part.module)
      throw std::runtime_error("cannot translate kernels to LLVM");
  }
  return parts;
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
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

// What the object code depends on.
std::string keyOf(const llvm::Module &module, const llvm::TargetMachine &machine) {
  std::string content = std::string("1\n") + pipeline + "\n" + LLVM_VERSION_STRING + "\n" +
                        machine.getTargetCPU().str() + "\n" +
                        machine.getTargetFeatureString().str() + "\n" +
                        std::to_string(static_cast<int>(machine.getOptLevel())) + "\n";
  llvm::raw_string_ostream stream(content);
  llvm::WriteBitcodeToFile(module, stream);
  return kernels::contentHash(content);
}

std::string compile(llvm::Module &module) {
  auto machine = expect(hostMachine().createTargetMachine(), "cannot create a code generator");
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  addEntries(module);
  const auto cache = kernels::ObjectCache::inCacheHome("float");
  const std::string key = keyOf(module, *machine);
  if (auto known = cache.load(key))
    return *known;
  optimize(module, *machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emission;
  llvm::MCContext *machineCode = nullptr;
  if (machine->addPassesToEmitMC(emission, machineCode, stream))
    throw std::runtime_error("this processor's code generator emits no object files");
  emission.run(module);
  std::string made(object.data(), object.size());
  cache.store(key, made);
  return made;
}

} // namespace

llvm::orc::JITTargetMachineBuilder hostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto machine =
      expect(llvm::orc::JITTargetMachineBuilder::detectHost(), "cannot detect this processor");
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  return machine;
}

std::string entryOf(llvm::StringRef kernel) { return "tilewright_float_" + kernel.str(); }

std::vector<std::string> compileToObjects(mlir::ModuleOp kernels, unsigned threads) {
  std::vector<Part> parts = translate(kernels, threads);
  std::vector<std::future<std::string>> pending;
  for (Part &part : parts)
    pending.push_back(std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                                 [&part] { return compile(*part.module); }));
  for (std::future<std::string> &object : pending)
    object.wait(); // all of them, before one that failed destroys the modules
  std::vector<std::string> objects;
  for (std::future<std::string> &object : pending)
    objects.push_back(object.get());
  return objects;
}

} // namespace tilewright::float_kernels

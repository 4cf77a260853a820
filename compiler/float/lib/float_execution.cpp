#include "tilewright/compiler/float_execution.h"

#include "constants.h"
#include "kernels.h"
#include "lower.h"
#include "optimize.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <future>
#include <thread>

using namespace mlir;

namespace tilewright {

using namespace float_kernels;

namespace {

[[noreturn]] void throwUnsupported(Location location, const std::string &op,
                                   const std::string &reason) {
  Layer layer = layerOf(location);
  Place place;
  if (!layer.name.empty())
    place.subject = fmt::format("node '{}' ({})", escape(layer.name), escape(layer.op));
  throw UserError(place, fmt::format("cannot be run in floating point: {} has no lowering{}",
                                     op.empty() ? "an operator" : op,
                                     reason.empty() ? "" : ": " + escape(reason)));
}

using Kernel = void (*)(void **);

// Where a call finds a tensor while it runs: among the constants, or in a slot of the run.
struct Operand {
  bool isConstant = false;
  size_t index = 0;
};

struct Call {
  Kernel kernel = nullptr; // null: the result is a copy of the operand
  std::vector<Operand> operands;
  std::vector<size_t> results; // slots
  std::vector<size_t> dead;    // slots that no later call reads
};

class Executable : public FloatExecutable {
public:
  Executable(ModuleOp module, bool keepIntermediates) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      throw std::logic_error("float execution needs a function @main of one block");
    checkTypes(main);
    registerLowering(*module.getContext());
    KernelProgram program = splitIntoKernels(main);
    if (std::optional<LoweringFailure> failure = lowerToLlvm(*program.kernels))
      throwUnsupported(failure->location, failure->op, failure->message);
    compile(*program.kernels);
    link(main, program, keepIntermediates);
  }

  std::vector<Tensor> run(const std::vector<Tensor> &inputs) override {
    std::vector<Tensor> results;
    run(inputs, results);
    return results;
  }

  void run(const std::vector<Tensor> &inputs, std::vector<Tensor> &results) override {
    checkInputs(inputs);
    std::vector<Tensor> slots(slotTypes_.size());
    results.resize(outputs_.size());
    for (size_t i = copies_; i < outputs_.size(); ++i) // storage of an earlier run
      slots[outputs_[i].index].bytes.swap(results[i].bytes);
    auto at = [&](Operand operand) -> const Tensor & {
      return operand.isConstant              ? constants_[operand.index]
             : operand.index < inputs.size() ? inputs[operand.index]
                                             : slots[operand.index];
    };
    for (const Call &call : calls_) {
      for (size_t slot : call.results) {
        slots[slot].dtype = slotTypes_[slot].dtype;
        slots[slot].shape = slotTypes_[slot].shape;
        slots[slot].bytes.resize(slotTypes_[slot].bytes);
      }
      invoke(call, slots, at);
      for (size_t slot : call.dead)
        slots[slot] = Tensor();
    }
    for (size_t i = 0; i < outputs_.size(); ++i)
      results[i] = i < copies_ ? at(outputs_[i]) : std::move(slots[outputs_[i].index]);
  }

  const std::vector<Value> &intermediates() const override { return intermediates_; }

private:
  template <typename At> static void invoke(const Call &call, std::vector<Tensor> &slots, At at) {
    if (!call.kernel) {
      slots[call.results[0]].bytes = at(call.operands[0]).bytes;
      return;
    }
    std::vector<char *> pointers;
    for (Operand operand : call.operands) // kernels do not write to their operands
      pointers.push_back(const_cast<char *>(at(operand).bytes.data()));
    for (size_t slot : call.results)
      pointers.push_back(slots[slot].bytes.data());
    std::vector<void *> arguments;
    for (char *&pointer : pointers)
      arguments.push_back(&pointer);
    call.kernel(arguments.data());
  }

  void checkTypes(func::FuncOp main) {
    auto check = [](Value value, Location location) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      bool isShape = isa<tosa::shapeType>(value.getType());
      if (!isShape && (!type || !type.hasStaticShape() || !dtypeOf(type.getElementType())))
        throwUnsupported(location, "a tensor of this type", "");
    };
    for (Value argument : main.getArguments())
      check(argument, argument.getLoc());
    for (Operation &op : main.getBody().front().without_terminator())
      for (Value result : op.getResults())
        check(result, op.getLoc());
  }

  // Half of the time goes into LLVM, which takes one module a thread; functions do not depend on
  // their neighbors, so the code is the same at any number of threads.
  void compile(ModuleOp kernels) {
    MLIRContext *context = kernels.getContext();
    unsigned threads = context->isMultithreadingEnabled()
                           ? std::clamp(std::thread::hardware_concurrency(), 1u, 8u)
                           : 1;
    std::vector<OwningOpRef<ModuleOp>> parts = distribute(kernels, threads);
    std::vector<std::future<std::unique_ptr<ExecutionEngine>>> engines;
    for (OwningOpRef<ModuleOp> &part : parts)
      engines.push_back(
          std::async(threads > 1 ? std::launch::async : std::launch::deferred, compilePart, *part));
    for (auto &engine : engines)
      engine.wait(); // all of them, before one that failed destroys the modules
    for (auto [engine, part] : llvm::zip(engines, parts)) {
      engines_.push_back(engine.get());
      for (auto kernel : part->getOps<LLVM::LLVMFuncOp>())
        if (!kernel.isExternal())
          kernels_[kernel.getSymName()] =
              llvm::cantFail(engines_.back()->lookupPacked(kernel.getSymName()));
    }
  }

  // Definitions in turn, declarations to all.
  static std::vector<OwningOpRef<ModuleOp>> distribute(ModuleOp kernels, unsigned count) {
    std::vector<OwningOpRef<ModuleOp>> parts;
    for (unsigned i = 0; i < count; ++i) {
      parts.push_back(ModuleOp::create(kernels.getLoc()));
      parts.back()->getOperation()->setAttrs(kernels->getAttrs());
    }
    size_t next = 0;
    for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      if (function && !function.isExternal()) {
        op.moveBefore(parts[next]->getBody(), parts[next]->getBody()->end());
        next = (next + 1) % count;
      } else {
        for (OwningOpRef<ModuleOp> &part : parts)
          part->getBody()->push_back(op.clone());
      }
    }
    return parts;
  }

  static std::unique_ptr<ExecutionEngine> compilePart(ModuleOp part) {
    std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
    auto transform = [&](llvm::Module *module) {
      optimize(*module, *machine);
      return llvm::Error::success();
    };
    ExecutionEngineOptions options;
    options.transformer = transform;
    options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
    options.enableGDBNotificationListener = false;
    options.enablePerfNotificationListener = false;
    auto engine = ExecutionEngine::create(part, options, hostMachine());
    if (!engine)
      throw std::runtime_error("cannot compile kernels: " + llvm::toString(engine.takeError()));
    // Machine code is made on the first look-up: here, in this part's thread.
    for (auto kernel : part.getOps<LLVM::LLVMFuncOp>())
      if (!kernel.isExternal()) {
        llvm::cantFail((*engine)->lookupPacked(kernel.getSymName()));
        break;
      }
    return std::move(*engine);
  }

  // Binds calls to machine code and values to slots. Arguments take the first slots.
  void link(func::FuncOp main, const KernelProgram &program, bool keepIntermediates) {
    llvm::DenseMap<Value, Operand> places;
    auto addSlot = [&](Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      size_t slot = slotTypes_.size();
      DType dtype = *dtypeOf(type.getElementType());
      slotTypes_.push_back({dtype, type.getShape().vec(),
                            static_cast<size_t>(type.getNumElements() * byteSize(dtype))});
      places[value] = {false, slot};
      return slot;
    };
    auto placeOf = [&](Value value) {
      auto found = places.find(value);
      if (found != places.end())
        return found->second;
      constants_.push_back(constantTensor(value.getDefiningOp()));
      return places[value] = Operand{true, constants_.size() - 1};
    };
    for (Value argument : main.getArguments())
      addSlot(argument);
    arguments_ = main.getNumArguments();
    for (const KernelCall &call : program.calls) {
      Call linked;
      for (Value operand : call.operands)
        linked.operands.push_back(placeOf(operand));
      for (Value result : call.results) {
        linked.results.push_back(addSlot(result));
        if (keepIntermediates)
          intermediates_.push_back(result);
      }
      if (!call.kernel.empty())
        linked.kernel = kernels_.lookup(call.kernel);
      calls_.push_back(std::move(linked));
    }
    for (Value result : main.getBody().front().getTerminator()->getOperands())
      outputs_.push_back(placeOf(result));
    copies_ = outputs_.size(); // a result may be an intermediate as well, or occur twice
    for (Value value : intermediates_)
      outputs_.push_back(places[value]);
    markDead();
  }

  void markDead() {
    std::vector<bool> needed(slotTypes_.size(), false);
    for (Operand output : outputs_)
      if (!output.isConstant)
        needed[output.index] = true;
    for (size_t i = 0; i < arguments_; ++i)
      needed[i] = true;
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
      std::vector<size_t> touched = call->results;
      for (Operand operand : call->operands)
        if (!operand.isConstant)
          touched.push_back(operand.index);
      for (size_t slot : touched)
        if (!needed[slot]) {
          needed[slot] = true;
          call->dead.push_back(slot);
        }
    }
  }

  void checkInputs(const std::vector<Tensor> &inputs) const {
    if (inputs.size() != arguments_)
      throw std::logic_error("float execution: wrong number of inputs");
    for (size_t i = 0; i < arguments_; ++i)
      if (inputs[i].dtype != slotTypes_[i].dtype || inputs[i].shape != slotTypes_[i].shape)
        throw std::logic_error(
            fmt::format("float execution: input {} has another type or shape than @main takes", i));
  }

  struct SlotType {
    DType dtype;
    std::vector<int64_t> shape;
    size_t bytes;
  };

  std::vector<std::unique_ptr<ExecutionEngine>> engines_;
  llvm::StringMap<Kernel> kernels_;
  std::vector<Tensor> constants_;
  std::vector<SlotType> slotTypes_;
  std::vector<Call> calls_;
  std::vector<Operand> outputs_;
  std::vector<Value> intermediates_;
  size_t arguments_ = 0;
  size_t copies_ = 0; // the first outputs, which may be read again
};

} // namespace

std::unique_ptr<FloatExecutable> FloatExecutable::create(ModuleOp module, bool keepIntermediates) {
  return std::make_unique<Executable>(module, keepIntermediates);
}

} // namespace tilewright

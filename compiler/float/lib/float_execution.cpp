#include "tilewright/compiler/float/float_execution.h"

#include "constants.h"
#include "kernels.h"
#include "objects.h"
#include "optimize.h"
#include "row_blocks.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tilewright/compiler/tosa/operator_location.h"
#include "tilewright/support/error.h"
#include "tilewright/support/object_code.h"
#include "tilewright/support/parallel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace mlir;

namespace tilewright {

using namespace float_kernels;

namespace {

[[noreturn]] void throwUnsupported(Location location, const std::string &op,
                                   const std::string &reason) {
  throw UserError(operatorLocation(location),
                  fmt::format("cannot be run in floating point: {} has no lowering{}",
                              op.empty() ? "an operator" : op,
                              reason.empty() ? "" : ": " + escape(reason)));
}

using KernelCode = void (*)(void **);

// Where a call finds a tensor while it runs.
struct Operand {
  enum Kind { Constant, Argument, Buffer } kind = Constant;
  size_t index = 0;
};

struct Shown { // a watched value; of a call, its place is a buffer
  size_t index = 0;
  Operand place;
};

struct TensorType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  size_t bytes = 0;
};

struct Result {
  size_t buffer = 0;
  TensorType type;
};

// A constant where it stands, or a copy of it.
struct Constant {
  TensorType type;
  const char *data = nullptr;
  std::shared_ptr<const Tensor> copy; // null: `data` lives as long as the context
};

struct Steps { // from one row, or one element, to the next: bytes
  size_t row = 0;
  size_t element = 0;
};

struct BlockSteps { // from one block of rows, or one batch, to the next: bytes
  size_t block = 0;
  size_t batch = 0;
};

struct Call {
  KernelCode kernel = nullptr; // null: the result is a copy of the operand
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::vector<Shown> shown; // watched results
  Runs runs;                // where there are steps
  std::vector<Steps> steps; // of operands, then results; empty: the kernel takes whole buffers
  std::optional<Blocks> blocks;
  std::vector<BlockSteps> blockSteps; // as `steps`, where there are blocks
};

TensorType typeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  DType dtype = *dtypeOf(type.getElementType());
  return {dtype, type.getShape().vec(),
          static_cast<size_t>(type.getNumElements() * byteSize(dtype))};
}

class Executable : public FloatExecutable {
public:
  Executable(ModuleOp module, const std::vector<Value> &watched, unsigned threads, size_t inParts) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      throw std::logic_error("float execution needs a function @main of one block");
    checkTypes(main);
    module.getContext()
        ->loadDialect<bufferization::BufferizationDialect, memref::MemRefDialect,
                      LLVM::LLVMDialect>();
    KernelProgram program = splitIntoKernels(
        main, llvm::DenseSet<Value>(watched.begin() + static_cast<std::ptrdiff_t>(inParts),
                                    watched.end()));
    compile(program, workThreads(threads));
    link(main, program, watched);
  }

  std::vector<Tensor> run(const std::vector<Tensor> &inputs, Workspace &workspace,
                          const Visit &visit) const override {
    checkInputs(inputs);
    std::vector<Tensor> &buffers = workspace.buffers;
    buffers.resize(bufferCount_);
    std::vector<const Tensor *> arguments;
    for (const Tensor &input : inputs)
      arguments.push_back(&input);
    workspace.arguments.resize(arguments.size());
    for (const Shown &value : shownFirst_) {
      Tensor &copy = workspace.arguments[value.place.index];
      copy = *arguments[value.place.index];
      visit(value.index, copy);
      arguments[value.place.index] = &copy;
    }
    auto at = [&](Operand operand) -> const char * {
      return operand.kind == Operand::Constant   ? constants_[operand.index].data
             : operand.kind == Operand::Argument ? arguments[operand.index]->bytes.data()
                                                 : buffers[operand.index].bytes.data();
    };
    auto execute = [&](const Call &call, int64_t block) {
      for (const Result &result : call.results) {
        Tensor &buffer = buffers[result.buffer];
        buffer.dtype = result.type.dtype;
        buffer.shape = result.type.shape;
        buffer.bytes.resize(result.type.bytes); // the same for all that share it
      }
      invoke(call, block, buffers, at);
      const bool isShown =
          !call.blocks || call.blocks->isHandedOn || block + 1 == call.blocks->count();
      if (isShown)
        for (const Shown &value : call.shown)
          visit(value.index, buffers[value.place.index]);
    };
    for (auto first = calls_.begin(); first != calls_.end();) {
      auto last = first + 1; // behind the sequence
      while (first->blocks && last != calls_.end() && last->blocks &&
             last->blocks->sequence == first->blocks->sequence)
        ++last;
      const int64_t blocks = first->blocks ? first->blocks->count() : 1;
      for (int64_t block = 0; block < blocks; ++block)
        for (auto call = first; call != last; ++call)
          execute(*call, block);
      first = last;
    }
    std::vector<Tensor> results;
    for (const auto &[output, type] : outputs_)
      results.push_back({type.dtype, type.shape, {at(output), at(output) + type.bytes}});
    return results;
  }

  std::unique_ptr<FloatExecutable>
  withConstants(std::vector<Replacement> replacements) const override {
    auto other = std::make_unique<Executable>(*this);
    for (auto &[value, tensor] : replacements)
      if (auto operand = operands_.find(value); operand != operands_.end()) {
        if (operand->second.kind != Operand::Constant)
          throw std::logic_error("float execution: not data in place of a constant");
        Constant &constant = other->constants_[operand->second.index];
        if (constant.type.shape != tensor.shape || constant.type.dtype != tensor.dtype)
          throw std::logic_error("float execution: not data in place of a constant");
        constant.copy = std::make_shared<const Tensor>(std::move(tensor));
        constant.data = constant.copy->bytes.data();
      }
    return other;
  }

  std::unique_ptr<FloatExecutable> showing(const std::vector<size_t> &watched) const override {
    auto other = std::make_unique<Executable>(*this);
    auto isLeftOut = [&](const Shown &value) { return !llvm::is_contained(watched, value.index); };
    llvm::erase_if(other->shownFirst_, isLeftOut);
    other->outputs_.clear();
    other->calls_.clear();
    llvm::DenseSet<size_t> read; // buffers, by calls behind
    for (Call call : llvm::reverse(calls_)) {
      llvm::erase_if(call.shown, isLeftOut);
      bool isNeeded = !call.shown.empty();
      for (const Result &result : call.results)
        isNeeded |= read.erase(result.buffer);
      if (!isNeeded)
        continue;
      for (Operand operand : call.operands)
        if (operand.kind == Operand::Buffer)
          read.insert(operand.index);
      other->calls_.push_back(std::move(call));
    }
    std::reverse(other->calls_.begin(), other->calls_.end());
    return other;
  }

private:
  template <typename At>
  static void invoke(const Call &call, int64_t block, std::vector<Tensor> &buffers, At at) {
    if (!call.kernel) { // within a sequence of blocks it is one that is handed on
      std::vector<char> &copy = buffers[call.results[0].buffer].bytes;
      std::copy_n(at(call.operands[0]), copy.size(), copy.data());
      return;
    }
    llvm::SmallVector<char *> bases;
    for (Operand operand : call.operands) // kernels do not write to their operands
      bases.push_back(const_cast<char *>(at(operand)));
    for (const Result &result : call.results)
      bases.push_back(buffers[result.buffer].bytes.data());
    for (size_t i = 0; i < call.blockSteps.size(); ++i)
      bases[i] += static_cast<size_t>(block) * call.blockSteps[i].block +
                  static_cast<size_t>(block / call.blocks->ofBatch) * call.blockSteps[i].batch;
    llvm::SmallVector<void *> pointers(bases.begin(), bases.end());
    if (call.steps.empty())
      return call.kernel(pointers.data());
    const auto &[rows, length, run, isOneRow] = call.runs;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t next = 0; next < length; next += run) {
        auto element = static_cast<size_t>(std::min(next, length - run));
        for (size_t i = 0; i < bases.size(); ++i)
          pointers[i] = bases[i] + static_cast<size_t>(row) * call.steps[i].row +
                        element * call.steps[i].element;
        call.kernel(pointers.data());
      }
  }

  static std::vector<Steps> stepsOf(const KernelCall &call) {
    std::vector<Steps> steps;
    auto add = [&](Value value, bool isOneRow) {
      auto bytes = static_cast<size_t>(byteSize(*dtypeOf(getElementTypeOrSelf(value.getType()))));
      steps.push_back({isOneRow ? 0 : static_cast<size_t>(call.runs->length) * bytes, bytes});
    };
    for (auto [operand, isOneRow] : llvm::zip(call.operands, call.runs->isOneRow))
      add(operand, isOneRow);
    for (Value result : call.results)
      add(result, false);
    return steps;
  }

  // Of a block of rows as it stands in a buffer of its own.
  static TensorType typeIn(const KernelCall &call, Value value, bool isPart) {
    TensorType type = typeOf(value);
    if (!isPart)
      return type;
    auto part = partOf(cast<RankedTensorType>(value.getType()), *call.blocks, Blocks::ByBlock);
    return {type.dtype, part.getShape().vec(),
            static_cast<size_t>(part.getNumElements() * byteSize(type.dtype))};
  }

  // `isPart`: of the value's holder.
  template <typename IsPart>
  static std::vector<BlockSteps> blockStepsOf(const KernelCall &call, IsPart isPart) {
    std::vector<BlockSteps> steps;
    for (auto [operand, step] : llvm::zip(call.operands, call.blocks->steps)) {
      const size_t bytes = typeOf(operand).bytes;
      if (step == Blocks::All || isPart(operand))
        steps.push_back({0, 0});
      else if (step == Blocks::ByBatch)
        steps.push_back({0, bytes / static_cast<size_t>(call.blocks->batches)});
      else
        steps.push_back({bytes / static_cast<size_t>(call.blocks->count()), 0});
    }
    for (Value result : call.results)
      steps.push_back(
          {isPart(result) ? 0 : typeOf(result).bytes / static_cast<size_t>(call.blocks->count()),
           0});
    return steps;
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

  void compile(KernelProgram &program, unsigned threads) {
    std::vector<std::string> names;
    for (Kernel &kernel : program.kernels)
      names.push_back(kernel.function.getSymName().str());
    jit_ = llvm::cantFail(
        llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(hostMachine()).create());
    llvm::orc::JITDylib &library = jit_->getMainJITDylib();
    library.addGenerator(
        llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
            jit_->getDataLayout().getGlobalPrefix())));
    auto failed = [](const LoweringFailure &failure) {
      throwUnsupported(failure.location, failure.op, failure.message);
    };
    for (const std::string &object : objectsOf(program, threads, failed))
      llvm::cantFail(jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)));
    for (const std::string &name : names)
      kernels_[name] = llvm::cantFail(jit_->lookup(entryOf(name))).toPtr<KernelCode>();
  }

  // Binds calls to machine code and values to buffers. A buffer is used again, for a value of the
  // same size, as soon as no later call reads what stands in it.
  void link(func::FuncOp main, const KernelProgram &program, const std::vector<Value> &watched) {
    for (Value argument : main.getArguments()) {
      operands_[argument] = {Operand::Argument, arguments_.size()};
      arguments_.push_back(typeOf(argument));
    }
    llvm::DenseSet<Value> needsShape(watched.begin(), watched.end());
    needsShape.insert_range(main.getBody().front().getTerminator()->getOperands());
    std::vector<KernelCall> calls;
    for (const KernelCall &call : program.calls)
      if (!call.kernel.empty() || needsShape.contains(call.results[0]))
        calls.push_back(call);
      else
        shared_[call.results[0]] = holderOf(call.operands[0]);

    llvm::DenseMap<Value, size_t> lastUse; // by the value that holds the data
    for (size_t i = 0; i < calls.size(); ++i)
      for (Value operand : calls[i].operands)
        lastUse[holderOf(operand)] = i;
    for (Value result : main.getBody().front().getTerminator()->getOperands())
      lastUse[holderOf(result)] = calls.size();

    using Unused = std::map<size_t, std::vector<size_t>>; // bytes -> buffers
    Unused unused, parts;                              // `parts`: of blocks of the sequence at hand
    std::vector<std::pair<size_t, size_t>> afterwards; // of whole tensors that it reads
    llvm::DenseSet<Value> partial;                     // values of which one block stands at a time
    auto isPart = [&](Value value) { return partial.contains(holderOf(value)); };
    for (size_t i = 0; i < calls.size(); ++i) {
      const std::optional<Blocks> &blocks = calls[i].blocks;
      const bool continues = i > 0 && blocks && calls[i - 1].blocks &&
                             blocks->sequence == calls[i - 1].blocks->sequence;
      if (!continues) { // another sequence, or none
        for (auto &[bytes, buffers] : parts)
          llvm::append_range(unused[bytes], buffers);
        for (auto [bytes, buffer] : afterwards)
          unused[bytes].push_back(buffer);
        parts.clear();
        afterwards.clear();
      }
      Call linked;
      linked.blocks = blocks;
      linked.kernel = kernels_.lookup(calls[i].kernel);
      if (calls[i].runs) {
        linked.runs = *calls[i].runs;
        linked.steps = stepsOf(calls[i]);
      }
      for (Value operand : calls[i].operands)
        linked.operands.push_back(operandOf(operand));
      for (Value result : calls[i].results) {
        if (blocks && blocks->isHandedOn)
          partial.insert(result);
        TensorType type = typeIn(calls[i], result, isPart(result));
        std::vector<size_t> &fitting = (isPart(result) ? parts : unused)[type.bytes];
        size_t buffer = fitting.empty() ? bufferCount_++ : fitting.back();
        if (!fitting.empty())
          fitting.pop_back();
        operands_[result] = {Operand::Buffer, buffer};
        linked.results.push_back({buffer, type});
      }
      llvm::SetVector<Value> touched;
      for (Value value : llvm::concat<const Value>(calls[i].operands, calls[i].results))
        touched.insert(holderOf(value));
      for (Value value : touched)
        if (operands_[value].kind == Operand::Buffer && lastUse.lookup(value) <= i) {
          if (isPart(value))
            parts[typeIn(calls[i], value, true).bytes].push_back(operands_[value].index);
          else if (blocks)
            afterwards.emplace_back(typeOf(value).bytes, operands_[value].index);
          else
            unused[typeOf(value).bytes].push_back(operands_[value].index);
        }
      if (blocks)
        linked.blockSteps = blockStepsOf(calls[i], isPart);
      for (size_t w = 0; w < watched.size(); ++w)
        if (llvm::is_contained(calls[i].results, watched[w]))
          linked.shown.push_back({w, operands_[watched[w]]});
      calls_.push_back(std::move(linked));
    }
    for (size_t w = 0; w < watched.size(); ++w)
      if (isa<BlockArgument>(watched[w]))
        shownFirst_.push_back({w, operandOf(watched[w])});
    for (Value result : main.getBody().front().getTerminator()->getOperands())
      outputs_.emplace_back(operandOf(result), typeOf(result));
  }

  Value holderOf(Value value) const {
    Value holder = shared_.lookup(value);
    return holder ? holder : value;
  }

  Operand operandOf(Value value) {
    Value holder = holderOf(value);
    auto found = operands_.find(holder);
    if (found != operands_.end())
      return found->second;
    Constant constant{typeOf(holder), storedData(holder.getDefiningOp()), nullptr};
    if (!constant.data) {
      constant.copy = std::make_shared<const Tensor>(constantTensor(holder.getDefiningOp()));
      constant.data = constant.copy->bytes.data();
    }
    constants_.push_back(std::move(constant));
    return operands_[holder] = {Operand::Constant, constants_.size() - 1};
  }

  void checkInputs(const std::vector<Tensor> &inputs) const {
    if (inputs.size() != arguments_.size())
      throw std::logic_error("float execution: wrong number of inputs");
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].dtype != arguments_[i].dtype || inputs[i].shape != arguments_[i].shape)
        throw std::logic_error(
            fmt::format("float execution: input {} has another type or shape than @main takes", i));
  }

  std::shared_ptr<llvm::orc::LLJIT> jit_; // of all copies
  llvm::StringMap<KernelCode> kernels_;
  llvm::DenseMap<Value, Value> shared_; // a reshape's result -> the value whose buffer it shares
  llvm::DenseMap<Value, Operand> operands_;
  std::vector<Constant> constants_;
  std::vector<TensorType> arguments_;
  size_t bufferCount_ = 0;
  std::vector<Shown> shownFirst_; // watched arguments
  std::vector<Call> calls_;
  std::vector<std::pair<Operand, TensorType>> outputs_;
};

} // namespace

unsigned workThreads(unsigned wanted) {
  constexpr unsigned most = 8;
  return std::min(wanted != 0 ? wanted : processorCount(), most);
}

std::unique_ptr<FloatExecutable> FloatExecutable::create(ModuleOp module,
                                                         const std::vector<Value> &watched,
                                                         unsigned threads, size_t inParts) {
  return std::make_unique<Executable>(module, watched, threads, inParts);
}

} // namespace tilewright

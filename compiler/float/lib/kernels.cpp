#include "kernels.h"

#include "row_blocks.h"

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
#include "llvm/ADT/bit.h"

#include <algorithm>

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

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

// The runs of an element-wise operator that reads `operands` and `constants` of one element each.
std::optional<Runs> runsOf(Operation *op, const std::vector<Value> &operands,
                           const std::vector<Operation *> &constants) {
  if (!isElementwise(op))
    return std::nullopt;
  ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  for (Operation *constant : constants)
    if (auto one = dyn_cast<tosa::ConstOp>(constant);
        !one || !isa<DenseElementsAttr>(one.getValues()))
      return std::nullopt;
  Runs runs;
  bool inRows = false;
  for (Value operand : operands) {
    ArrayRef<int64_t> read = tensorType(operand).getShape();
    bool isWhole = read == shape,
         isRow = read.size() == shape.size() && !read.empty() && read.back() == shape.back() &&
                 llvm::all_of(read.drop_back(), [](int64_t size) { return size == 1; });
    if (!isWhole && !isRow)
      return std::nullopt;
    runs.isOneRow.push_back(!isWhole);
    inRows |= !isWhole;
  }
  int64_t elements = tensorType(op->getResult(0)).getNumElements();
  runs.length = inRows ? shape.back() : elements;
  runs.rows = elements / runs.length;
  constexpr int64_t leastRow = 32; // for its calls to be little beside its elements
  if (inRows && runs.length < leastRow)
    return std::nullopt;
  constexpr uint64_t most = 1024; // elements: buffers of a run stay in the first cache
  runs.run = static_cast<int64_t>(std::min(most, llvm::bit_floor(uint64_t(runs.length))));
  return runs;
}

class Splitter {
public:
  Splitter(func::FuncOp main, const llvm::DenseSet<Value> &whole)
      : main_(main), builder_(main.getContext()), blocks_(findRowBlocks(main, whole)) {}

  KernelProgram run() {
    program_.module = ModuleOp::create(builder_.getUnknownLoc());
    for (Operation *op : blocks_.order) {
      if (!isa<tosa::ReshapeOp, tosa::IdentityOp>(op)) {
        addCall(op);
        continue;
      }
      for (OpResult result : op->getResults()) {
        KernelCall call{"", {op->getOperand(result.getResultNumber())}, {result}, {}, {}};
        call.blocks = blocksOf(op, call.operands);
        program_.calls.push_back(std::move(call));
      }
    }
    return std::move(program_);
  }

private:
  std::optional<Blocks> blocksOf(Operation *op, const std::vector<Value> &operands) const {
    const auto found = blocks_.ofOperators.find(op);
    if (found == blocks_.ofOperators.end())
      return std::nullopt;
    return found->second.blocksOf(operands);
  }

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
    call.blocks = blocksOf(op, call.operands);
    call.runs = runsOf(op, call.operands, constants);
    if (call.runs && call.blocks) {
      int64_t &part = call.runs->rows > 1 ? call.runs->rows : call.runs->length;
      part /= call.blocks->count();
      call.runs->run = std::min(call.runs->run, call.runs->length);
    }
    call.kernel = kernelFor(op, constants, call);
    program_.calls.push_back(std::move(call));
  }

  // What a kernel takes of a value.
  static RankedTensorType typeIn(const KernelCall &call, Value value) {
    RankedTensorType type = tensorType(value);
    if (call.runs)
      return RankedTensorType::get({call.runs->run}, type.getElementType());
    if (!call.blocks)
      return type;
    const auto at = llvm::find(call.operands, value);
    const Blocks::Step step = at == call.operands.end()
                                  ? Blocks::ByBlock
                                  : call.blocks->steps[at - call.operands.begin()];
    return partOf(type, *call.blocks, step);
  }

  static MemRefType bufferType(const KernelCall &call, Value value) {
    RankedTensorType type = typeIn(call, value);
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  // Operands of an element-wise operator are of one rank.
  void cloneConstant(Operation *constant, const KernelCall &call, IRMapping &mapping) {
    Operation *clone = builder_.clone(*constant, mapping);
    if (!call.runs)
      return;
    auto one = cast<tosa::ConstOp>(clone);
    auto values = cast<DenseElementsAttr>(one.getValues());
    auto type = RankedTensorType::get({1}, values.getElementType());
    one.setValuesAttr(values.reshape(type));
    one.getResult().setType(type);
  }

  // The name of the kernel for `op`; an equal one that exists already is taken.
  std::string kernelFor(Operation *op, const std::vector<Operation *> &constants,
                        const KernelCall &call) {
    SmallVector<Type> arguments;
    for (Value value : call.operands)
      arguments.push_back(bufferType(call, value));
    for (Value value : call.results)
      arguments.push_back(bufferType(call, value));
    builder_.setInsertionPointToEnd(program_.module->getBody());
    auto kernel =
        func::FuncOp::create(builder_, op->getLoc(), "k", builder_.getFunctionType(arguments, {}));
    builder_.setInsertionPointToStart(kernel.addEntryBlock());

    IRMapping mapping;
    for (Operation *constant : constants)
      cloneConstant(constant, call, mapping);
    for (auto [value, argument] : llvm::zip(call.operands, kernel.getArguments()))
      mapping.map(value, bufferization::ToTensorOp::create(builder_, op->getLoc(),
                                                           typeIn(call, value), argument,
                                                           /*restrict=*/true, /*writable=*/false));
    Operation *clone = builder_.clone(*op, mapping);
    for (Value result : clone->getResults())
      result.setType(typeIn(call, result));
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
  const RowBlocks blocks_;
  KernelProgram program_;
  llvm::StringMap<std::string> names_; // the kernel's text -> its name
};

} // namespace

KernelProgram splitIntoKernels(func::FuncOp main, const llvm::DenseSet<Value> &whole) {
  return Splitter(main, whole).run();
}

} // namespace tilewright::float_kernels

#include "tilewright/compiler/schedule.h"

#include "find_chains.h"
#include "in_place.h"
#include "lowering.h"

#include "tilewright/compiler/frontend.h"
#include "tilewright/compiler/taps.h"
#include "tilewright/support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr int64_t tensorAlignment = 64;

// Data movement and reductions make their own groups: what follows them reads their result from
// DRAM.
void splitGroups(mlir::func::FuncOp function) {
  llvm::SmallVector<kernel::GroupOp> groups(function.getBody().getOps<kernel::GroupOp>());
  for (kernel::GroupOp group : groups) {
    mlir::Operation *anchor = &group.getBody().front().front();
    bool alone = anchor->getNextNode() && llvm::isa<kernel::YieldOp>(anchor->getNextNode());
    if (alone || !llvm::isa<kernel::AssembleOp, kernel::ReduceOp>(anchor))
      continue;
    mlir::OpBuilder builder(group);
    auto first = kernel::GroupOp::create(builder, anchor->getLoc(), anchor->getResult(0).getType());
    mlir::Block *block = builder.createBlock(&first.getBody());
    anchor->getResult(0).replaceAllUsesWith(first.getResult());
    anchor->moveBefore(block, block->end());
    builder.setInsertionPointToEnd(block);
    kernel::YieldOp::create(builder, anchor->getLoc(), anchor->getResult(0));
  }
}

mlir::Operation *anchorOf(kernel::GroupOp group) { return &group.getBody().front().front(); }

// Outside tensors that a group reads, each once.
llvm::SmallVector<mlir::Value> inputsOf(kernel::GroupOp group) {
  llvm::SmallVector<mlir::Value> inputs;
  group->walk([&](mlir::Operation *op) {
    for (mlir::Value value : op->getOperands()) {
      mlir::Operation *producer = value.getDefiningOp();
      bool inside = producer && producer->getParentOp() == group.getOperation();
      if (!inside && !llvm::is_contained(inputs, value))
        inputs.push_back(value);
    }
  });
  return inputs;
}

// Addresses of all tensors: arguments and results for good, the others while they are live.
class TensorPlanner {
public:
  TensorPlanner(mlir::func::FuncOp function, const InPlace &inPlace, const Chains &chains,
                uint64_t limit)
      : arena_(static_cast<int64_t>(limit), static_cast<int64_t>(limit), tensorAlignment) {
    for (mlir::BlockArgument argument : function.getArguments())
      place(argument);
    // What is written in place shares the life of the whole.
    auto storageOf = [&](mlir::Value value) {
      mlir::Value memory = kernel::memoryOf(value), whole = inPlace.parts.lookup(memory).whole;
      return whole ? whole : memory;
    };
    auto terminator = llvm::cast<mlir::func::ReturnOp>(function.getBody().front().getTerminator());
    // A chain reads and writes by turns until its last group ends.
    llvm::MapVector<mlir::Value, mlir::Operation *> lastUse;
    function.walk([&](kernel::GroupOp group) {
      for (mlir::Value value : inputsOf(group))
        lastUse[storageOf(value)] = chains.lastOf(group);
    });
    for (mlir::Value value : terminator.getOperands())
      lastUse[storageOf(value)] = terminator;
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> ended;
    for (const auto &[storage, last] : lastUse)
      if (storage.getDefiningOp<kernel::GroupOp>() && !chains.onChip.contains(storage))
        ended[last].push_back(storage);
    for (mlir::Operation &op : function.getBody().front()) {
      if (llvm::isa<kernel::ViewOp, kernel::StridedViewOp>(op)) {
        auto known = addresses.find(kernel::memoryOf(op.getResult(0)));
        if (known != addresses.end())
          addresses[op.getResult(0)] = known->second;
        continue;
      }
      auto group = llvm::dyn_cast<kernel::GroupOp>(op);
      if (!group)
        continue;
      mlir::Value result = group.getResult(), own = storageOf(result);
      if (!addresses.count(own) && !chains.onChip.contains(own))
        place(own);
      if (own != result)
        addresses[result] = addresses[own] + inPlace.parts.lookup(result).offset * bytesOf(result);
      for (mlir::Value value : ended.lookup(group.getOperation()))
        arena_.release(addresses[value]);
      if (!lastUse.count(own))
        arena_.release(addresses[own]);
    }
  }

  llvm::DenseMap<mlir::Value, int64_t> addresses;
  int64_t end() const {
    return (arena_.highWater() + tensorAlignment - 1) / tensorAlignment * tensorAlignment;
  }

private:
  void place(mlir::Value value) {
    std::optional<int64_t> address =
        arena_.allocate(std::max<int64_t>(1, elementsOf(value) * bytesOf(value)));
    if (!address)
      throw UserError({}, "the tensors do not fit into DRAM",
                      "make dram_bytes of the target larger");
    addresses[value] = *address;
  }
  Arena arena_;
};

// Taps inside the tensor, over all output positions of one axis.
int64_t validTaps(int64_t outputs, const WindowAxis &axis) {
  int64_t count = 0;
  for (int64_t output = 0; output < outputs; ++output)
    count += tapsInside(axis, output).count;
  return count;
}

int64_t macsOf(mlir::Operation *op) {
  if (auto conv = llvm::dyn_cast<kernel::Conv2DOp>(op)) {
    llvm::ArrayRef<int64_t> x = shapeOf(conv.getX()), w = shapeOf(conv.getWeight()),
                            y = shapeOf(conv.getResult());
    return validTaps(y[1],
                     {w[1], conv.getStride()[0], conv.getDilation()[0], conv.getPad()[0], x[1]}) *
           validTaps(y[2],
                     {w[2], conv.getStride()[1], conv.getDilation()[1], conv.getPad()[2], x[2]}) *
           y[0] * x[3] * y[3];
  }
  if (auto conv = llvm::dyn_cast<kernel::DepthwiseOp>(op)) {
    llvm::ArrayRef<int64_t> x = shapeOf(conv.getX()), w = shapeOf(conv.getWeight()),
                            y = shapeOf(conv.getResult());
    return validTaps(y[1],
                     {w[0], conv.getStride()[0], conv.getDilation()[0], conv.getPad()[0], x[1]}) *
           validTaps(y[2],
                     {w[1], conv.getStride()[1], conv.getDilation()[1], conv.getPad()[2], x[2]}) *
           y[0] * y[3];
  }
  if (auto matmul = llvm::dyn_cast<kernel::MatMulOp>(op))
    return elementsOf(matmul.getResult()) * shapeOf(matmul.getA())[2];
  return 0;
}

LayerInfo describe(kernel::GroupOp group) {
  Layer layer = layerOf(group.getLoc());
  LayerInfo info;
  info.name = layer.name.empty() ? anchorOf(group)->getName().stripDialect().str() : layer.name;
  info.op = layer.op.empty() ? anchorOf(group)->getName().stripDialect().str() : layer.op;
  group->walk([&](mlir::Operation *op) { info.macs += macsOf(op); });
  for (mlir::Value value : inputsOf(group))
    (isConstant(value) ? info.weightBytes : info.inputBytes) += elementsOf(value) * bytesOf(value);
  info.outputBytes = elementsOf(group.getResult()) * bytesOf(group.getResult());
  return info;
}

// What any machine must have for the group, whatever its sizes: checked before plans are tried out.
void checkInstructions(const isa::Isa &isa, Selection &selection, kernel::GroupOp group) {
  mlir::Operation *anchor = anchorOf(group);
  for (llvm::StringRef name : templateOf(anchor))
    if (!isa.find(name.str()))
      throw UserError({},
                      fmt::format("needs instruction '{}', which target '{}' does not have",
                                  name.str(), isa.target()),
                      "leave out the overlay that removes it");
  llvm::SmallVector<mlir::Operation *> operations;
  for (mlir::Operation &op : group.getBody().front().without_terminator())
    if (hasScalarFunction(&op))
      operations.push_back(&op);
  if (kernel::ReduceOp reduce = reductionOf(group))
    selection.coverOf(group, operations, reduce);
  else
    selection.coversOf(group, hasScalarFunction(anchor) ? nullptr : anchor, operations,
                       hasScalarFunction(anchor) ? std::vector<int32_t>() : biasOf(anchor));
}

// What the user's layer is called, for what is wrong with it.
UserError ofLayer(const UserError &error, const LayerInfo &layer) {
  Place where = error.place();
  if (where.str().empty()) // a tuner's database has a place of its own
    where.subject = fmt::format("layer '{}' ({})", escape(layer.name), escape(layer.op));
  return UserError(where, error.message(), error.fix());
}

void lower(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  mlir::Operation *anchor = anchorOf(group);
  if (llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor))
    return lowerConvolution(context, group, steps);
  if (llvm::isa<kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp, kernel::SumPoolOp>(
          anchor))
    return lowerWindow(context, group, steps);
  if (reductionOf(group))
    return lowerReduce(context, group, steps);
  if (llvm::isa<kernel::AssembleOp>(anchor))
    return lowerAssemble(context, group, steps);
  lowerElementwise(context, group, steps);
}

DType dtypeOf(mlir::Value value) {
  mlir::Type type = llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return type.isUnsignedInteger() ? DType::U8 : DType::I8;
  case 16:
    return type.isUnsignedInteger() ? DType::U16 : DType::I16;
  default:
    return DType::I32;
  }
}

TensorInfo describeTensor(mlir::Value value, mlir::DictionaryAttr attributes, std::string name,
                          int64_t address) {
  TensorInfo info;
  info.name = std::move(name);
  if (attributes) {
    if (auto given = attributes.getAs<mlir::StringAttr>("tilewright.name"))
      info.name = given.str();
    if (auto scale = attributes.getAs<mlir::FloatAttr>("tilewright.scale"))
      info.scale = scale.getValueAsDouble();
    if (auto zeroPoint = attributes.getAs<mlir::IntegerAttr>("tilewright.zero_point"))
      info.zeroPoint = zeroPoint.getInt();
  }
  info.dtype = dtypeOf(value);
  info.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  info.address = static_cast<uint64_t>(address);
  return info;
}

} // namespace

Schedule schedule(mlir::ModuleOp module, const isa::Isa &isa, const ScheduleOptions &options) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  splitGroups(function);
  InPlace inPlace = findInPlace(function);
  std::vector<kernel::GroupOp> groups(function.getBody().getOps<kernel::GroupOp>().begin(),
                                      function.getBody().getOps<kernel::GroupOp>().end());
  const uint64_t dram = isa.memory(isa::Space::Dram).bytes;
  Emitter emitter(isa, options.buffering); // refuses machines that no program can be made for
  const auto selection = std::make_shared<Selection>(isa);
  Schedule result;
  for (kernel::GroupOp group : groups) {
    result.layers.push_back(describe(group));
    try {
      checkInstructions(isa, *selection, group);
    } catch (const UserError &error) {
      throw ofLayer(error, result.layers.back());
    }
  }
  // Chains are looked for where every tensor has a place; then those within chains need none.
  Chains chains;
  std::optional<TensorPlanner> tensors(std::in_place, function, inPlace, chains, dram);
  std::map<std::string, LoweringContext::Chosen> chosen;
  if (options.chains && options.buffering == Buffering::Double) {
    ConstantPool constants(tensors->end());
    LoweringContext context(isa, constants, tensors->addresses, options.buffering, selection);
    chains = findChains(context, groups);
    chosen = std::move(context.chosen);
    try {
      tensors.emplace(function, inPlace, chains, dram);
    } catch (const UserError &) { // a chain's input and result live longer
      chains = Chains();
      tensors.emplace(function, inPlace, chains, dram);
    }
  }
  ConstantPool constants(tensors->end());
  LoweringContext context(isa, constants, tensors->addresses, options.buffering, selection);
  context.chosen = std::move(chosen);
  context.tuner = options.tuner;
  for (size_t place = 0; place < groups.size();) {
    LayerInfo &layer = result.layers[place];
    if (inPlace.assemblies.contains(groups[place])) {
      layer.plan = "written in place";
      layer.inputBytes = layer.outputBytes = 0;
      ++place;
      continue;
    }
    Steps steps;
    steps.layer = static_cast<int>(place);
    auto chain = chains.byFirst.find(place);
    const size_t count = chain == chains.byFirst.end() ? 1 : chain->second.chained.groups.size();
    try {
      if (count == 1)
        lower(context, groups[place], steps);
      else
        lowerChain(context, chain->second.chained, chain->second.chosen, steps);
    } catch (const UserError &error) {
      throw ofLayer(error, layer);
    }
    for (size_t i = place; i < place + count; ++i) {
      result.layers[i].plan =
          steps.plan.empty() ? fmt::format("{} steps", steps.steps.size()) : steps.plan;
      result.layers[i].runnerUp = steps.runnerUp;
    }
    emitter.append(std::move(steps), layer.name);
    place += count;
  }
  result.stream = emitter.finish();
  result.scratchpad = emitter.plan(isa::Space::Spad);
  result.accumulators = emitter.plan(isa::Space::Acc);
  result.dramBytes = static_cast<uint64_t>(constants.end());
  if (!constants.bytes().empty())
    result.data.push_back({static_cast<uint64_t>(constants.base()), constants.take()});
  for (mlir::BlockArgument argument : function.getArguments())
    result.inputs.push_back(describeTensor(
        argument, function.getArgAttrDict(argument.getArgNumber()),
        fmt::format("input_{}", argument.getArgNumber()), tensors->addresses[argument]));
  auto terminator = llvm::cast<mlir::func::ReturnOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(terminator.getOperands()))
    result.outputs.push_back(
        describeTensor(value, function.getResultAttrDict(static_cast<unsigned>(index)),
                       fmt::format("output_{}", index), tensors->addresses[value]));
  return result;
}

} // namespace tilewright

#include "tilewright/compiler/schedule/schedule.h"

#include "expansion.h"
#include "find_chains.h"
#include "in_place.h"
#include "lowering.h"
#include "operators.h"
#include "overlap.h"
#include "region.h"
#include "side_by_side.h"
#include "timeline.h"
#include "traffic.h"
#include "workers.h"

#include "tilewright/compiler/patterns/stationary_pattern.h"
#include "tilewright/compiler/schedule/dram_plan.h"
#include "tilewright/compiler/schedule/loops.h"
#include "tilewright/compiler/schedule/task_times.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/tensor_attributes.h"
#include "tilewright/isa/roles.h"
#include "tilewright/support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

constexpr int64_t tensorAlignment = 64;

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

// Whether `group` may store its result where `operand` stands, a tensor of its own shape: nobody
// reads it afterwards, and the group does element by element, each before its result is there.
bool mayReplace(kernel::GroupOp group, mlir::Operation *firstOfChain, mlir::Value operand,
                const Chains &chains) {
  mlir::Value result = group.getResult();
  if (!operand.getDefiningOp<kernel::GroupOp>() || shapeOf(operand) != shapeOf(result) ||
      bitsOf(operand) != bitsOf(result))
    return false;
  return llvm::all_of(operand.getUsers(), [&](mlir::Operation *user) {
    if (user->getParentOp() == group.getOperation())
      return !llvm::isa<kernel::Conv2DOp, kernel::MatMulOp, kernel::DepthwiseOp, kernel::MaxPoolOp,
                        kernel::AvgPoolOp, kernel::SumPoolOp, kernel::ReduceOp, kernel::AssembleOp>(
          user);
    auto reader = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
    return reader && chains.lastOf(reader)->isBeforeInBlock(firstOfChain);
  });
}

using Neighbors = llvm::DenseMap<mlir::Operation *, mlir::Operation *>;

// Addresses of all tensors: arguments and results for good, the others while they are live.
class TensorPlanner {
public:
  // `until`: of a group, the later one that may run beside it.
  TensorPlanner(mlir::func::FuncOp function, const InPlace &inPlace, const Chains &chains,
                uint64_t limit, const Neighbors &until = Neighbors())
      : inPlace_(inPlace), chains_(chains) {
    for (mlir::BlockArgument argument : function.getArguments())
      live_[argument] = {bytesFor(argument), 0, 0};
    for (const auto &[place, run] : chains.byFirst)
      for (const Chains::Chain &chain : run.chains)
        for (kernel::GroupOp group : llvm::ArrayRef(chain.chained.groups).drop_back())
          madeAgain_.insert(group);
    int64_t step = 0;
    llvm::DenseMap<mlir::Operation *, int64_t> steps;
    for (mlir::Operation &op : function.getBody().front())
      steps[&op] = ++step;
    std::function<void(mlir::Value, int64_t)> reads = [&](mlir::Value value, int64_t at) {
      if (auto sources = inPlace.sources.find(kernel::memoryOf(value));
          sources != inPlace.sources.end())
        for (const InPlace::Source &source : sources->second)
          reads(source.value, at);
      if (auto known = live_.find(storageOf(value)); known != live_.end())
        known->second.last = std::max(known->second.last, at);
    };
    // In program order: the first group of a chain meets its last one first.
    function.walk([&](kernel::GroupOp group) { firsts_.try_emplace(chains.lastOf(group), group); });
    function.walk([&](kernel::GroupOp group) {
      replace(group);
      const int64_t now = steps[group],
                    end = std::max(steps[chains.lastOf(group)], steps.lookup(until.lookup(group)));
      if (inPlace.sources.contains(group.getResult()))
        return; // it is never made
      for (mlir::Value own : storagesOf(group.getResult())) {
        if (!chains.onChip.contains(own))
          live_.insert({own, {bytesFor(own), now, end}});
        reads(own, end);
      }
      // A chain reads and writes by turns until its last group ends.
      for (mlir::Value value : inputsOf(group))
        reads(value, end);
    });
    for (mlir::BlockArgument argument : function.getArguments())
      reads(argument, step);
    for (mlir::Value value : function.getBody().front().getTerminator()->getOperands())
      reads(value, step);
    std::vector<LiveTensor> problem;
    for (const auto &[value, tensor] : live_)
      problem.push_back(tensor);
    const DramPlan plan = planDram(problem, tensorAlignment);
    if (plan.bytes > static_cast<int64_t>(limit))
      throw UserError({}, "the tensors do not fit into DRAM",
                      "make dram_bytes of the target larger");
    plan_ = {plan.bytes, plan.lowerBound};
    for (const auto &[index, entry] : llvm::enumerate(live_))
      tensors[entry.first] = {plan.addresses[index]};
    for (mlir::Operation &op : function.getBody().front())
      if (llvm::isa<kernel::GroupOp, kernel::ViewOp, kernel::StridedViewOp>(op))
        shareOf(op.getResult(0));
    for (const auto &[value, moves] : inPlace.moves) {
      Scatter &scatter = scatters_.emplace_back();
      for (const InPlace::Move &move : moves)
        scatter.pieces.push_back({move.region, tensors[move.whole].address});
      tensors[value].scatter = &scatter;
    }
    for (const auto &[value, sources] : inPlace.sources) {
      Scatter &scatter = scatters_.emplace_back();
      for (const InPlace::Source &source : sources)
        scatter.pieces.push_back({source.region, tensors[source.value].address});
      tensors[value].scatter = &scatter;
    }
    for (mlir::Operation &op : function.getBody().front())
      if (llvm::isa<kernel::ViewOp>(op))
        if (const auto known = tensors.find(kernel::memoryOf(op.getResult(0)));
            known != tensors.end() && known->second.scatter)
          tensors[op.getResult(0)] = DramTensor(known->second);
  }

  DramTensors tensors;
  int64_t end() const { return plan_.peakBytes; }
  MemoryPlan plan() const { return plan_; }

private:
  static int64_t bytesFor(mlir::Value value) {
    return std::max<int64_t>(1, elementsOf(value) * bytesOf(value));
  }
  // What is written in place shares the life of the whole.
  mlir::Value storageOf(mlir::Value value) const {
    mlir::Value memory = kernel::memoryOf(value), whole = inPlace_.parts.lookup(memory).whole;
    mlir::Value first = replaced_.lookup(whole ? whole : memory);
    return first ? first : whole ? whole : memory;
  }
  // What a group's result is stored into.
  llvm::SmallVector<mlir::Value, 1> storagesOf(mlir::Value result) const {
    const auto moves = inPlace_.moves.find(result);
    if (moves == inPlace_.moves.end())
      return {storageOf(result)};
    llvm::SmallVector<mlir::Value, 1> wholes;
    for (const InPlace::Move &move : moves->second)
      wholes.push_back(move.whole);
    return wholes;
  }
  // Whether a tensor is read where it stands by those who read what an assembly makes of it.
  bool isSource(mlir::Value value) const {
    return llvm::any_of(inPlace_.sources, [&](const auto &entry) {
      return llvm::any_of(entry.second, [&](const InPlace::Source &source) {
        return source.value == kernel::memoryOf(value);
      });
    });
  }
  // Whether parts of a tensor stand where their makers have put them: others read them there, too.
  bool holdsParts(mlir::Value value) const {
    return llvm::any_of(inPlace_.parts,
                        [&](const auto &entry) { return entry.second.whole == value; }) ||
           llvm::any_of(inPlace_.moves, [&](const auto &entry) {
             return llvm::any_of(entry.second,
                                 [&](const InPlace::Move &move) { return move.whole == value; });
           });
  }
  void replace(kernel::GroupOp group) {
    mlir::Value result = group.getResult();
    if (inPlace_.parts.contains(result) || inPlace_.moves.contains(result) ||
        chains_.onChip.contains(result) || !goesByRows(group) || madeAgain_.contains(group))
      return;
    for (mlir::Value operand : inputsOf(group))
      if (!inPlace_.parts.contains(operand) && !holdsParts(operand) &&
          !inPlace_.assemblies.contains(operand.getDefiningOp()) &&
          !chains_.onChip.contains(operand) && !isSource(operand) &&
          mayReplace(group, firsts_.lookup(chains_.lastOf(group)), operand, chains_)) {
        replaced_[result] = storageOf(operand);
        return;
      }
  }
  // A part, a view, or what replaces another tensor stands in memory that has its address.
  void shareOf(mlir::Value value) {
    auto storage = tensors.find(storageOf(value));
    if (storage == tensors.end())
      return;
    const InPlace::Part part = inPlace_.parts.lookup(kernel::memoryOf(value));
    const DramTensor tensor{storage->second.address + part.offset * bytesOf(value), part.pitch};
    tensors[value] = tensor;
  }

  const InPlace &inPlace_;
  const Chains &chains_;
  llvm::MapVector<mlir::Value, LiveTensor> live_;     // by storage
  llvm::DenseMap<mlir::Value, mlir::Value> replaced_; // storage, by result
  // Of fused stacks all groups but the last: they make rows again that several tiles read.
  llvm::DenseSet<mlir::Operation *> madeAgain_;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firsts_; // of a chain, by its last group
  std::deque<Scatter> scatters_;
  MemoryPlan plan_;
};

LayerInfo describe(kernel::GroupOp group) {
  Layer layer = layerOf(group.getLoc());
  LayerInfo info;
  info.name = layer.name.empty() ? anchorOf(group)->getName().stripDialect().str() : layer.name;
  info.op = layer.op.empty() ? anchorOf(group)->getName().stripDialect().str() : layer.op;
  group->walk([&](mlir::Operation *op) {
    // The array may put a picture in order, by products with ones: the model has none there.
    const int64_t macs = info.op == "layout" ? 0 : macsOf(op);
    info.macs += macs;
    info.depthwiseMacs += llvm::isa<kernel::DepthwiseOp>(op) ? macs : 0;
  });
  for (const auto &[value, bytes] : needsOf(group))
    (isConstant(value) ? info.weightBytes : info.inputBytes) += bytes;
  info.outputBytes = elementsOf(group.getResult()) * bytesOf(group.getResult());
  return info;
}

// What any machine must have for the group, whatever its sizes: checked before plans are tried out.
void checkInstructions(const isa::Isa &isa, Selection &selection, kernel::GroupOp group) {
  mlir::Operation *anchor = anchorOf(group);
  const bool hasOther =
      llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor) && patterns::findStationary(isa);
  for (isa::Role role : templateOf(anchor))
    if (!hasOther && !isa.withRole(role))
      throw UserError({},
                      fmt::format("needs an {}, which target '{}' does not have",
                                  isa::describe(isa, role), isa.target()),
                      "leave out the overlay that removes it");
  const llvm::SmallVector<mlir::Operation *> operations = scalarOperationsOf(group);
  if (kernel::ReduceOp reduce = reductionOf(group))
    selection.coverOf(group, operations, reduce);
  else
    selection.coversOf(group, hasScalarFunction(anchor) ? nullptr : anchor, operations,
                       biasOf(anchor)); // nothing of an element-wise operation
}

// What the user's layer is called, for what is wrong with it.
UserError ofLayer(const UserError &error, const LayerInfo &layer) {
  SourceLocation where = error.location();
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
  if (llvm::isa<kernel::AssembleOp>(anchor))
    return lowerAssemble(context, group, steps);
  lowerAlone(context, group, steps);
}

// Returns for each layer what was chosen for its chain.
std::vector<ChosenChain> lower(LoweringContext &context, const Chains::Run &run, Steps &steps) {
  std::vector<ChosenChain> ofLayers;
  ChainRun planned;
  RunLayout layout = run.layout;
  for (const Chains::Chain &chain : run.chains) {
    ChosenChain chosen =
        chain.isFinal ? chain.chosen : tunedChain(context, chain.chained, chain.chosen);
    if (run.chains.size() == 1)
      layout = chosen.layout;
    planned.push_back({chain.chained, chosen.plan});
    const bool handsOn = &chain != &run.chains.back();
    if (handsOn)
      chosen.words += "; result stays on chip";
    ofLayers.insert(ofLayers.end(), chain.chained.groups.size(), chosen);
  }
  lowerRun(context, planned, layout, steps);
  for (const Chains::Chain &chain : run.chains)
    steps.cycles += chain.chosen.cycles;
  return ofLayers;
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

// Whether `shape` is that of two halves of so many elements.
bool isHalves(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> whole) {
  int64_t count = 1;
  for (int64_t size : whole)
    if (size < 1 || __builtin_mul_overflow(count, size, &count))
      return false;
  return shape.size() == 2 && shape[0] == 2 && shape[1] == count;
}

TensorInfo describeTensor(mlir::Value value, mlir::DictionaryAttr attributes, std::string name,
                          int64_t address) {
  TensorInfo info;
  info.name = std::move(name);
  if (attributes) {
    if (auto given = attributes.getAs<mlir::StringAttr>(nameAttribute))
      info.name = given.str();
    if (auto scale = attributes.getAs<mlir::FloatAttr>(scaleAttribute))
      info.scale = scale.getValueAsDouble();
    if (auto zeroPoint = attributes.getAs<mlir::IntegerAttr>(zeroPointAttribute))
      info.zeroPoint = zeroPoint.getInt();
    if (auto type = attributes.getAs<mlir::StringAttr>(typeAttribute))
      info.given = dtypeNamed(type.getValue());
  }
  info.dtype = dtypeOf(value);
  info.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  auto halves = attributes ? attributes.getAs<mlir::DenseI64ArrayAttr>(halvesAttribute) : nullptr;
  if (halves && info.dtype == DType::I32 && isHalves(info.shape, halves.asArrayRef())) {
    info.dtype = DType::I64;
    info.scale.reset();
    info.shape = halves.asArrayRef().vec();
  }
  info.address = static_cast<uint64_t>(address);
  return info;
}

// What is lowered whole, in program order; nothing for runs of chains and for what no region,
// product or convolution is.
std::vector<std::optional<Part>> partsOf(const std::vector<kernel::GroupOp> &groups,
                                         const InPlace &inPlace, const Chains &chains,
                                         const std::map<size_t, ChosenSideBySide> &sideBySide,
                                         const std::map<size_t, ChosenRegion> &regions) {
  std::vector<std::optional<Part>> parts;
  for (size_t place = 0; place < groups.size();) {
    size_t count = 1;
    if (const auto chain = chains.byFirst.find(place); chain != chains.byFirst.end()) {
      count = 0;
      for (const Chains::Chain &each : chain->second.chains)
        count += each.chained.groups.size();
      parts.emplace_back(std::nullopt);
    } else if (const auto beside = sideBySide.find(place); beside != sideBySide.end()) {
      count = beside->second.groups.size();
      parts.push_back(Part{place, nullptr, &beside->second, {}});
    } else if (const auto region = regions.find(place); region != regions.end()) {
      count = region->second.groups.size();
      parts.push_back(Part{place, &region->second, nullptr, {}});
    } else if (!inPlace.assemblies.contains(groups[place])) {
      mlir::Operation *anchor = anchorOf(groups[place]);
      const bool isKnown = llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor);
      parts.push_back(isKnown ? std::optional(Part{place, nullptr, nullptr, groups[place]})
                              : std::nullopt);
    }
    place += count;
  }
  return parts;
}

// Of each group that may run beside a later one, that: the last one of the next part. Where `plans`
// is null, all may; else those that it joins.
Neighbors neighborsOf(const std::vector<kernel::GroupOp> &groups,
                      const std::vector<std::optional<Part>> &parts,
                      const std::map<size_t, PartPlan> *plans) {
  Neighbors until;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::optional<Part> &part = parts[i - 1], &next = parts[i];
    if (!part || !next)
      continue;
    if (plans && (!plans->count(next->place) || !plans->at(next->place).joins))
      continue;
    for (size_t k = 0; k < part->count(); ++k)
      until[groups[part->place + k]] = groups[next->place + next->count() - 1];
  }
  return until;
}

// The first part of some that overlap does so no longer. False where it does with nobody.
bool separate(std::map<size_t, PartPlan> &plans, size_t place) {
  const auto first = plans.find(place);
  if (first == plans.end() || !first->second.isJoined)
    return false;
  const auto second = std::next(first);
  second->second.joins = false;
  second->second.leads = 0;
  if (!second->second.isJoined)
    plans.erase(second);
  plans.erase(first);
  return true;
}

// Emits groups, one after the other or beside each other.
class Appending {
public:
  // `emitted`: by number of what the emitter is given, the first place.
  Appending(LoweringContext &context, Emitter &emitter, Schedule &result,
            std::vector<size_t> &emitted)
      : context_(context), emitter_(emitter), result_(result), emitted_(emitted) {}

  void add(Steps steps, size_t place, const PartPlan &plan) {
    addTraffic(context_.isa, steps, result_.traffic);
    if (!plan.joins) {
      first_ = place;
      timeline_.reset();
    }
    if (plan.joins || plan.isJoined) {
      if (!timeline_)
        timeline_.emplace(context_);
      timeline_->add(std::move(steps), plan.leads);
      if (plan.isJoined)
        return;
      steps = timeline_->take();
    }
    emitted_.push_back(first_);
    emitter_.append(std::move(steps), result_.layers[first_].name);
  }

private:
  LoweringContext &context_;
  Emitter &emitter_;
  Schedule &result_;
  std::vector<size_t> &emitted_;
  std::optional<Timeline> timeline_;
  size_t first_ = 0;
};

// Lowers and emits the groups; says in `result` what their layers do.
void lowerAll(LoweringContext &context, const std::vector<kernel::GroupOp> &groups,
              const InPlace &inPlace, const Chains &chains,
              const std::map<size_t, ChosenSideBySide> &sideBySide,
              const std::map<size_t, ChosenRegion> &regions,
              const std::map<size_t, PartPlan> &overlaps, Appending &appending, Schedule &result) {
  for (size_t place = 0; place < groups.size();) {
    LayerInfo &layer = result.layers[place];
    if (inPlace.assemblies.contains(groups[place])) {
      layer.plan = inPlace.sources.contains(kernel::GroupOp(groups[place]).getResult())
                       ? "read in place"
                       : "written in place";
      layer.inputBytes = layer.outputBytes = 0;
      ++place;
      continue;
    }
    Steps steps;
    steps.layer = static_cast<int>(place);
    auto chain = chains.byFirst.find(place);
    auto beside = sideBySide.find(place);
    auto region = regions.find(place);
    auto overlap = overlaps.find(place);
    std::vector<ChosenChain> chosenChains; // of each layer
    size_t count = 1;
    try {
      if (overlap != overlaps.end()) {
        const Part part{place, region == regions.end() ? nullptr : &region->second,
                        beside == sideBySide.end() ? nullptr : &beside->second, groups[place]};
        count = part.count();
        lowerPart(context, part, overlap->second, steps);
      } else if (chain != chains.byFirst.end()) {
        chosenChains = lower(context, chain->second, steps);
        count = chosenChains.size();
      } else if (beside != sideBySide.end()) {
        count = beside->second.groups.size();
        lowerSideBySide(context, beside->second, steps);
      } else if (region != regions.end()) {
        count = region->second.groups.size();
        lowerRegion(context, region->second, steps);
      } else {
        lower(context, groups[place], steps);
      }
    } catch (const UserError &error) {
      throw ofLayer(error, layer);
    }
    const PartPlan plan = overlap == overlaps.end() ? PartPlan() : overlap->second;
    for (size_t i = 0; i < count; ++i) {
      LayerInfo &info = result.layers[place + i];
      const bool isChained = !chosenChains.empty();
      info.plan = isChained            ? chosenChains[i].words
                  : steps.plan.empty() ? fmt::format("{} steps", steps.steps.size())
                                       : steps.plan;
      if (plan.joins)
        info.plan += "; begins beside the layer before it";
      info.runnerUp = isChained ? chosenChains[i].runnerUp : steps.runnerUp;
    }
    const std::vector<int64_t> least =
        leastTraffic(context.isa, llvm::ArrayRef(groups).slice(place, count), chains.onChip);
    for (size_t i = 0; i < count; ++i)
      result.traffic[place + i].leastBytes = least[i];
    const PlacedBytes placed = placedBytes(groups[place], inPlace); // an assembly's, which is alone
    result.traffic[place].leastBytes -= placed.read + placed.written;
    appending.add(std::move(steps), place, plan);
    place += count;
  }
}

} // namespace

Schedule schedule(mlir::ModuleOp module, const isa::Isa &isa, const ScheduleOptions &options) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  InPlace inPlace = findInPlace(function);
  std::vector<kernel::GroupOp> groups(function.getBody().getOps<kernel::GroupOp>().begin(),
                                      function.getBody().getOps<kernel::GroupOp>().end());
  const uint64_t dram = isa.memory(isa::Space::Dram).bytes;
  const Emitter probe(isa, options.buffering); // refuses machines that no program can be made for
  const auto selection = std::make_shared<Selection>(isa);
  Schedule result(isa);
  for (kernel::GroupOp group : groups) {
    LayerInfo &layer = result.layers.emplace_back(describe(group));
    const PlacedBytes placed = placedBytes(group, inPlace);
    layer.inputBytes -= placed.read;
    layer.outputBytes -= placed.written;
    try {
      checkInstructions(isa, *selection, group);
    } catch (const UserError &error) {
      throw ofLayer(error, layer);
    }
  }
  const std::vector<LayerInfo> absorbed = absorbedOperators(module, groups, result.layers);
  markExpansions(isa, groups);
  // Chains are looked for where every tensor has a place; then those within chains need none.
  Chains chains;
  std::optional<TensorPlanner> planner(std::in_place, function, inPlace, chains, dram);
  std::map<size_t, ChosenSideBySide> sideBySide;
  std::map<size_t, ChosenRegion> regions;
  std::vector<std::optional<Part>> parts;
  std::map<size_t, PartPlan> overlaps;
  std::map<std::string, LoweringContext::Chosen> chosen;
  std::map<std::string, TriedTile> tiles;
  if (options.fusion && options.buffering == Buffering::Double) {
    ConstantPool constants(planner->end());
    LoweringContext context(isa, constants, planner->tensors, options.buffering, selection);
    Workers workers(context);
    chains = findChains(context, workers, groups, options.tuner);
    sideBySide = findSideBySide(context, groups, chains);
    regions = findRegions(context, workers, groups, [&](size_t place) {
      return !inPlace.assemblies.contains(groups[place]) && !chains.lasts.contains(groups[place]);
    });
    chosen = std::move(context.chosen);
    tiles = std::move(context.tiles);
    // They read and write by turns, as a chain's do.
    for (const auto &[place, members] : sideBySide)
      for (kernel::GroupOp group : members.groups)
        chains.lasts[group] = members.groups.back();
    for (const auto &[place, region] : regions) {
      for (kernel::GroupOp group : region.groups)
        chains.lasts[group] = region.groups.back();
      for (mlir::Value value : Region::make(context, region.groups, region.layers)->withinResults())
        chains.onChip.insert(value);
    }
    parts = partsOf(groups, inPlace, chains, sideBySide, regions);
    if (const Neighbors all = neighborsOf(groups, parts, nullptr); !all.empty())
      try {
        const TensorPlanner wide(function, inPlace, chains, dram, all);
        ConstantPool constants(wide.end());
        LoweringContext context(isa, constants, wide.tensors, options.buffering, selection);
        context.chosen = std::move(chosen);
        context.tiles = std::move(tiles);
        overlaps = planOverlaps(context, parts);
        chosen = std::move(context.chosen);
        tiles = std::move(context.tiles);
      } catch (const UserError &) { // too little DRAM for tensors that live longer
        overlaps.clear();
      }
    try {
      planner.emplace(function, inPlace, chains, dram, neighborsOf(groups, parts, &overlaps));
    } catch (const UserError &) { // a chain's input and result live longer
      chains = Chains();
      sideBySide.clear();
      regions.clear();
      overlaps.clear();
      planner.emplace(function, inPlace, chains, dram);
    }
  }
  ConstantPool constants(planner->end());
  LoweringContext context(isa, constants, planner->tensors, options.buffering, selection);
  context.chosen = std::move(chosen);
  context.tiles = std::move(tiles);
  context.tuner = options.tuner;
  // Constants that come in early, and what the chip held before, may leave a group without room.
  // Such a group begins on an empty chip, as its trial did; groups that overlap with others do so
  // no longer where that is not enough.
  std::set<size_t> alone;
  TaskTimes times(isa, context.machine, context.plans);
  for (bool isEmitted = false; !isEmitted;) {
    Emitter emitter(isa, options.buffering, alone, &times);
    std::vector<size_t> emitted;
    Appending appending(context, emitter, result, emitted);
    constants.rollBack(0);
    result.traffic.assign(groups.size(), {});
    try {
      lowerAll(context, groups, inPlace, chains, sideBySide, regions, overlaps, appending, result);
      result.stream = emitter.finish();
      isEmitted = true;
    } catch (const NoSpace &error) {
      if (!alone.insert(error.group()).second) {
        if (!separate(overlaps, emitted[error.group()]))
          throw;
        alone.clear();
      }
    }
    result.scratchpad = emitter.plan(isa::Space::Spad);
    result.accumulators = emitter.plan(isa::Space::Acc);
  }
  result.layers.insert(result.layers.end(), absorbed.begin(), absorbed.end());
  result.traffic.resize(result.layers.size());
  result.tensors = planner->plan();
  result.dramBytes = static_cast<uint64_t>(constants.end());
  result.stream = makeLoops(std::move(result.stream), isa, context.plans, result.dramBytes);
  if (!constants.bytes().empty())
    result.data.push_back({static_cast<uint64_t>(constants.base()), constants.take()});
  for (mlir::BlockArgument argument : function.getArguments())
    result.inputs.push_back(describeTensor(
        argument, function.getArgAttrDict(argument.getArgNumber()),
        fmt::format("input_{}", argument.getArgNumber()), planner->tensors[argument].address));
  auto terminator = llvm::cast<mlir::func::ReturnOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(terminator.getOperands()))
    result.outputs.push_back(
        describeTensor(value, function.getResultAttrDict(static_cast<unsigned>(index)),
                       fmt::format("output_{}", index), planner->tensors[value].address));
  return result;
}

} // namespace tilewright

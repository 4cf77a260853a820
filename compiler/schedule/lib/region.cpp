#include "region.h"

#include "interleave.h"

#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <vector>

namespace tilewright {

namespace {

constexpr int64_t mostOfTile = 16384; // elements of one tensor
constexpr int64_t columnsOfPart = 4;  // of a product, in columns of the array
// Where parameters of all channels take over half of the scratchpad, those of one range take at
// most such a part of it, or are one block.
constexpr int64_t rangesInScratchpad = 6;
// Of a tile: an instruction has three.
constexpr size_t tileRanks = 3;

[[noreturn]] void nothingFits(LoweringContext &context, mlir::Operation *op,
                              const isa::Memory &memory, int64_t needed) {
  throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(op->getLoc()).name))},
                  fmt::format("no tile fits on chip: the smallest needs {} bytes of {}, target "
                              "'{}' has {}",
                              needed, memory.name, context.isa.target(), memory.bytes),
                  fmt::format("give {} at least {} bytes", memory.name, needed));
}

int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  return elements;
}

// Calls `visit` with every box of at most `size` that the shape is cut into, until it says no.
bool forEachBox(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> size,
                llvm::function_ref<bool(const Box &)> visit) {
  Box box{Extents(shape.size(), 0), Extents(shape.size(), 1)};
  std::function<bool(size_t)> loop = [&](size_t dim) {
    if (dim == shape.size())
      return visit(box);
    for (int64_t at = 0; at < shape[dim]; at += size[dim]) {
      box.start[dim] = at;
      box.size[dim] = std::min(size[dim], shape[dim] - at);
      if (!loop(dim + 1))
        return false;
    }
    return true;
  };
  return loop(0);
}

kernel::MatMulOp productOf(mlir::Operation *product) {
  return llvm::cast<kernel::MatMulOp>(product);
}

// What an operation reads that is no parameter of it and no table.
llvm::SmallVector<mlir::Value> dataOf(mlir::Operation &op) {
  llvm::SmallVector<mlir::Value> values(op.getOperands());
  if (llvm::isa<kernel::RescaleOp, kernel::TableOp>(op))
    values.resize(1);
  return values;
}

// Whether the elements of a result of fewer than 32 bits, where they stand in accumulators, are
// what a load of signed elements gives.
bool isSigned(mlir::Value value) {
  auto group = value.getDefiningOp<kernel::GroupOp>();
  auto end = llvm::cast<kernel::YieldOp>(group.getBody().front().getTerminator());
  auto rescale = end.getValue().getDefiningOp<kernel::RescaleOp>();
  const int64_t limit = int64_t(1) << (widthOf(value) - 1);
  return !rescale || (static_cast<int64_t>(rescale.getLo()) >= -limit &&
                      static_cast<int64_t>(rescale.getHi()) < limit);
}

// Who reads a value, under any shape: some of these groups, and others.
struct Readers {
  bool areWithin = false, areElsewhere = false;
};
Readers readersOf(mlir::Value value, llvm::ArrayRef<kernel::GroupOp> groups) {
  Readers readers;
  for (mlir::Operation *user : value.getUsers()) {
    if (llvm::isa<kernel::ViewOp, kernel::StridedViewOp>(user)) {
      const Readers ofView = readersOf(user->getResult(0), groups);
      readers.areWithin |= ofView.areWithin;
      readers.areElsewhere |= ofView.areElsewhere;
      continue;
    }
    auto group = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
    (group && llvm::is_contained(groups, group) ? readers.areWithin : readers.areElsewhere) = true;
  }
  return readers;
}

} // namespace

Region::Region(LoweringContext &context, llvm::ArrayRef<kernel::GroupOp> groups,
               llvm::ArrayRef<int> layers)
    : context_(context) {
  for (size_t i = 0; i < groups.size(); ++i) {
    Kernel &kernel = kernels_.emplace_back();
    kernel.group = groups[i];
    kernel.layer = layers[i];
    const Readers readers = readersOf(kernel.group.getResult(), groups);
    kernel.isStored = readers.areElsewhere;
    kernel.isHandedOn = readers.areWithin;
    describe(kernel);
  }
}

void Region::describe(Kernel &kernel) const {
  kernel::GroupOp group = kernel.group;
  kernel::ReduceOp reduce = reductionOf(group);
  kernel.isReduction = reduce != nullptr;
  kernel.product = llvm::dyn_cast<kernel::MatMulOp>(&group.getBody().front().front());
  kernel.result.assign(shapeOf(group.getResult()).begin(), shapeOf(group.getResult()).end());
  kernel.space = kernel.result;
  if (reduce)
    kernel.space.assign(shapeOf(reduce.getX()).begin(), shapeOf(reduce.getX()).end());
  for (mlir::Operation &op : group.getBody().front().without_terminator())
    for (mlir::Value value : dataOf(op)) {
      if (&op == kernel.product)
        continue;
      mlir::Operation *producer = value.getDefiningOp();
      const bool isInside =
          producer && producer->getParentOp() == group.getOperation() && !isConstant(value);
      if (!isInside && !llvm::is_contained(kernel.operands, value))
        kernel.operands.push_back(value);
    }
  if (reduce)
    return;
  Steps steps;
  kernel.isPerChannel =
      ElementChain(context_, steps, group, kernel.product, ElementChain::Shapes(), 1)
          .isPerChannel();
  auto isApart = [&](mlir::Value value) { return context_.tensors.lookup(value).pitch > 0; };
  kernel.keepsLast = kernel.isPerChannel || isApart(group.getResult()) ||
                     llvm::any_of(kernel.operands, isApart) ||
                     context_.tensors.lookup(group.getResult()).scatter; // perhaps a transpose
}

const Region::Kernel *Region::makerOf(mlir::Value value) const {
  mlir::Value memory = kernel::memoryOf(value);
  const auto maker = llvm::find_if(kernels_, [&](const Kernel &kernel) {
    return kernel::GroupOp(kernel.group).getResult() == memory;
  });
  return maker == kernels_.end() ? nullptr : &*maker;
}

KernelRanks Region::ranksOf(const Kernel &kernel) const {
  KernelRanks ranks;
  ranks.space = kernel.space;
  if (kernel.isReduction)
    ranks.own = static_cast<int>(reductionOf(kernel.group).getAxis());
  for (mlir::Value value : kernel.operands)
    ranks.operands.push_back(
        {Extents(shapeOf(value).begin(), shapeOf(value).end()), makerOf(value) != nullptr});
  if (kernel.product) { // a [N,H,C] is handed on by rows; b [N,C,W] is there for all of them
    ranks.own = 2;
    ranks.operands.push_back({kernel.space, makerOf(productOf(kernel.product).getA()) != nullptr});
    ranks.operands.push_back({{kernel.space[0], 1, 1}});
  }
  ranks.keepsLast = kernel.keepsLast;
  return ranks;
}

// [outer.., own.., last]; of a reduction, own are the rows beyond the outer ranks, if there are
// any, and the elements.
void Region::giveShapes(Kernel &kernel) const {
  const size_t outer = ranks_.outer.size(), behind = ranks_.last > 0 ? 1 : 0;
  std::vector<Extents> shapes;
  for (mlir::Value value : kernel.operands)
    shapes.push_back(underRanks(ranks_, kernel.space, shapeOf(value)));
  shapes.push_back(underRanks(ranks_, kernel.space, kernel.result));
  shapes.push_back(underRanks(ranks_, kernel.space, kernel.space));
  if (kernel.product) {
    kernel.batch = underRanks(ranks_, kernel.space, {kernel.space[0], 1, 1});
    kernel.batch.resize(outer);
  } else if (!kernel.isReduction) {
    const size_t end = shapes.back().size() - behind,
                 kept = kernel.keepsLast && behind == 0 && end > outer ? 1 : 0;
    mergeNeighbors(shapes, outer, end - kept);
  } else {
    const size_t axis = static_cast<size_t>(reductionOf(kernel.group).getAxis());
    const int64_t length = kernel.space[axis],
                  rows = product(llvm::ArrayRef(kernel.space).take_front(axis)) /
                         product(ranks_.outer);
    for (size_t i = 0; i < shapes.size(); ++i) {
      Extents shape(shapes[i].begin(), shapes[i].begin() + static_cast<long>(outer));
      const bool isOperand = i < kernel.operands.size(), isResult = i == kernel.operands.size();
      llvm::ArrayRef<int64_t> known =
          isOperand ? shapeOf(kernel.operands[i]) : llvm::ArrayRef<int64_t>(kernel.space);
      if (rows > 1)
        shape.push_back(product(known.take_front(axis)) == 1 ? 1 : rows);
      shape.push_back(isResult || known[axis] != length ? 1 : length);
      if (behind > 0)
        shape.push_back(shapes[i].back());
      shapes[i] = std::move(shape);
    }
  }
  kernel.space = shapes.back();
  kernel.result = shapes[shapes.size() - 2];
  for (size_t i = 0; i < kernel.operands.size(); ++i)
    kernel.shapes[kernel.operands[i]] = shapes[i];
}

size_t Region::ownRanks(const Kernel &kernel) const {
  return kernel.space.size() - ranks_.outer.size() - (ranks_.last > 0 ? 1 : 0);
}

// Of the common ranks, the last ones: so many as an instruction has beside a kernel's own, and with
// which a product's second operand stays the same.
size_t Region::tiledRanks() const {
  size_t most = tileRanks;
  for (const Kernel &kernel : kernels_) {
    most = std::min(most, tileRanks - ownRanks(kernel));
    size_t same = 0;
    while (same < kernel.batch.size() && kernel.batch[kernel.batch.size() - 1 - same] == 1)
      ++same;
    if (kernel.product)
      most = std::min(most, same);
  }
  return most;
}

// Each reader finds what another kernel leaves on chip in the memory that it reads, or a copy that
// was widened.
bool Region::mayHandOn() {
  Steps steps;
  auto spaceOf = [&](const Kernel &kernel) {
    if (kernel.isReduction)
      return Reduction(context_, steps, kernel.group).resultSpace();
    return ElementChain(context_, steps, kernel.group, kernel.product, kernel.shapes, 1)
                   .resultInAccumulators()
               ? isa::Space::Acc
               : isa::Space::Spad;
  };
  for (Kernel &kernel : kernels_) {
    if (kernel.isReduction) {
      const Reduction reduction(context_, steps, kernel.group);
      for (const Reduction::Read &read : reduction.reads())
        if (const Kernel *maker = makerOf(read.value))
          if (spaceOf(*maker) != read.space ||
              (read.space == isa::Space::Acc && !isSigned(kernel::memoryOf(read.value))))
            return false;
      continue;
    }
    if (kernel.product)
      if (const Kernel *maker = makerOf(productOf(kernel.product).getA());
          maker && spaceOf(*maker) != isa::Space::Spad)
        return false;
    const ElementChain chain(context_, steps, kernel.group, kernel.product, kernel.shapes, 1);
    for (const ElementChain::Read &read : chain.outsideReads()) {
      const Kernel *maker = makerOf(read.value);
      if (!maker)
        continue;
      const isa::Space space = spaceOf(*maker);
      const bool isWidened = space == isa::Space::Spad && read.space == isa::Space::Acc;
      if (read.sign == Signedness::Unsigned || (space != read.space && !isWidened) ||
          (isWidened && !context_.selection->widening()) ||
          (space == isa::Space::Acc && !isSigned(kernel::memoryOf(read.value))))
        return false;
      kernel.widens |= isWidened;
    }
  }
  return true;
}

// Whether the kernel takes a whole tile of `value` from this memory, element by element.
bool Region::isShared(const Kernel &kernel, mlir::Value value, isa::Space space,
                      Signedness sign) const {
  Steps steps;
  auto isAlike = [&](isa::Space otherSpace, Signedness otherSign) {
    return otherSpace == space && otherSign == sign;
  };
  if (product(kernel.shapes.find(value)->second) != product(kernel.space))
    return false;
  if (kernel.isReduction)
    return llvm::all_of(Reduction(context_, steps, kernel.group).reads(),
                        [&](const Reduction::Read &read) {
                          return read.value != value || isAlike(read.space, Signedness::Signed);
                        });
  return llvm::all_of(
      ElementChain(context_, steps, kernel.group, kernel.product, kernel.shapes, 1).outsideReads(),
      [&](const ElementChain::Read &read) {
        return read.value != value || isAlike(read.space, read.sign);
      });
}

void Region::findShared() {
  for (const Kernel &kernel : kernels_)
    for (mlir::Value value : kernel.operands) {
      if (makerOf(value) || shared_.contains(value))
        continue;
      llvm::SmallVector<const Kernel *> readers;
      for (const Kernel &other : kernels_)
        if (llvm::is_contained(other.operands, value))
          readers.push_back(&other);
      auto takeIt = [&](isa::Space space) {
        return llvm::all_of(readers, [&](const Kernel *reader) {
          return isShared(*reader, value, space, Signedness::Signed);
        });
      };
      if (readers.size() > 1 && (takeIt(isa::Space::Acc) || takeIt(isa::Space::Spad)))
        shared_.insert(value);
    }
}

// The same elements in the same order.
static mlir::Value reshapedFrom(mlir::Value value) {
  while (auto view = value.getDefiningOp<kernel::ViewOp>())
    value = view->getOperand(0);
  return value;
}

// A product's first operand is a dense tile of rows, as what reads all of them takes it.
void Region::findInputs() {
  Steps steps;
  for (const Kernel &kernel : kernels_) {
    if (!kernel.product || makerOf(productOf(kernel.product).getA()))
      continue;
    mlir::Value a = productOf(kernel.product).getA();
    for (const Kernel &other : kernels_) {
      if (!other.isReduction)
        continue;
      const Reduction reduction(context_, steps, other.group);
      for (const Reduction::Read &read : reduction.reads())
        if (reshapedFrom(read.value) == reshapedFrom(a) && read.space == isa::Space::Spad &&
            isShared(other, read.value, isa::Space::Spad, Signedness::Signed)) {
          inputs_[kernel.product] = {&other, read.value};
          shared_.insert(read.value);
        }
    }
  }
}

std::optional<Region> Region::make(LoweringContext &context, llvm::ArrayRef<kernel::GroupOp> groups,
                                   llvm::ArrayRef<int> layers) {
  Region region(context, groups, layers);
  std::vector<KernelRanks> ranks;
  for (const Kernel &kernel : region.kernels_)
    ranks.push_back(region.ranksOf(kernel));
  std::optional<CommonRanks> common = commonRanks(ranks);
  if (!common)
    return std::nullopt;
  region.ranks_ = std::move(*common);
  for (const Kernel &kernel : region.kernels_)
    if (kernel.product && (product(region.ranks_.outer) != kernel.space[0] * kernel.space[1] ||
                           region.ranks_.last > 0 || !context.machine.weightsStand ||
                           region.makerOf(productOf(kernel.product).getB())))
      return std::nullopt; // tiles are some of its rows
  while (region.ranks_.outer.size() < tileRanks)
    region.ranks_.outer.insert(region.ranks_.outer.begin(), 1);
  for (Kernel &kernel : region.kernels_)
    region.giveShapes(kernel);
  region.findTurns();
  for (const Kernel &kernel : region.kernels_)
    if (region.ownRanks(kernel) > tileRanks)
      return std::nullopt;
  auto goesInRuns = [&](mlir::Value value, const Extents &shape) {
    const Scatter *scatter = context.tensors.lookup(value).scatter;
    return !scatter || isInRuns(*scatter, shape);
  };
  for (const Kernel &kernel : region.kernels_)
    if (region.isFused() &&
        (!goesInRuns(kernel::GroupOp(kernel.group).getResult(), kernel.result) ||
         !llvm::all_of(kernel.shapes,
                       [&](const auto &entry) { return goesInRuns(entry.first, entry.second); })))
      return std::nullopt;
  if (region.isFused() && !region.mayHandOn())
    return std::nullopt;
  region.findShared();
  region.findInputs();
  region.isTurned_ = region.mayTurn();
  region.chooseRange();
  return region;
}

// Whether tiles have a part of the channels.
bool Region::tilesChannels() const {
  return llvm::any_of(kernels_, [&](const Kernel &kernel) {
    return kernel.isPerChannel && (ownRanks(kernel) == 0 || ranks_.last > 0);
  });
}

Region Region::in(LoweringContext &context) const {
  llvm::SmallVector<kernel::GroupOp> groups;
  llvm::SmallVector<int> layers;
  for (const Kernel &kernel : kernels_) {
    groups.push_back(kernel.group);
    layers.push_back(kernel.layer);
  }
  return *make(context, groups, layers);
}

// Parameters of a part of the channels at a time, so that two ranges, and tiles, are on chip.
void Region::chooseRange() {
  block_ = context_.channels;
  range_ = INT64_MAX;
  const Kernel &first = kernels_.front();
  if (isFused() || !first.isPerChannel)
    return;
  const int64_t channels = first.space.back();
  block_ = std::min(channels, context_.channels);
  range_ = channels;
  const int64_t spad = static_cast<int64_t>(context_.isa.memory(isa::Space::Spad).bytes),
                all = residentBytes(block_, {0, range_}), half = spad / 2;
  if (all <= half || !tilesChannels())
    return;
  for (range_ = block_; block_ > 1 && residentBytes(block_, {0, range_}) > half; range_ = block_)
    block_ = llvm::divideCeilSigned(block_, 2);
  const int64_t blocks = llvm::divideCeilSigned(channels, block_),
                ranges = llvm::divideCeilSigned(all, spad / rangesInScratchpad),
                blocksOfRange = llvm::divideCeilSigned(blocks, std::min(blocks, ranges));
  range_ = blocksOfRange * block_;
}

Region::Running Region::begin(const Kernel &kernel, Steps &steps, int64_t block,
                              const ChannelRange &range) const {
  Running running{kernel, std::nullopt, std::nullopt, std::nullopt, {}, -1};
  if (kernel.isReduction)
    running.reduction.emplace(context_, steps, kernel.group);
  else
    running.chain.emplace(context_, steps, kernel.group, kernel.product, kernel.shapes, block,
                          range);
  if (kernel.product) {
    running.stage.emplace(context_, kernel.product, steps, ConvStage::InputFrom::Dram);
    running.stage->listFolds(TapMerge::None, running.stage->problem().inputChannels);
  }
  return running;
}

int64_t Region::residentBytes(int64_t block, const ChannelRange &range) const {
  Steps steps;
  int64_t bytes = 0;
  for (const Kernel &kernel : kernels_)
    if (!kernel.isReduction)
      bytes += begin(kernel, steps, block, range).chain->residentBytes();
  return bytes;
}

bool Region::takesFused() const {
  Steps steps;
  return llvm::any_of(kernels_, [&](const Kernel &kernel) {
    return !kernel.isReduction &&
           begin(kernel, steps, block_, {0, range_}).chain->unfused().has_value();
  });
}

size_t Region::products() const {
  return static_cast<size_t>(
      llvm::count_if(kernels_, [](const Kernel &kernel) { return kernel.product != nullptr; }));
}

int64_t Region::mostElements() const {
  const ChannelRange range{0, range_};
  int64_t resident = residentBytes(block_, range);
  for (const Kernel &kernel : kernels_)
    if (kernel.product) // this one's second operand, and the next one's
      resident += (hasManyProducts() ? 1 : 2) * elementsOf(productOf(kernel.product).getB()) /
                  shapeOf(productOf(kernel.product).getB())[0];
  const isa::Memory &spad = context_.isa.memory(isa::Space::Spad),
                    &acc = context_.isa.memory(isa::Space::Acc);
  const auto spadBytes = static_cast<int64_t>(spad.bytes),
             accBytes = static_cast<int64_t>(acc.bytes);
  int64_t most = std::min(elements(), mostOfTile);
  Steps steps;
  for (const Kernel &kernel : kernels_) {
    const Running running = begin(kernel, steps, block_, range);
    const size_t outer = ranks_.outer.size();
    const int64_t own =
        product(llvm::ArrayRef(kernel.space).drop_front(outer).take_front(ownRanks(kernel)));
    int64_t inSpad = 0, inAcc = 0; // of one element of the common ranks
    if (kernel.isReduction) {
      const int64_t rows = own / running.reduction->length();
      inSpad = rows * running.reduction->bytesPerElement(isa::Space::Spad);
      inAcc = rows * running.reduction->bytesPerElement(isa::Space::Acc);
    } else {
      ElementChain chain = *running.chain;
      inSpad = own * (chain.spadBytesPerElement() + 1);
      inAcc = own * chain.accBytesPerElement();
      if (kernel.product) {
        inSpad += shapeOf(productOf(kernel.product).getA())[2];
        inAcc += own * 4;
      }
      most = std::min(most, std::max<int64_t>(1, mostOfTile / own));
    }
    auto fit = [&](const isa::Memory &memory, int64_t bytes, int64_t budget, int64_t kept) {
      if (bytes == 0)
        return;
      const int64_t needed = 2 * bytes + kept, count = budget / 2 / bytes;
      // Of several groups only a trial tells: what one reads gives its place to what it makes.
      if (count < 1 && needed > static_cast<int64_t>(memory.bytes) && !isFused())
        nothingFits(context_, kernel.group, memory, needed);
      most = std::min(most, std::max<int64_t>(count, 1)); // 1: no byte to spare
    };
    fit(spad, inSpad, kernel.isReduction ? spadBytes : spadBytes * 15 / 16 - resident,
        kernel.isReduction ? 0 : resident);
    fit(acc, inAcc, accBytes, 0);
  }
  return most;
}

Extents Region::common() const {
  Extents all = ranks_.outer;
  if (ranks_.last > 0)
    all.push_back(ranks_.last);
  return all;
}

Extents Region::tileOf(llvm::ArrayRef<int64_t> all, int64_t most) const {
  Extents size(all.size(), 1);
  const size_t tiled = tiledRanks();
  int64_t left = most;
  for (size_t dim = all.size(), taken = 0; dim-- > 0 && taken < tiled; ++taken) {
    size[dim] = std::min(all[dim], left);
    if (isFused()) // all alike
      size[dim] = llvm::divideCeilSigned(all[dim], llvm::divideCeilSigned(all[dim], size[dim]));
    const int64_t block = std::min(block_, most);
    if (taken == 0 && tilesChannels() && size[dim] < all[dim])
      size[dim] = std::max(block, size[dim] / block * block);
    left = std::max<int64_t>(1, left / size[dim]);
  }
  return size;
}

int64_t Region::tiles(int64_t most) const {
  const Extents all = common(), size = tileOf(all, most);
  int64_t count = 1;
  for (size_t i = 0; i < all.size(); ++i)
    count *= llvm::divideCeilSigned(all[i], size[i]);
  return count;
}

bool Region::areSameTiles(int64_t most, int64_t other) const {
  return tileOf(common(), most) == tileOf(common(), other) && !tilesChannels();
}

Box Region::boxOf(const Kernel &kernel, const Box &tile) const {
  const size_t outer = ranks_.outer.size();
  Box box{Extents(kernel.space.size(), 0), kernel.space};
  for (size_t i = 0; i < outer; ++i) {
    box.start[i] = tile.start[i];
    box.size[i] = tile.size[i];
  }
  if (ranks_.last > 0) {
    box.start.back() = tile.start.back();
    box.size.back() = tile.size.back();
  }
  return box;
}

// The part of a box that an operand or result has.
static Box partOf(llvm::ArrayRef<int64_t> shape, Box box) {
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] == 1)
      box.start[dim] = 0, box.size[dim] = 1;
  return box;
}

Region::Held *Region::heldOf(mlir::Value value, HeldTensors &held) const {
  const auto known = held.find(makerOf(value) ? kernel::memoryOf(value) : value);
  return known == held.end() ? nullptr : &known->second;
}

void Region::loadShared(Steps &steps, Step &step, const Kernel &kernel, mlir::Value value,
                        isa::Space space, const Box &box, HeldTensors &held) const {
  const Extents &shape = kernel.shapes.find(value)->second;
  const int64_t bytes = product(box.size) * (space == isa::Space::Acc ? 4 : 1);
  const int buffer = steps.add(space, bytes, "operand of several kernels");
  loadBox(context_, step.loads, context_.tensor(value), shape, box, bytesOf(value),
          Signedness::Signed, repeatedTile(shape, box, space, buffer));
  held[value] = {space, buffer};
}

Tile Region::reduce(Steps &steps, Step &step, const Running &running, const Box &box,
                    HeldTensors &held) const {
  const Kernel &kernel = running.kernel;
  Reduction reduction = *running.reduction;
  const int64_t length = reduction.length(), columns = ranks_.last > 0 ? box.size.back() : 1,
                rows = product(box.size) / length / columns;
  llvm::SmallVector<Tile> tiles;
  for (const Reduction::Read &read : reduction.reads()) {
    const Repeats &repeats = read.repeats;
    const int64_t wide = repeats.inner ? 1 : columns,
                  elements = repeats.axis ? wide : length * wide;
    Tile tile = denseTile(read.space, -1, {1, 1, 1});
    if (shared_.contains(read.value) && !heldOf(read.value, held))
      loadShared(steps, step, kernel, read.value, read.space, box, held);
    if (const Held *tensor = heldOf(read.value, held)) {
      tile.buffer = tensor->buffer;
    } else {
      const Extents &shape = kernel.shapes.find(read.value)->second;
      const Box part = partOf(shape, box);
      tile.buffer = steps.add(read.space, product(part.size) * tile.elementBytes(), "input tile");
      Tile loaded = repeatedTile(shape, part, read.space, tile.buffer);
      loadBox(context_, step.loads, context_.tensor(read.value), shape, part, bytesOf(read.value),
              Signedness::Signed, loaded);
    }
    tile.s1 = repeats.outer ? 0 : elements;
    tile.s0 = repeats.axis ? 0 : wide;
    tile.sc = repeats.inner ? 0 : 1;
    tiles.push_back(tile);
  }
  return reduction.run(step.compute, rows, columns, tiles);
}

// The products of a tile, by parts of the columns: as many as are narrowed together.
llvm::SmallVector<Tile> Region::multiply(Steps &steps, Step &step, Running &running,
                                         const TileInFlight &tile, HeldTensors &held) const {
  const Kernel &kernel = running.kernel;
  const Box box = boxOf(kernel, tile.box);
  ConvStage &stage = *running.stage;
  int64_t batch = 0, first = 0, rows = 1; // of the product's rows
  for (size_t i = 0; i < kernel.batch.size(); ++i) {
    const int64_t extent = ranks_.outer[i];
    if (extent == 1)
      continue;
    const bool isBatch = kernel.batch[i] != 1;
    (isBatch ? batch : first) = (isBatch ? batch : first) * extent + box.start[i];
    rows *= box.size[i];
  }
  const Span columns{0, kernel.space.back()}, one{0, 1}, part{first, first + rows};
  if (running.batch != batch)
    running.weights = stage.loadWeights(step, batch, columns, stage.allFolds());
  running.batch = batch;
  ConvStage::Input input;
  mlir::Value a = productOf(kernel.product).getA();
  const int64_t depth = stage.problem().inputChannels;
  const auto same = inputs_.find(kernel.product);
  if (same != inputs_.end() && !heldOf(same->second.value, held))
    loadShared(steps, step, *same->second.kernel, same->second.value, isa::Space::Spad,
               boxOf(*same->second.kernel, tile.box), held);
  if (const Held *tensor = heldOf(same != inputs_.end() ? same->second.value : a, held)) {
    input = {tensor->buffer, one, part, rows * depth, depth, 0};
  } else {
    input = stage.loadInput(step.loads, batch, one, part);
  }
  const int64_t each =
      running.chain->resultInAccumulators() ? columns.size() : columnsOfPart * context_.cols;
  llvm::SmallVector<Tile> sums;
  for (int64_t column = 0; column < columns.size(); column += each) {
    const Span some{column, std::min(columns.size(), column + each)};
    const size_t rank = box.size.size();
    const Extent extent{box.size[rank - 3], box.size[rank - 2], some.size()};
    sums.push_back(denseTile(isa::Space::Acc,
                             steps.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"),
                             extent));
    stage.fill(step.compute, input, running.weights, one, part, some, sums.back(), false);
  }
  return sums;
}

// Whether a product takes what the kernel makes as its first operand.
bool Region::isFactor(const Kernel &kernel) const {
  return llvm::any_of(kernels_, [&](const Kernel &other) {
    return other.product && makerOf(productOf(other.product).getA()) == &kernel;
  });
}

// Stages come before the order of kernels.
bool Region::isReadBehind(const Kernel &kernel, mlir::Value value) const {
  mlir::Value memory = kernel::memoryOf(value);
  auto isIt = [&](mlir::Value read) { return kernel::memoryOf(read) == memory; };
  const size_t place = placeOf(kernel);
  const std::pair now(turns_[place].rest, place);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Kernel &other = kernels_[i];
    if (i == place)
      continue;
    if (llvm::any_of(other.operands, isIt) && std::pair(turns_[i].rest, i) > now)
      return true;
    if (other.product && isIt(productOf(other.product).getA()) &&
        std::pair(turns_[i].sums, i) > now)
      return true;
  }
  return false;
}

Tile Region::compute(Steps &steps, Step &step, Running &running, const Box &box, HeldTensors &held,
                     llvm::ArrayRef<Tile> sums) const {
  const Kernel &kernel = running.kernel;
  ElementChain &chain = *running.chain;
  if (isFused())
    chain.ops().forget(); // other kernels' parameters were selected
  const llvm::SmallVector<ElementChain::Read> outside = chain.outsideReads();
  auto isOnlyRead = [&](const ElementChain::Read &read) {
    return llvm::count_if(outside, [&](const ElementChain::Read &other) {
             return kernel::memoryOf(other.value) == kernel::memoryOf(read.value);
           }) == 1;
  };
  for (const ElementChain::Read &read : outside) {
    if (shared_.contains(read.value) && !heldOf(read.value, held))
      loadShared(steps, step, kernel, read.value, read.space, box, held);
    Held *known = heldOf(read.value, held);
    if (!known)
      continue;
    Held &tensor = *known;
    int buffer = tensor.buffer;
    const Extents &shape = kernel.shapes.find(read.value)->second;
    if (tensor.space != read.space) {
      const Extent all{1, 1, product(partOf(shape, box).size)};
      if (tensor.wide < 0) {
        tensor.wide = steps.add(isa::Space::Acc, all.elements() * 4, "widened operand");
        chain.widen(step.compute, all, denseTile(isa::Space::Acc, tensor.wide, all),
                    denseTile(isa::Space::Spad, tensor.buffer, all));
      }
      buffer = tensor.wide;
    }
    chain.provide(read.value, repeatedTile(shape, box, read.space, buffer),
                  isOnlyRead(read) && !isReadBehind(kernel, read.value) &&
                      (shared_.contains(read.value) || !makerOf(read.value)->isStored));
  }
  chain.loadOperands(step.loads, box);
  const size_t rank = box.size.size();
  const Extent extent{box.size[rank - 3], box.size[rank - 2], box.size[rank - 1]};
  Tile result = denseTile(isa::Space::Spad, -1, extent);
  if (!chain.resultInAccumulators())
    result.buffer = steps.add(isa::Space::Spad, extent.elements(), "result tile",
                              isFactor(kernel) ? Traffic::Matrix : Traffic::Streamed);
  if (!kernel.product)
    return chain.run(step.compute, {}, extent, 0, result);
  Tile value = result;
  int64_t column = 0;
  for (const Tile &part : sums) {
    Tile slice = result;
    slice.offset += column;
    const int64_t columns = std::min(part.s0, extent.nc - column);
    const Tile made = chain.run(step.compute, part, {extent.n1, extent.n0, columns}, column, slice);
    if (chain.resultInAccumulators())
      value = made;
    column += columns;
  }
  return value;
}

// Whether the result goes to DRAM transposed, element by element, and may as well come onto the
// chip so: what is computed depends on no place.
bool Region::mayTurn() const {
  const Kernel &kernel = kernels_.front();
  mlir::Value result = kernel::GroupOp(kernel.group).getResult();
  const Scatter *scatter = context_.tensors.lookup(result).scatter;
  const size_t rank = kernel.space.size();
  if (isFused() || kernel.isReduction || kernel.product || kernel.isPerChannel ||
      kernel.operands.size() != 1 || rank < 3 || !scatter || bytesOf(result) > 2 ||
      kernel.space[rank - 2] == 1 || kernel.space[rank - 1] == 1)
    return false;
  mlir::Value operand = kernel.operands.front();
  Steps steps;
  const ElementChain chain(context_, steps, kernel.group, nullptr, kernel.shapes, 1);
  const Scatter *from = context_.tensors.lookup(operand).scatter;
  if ((from && !isInRuns(*from, kernel.space)) || bytesOf(operand) != 1 ||
      kernel.shapes.find(operand)->second != kernel.space || !chain.mayProvide(operand))
    return false;
  // Rows of the result that follow each other, and not its columns, stand side by side.
  Extents start(rank, 0), size(rank, 1), strides(rank, 0);
  size[rank - 2] = size[rank - 1] = 2;
  strides[rank - 2] = 2, strides[rank - 1] = 1;
  bool areRows = true;
  forEachRun(*scatter, kernel.space, start, size, strides, [&](const ScatteredRun &run) {
    areRows &= llvm::any_of(run.dims, [](const CopyDim &dim) {
      return dim.size == 2 && dim.dram == 1 && dim.chip == 2;
    });
  });
  return areRows;
}

// Loads and stores move scattered elements at the same pace: every other tile is transposed by the
// one, the others by the other.
void Region::computeTurned(Steps &steps, Step &step, Running &running,
                           const TileInFlight &tile) const {
  const Kernel &kernel = running.kernel;
  const Box box = boxOf(kernel, tile.box);
  const size_t rank = box.size.size();
  const int64_t planes = box.size[rank - 3], rows = box.size[rank - 2],
                columns = box.size[rank - 1];
  const bool isTurned = tile.number % 2 == 1;
  const Extent extent = isTurned ? Extent{planes, columns, rows} : Extent{planes, rows, columns};
  auto asBox = [&](Tile dense) { // strides by the box's dimensions
    if (isTurned)
      std::swap(dense.s0, dense.sc);
    return dense;
  };
  mlir::Value operand = kernel.operands.front();
  const Tile input = denseTile(
      isa::Space::Spad, steps.add(isa::Space::Spad, extent.elements(), "input tile"), extent);
  loadBox(context_, step.loads, context_.tensor(operand), kernel.space, box, 1, Signedness::Signed,
          asBox(input));
  running.chain->provide(operand, input, true);
  running.chain->loadOperands(step.loads, box);
  Tile result = denseTile(isa::Space::Spad, -1, extent);
  if (!running.chain->resultInAccumulators())
    result.buffer = steps.add(isa::Space::Spad, extent.elements(), "result tile");
  const Tile value = running.chain->run(step.compute, {}, extent, 0, result);
  mlir::Value made = kernel::GroupOp(kernel.group).getResult();
  storeBox(context_, step.compute, context_.tensor(made), kernel.result, partOf(kernel.result, box),
           bytesOf(made), asBox(value));
}

static void mark(llvm::MutableArrayRef<Task> tasks, int layer) {
  for (Task &task : tasks)
    task.layer = layer;
}

// Of a kernel: in which stage a product's sums are made, and in which the rest is done. What stands
// behind a product's operand, and nobody reads before, waits for the product: the array begins
// sooner. Where there are many products, accumulators are scarce: what other kernels have made is
// read as soon as it is there.
void Region::findTurns() {
  const bool areMany = hasManyProducts();
  size_t stage = 0;
  for (const Kernel &kernel : kernels_) {
    size_t sums = 0, rest = stage;
    if (kernel.product) {
      sums = turns_.empty() ? 0 : stage + 1;
      rest = stage = sums + 1;
      const Kernel *maker = makerOf(productOf(kernel.product).getA());
      const size_t first = maker ? placeOf(*maker) + 1 : turns_.size();
      for (size_t i = turns_.size(); !areMany && i-- > first;)
        if (!kernels_[i].product && !isReadBefore(i, stage))
          turns_[i].rest = stage;
    } else if (areMany) {
      rest = latestTurn(kernel).value_or(stage);
    }
    turns_.push_back({sums, rest});
  }
  for (const Turn &turn : turns_)
    stages_ = std::max(stages_, turn.rest + 1);
}

// The stage in which the last of a kernel's operands is made that others of the region make.
std::optional<size_t> Region::latestTurn(const Kernel &kernel) const {
  std::optional<size_t> latest;
  for (mlir::Value value : kernel.operands)
    if (const Kernel *maker = makerOf(value))
      latest = std::max(latest.value_or(0), turns_[placeOf(*maker)].rest);
  return latest;
}

// Whether one of the kernels whose turns are known reads what kernel `i` makes in an earlier stage.
bool Region::isReadBefore(size_t i, size_t stage) const {
  mlir::Value result = kernel::GroupOp(kernels_[i].group).getResult();
  for (size_t k = i + 1; k < turns_.size(); ++k) {
    const bool isOperand = llvm::any_of(
        kernels_[k].operands, [&](mlir::Value value) { return kernel::memoryOf(value) == result; });
    if (isOperand && turns_[k].rest < stage)
      return true;
    if (kernels_[k].product && kernel::memoryOf(productOf(kernels_[k].product).getA()) == result &&
        turns_[k].sums < stage)
      return true;
  }
  return false;
}

// What one stage does of a tile.
void Region::addStage(Steps &steps, Step &step, std::vector<Running> &running, size_t stage,
                      TileInFlight &tile) const {
  const size_t known = steps.buffers.size();
  for (size_t i = 0; i < running.size(); ++i) {
    Running &each = running[i];
    const Kernel &kernel = each.kernel;
    const size_t loads = step.loads.size(), computed = step.compute.size();
    const Box box = boxOf(kernel, tile.box);
    if (stages_ > 1 && each.chain && turns_[i].rest == stage)
      each.chain->useCopy(static_cast<size_t>(tile.number % context_.machine.accBanks));
    if (kernel.product && turns_[i].sums == stage)
      tile.sums[i] = multiply(steps, step, each, tile, tile.held);
    if (isTurned_) {
      computeTurned(steps, step, each, tile);
    } else if (turns_[i].rest == stage) {
      const Tile value = kernel.isReduction
                             ? reduce(steps, step, each, box, tile.held)
                             : compute(steps, step, each, box, tile.held, tile.sums[i]);
      mlir::Value result = kernel::GroupOp(kernel.group).getResult();
      if (kernel.isHandedOn)
        tile.held[result] = {value.space, value.buffer};
      if (kernel.isStored) {
        const Box part = partOf(kernel.result, box);
        storeBox(context_, step.compute, context_.tensor(result), kernel.result, part,
                 bytesOf(result), repeatedTile(kernel.space, part, value.space, value.buffer));
      }
    }
    if (isFused()) {
      mark(llvm::MutableArrayRef(step.loads).drop_front(loads), kernel.layer);
      mark(llvm::MutableArrayRef(step.compute).drop_front(computed), kernel.layer);
    }
  }
  // The array writes one tile's sums, the vector unit another one's, and each has banks of its own.
  if (stages_ > 1)
    for (Buffer &buffer : llvm::MutableArrayRef(steps.buffers).drop_front(known))
      if (buffer.space == isa::Space::Acc)
        buffer.bank = tile.number;
}

// Tables and parameters that several kernels have alike stand on chip once.
static void shareConstants(Steps &steps, const isa::Isa &isa) {
  std::map<std::vector<int64_t>, int> known; // buffers, by what is loaded
  llvm::DenseMap<int, int> loads, same;      // of buffers
  auto whatIs = [](const Task &task) {
    std::vector<int64_t> what{task.instruction};
    what.insert(what.end(), task.values.begin(), task.values.end());
    for (auto [index, value] : task.registers)
      what.insert(what.end(), {index, value});
    return what;
  };
  auto bufferOf = [](const Task &task) {
    int buffer = -1;
    for (int each : task.buffers)
      buffer = std::max(buffer, each);
    return buffer;
  };
  steps.forEachStep([&](const Step &step) {
    for (const std::vector<Task> *tasks : {&step.constants, &step.loads})
      for (const Task &task : *tasks)
        ++loads[bufferOf(task)];
  });
  steps.forEachStep([&](const Step &step) {
    for (const Task &task : step.constants)
      if (const int buffer = bufferOf(task); loads.lookup(buffer) == 1)
        if (const auto [at, isNew] = known.emplace(whatIs(task), buffer); !isNew)
          same[buffer] = at->second;
  });
  if (same.empty())
    return;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const bool wasPacked = steps.isPacked(i);
    steps.unpack(i);
    Step &step = steps.steps[i];
    llvm::erase_if(step.constants, [&](const Task &task) { return same.contains(bufferOf(task)); });
    for (std::vector<Task> *tasks : {&step.loads, &step.compute, &step.stores})
      for (Task &task : *tasks)
        for (int &buffer : task.buffers)
          if (const auto at = same.find(buffer); at != same.end())
            buffer = at->second;
    if (wasPacked)
      steps.pack(i, isa);
  }
}

// Tasks of steps that are not packed: few do not count.
static constexpr size_t mostOpen = 50'000;

void Region::lower(Steps &steps, int64_t most, int64_t interval, int64_t mostTiles) const {
  if (isFused())
    steps.plan = words(most);
  const int64_t block = tilesChannels() ? std::min(block_, most) : block_;
  const Extents all = common();
  const int64_t channels = all.back(), range = range_ < channels ? range_ : channels;
  Interleaving interleaving(context_, products() > 1 ? &steps.buffers : nullptr);
  size_t added = 0; // tasks, about
  for (int64_t first = 0; first < channels && mostTiles > 0; first += range) {
    Extents part = all;
    part.back() = std::min(range, channels - first);
    std::vector<Running> running;
    for (const Kernel &kernel : kernels_) {
      running.push_back(
          begin(kernel, steps, block,
                range < channels ? ChannelRange{first, part.back()} : ChannelRange{}));
      if (isFused() && !kernel.isReduction) {
        running.back().chain->keepOperands();
        if (kernel.widens)
          running.back().chain->needWidening();
      }
    }
    // While one stage of a tile waits for the array, the vector unit has another tile's.
    std::deque<TileInFlight> tiles; // of the last steps, the newest first
    int64_t number = 0;
    bool isFirst = true;
    auto addStep = [&] {
      if (llvm::all_of(tiles, [](const TileInFlight &tile) { return tile.box.start.empty(); }))
        return;
      Step &step = steps.steps.emplace_back();
      for (Running &each : running) {
        const size_t before = step.constants.size();
        if (isFirst && each.chain)
          each.chain->prepare(step.constants);
        if (isFused())
          mark(llvm::MutableArrayRef(step.constants).drop_front(before), each.kernel.layer);
      }
      isFirst = false;
      // The oldest tile first: what it holds is free sooner.
      std::vector<std::vector<Task>> tasks(tiles.size());
      for (size_t stage = tiles.size(); stage-- > 0;) {
        if (!tiles[stage].box.start.empty())
          addStage(steps, step, running, stage, tiles[stage]);
        tasks[tiles.size() - 1 - stage].swap(step.compute);
      }
      step.compute = stages_ > 1 ? interleaving.run(std::move(tasks)) : std::move(tasks.front());
      added += step.compute.size();
      if (added > mostOpen && steps.steps.size() > 1)
        steps.pack(steps.steps.size() - 1, context_.isa);
    };
    auto push = [&](TileInFlight tile) {
      tiles.push_front(std::move(tile));
      if (tiles.size() > stages_)
        tiles.pop_back();
    };
    forEachBox(part, tileOf(part, most), [&](Box tile) {
      if (mostTiles-- <= 0)
        return false;
      tile.start.back() += first;
      TileInFlight next;
      next.box = std::move(tile);
      next.number = number++;
      next.sums.resize(kernels_.size());
      push(std::move(next));
      addStep();
      for (int64_t i = 1; i < interval; ++i) {
        push(TileInFlight());
        addStep();
      }
      return true;
    });
    for (size_t i = 1; i < stages_; ++i) {
      push(TileInFlight());
      addStep();
    }
  }
  if (isFused())
    shareConstants(steps, context_.isa);
}

std::string Region::words(int64_t most) const {
  return fmt::format("region of {} layers: {} tiles of {} iterations", kernels_.size(), tiles(most),
                     product(tileOf(common(), most)));
}

std::string Region::signature() const {
  std::string text;
  for (const Kernel &kernel : kernels_) {
    text += signatureOf(context_, kernel.group);
    for (mlir::Value value : kernel.operands)
      if (const Kernel *maker = makerOf(value))
        text += fmt::format(" from {}", placeOf(*maker));
      else if (const auto *place = llvm::find(shared_, value); place != shared_.end())
        text += fmt::format(" shares {}", place - shared_.begin());
    if (isFused())
      text += kernel.isStored ? " stored;" : ";";
  }
  return text;
}

llvm::SmallVector<mlir::Value> Region::withinResults() const {
  llvm::SmallVector<mlir::Value> values;
  for (const Kernel &kernel : kernels_)
    if (!kernel.isStored)
      values.push_back(kernel::GroupOp(kernel.group).getResult());
  return values;
}

} // namespace tilewright

// Groups of element-wise operations alone, and reductions along an axis: tiles of the result,
// whatever its rank.
#include "lowering.h"
#include "trial.h"

#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tilewright {

namespace {

using Shape = llvm::SmallVector<int64_t>;

constexpr int64_t mostTileFactor = 16;
// Where parameters of all channels take over half of the scratchpad, those of one range take at
// most such a part of it, or are one block.
constexpr int64_t rangesInScratchpad = 6;
// A layer overlaps with its neighbors as well: more tiles must spare a part of so many of its time.
constexpr int64_t leastGain = 32;

[[noreturn]] void nothingFits(LoweringContext &context, mlir::Operation *op,
                              const isa::Memory &memory, int64_t needed) {
  throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(op->getLoc()).name))},
                  fmt::format("no tile fits on chip: the smallest needs {} bytes of {}, target "
                              "'{}' has {}",
                              needed, memory.name, context.isa.target(), memory.bytes),
                  fmt::format("give {} at least {} bytes", memory.name, needed));
}

// Merges neighboring dimensions that every operand either has in full or repeats, so that few are
// left; at least three. `keepLast`: the last dimension stays by itself (per-channel parameters run
// along it, or its rows stand apart in DRAM).
void collapse(Shape &result, std::vector<Shape *> operands, bool keepLast) {
  auto repeats = [&](const Shape &shape, size_t dim) {
    return shape[dim] == 1 && result[dim] != 1;
  };
  for (size_t dim = result.size(); dim-- > 1;) {
    bool isLast = dim + 1 == result.size();
    if (isLast && keepLast)
      continue;
    bool mergeable = llvm::all_of(operands, [&](Shape *shape) {
      return result[dim] == 1 || result[dim - 1] == 1 ||
             repeats(*shape, dim) == repeats(*shape, dim - 1);
    });
    if (!mergeable)
      continue;
    for (Shape *shape : operands) {
      (*shape)[dim - 1] *= (*shape)[dim];
      shape->erase(shape->begin() + static_cast<long>(dim));
    }
    result[dim - 1] *= result[dim];
    result.erase(result.begin() + static_cast<long>(dim));
  }
  operands.push_back(&result);
  for (Shape *shape : operands)
    while (shape->size() < 3)
      shape->insert(shape->begin(), 1);
}

// Calls `visit` with every box of at most `size` that the shape is cut into.
template <typename Visit> void forEachBox(const Shape &shape, const Shape &size, Visit visit) {
  Box box{Shape(shape.size(), 0), Shape(shape.size(), 1)};
  std::function<void(size_t)> loop = [&](size_t dim) {
    if (dim == shape.size())
      return visit(box);
    for (int64_t at = 0; at < shape[dim]; at += size[dim]) {
      box.start[dim] = at;
      box.size[dim] = std::min(size[dim], shape[dim] - at);
      loop(dim + 1);
    }
  };
  loop(0);
}

class Elementwise {
public:
  Elementwise(LoweringContext &context, kernel::GroupOp group)
      : context_(context), group_(group),
        shape_(shapeOf(group.getResult()).begin(), shapeOf(group.getResult()).end()) {
    for (mlir::Operation &op : group.getBody().front())
      for (mlir::Value value : op.getOperands())
        if (shapeOf(value).size() == shape_.size())
          shapes_[value] = Shape(shapeOf(value).begin(), shapeOf(value).end());
    Steps steps;
    perChannel_ =
        ElementChain(context, steps, group, nullptr, ElementChain::Shapes(), 1).isPerChannel();
    bool keepsRows = perChannel_ || context.tensors.lookup(group.getResult()).pitch > 0;
    std::vector<Shape *> operands;
    for (auto &entry : shapes_) {
      operands.push_back(&entry.second);
      keepsRows |= context.tensors.lookup(entry.first).pitch > 0;
    }
    collapse(shape_, operands, keepsRows);
    block_ = perChannel_ ? std::min(shape_.back(), context.channels) : context.channels;
    range_ = shape_.back();
    if (perChannel_)
      chooseRange();
  }

  int64_t elements() const {
    int64_t product = 1;
    for (int64_t size : shape_)
      product *= size;
    return product;
  }

  // Of a tile, so that two are on chip.
  int64_t mostElements() const {
    Steps steps;
    ElementChain chain(context_, steps, group_, nullptr, shapes_, block_, {0, range_});
    const isa::Memory &spad = context_.isa.memory(isa::Space::Spad),
                      &acc = context_.isa.memory(isa::Space::Acc);
    int64_t spadBudget = (static_cast<int64_t>(spad.bytes) * 15 / 16 - chain.residentBytes()) / 2;
    const int64_t needed = 2 * (chain.spadBytesPerElement() + 1) + chain.residentBytes();
    int64_t most = spadBudget / (chain.spadBytesPerElement() + 1);
    if (most < 1 && needed <= static_cast<int64_t>(spad.bytes))
      most = 1; // no room to spare
    if (most < 1)
      nothingFits(context_, group_, spad, needed);
    if (chain.accBytesPerElement() > 0)
      most = std::min(most, static_cast<int64_t>(acc.bytes) / 2 / chain.accBytesPerElement());
    most = std::min<int64_t>(most, 16384);
    if (most < 1)
      nothingFits(context_, group_, acc, 2 * chain.accBytesPerElement());
    return most;
  }

  void lower(Steps &steps, int64_t most) {
    if (perChannel_)
      block_ = std::min(block_, most);
    for (int64_t first = 0; first < shape_.back(); first += range_)
      lowerRange(steps, most, {first, std::min(range_, shape_.back() - first)});
  }

private:
  // Parameters of a part of the channels at a time, so that two ranges, and tiles, are on chip.
  void chooseRange() {
    const int64_t spad = static_cast<int64_t>(context_.isa.memory(isa::Space::Spad).bytes),
                  all = residentBytes(), half = spad / 2;
    if (all <= half)
      return;
    for (range_ = block_; block_ > 1 && residentBytes() > half; range_ = block_)
      block_ = llvm::divideCeilSigned(block_, 2);
    const int64_t blocks = llvm::divideCeilSigned(shape_.back(), block_),
                  ranges = llvm::divideCeilSigned(all, spad / rangesInScratchpad),
                  blocksOfRange = llvm::divideCeilSigned(blocks, std::min(blocks, ranges));
    range_ = blocksOfRange * block_;
  }

  int64_t residentBytes() const {
    Steps steps;
    return ElementChain(context_, steps, group_, nullptr, shapes_, block_, {0, range_})
        .residentBytes();
  }

  void lowerRange(Steps &steps, int64_t most, const ChannelRange &range) {
    ElementChain chain(context_, steps, group_, nullptr, shapes_, block_, range);
    const DramTensor to = context_.tensor(group_.getResult());
    Shape part = shape_;
    part.back() = range.count;
    bool isFirst = true;
    forEachBox(part, tileOf(part, most), [&](Box box) {
      box.start.back() += range.first;
      steps.steps.emplace_back();
      Step &step = steps.steps.back();
      if (isFirst)
        chain.prepare(step.constants);
      isFirst = false;
      chain.loadOperands(step.loads, box);
      size_t rank = shape_.size();
      Extent extent{box.size[rank - 3], box.size[rank - 2], box.size[rank - 1]};
      Tile result = denseTile(isa::Space::Spad, -1, extent);
      if (!chain.resultInAccumulators())
        result.buffer = steps.add(isa::Space::Spad, extent.elements(), "result tile");
      Tile value = chain.run(step.compute, {}, extent, 0, result);
      storeBox(context_, step.compute, to, shape_, box, chain.resultBytes(), value);
    });
  }

  Shape tileOf(const Shape &shape, int64_t most) const {
    Shape size(shape.size(), 1);
    int64_t room = most;
    for (size_t dim = shape.size(), taken = 0; dim-- > 0 && taken < 3; ++taken) {
      size[dim] = std::min(shape[dim], room);
      if (perChannel_ && taken == 0 && size[dim] < shape[dim])
        size[dim] = std::max(block_, size[dim] / block_ * block_);
      room = std::max<int64_t>(1, room / size[dim]);
    }
    return size;
  }

  LoweringContext &context_;
  kernel::GroupOp group_;
  Shape shape_;
  ElementChain::Shapes shapes_;
  bool perChannel_;
  int64_t block_; // channels whose parameters are selected at once
  int64_t range_; // channels whose parameters are resident at once: whole blocks, or all
};

class Reduction {
public:
  Reduction(LoweringContext &context, kernel::GroupOp group)
      : context_(context), group_(group), cover_(coverOf(context, group)),
        pattern_(*cover_.match.pattern) {
    kernel::ReduceOp reduce = reductionOf(group);
    llvm::ArrayRef<int64_t> x = shapeOf(reduce.getX());
    size_t axis = static_cast<size_t>(reduce.getAxis());
    length_ = x[axis];
    for (size_t i = 0; i < x.size(); ++i)
      (i < axis ? outer_ : inner_) *= i == axis ? 1 : x[i];
  }

  int64_t elements() const { return outer_ * inner_; }

  // Of the result at a time, so that what two of such tiles take is on chip.
  int64_t mostElements() const {
    int64_t most = elements();
    for (isa::Space space : {isa::Space::Spad, isa::Space::Acc}) {
      int64_t held = pattern_.result.space == space ? 1 : 0;
      for (const patterns::OperandForm &read : pattern_.reads)
        held += read.space == space ? length_ : 0;
      if (held == 0)
        continue;
      const isa::Memory &memory = context_.isa.memory(space);
      const int64_t needed = held * elementBytes(space) * 2;
      most = std::min(most, static_cast<int64_t>(memory.bytes) / needed);
      if (most < 1)
        nothingFits(context_, group_, memory, needed);
    }
    return most;
  }

  void lower(Steps &steps, int64_t most) {
    const int64_t columns = std::min({inner_, most, pattern_.ncLimit}),
                  rows = std::min({outer_, most / columns, pattern_.n0Limit});
    for (int64_t o = 0; o < outer_; o += rows)
      for (int64_t i = 0; i < inner_; i += columns)
        step(steps,
             {{o, 0, i}, {std::min(rows, outer_ - o), length_, std::min(columns, inner_ - i)}});
  }

private:
  static const ReductionCover &coverOf(LoweringContext &context, kernel::GroupOp group) {
    kernel::ReduceOp reduce = reductionOf(group);
    llvm::SmallVector<mlir::Operation *> run;
    for (mlir::Operation &op : group.getBody().front().without_terminator())
      if (&op != reduce && !isConstant(op.getResult(0)))
        run.push_back(&op);
    return context.selection->coverOf(group, run, reduce);
  }

  static int64_t elementBytes(isa::Space space) { return space == isa::Space::Acc ? 4 : 1; }

  // Of [outer][length][inner] of an operand, what lies in the box. Strides are 0 where it repeats.
  Tile load(Steps &steps, Step &step, mlir::Value value, isa::Space space, Box box) {
    const Repeats repeats = *repeatsOf(value, reductionOf(group_));
    Shape shape = {outer_, length_, inner_};
    const std::array<bool, 3> isRepeated = {repeats.outer, repeats.axis, repeats.inner};
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (isRepeated[dim])
        shape[dim] = 1, box.start[dim] = 0, box.size[dim] = 1;
    const Extent extent{box.size[0], box.size[1], box.size[2]};
    Tile tile = denseTile(
        space, steps.add(space, extent.elements() * elementBytes(space), "input tile"), extent);
    loadBox(context_, step.loads, context_.tensor(value), shape, box, bytesOf(value),
            Signedness::Signed, tile);
    if (repeats.outer)
      tile.s1 = 0;
    if (repeats.axis)
      tile.s0 = 0;
    if (repeats.inner)
      tile.sc = 0;
    return tile;
  }

  // `box`: of the operands.
  void step(Steps &steps, const Box &box) {
    const int64_t rows = box.size[0], columns = box.size[2];
    steps.steps.emplace_back();
    Step &step = steps.steps.back();
    TaskForm::Builder task = context_.form(*pattern_.instruction).build();
    std::map<int, Tile> tiles; // by operand of the function
    for (size_t read = 0; read < pattern_.reads.size(); ++read) {
      const patterns::OperandForm &operand = pattern_.reads[read];
      auto [known, isNew] = tiles.try_emplace(cover_.match.operands[read]);
      if (isNew || known->second.space != operand.space) {
        mlir::Value value = cover_.operands[static_cast<size_t>(known->first)];
        known->second = load(steps, step, value, operand.space, box);
      }
      const Tile &tile = known->second;
      task.bufferAt(static_cast<size_t>(operand.operand), tile.buffer, 0)
          .regAt(operand.k0, tile.s0)
          .regAt(operand.s0, tile.s1);
      if (operand.sc >= 0)
        task.regAt(operand.sc, tile.sc);
    }
    const patterns::OperandForm &form = pattern_.result;
    Tile result = denseTile(
        form.space, steps.add(form.space, rows * columns * elementBytes(form.space), "result tile"),
        {1, rows, columns});
    task.bufferAt(static_cast<size_t>(form.operand), result.buffer, 0)
        .immAt(static_cast<size_t>(pattern_.n0), rows)
        .immAt(static_cast<size_t>(pattern_.nc), columns)
        .regAt(pattern_.n1, 1)
        .regAt(pattern_.k1, 1)
        .regAt(pattern_.k0, length_)
        .regAt(form.s0, columns);
    for (auto [operand, value] : cover_.match.immediates)
      task.immAt(static_cast<size_t>(operand), value);
    for (auto [reg, value] : cover_.match.registers)
      task.regAt(reg, value);
    step.compute.push_back(task);
    storeBox(context_, step.compute, context_.tensor(group_.getResult()), {1, outer_, inner_},
             {{0, box.start[0], box.start[2]}, {1, rows, columns}}, bytesOf(group_.getResult()),
             result);
  }

  LoweringContext &context_;
  kernel::GroupOp group_;
  const ReductionCover &cover_;
  const patterns::Pattern &pattern_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
};

// Few tiles take few instructions, many overlap with their transfers: of so few tiles as fit, as
// large as fit or all alike, twice as many and so on, those with which the layer ends first.
template <typename Layer>
void lowerInTiles(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Layer layer(context, group);
  const int64_t elements = layer.elements(), most = layer.mostElements(),
                fewest = llvm::divideCeil(elements, most);
  const auto known = context.tileElements.try_emplace(signatureOf(context, group), most);
  int64_t &chosen = known.first->second;
  if (known.second) {
    int64_t best = INT64_MAX;
    auto consider = [&](int64_t size, bool isMore) {
      const int64_t enough = isMore ? best - best / leastGain : best;
      const std::optional<Trial> trial =
          tryOut(context, [&](Steps &tried) { layer.lower(tried, size); }, enough);
      if (!trial || trial->cycles >= enough)
        return;
      best = trial->cycles;
      chosen = size;
    };
    consider(most, false);
    for (int64_t factor = 1; factor <= mostTileFactor && fewest * factor <= elements; factor *= 2)
      consider(llvm::divideCeil(elements, fewest * factor), factor > 1);
  }
  layer.lower(steps, chosen);
}

} // namespace

void lowerElementwise(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  lowerInTiles<Elementwise>(context, group, steps);
}

void lowerReduce(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  lowerInTiles<Reduction>(context, group, steps);
}

} // namespace tilewright

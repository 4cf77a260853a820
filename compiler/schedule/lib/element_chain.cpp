#include "lowering.h"

#include <algorithm>
#include <stdexcept>

namespace tilewright {

static constexpr int32_t identityMultiplier = 1 << 30;
static constexpr int32_t identityShift = 30;

ElementChain::ElementChain(LoweringContext &context, Steps &steps, kernel::GroupOp group,
                           mlir::Operation *anchor, Shapes shapes, int64_t blockChannels)
    : context_(context), steps_(steps), ops_(context, steps), group_(group), anchor_(anchor),
      shapes_(std::move(shapes)), blockChannels_(blockChannels) {
  for (mlir::Operation &op : group.getBody().front())
    if (&op != anchor && !llvm::isa<kernel::YieldOp>(op) &&
        !isConstant(op.getNumResults() ? op.getResult(0) : mlir::Value()))
      operations_.push_back(&op);
}

bool ElementChain::isInside(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  return op && op->getParentOp() == group_.getOperation() && !isConstant(value);
}

isa::Space ElementChain::spaceOfResult(mlir::Operation *op) const {
  if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op)) {
    bool fitsByte = static_cast<int64_t>(rescale.getLo()) >= -128 &&
                    static_cast<int64_t>(rescale.getHi()) <= 127;
    return bitsOf(rescale.getResult()) == 8 && fitsByte ? isa::Space::Spad : isa::Space::Acc;
  }
  return bitsOf(op->getResult(0)) == 8 ? isa::Space::Spad : isa::Space::Acc;
}

isa::Space ElementChain::spaceOfOperand(mlir::Operation *op) const {
  if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op))
    return bitsOf(rescale.getX()) == 8 && !rescale.getInputUnsigned() ? isa::Space::Spad
                                                                      : isa::Space::Acc;
  if (llvm::isa<kernel::BinaryOp, kernel::UnaryOp>(op))
    return isa::Space::Acc;
  return bitsOf(op->getOperand(0)) == 8 ? isa::Space::Spad : isa::Space::Acc;
}

// The operands of an operation that are tensors on tiles (not parameters or tables).
static llvm::SmallVector<mlir::Value> tileOperands(mlir::Operation *op) {
  if (llvm::isa<kernel::RescaleOp, kernel::TableOp, kernel::UnaryOp>(op))
    return {op->getOperand(0)};
  return {op->getOperand(0), op->getOperand(1)};
}

bool ElementChain::isPerChannel() const {
  for (mlir::Operation *op : operations_)
    if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op))
      if (elementsOf(rescale.getMultiplier()) > 1 || elementsOf(rescale.getShift()) > 1)
        return true;
  return bias_.size() > 1;
}

bool ElementChain::resultInAccumulators() const {
  if (operations_.empty())
    return !anchor_ || bitsOf(anchor_->getResult(0)) > 8;
  return spaceOfResult(operations_.back()) == isa::Space::Acc;
}

int ElementChain::resultBytes() { return bytesOf(group_.getResult()); }

int64_t ElementChain::spadBytesPerElement() {
  int64_t bytes = 0;
  for (mlir::Operation *op : operations_) {
    for (mlir::Value value : tileOperands(op))
      if (!isInside(value) && spaceOfOperand(op) == isa::Space::Spad)
        ++bytes;
    if (spaceOfResult(op) == isa::Space::Spad && op != operations_.back())
      ++bytes;
  }
  return bytes;
}

int64_t ElementChain::accBytesPerElement() {
  int64_t bytes = 0;
  for (mlir::Operation *op : operations_) {
    for (mlir::Value value : tileOperands(op))
      if (spaceOfOperand(op) == isa::Space::Acc && (!isInside(value) || bitsOf(value) == 8))
        bytes += 4;
    if (spaceOfResult(op) == isa::Space::Acc)
      bytes += 4;
  }
  return bytes;
}

int64_t ElementChain::residentBytes() {
  int64_t bytes = blockChannels_ * 12;
  for (mlir::Operation *op : operations_) {
    if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op))
      bytes += std::max({elementsOf(rescale.getMultiplier()), blockChannels_,
                         static_cast<int64_t>(bias_.size())}) *
               12;
    if (llvm::isa<kernel::TableOp>(op))
      bytes += bitsOf(op->getOperand(0)) == 8 ? 256 : 1026;
  }
  return bytes;
}

static std::vector<int32_t> narrow(const std::vector<int64_t> &values) {
  return {values.begin(), values.end()};
}

void ElementChain::prepare(std::vector<Task> &constants) {
  bool biasPending = !bias_.empty();
  bool needsIdentity = false;
  for (mlir::Operation *op : operations_) {
    for (mlir::Value value : tileOperands(op))
      needsIdentity |=
          isInside(value) && bitsOf(value) == 8 && spaceOfOperand(op) == isa::Space::Acc;
    if (auto table = llvm::dyn_cast<kernel::TableOp>(op)) {
      std::string bytes = constantBytes(table.getTable());
      int64_t size = static_cast<int64_t>(bytes.size());
      int buffer = tables_[op] = steps_.add(isa::Space::Spad, size, "lookup table", Traffic::Rare);
      copyStrided(context_, constants, Direction::Load, context_.constants.add(bytes), 1,
                  Signedness::Signed, {isa::Space::Spad, buffer, 0, 0, 0, 1}, {{size, 1, 1}});
    }
    auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op);
    if (!rescale)
      continue;
    int32_t zeroPoint = -static_cast<int32_t>(rescale.getInputZp());
    std::vector<int32_t> bias{zeroPoint};
    if (biasPending && anchor_ && rescale.getX() == anchor_->getResult(0)) {
      bias = bias_;
      for (int32_t &value : bias)
        value =
            static_cast<int32_t>(static_cast<uint32_t>(value) + static_cast<uint32_t>(zeroPoint));
      biasPending = false;
    }
    blocks_[op] = ops_.channelBlocks(constants, bias, narrow(integersOf(rescale.getMultiplier())),
                                     narrow(integersOf(rescale.getShift())), blockChannels_);
  }
  if (biasPending)
    biasBlocks_ =
        ops_.channelBlocks(constants, bias_, {identityMultiplier}, {identityShift}, blockChannels_);
  if (needsIdentity)
    identity_ =
        ops_.channelBlocks(constants, {0}, {identityMultiplier}, {identityShift}, blockChannels_);
}

void ElementChain::loadOperands(std::vector<Task> &loads, const Box &box) {
  box_ = box;
  outside_.clear();
  for (mlir::Operation *op : operations_) {
    isa::Space space = spaceOfOperand(op);
    auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op);
    Signedness sign =
        rescale && rescale.getInputUnsigned() ? Signedness::Unsigned : Signedness::Signed;
    for (mlir::Value value : tileOperands(op)) {
      auto key =
          std::make_pair(value, static_cast<int>(space) * 2 + (sign == Signedness::Unsigned));
      if (isInside(value) || outside_.count(key))
        continue;
      const llvm::SmallVector<int64_t> &shape = shapes_.find(value)->second;
      Box part = box;
      for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 1)
          part.start[i] = 0, part.size[i] = 1;
      size_t rank = shape.size();
      Extent extent{part.size[rank - 3], part.size[rank - 2], part.size[rank - 1]};
      Tile tile = denseTile(space, -1, extent);
      tile.buffer = steps_.add(space, extent.elements() * tile.elementBytes(),
                               "operand of an element-wise operator");
      loadBox(context_, loads, context_.tensor(value), shape, part, bytesOf(value), sign, tile);
      // Broadcast dimensions repeat.
      if (shape[rank - 3] == 1)
        tile.s1 = 0;
      if (shape[rank - 2] == 1)
        tile.s0 = 0;
      if (shape[rank - 1] == 1)
        tile.sc = 0;
      outside_[key] = tile;
    }
  }
}

Tile ElementChain::operand(std::vector<Task> &out, mlir::Operation *op, mlir::Value value,
                           const Extent &extent, int64_t channel) {
  isa::Space space = spaceOfOperand(op);
  if (isInside(value)) {
    Tile tile = inside_.find(value)->second;
    if (tile.space == space)
      return tile;
    if (space == isa::Space::Spad)
      throw std::logic_error("an unsigned value within a group"); // kernel-check lets none pass
    Tile wide =
        denseTile(space, steps_.add(space, extent.elements() * 4, "widened operand"), extent);
    ops_.rescale(out, identity_, channel, extent, wide, tile, 0, INT32_MIN, INT32_MAX);
    return wide;
  }
  auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op);
  Tile tile = outside_
                  .find(std::make_pair(value, static_cast<int>(space) * 2 +
                                                  (rescale && rescale.getInputUnsigned())))
                  ->second;
  tile.offset += channel * tile.sc;
  return tile;
}

kernel::RescaleOp ElementChain::leadingRescale() const {
  if (operations_.empty() || !anchor_)
    return nullptr;
  auto rescale = llvm::dyn_cast<kernel::RescaleOp>(operations_.front());
  bool leads = rescale && rescale.getX() == anchor_->getResult(0) && rescale.getX().hasOneUse() &&
               !rescale.getInputUnsigned() && spaceOfResult(rescale) == isa::Space::Spad;
  return leads ? rescale : nullptr;
}

Tile ElementChain::run(std::vector<Task> &out, const Tile &anchorValue, const Extent &extent,
                       int64_t channel, const Tile &result, bool leadingDone) {
  inside_.clear();
  size_t lastDim = box_.start.size() - 1;
  int64_t channel0 = box_.start[lastDim] + channel;
  Tile value = anchorValue;
  if (anchor_) {
    if (biasBlocks_.buffer >= 0)
      ops_.rescale(out, biasBlocks_, channel0, extent, value, value, 0, INT32_MIN, INT32_MAX);
    inside_[anchor_->getResult(0)] = value;
  }
  for (mlir::Operation *op : operations_) {
    if (leadingDone && op == operations_.front()) {
      inside_[op->getResult(0)] = value;
      continue;
    }
    isa::Space space = spaceOfResult(op);
    bool isLast = op == operations_.back();
    Tile a = operand(out, op, op->getOperand(0), extent, channel);
    Tile d;
    if (isLast && space == isa::Space::Spad)
      d = result;
    else if (space == a.space && isInside(op->getOperand(0)) && op->getOperand(0).hasOneUse() &&
             a.sc == 1)
      d = a; // in place
    else
      d = denseTile(space,
                    steps_.add(space, extent.elements() * (space == isa::Space::Acc ? 4 : 1),
                               "intermediate result"),
                    extent);
    if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op)) {
      ops_.rescale(out, blocks_[op], channel0, extent, d, a, rescale.getOutputZp(), rescale.getLo(),
                   rescale.getHi());
    } else if (llvm::isa<kernel::TableOp>(op)) {
      bool wide = bitsOf(op->getOperand(0)) != 8;
      ops_.loadTable(out, tables_[op], wide);
      ops_.map(out, wide ? "vtable16" : "vtable", extent, d, a, nullptr, {});
    } else if (auto unary = llvm::dyn_cast<kernel::UnaryOp>(op)) {
      ops_.map(out, "v" + unary.getFunction().str(), extent, d, a, nullptr, {});
    } else if (auto binary = llvm::dyn_cast<kernel::BinaryOp>(op)) {
      Tile b = operand(out, op, op->getOperand(1), extent, channel);
      TileOps::Registers registers;
      if (binary.getFunction() == "mul")
        registers.push_back({"d_shift", binary.getShift()});
      ops_.map(out, "v" + binary.getFunction().str(), extent, d, a, &b, registers);
    } else if (auto add = llvm::dyn_cast<kernel::AddI8Op>(op)) {
      Tile b = operand(out, op, op->getOperand(1), extent, channel);
      auto of = [](uint64_t field) { return static_cast<int64_t>(field); };
      ops_.map(out, "vadd.i8", extent, d, a, &b,
               {{"a_zp", of(add.getAZp())},
                {"a_mult", of(add.getAMultiplier())},
                {"a_shift", of(add.getAShift())},
                {"b_zp", of(add.getBZp())},
                {"b_mult", of(add.getBMultiplier())},
                {"b_shift", of(add.getBShift())},
                {"d_mult", of(add.getMultiplier())},
                {"d_shift", of(add.getShift())},
                {"d_zp", of(add.getOutputZp())},
                {"lo", of(add.getLo())},
                {"hi", of(add.getHi())}});
    } else if (auto mul = llvm::dyn_cast<kernel::MulI8Op>(op)) {
      Tile b = operand(out, op, op->getOperand(1), extent, channel);
      auto of = [](uint64_t field) { return static_cast<int64_t>(field); };
      ops_.map(out, "vmul.i8", extent, d, a, &b,
               {{"a_zp", of(mul.getAZp())},
                {"b_zp", of(mul.getBZp())},
                {"d_mult", of(mul.getMultiplier())},
                {"d_shift", of(mul.getShift())},
                {"d_zp", of(mul.getOutputZp())},
                {"lo", of(mul.getLo())},
                {"hi", of(mul.getHi())}});
    } else {
      throw std::logic_error("an operation in a group has no element-wise lowering: " +
                             op->getName().getStringRef().str());
    }
    inside_[op->getResult(0)] = value = d;
  }
  return value;
}

} // namespace tilewright

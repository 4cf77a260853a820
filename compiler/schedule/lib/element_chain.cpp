#include "lowering.h"

#include "tilewright/compiler/tosa/fixed_point.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tilewright {

static constexpr int32_t identityMultiplier = FixedPoint().multiplier;
static constexpr int32_t identityShift = FixedPoint().shift;

ElementChain::Shapes ElementChain::shapesOf(kernel::GroupOp group) {
  Shapes shapes;
  for (mlir::Operation &op : group.getBody().front())
    for (mlir::Value value : op.getOperands())
      shapes[value] = llvm::SmallVector<int64_t>(shapeOf(value));
  return shapes;
}

ElementChain::ElementChain(LoweringContext &context, Steps &steps, kernel::GroupOp group,
                           mlir::Operation *anchor, Shapes shapes, int64_t blockChannels,
                           ChannelRange range)
    : context_(context), steps_(steps), ops_(context, steps), group_(group), anchor_(anchor),
      shapes_(std::move(shapes)), blockChannels_(blockChannels), range_(range),
      operations_(scalarOperationsOf(group)), bias_(biasOf(anchor)),
      covers_(&context.selection->coversOf(group, anchor, operations_, bias_)) {}

std::optional<ElementChain> ElementChain::unfused() const {
  if (covers_->size() == operations_.size())
    return std::nullopt;
  const Covers *single = context_.selection->singleCoversOf(group_, anchor_, operations_, bias_);
  if (!single)
    return std::nullopt;
  ElementChain chain = *this;
  chain.covers_ = single;
  return chain;
}

bool ElementChain::isOutside(const Cover &cover, size_t read) const {
  mlir::Operation *producer = valueOf(cover, read).getDefiningOp();
  return !producer || (producer != anchor_ && !llvm::is_contained(operations_, producer));
}

llvm::SmallVector<ElementChain::Inside, 4> ElementChain::insideReads(const Cover &cover) const {
  llvm::SmallVector<Inside, 4> reads;
  auto add = [&](mlir::Value value, bool isWide) {
    for (size_t i = 0; i < cover.match.operands.size(); ++i)
      if (valueOf(cover, i) == value) {
        const bool fromWide = cover.match.pattern->reads[i].space == isa::Space::Acc;
        reads.push_back({value, isWide, fromWide && !isWide});
        return;
      }
  };
  if (anchor_)
    add(anchor_->getResult(0), bitsOf(anchor_->getResult(0)) > 8);
  for (const Cover &before : *covers_) {
    if (&before == &cover)
      break;
    add(before.result(), before.resultSpace() == isa::Space::Acc);
  }
  return reads;
}

bool ElementChain::readsUnsigned(const Cover &cover, mlir::Value value) const {
  return llvm::any_of(cover.run, [&](mlir::Operation *op) {
    auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op);
    return rescale && rescale.getX() == value && rescale.getInputUnsigned();
  });
}

bool ElementChain::isPerChannel() const {
  for (const Cover &cover : *covers_)
    for (const auto &[array, values] : cover.match.channels)
      if (values.size() > 1)
        return true;
  return bias_.size() > 1;
}

bool ElementChain::resultInAccumulators() const {
  if (covers_->empty())
    return !anchor_ || bitsOf(anchor_->getResult(0)) > 8;
  return covers_->back().resultSpace() == isa::Space::Acc;
}

int ElementChain::resultBytes() { return bytesOf(group_.getResult()); }

int64_t ElementChain::spadBytesPerElement() {
  int64_t bytes = 0;
  for (const Cover &cover : *covers_) {
    for (size_t i = 0; i < cover.match.operands.size(); ++i)
      if (isOutside(cover, i) && cover.match.pattern->reads[i].space == isa::Space::Spad)
        ++bytes;
    if (cover.resultSpace() == isa::Space::Spad && &cover != &covers_->back())
      ++bytes;
  }
  return bytes;
}

int64_t ElementChain::wideOperandBytes() {
  int64_t bytes = 0;
  for (const Cover &cover : *covers_)
    for (size_t i = 0; i < cover.match.operands.size(); ++i)
      if (isOutside(cover, i) && cover.match.pattern->reads[i].space == isa::Space::Acc)
        bytes += 4;
  return bytes;
}

int64_t ElementChain::accBytesPerElement() {
  int64_t bytes = wideOperandBytes();
  for (const Cover &cover : *covers_) {
    // A wide value of the group gives its place to the result; an operand does, too, while that of
    // the next tile comes in.
    bool isInPlace = false;
    for (const Inside &read : insideReads(cover)) {
      bytes += read.isWidened ? 4 : 0;
      isInPlace |= read.isWidened || read.isWide;
    }
    bytes += cover.resultSpace() == isa::Space::Acc && !isInPlace ? 4 : 0;
  }
  return bytes;
}

int64_t ElementChain::residentBytes() {
  int64_t bytes = blockChannels_ * 12;
  for (const Cover &cover : *covers_) {
    int64_t channels = std::max(blockChannels_, static_cast<int64_t>(bias_.size()));
    for (const auto &[array, values] : cover.match.channels)
      channels = std::max(channels, std::min(range_.count, static_cast<int64_t>(values.size())));
    if (!cover.match.channels.empty())
      bytes += (channels + context_.lanes) * 12;
    if (cover.table)
      bytes += elementsOf(cover.table) * bytesOf(cover.table);
  }
  return bytes;
}

int64_t ElementChain::selectedBytes() {
  int64_t tables = 0, parameters = 0, selections = 0;
  for (const Cover &cover : *covers_) {
    if (cover.table)
      tables += elementsOf(cover.table) * bytesOf(cover.table);
    if (!cover.match.channels.empty())
      ++selections, parameters += (blockChannels_ + context_.lanes) * 12;
  }
  return tables + (selections > 1 ? parameters : 0);
}

ChannelBlocks ElementChain::blocksOf(std::vector<Task> &constants, const patterns::Match &match,
                                     ChannelParts *parts) {
  const patterns::ChannelArrays arrays = context_.channelArrays();
  auto valuesOf = [&](size_t place, int32_t otherwise) {
    const auto known = match.channels.find(arrays[place]);
    if (known == match.channels.end())
      return std::vector<int32_t>{otherwise};
    llvm::ArrayRef<int64_t> values = known->second;
    if (values.size() > 1)
      values = values.drop_front(static_cast<size_t>(range_.first))
                   .take_front(static_cast<size_t>(range_.count));
    return std::vector<int32_t>(values.begin(), values.end());
  };
  ChannelBlocks blocks =
      ops_.channelBlocks(constants, valuesOf(0, 0), valuesOf(1, identityMultiplier),
                         valuesOf(2, identityShift), blockChannels_, parts);
  blocks.first = range_.first;
  return blocks;
}

void ElementChain::prepare(std::vector<Task> &constants, ChannelParts *parts) {
  bool needsIdentity = needsWidening_;
  for (const Cover &cover : *covers_) {
    for (const Inside &read : insideReads(cover))
      needsIdentity |= read.isWidened;
    if (cover.table) {
      std::string bytes = constantBytes(cover.table);
      int64_t size = static_cast<int64_t>(bytes.size());
      int buffer = tables_[&cover] =
          steps_.add(isa::Space::Spad, size, "lookup table", Traffic::Rare);
      copyStrided(context_, constants, Direction::Load, context_.constants.add(bytes), 1,
                  Signedness::Signed, {isa::Space::Spad, buffer, 0, 0, 0, 1}, {{size, 1, 1}});
    }
    if (!cover.match.channels.empty())
      blocks_[&cover] = blocksOf(constants, cover.match, parts);
  }
  const bool takesBias = llvm::any_of(operations_, [&](mlir::Operation *op) {
    auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op);
    return rescale && anchor_ && rescale.getX() == anchor_->getResult(0);
  });
  if (!bias_.empty() && !takesBias)
    biasBlocks_ = ops_.channelBlocks(constants, bias_, {identityMultiplier}, {identityShift},
                                     blockChannels_, parts);
  if (needsIdentity && !context_.selection->widening()->channels.empty())
    identity_ = blocksOf(constants, *context_.selection->widening(), parts);
}

llvm::SmallVector<ElementChain::Read> ElementChain::outsideReads() const {
  llvm::SmallVector<Read> reads;
  for (const Cover &cover : *covers_)
    for (size_t i = 0; i < cover.match.operands.size(); ++i)
      if (isOutside(cover, i))
        reads.push_back(
            {valueOf(cover, i), cover.match.pattern->reads[i].space,
             readsUnsigned(cover, valueOf(cover, i)) ? Signedness::Unsigned : Signedness::Signed});
  return reads;
}

bool ElementChain::mayProvide(mlir::Value value) const {
  return llvm::all_of(outsideReads(), [&](const Read &read) {
    return read.value != value || read.space == isa::Space::Spad;
  });
}

void ElementChain::loadOperands(std::vector<Task> &loads, const Box &box) {
  box_ = box;
  if (!keepsOperands_)
    outside_.clear();
  const llvm::DenseMap<Key, Box> before = std::exchange(loaded_, llvm::DenseMap<Key, Box>());
  llvm::DenseSet<Key> isThere;
  for (const Cover &cover : *covers_) {
    for (size_t i = 0; i < cover.match.operands.size(); ++i) {
      if (!isOutside(cover, i))
        continue;
      mlir::Value value = valueOf(cover, i);
      isa::Space space = cover.match.pattern->reads[i].space;
      const Key key = keyOf(cover, i);
      if (!isThere.insert(key).second)
        continue;
      const auto provided = provided_.find({value, static_cast<int>(space)});
      if (provided != provided_.end()) {
        outside_[key] = provided->second;
        continue;
      }
      Signedness sign = readsUnsigned(cover, value) ? Signedness::Unsigned : Signedness::Signed;
      const llvm::SmallVector<int64_t> &shape = shapes_.find(value)->second;
      Box part = box;
      for (size_t dim = 0; dim < shape.size(); ++dim)
        if (shape[dim] == 1)
          part.start[dim] = 0, part.size[dim] = 1;
      if (keepsOperands_) {
        const auto same = before.find(key);
        const bool isSame = same != before.end() && same->second.start == part.start &&
                            same->second.size == part.size;
        loaded_[key] = part;
        if (isSame)
          continue;
      }
      Tile tile = repeatedTile(shape, part, space, -1);
      int64_t elements = 1; // of the last three dimensions: the others have one
      for (int64_t size : llvm::ArrayRef(part.size).take_back(3))
        elements *= size;
      tile.buffer =
          steps_.add(space, elements * tile.elementBytes(), "operand of an element-wise operator");
      loadBox(context_, loads, context_.tensor(value), shape, part, bytesOf(value), sign, tile);
      outside_[key] = tile;
    }
  }
}

kernel::RescaleOp ElementChain::leadingRescale() const {
  if (operations_.empty() || !anchor_)
    return nullptr;
  auto rescale = llvm::dyn_cast<kernel::RescaleOp>(operations_.front());
  if (llvm::isa<kernel::DepthwiseOp>(anchor_) && !context_.isa.withRole(isa::Role::DepthwiseI8))
    return nullptr;
  bool leads = rescale && rescale.getX() == anchor_->getResult(0) && rescale.getX().hasOneUse() &&
               !rescale.getInputUnsigned() && covers_->front().run.size() == 1 &&
               covers_->front().run.front() == rescale &&
               covers_->front().resultSpace() == isa::Space::Spad;
  return leads ? rescale : nullptr;
}

// The operand from outside that a cover's result may take the place of, whom nobody else reads: one
// that was loaded for it, or is provided as the last one that reads it. Of the latter, which are
// read beside what others make, a single row or image leaves more choice of banks.
std::optional<Tile> ElementChain::replaced(const Cover &cover, const Extent &extent) const {
  for (size_t i = 0; i < cover.match.operands.size(); ++i) {
    mlir::Value value = valueOf(cover, i);
    if (!isOutside(cover, i))
      continue;
    const bool isProvided =
        llvm::any_of(provided_, [&](const auto &entry) { return entry.first.first == value; });
    if (isProvided ? !replaceable_.contains(value) : keepsOperands_)
      continue;
    const auto isRead = [&](const Cover &other) {
      for (size_t k = 0; k < other.match.operands.size(); ++k)
        if (valueOf(other, k) == value)
          return true;
      return false;
    };
    const Tile &tile = outside_.find(keyOf(cover, i))->second;
    Tile dense = denseTile(tile.space, tile.buffer, extent);
    dense.offset = tile.offset;
    auto follows = [&](int64_t size, int64_t stride, int64_t wanted) {
      return stride == wanted || (size == 1 && !isProvided);
    };
    if (tile.space == cover.resultSpace() && follows(extent.nc, tile.sc, dense.sc) &&
        follows(extent.n0, tile.s0, dense.s0) && follows(extent.n1, tile.s1, dense.s1) &&
        llvm::count_if(*covers_, isRead) == 1)
      return dense;
  }
  return std::nullopt;
}

void ElementChain::widen(std::vector<Task> &out, const Extent &extent, const Tile &wide,
                         const Tile &narrow) {
  const patterns::Match &widening = *context_.selection->widening();
  ops_.apply(out, widening, widening.channels.empty() ? nullptr : &identity_, 0, extent, wide,
             narrow);
}

Tile ElementChain::run(std::vector<Task> &out, const Tile &anchorValue, const Extent &extent,
                       int64_t channel, const Tile &result, bool leadingDone) {
  int64_t channel0 = box_.start.back() + channel;
  Tile value = anchorValue;
  llvm::DenseMap<mlir::Value, Tile> made; // what the group has made so far
  auto temporary = [&](isa::Space space, const char *purpose) {
    return denseTile(
        space, steps_.add(space, extent.elements() * (space == isa::Space::Acc ? 4 : 1), purpose),
        extent);
  };
  if (anchor_ && biasBlocks_.buffer >= 0)
    ops_.rescale(out, biasBlocks_, channel0, extent, value, value, 0, INT32_MIN, INT32_MAX);
  if (anchor_)
    made[(leadingDone ? operations_.front() : anchor_)->getResult(0)] = value;
  for (const Cover &cover : *covers_) {
    if (leadingDone && &cover == &covers_->front())
      continue;
    const isa::Space space = cover.resultSpace();
    std::optional<Tile> inPlace; // of what is made last, when it stands where the result is to
    for (const Inside &read : insideReads(cover)) {
      Tile &tile = made[read.value];
      if (read.isWidened) {
        const Tile wide = temporary(isa::Space::Acc, "widened operand");
        widen(out, extent, wide, tile);
        tile = wide;
      }
      if (tile.space == space && tile.sc == 1)
        inPlace = tile;
    }
    llvm::SmallVector<Tile, 4> operands;
    for (size_t i = 0; i < cover.match.operands.size(); ++i) {
      const bool isFromOutside = isOutside(cover, i);
      operands.push_back(isFromOutside ? outside_.find(keyOf(cover, i))->second
                                       : made.find(valueOf(cover, i))->second);
      operands.back().offset += isFromOutside ? channel * operands.back().sc : 0;
    }
    Tile d;
    if (&cover == &covers_->back() && space == isa::Space::Spad)
      d = result;
    else if (inPlace)
      d = *inPlace;
    else if (const std::optional<Tile> operand = replaced(cover, extent))
      d = *operand;
    else
      d = temporary(space, "intermediate result");
    if (cover.table)
      ops_.loadTable(out, tables_[&cover], cover.match);
    ops_.apply(out, cover.match, cover.match.channels.empty() ? nullptr : &blocks_[&cover],
               channel0, extent, d, operands);
    value = made[cover.result()] = d;
  }
  return value;
}

} // namespace tilewright

#include "tilewright/simulator/timing/blocks.h"

#include <algorithm>

namespace tilewright::timing {

Blocks::Blocks(const InstructionTiming &timing, const isa::Isa &isa,
               const isa::ScalarContext &context, const int64_t *addresses)
    : arrayRows_(isa.param("rows")) {
  const StepTiming &step = timing.steps[0];
  pixelLevels_ = static_cast<size_t>(step.spatial) - 1;
  depthLevel_ = step.extents.size() - 1;
  pixels_ = taps_ = 1;
  for (size_t i = 0; i < step.extents.size(); ++i) {
    extents_[i] = std::max<int64_t>(step.extents[i](context), 0);
    if (i < pixelLevels_)
      pixels_ *= extents_[i];
    else if (i > pixelLevels_ && i < depthLevel_)
      taps_ *= extents_[i];
  }
  const int64_t columns = extents_[pixelLevels_];
  if (columns == 0)
    pixels_ = 0;
  depth_ = extents_[depthLevel_];
  auto walkOf = [&](const StreamTiming &stream) {
    return walk(stream, isa.memory(stream.space), context, addresses);
  };
  activation_ = walkOf(step.reads[0]);
  weight_ = walkOf(step.reads[1]);
  sum_ = walkOf(step.write);
  activationBytes_ = step.reads[0].elementBytes;
  weightBytes_ = columns * step.reads[1].elementBytes;
  sumBytes_ = columns * step.write.elementBytes;
}

Blocks::Chunk Blocks::chunk(int64_t block, int64_t cycle) const {
  const int64_t each = tapCycles(rows(block));
  if (cycle >= taps_ * each)
    return {};
  const int64_t within = cycle % each, number = std::min(within / arrayRows_, depth_ / arrayRows_),
                first = number * arrayRows_;
  return {cycle / each, first, std::min(arrayRows_, depth_ - first), within - first};
}

Blocks::Piece Blocks::activationPiece(int64_t block, int64_t cycle) const {
  const Chunk at = chunk(block, cycle);
  if (at.length == 0 || at.step >= rows(block))
    return {};
  return {activation_.address + offset(activation_, 0, pixelLevels_, block * arrayRows_ + at.step) +
              offset(activation_, pixelLevels_ + 1, depthLevel_, at.tap) +
              at.first * activation_.stride[depthLevel_],
          at.length * activationBytes_};
}

Blocks::Piece Blocks::weightPiece(int64_t block, int64_t cycle) const {
  const Chunk at = chunk(block, cycle);
  if (at.step >= at.length)
    return {};
  return {weight_.address + offset(weight_, pixelLevels_ + 1, depthLevel_, at.tap) +
              (at.first + at.step) * weight_.stride[depthLevel_],
          weightBytes_};
}

Blocks::Piece Blocks::sumPiece(int64_t pixel) const {
  return {sum_.address + offset(sum_, 0, pixelLevels_, pixel), sumBytes_};
}

int64_t Blocks::bothReads(int64_t block) const {
  return depth_ / arrayRows_ * rows(block) + std::min(lastChunk(), rows(block));
}

int64_t Blocks::offset(const Walk &walk, size_t first, size_t end, int64_t position) const {
  int64_t moved = 0;
  for (size_t i = end; i-- > first; position /= extents_[i])
    moved += walk.stride[i] * (position % extents_[i]);
  return moved;
}

Blocks::Reach Blocks::reach(const Walk &walk, size_t first, size_t end) const {
  Reach all;
  for (size_t i = first; i < end; ++i)
    (walk.stride[i] < 0 ? all.low : all.high) +=
        walk.stride[i] * std::max<int64_t>(extents_[i] - 1, 0);
  return all;
}

Blocks::Reach Blocks::pixels(const Walk &walk, int64_t block) const {
  Reach all{INT64_MAX, INT64_MIN};
  for (int64_t pixel = block * arrayRows_, end = pixel + rows(block); pixel < end; ++pixel) {
    const int64_t at = offset(walk, 0, pixelLevels_, pixel);
    all.low = std::min(all.low, at);
    all.high = std::max(all.high, at);
  }
  return all;
}

namespace {

Blocks::Reach sumOf(int64_t address, std::initializer_list<Blocks::Reach> parts, int64_t bytes) {
  Blocks::Reach all{address, address + bytes};
  for (const Blocks::Reach &part : parts) {
    all.low += part.low;
    all.high += part.high;
  }
  return all;
}

} // namespace

Blocks::Reach Blocks::activations() const {
  return sumOf(
      activation_.address,
      {reach(activation_, 0, pixelLevels_), reach(activation_, pixelLevels_ + 1, depthLevel_ + 1)},
      activationBytes_);
}

Blocks::Reach Blocks::activations(int64_t block) const {
  return sumOf(activation_.address,
               {pixels(activation_, block), reach(activation_, pixelLevels_ + 1, depthLevel_ + 1)},
               activationBytes_);
}

Blocks::Reach Blocks::activations(int64_t block, int64_t tap) const {
  const int64_t moved = offset(activation_, pixelLevels_ + 1, depthLevel_, tap);
  return sumOf(activation_.address + moved,
               {pixels(activation_, block), reach(activation_, depthLevel_, depthLevel_ + 1)},
               activationBytes_);
}

Blocks::Reach Blocks::weights() const {
  return sumOf(weight_.address, {reach(weight_, pixelLevels_ + 1, depthLevel_ + 1)}, weightBytes_);
}

Blocks::Reach Blocks::weights(int64_t tap) const {
  return sumOf(weight_.address + offset(weight_, pixelLevels_ + 1, depthLevel_, tap),
               {reach(weight_, depthLevel_, depthLevel_ + 1)}, weightBytes_);
}

Blocks::Reach Blocks::sums() const {
  return sumOf(sum_.address, {reach(sum_, 0, pixelLevels_)}, sumBytes_);
}

Blocks::Reach Blocks::sums(int64_t block) const {
  return sumOf(sum_.address, {pixels(sum_, block)}, sumBytes_);
}

} // namespace tilewright::timing

#include "image_sum.h"

#include "chain.h"

#include "tilewright/compiler/schedule/fused_stack_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr int64_t wantedParts = 4; // the first one's load and the last one's sum are in the open

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class SumOfImage {
public:
  SumOfImage(LoweringContext &context, kernel::GroupOp group, Steps &steps)
      : context_(context), group_(group), steps_(steps), sum_(chainAnchorOf(group)),
        shape_(shapeOf(sum_.getX())), block_(std::min(shape_[3], context.channels)),
        operations_(context, steps, group, sum_, ElementChain::shapesOf(group), block_) {
    for (chunk_ = shape_[3]; (rows_ = rowsOfAPart()) == 0 && chunk_ > context.lanes;)
      chunk_ = chunk_ > block_ ? ceilDiv(ceilDiv(chunk_, block_), 2) * block_
                               : std::max(context.lanes, chunk_ / 2);
  }
  bool fits() const { return rows_ > 0; }
  void lower() {
    const int64_t parts = ceilDiv(shape_[1], rows_);
    steps_.plan =
        fmt::format("{} steps of {}x{}x{} (y, x, channels) of the image; input "
                    "double-buffered, partial sums added at the end",
                    shape_[0] * parts * ceilDiv(shape_[3], chunk_), rows_, shape_[2], chunk_);
    for (int64_t n = 0; n < shape_[0]; ++n)
      for (int64_t c = 0; c < shape_[3]; c += chunk_) {
        const Span channels{c, std::min(shape_[3], c + chunk_)};
        const Extent slots{1, sumSlots(parts).count(), channels.size()};
        const ImageSlots sums{
            denseTile(isa::Space::Acc,
                      steps_.add(isa::Space::Acc, slots.elements() * 4, "sums of an image's parts"),
                      slots),
            parts};
        for (int64_t part = 0; part < parts; ++part)
          addPart(n, part, channels, sums);
        finish(n, channels, sums);
      }
  }

private:
  // None where two of them, or the slots, do not fit.
  int64_t rowsOfAPart() {
    const int64_t channels = chunk_, row = shape_[2] * channels,
                  spad = static_cast<int64_t>(context_.isa.memory(isa::Space::Spad).bytes),
                  acc = static_cast<int64_t>(context_.isa.memory(isa::Space::Acc).bytes),
                  room = spad * 5 / 8 - operations_.residentBytes() -
                         channels * (1 + operations_.spadBytesPerElement()),
                  most = std::min(room / (2 * row), ceilDiv(shape_[1], wantedParts));
    if (room < 2 * row)
      return 0;
    const int64_t bytes = 4 * sumSlots(ceilDiv(shape_[1], most)).count() +
                          operations_.accBytesPerElement() + operations_.wideOperandBytes();
    return 2 * channels * bytes <= acc ? most : 0;
  }

  void addPart(int64_t n, int64_t part, Span channels, const ImageSlots &sums) {
    Step &step = steps_.steps.emplace_back();
    if (steps_.steps.size() == 1)
      operations_.prepare(step.constants);
    const int64_t first = part * rows_, rows = std::min(rows_, shape_[1] - first);
    const Extent extent{rows, shape_[2], channels.size()};
    const Tile image = denseTile(
        isa::Space::Spad, steps_.add(isa::Space::Spad, extent.elements(), "input tile"), extent);
    const ImageView view = viewOf(context_, sum_.getX());
    copyStrided(
        context_, step.loads, Direction::Load,
        context_.tensor(view.storage).address + view.offset + n * view.batch + first * view.row +
            channels.begin,
        1, Signedness::Signed, image,
        {{rows, view.row, image.s1}, {shape_[2], view.column, image.s0}, {channels.size(), 1, 1}});
    addPixels(context_, step.compute, sum_, image, rows, shape_[2], {0, channels.size()}, block_,
              sums, part);
  }

  // In the last part's step.
  void finish(int64_t n, Span channels, const ImageSlots &sums) {
    Step &step = steps_.steps.back();
    const llvm::ArrayRef<int64_t> shape = shapeOf(sum_.getResult());
    const DramTensor to = context_.tensor(group_.getResult());
    const Box box{{n, 0, 0, channels.begin}, {1, 1, 1, channels.size()}};
    operations_.loadOperands(step.loads, box);
    Tile result = denseTile(isa::Space::Spad, -1, {1, 1, channels.size()});
    if (!operations_.resultInAccumulators())
      result.buffer = steps_.add(isa::Space::Spad, channels.size(), "result tile");
    for (int64_t c = 0; c < channels.size(); c += block_) {
      const Extent extent{1, 1, std::min(block_, channels.size() - c)};
      if (sums.parts > 1)
        addSlots(context_, step.compute, sums.sums, sums.parts, sums.sum(), c, extent.nc);
      Tile value = sums.sum(), slice = result;
      value.offset += c, slice.offset += c;
      value = operations_.run(step.compute, value, extent, c, slice);
      if (operations_.resultInAccumulators())
        storeBox(context_, step.compute, to, shape,
                 {{n, 0, 0, channels.begin + c}, {1, 1, 1, extent.nc}}, operations_.resultBytes(),
                 value);
    }
    if (!operations_.resultInAccumulators())
      storeBox(context_, step.compute, to, shape, box, operations_.resultBytes(), result);
  }

  LoweringContext &context_;
  kernel::GroupOp group_;
  Steps &steps_;
  kernel::SumPoolOp sum_;
  const llvm::SmallVector<int64_t, 4> shape_; // of the image
  const int64_t block_;                       // channels of a block of parameters
  ElementChain operations_;
  int64_t rows_ = 0;  // of a part
  int64_t chunk_ = 0; // channels that come on chip at once
};

} // namespace

bool sumsImage(mlir::Operation *anchor) {
  auto sum = llvm::dyn_cast_or_null<kernel::SumPoolOp>(anchor);
  return sum && shapeOf(sum.getResult()).slice(1, 2) == llvm::ArrayRef<int64_t>{1, 1} &&
         shapeOf(sum.getX()).slice(1, 2) == sum.getKernel() &&
         llvm::all_of(sum.getPad(), [](int64_t pad) { return pad == 0; });
}

Tile ImageSlots::sum() const {
  Tile tile = sums;
  tile.offset += parts > 1 ? parts * sums.s0 : 0;
  return tile;
}

void addPixels(LoweringContext &context, std::vector<Task> &out, kernel::SumPoolOp sum,
               const Tile &image, int64_t rows, int64_t columns, Span channels, int64_t block,
               const ImageSlots &slots, int64_t part) {
  for (int64_t c = channels.begin; c < channels.end; c += block) {
    TaskForm::Builder task = context.form(isa::Role::SumPool).build();
    task.buffer("a", image.buffer, image.offset + c)
        .buffer("d", slots.sums.buffer, slots.sums.offset + part * slots.sums.s0 + c);
    task.imm("n0", 1).imm("nc", std::min(block, channels.end - c)).reg("n1", 1);
    task.reg("k1", rows).reg("k0", columns).reg("a_k1", image.s1).reg("a_k0", image.s0);
    task.reg("a_zp", static_cast<int64_t>(sum.getInputZp()));
    out.push_back(task);
  }
}

void addSlots(LoweringContext &context, std::vector<Task> &out, const Tile &slots, int64_t parts,
              const Tile &sum, int64_t channel, int64_t count) {
  TaskForm::Builder task = context.form(isa::Role::SumAcc).build();
  task.buffer("a", slots.buffer, slots.offset + channel)
      .buffer("d", sum.buffer, sum.offset + channel);
  task.imm("n0", 1).imm("nc", count).reg("n1", 1);
  task.reg("k1", parts).reg("k0", 1).reg("a_k1", slots.s0);
  out.push_back(task);
}

bool lowerImageSum(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  if (!sumsImage(chainAnchorOf(group)) || !context.isa.withRole(isa::Role::SumAcc))
    return false;
  SumOfImage sum(context, group, steps);
  if (!sum.fits())
    return false;
  sum.lower();
  return true;
}

} // namespace tilewright

// Depthwise convolutions and pools on the vector unit: reductions over a window of pixels, channel
// by channel.
//
// A step loads a tile of the input for some channels, its columns padded (with the zero point, or
// the least value for a maximum); the vector unit reduces the taps of each output pixel; the
// group's element-wise operations follow; the result tile is stored.
#include "image_sum.h"
#include "window_stage.h"

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/taps.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct WindowPlan {
  int64_t tileHeight, tileWidth, tileChannels;
};

mlir::Operation *windowOf(kernel::GroupOp group) {
  mlir::Operation *anchor = &group.getBody().front().front();
  while (!llvm::isa<kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp, kernel::SumPoolOp>(
      anchor))
    anchor = anchor->getNextNode();
  return anchor;
}

class Window {
public:
  Window(LoweringContext &context, kernel::GroupOp group, Steps &steps)
      : context_(context), group_(group), steps_(steps), anchor_(windowOf(group)),
        stage_(context, anchor_, steps), p_(stage_.problem()) {}
  void lower();

private:
  WindowPlan plan(ElementChain chain);
  int64_t averageBytes() const;
  // Channels that a block of an average's parameters covers.
  int64_t averageChannels() const { return std::min<int64_t>(context_.channels, 64); }
  double cycles(const WindowPlan &plan, ElementChain &chain) const;
  void averagePool(std::vector<Task> &out, const Box &box, const Extent &extent, const Tile &sums,
                   const Tile &d, TileOps &ops);

  LoweringContext &context_;
  kernel::GroupOp group_;
  Steps &steps_;
  mlir::Operation *anchor_;
  WindowStage stage_;
  const WindowProblem &p_;
  std::map<int64_t, ChannelBlocks> averages_; // by number of valid taps
};

// Time of a plan when DRAM and the vector unit each run at their own pace, with the first load and
// the last store in the open.
double Window::cycles(const WindowPlan &plan, ElementChain &chain) const {
  const ConvMachine &m = context_.machine;
  auto tilesOf = [](int64_t whole, int64_t part) {
    return static_cast<double>(ceilDiv(whole, part));
  };
  double tiles = static_cast<double>(p_.batch) * tilesOf(p_.outputHeight, plan.tileHeight) *
                 tilesOf(p_.outputWidth, plan.tileWidth) * tilesOf(p_.channels, plan.tileChannels);
  auto dram = [&](int64_t height, int64_t width, int64_t whole, int64_t channels,
                  int64_t elementBytes, double burstOverhead) {
    bool rows = channels == p_.channels, block = rows && width >= whole;
    double run = static_cast<double>((block  ? height * width
                                      : rows ? width
                                             : 1) *
                                     channels * elementBytes);
    double runs = static_cast<double>(block ? 1 : rows ? height : height * width);
    double bursts = std::max(1.0, run / m.burstBytes);
    return runs *
           std::max(m.streamedFor(run) / m.dramBytesPerCycle + bursts * burstOverhead, bursts);
  };
  double input = dram(
      std::min(inputExtent(plan.tileHeight, p_.strideY, p_.kernelHeight, p_.dilationY), p_.height),
      std::min(inputExtent(plan.tileWidth, p_.strideX, p_.kernelWidth, p_.dilationX), p_.width),
      p_.width, plan.tileChannels, 1, 0);
  double result = dram(plan.tileHeight, plan.tileWidth, p_.outputWidth, plan.tileChannels,
                       chain.resultBytes(), m.writeOverhead);
  double operands = result * static_cast<double>(chain.spadBytesPerElement());
  int64_t block = std::min(plan.tileChannels, context_.channels);
  double blocks = tilesOf(plan.tileChannels, block);
  double passes = static_cast<double>(p_.kernelHeight * p_.kernelWidth + chain.instructionCount());
  // Top, middle and bottom rows have instructions of their own.
  double vector = blocks * (static_cast<double>(plan.tileHeight * plan.tileWidth) * passes *
                                tilesOf(block, m.lanes) +
                            static_cast<double>((2 + chain.instructionCount()) * m.vectorOverhead));
  return std::max(tiles * (input + operands + result), tiles * vector) + input + result +
         static_cast<double>(m.dramLatency) + tiles * static_cast<double>(m.vectorOverhead);
}

// How many of a kernel's taps lie inside the tensor, along one axis: every count that occurs.
static std::set<int64_t> tapCounts(int64_t outputs, const WindowAxis &axis) {
  std::set<int64_t> counts;
  for (int64_t output = 0; output < outputs; ++output)
    counts.insert(tapsInside(axis, output).count);
  return counts;
}

// Bytes of the parameters that average over as many values as a window has inside the tensor.
int64_t Window::averageBytes() const {
  if (!llvm::isa<kernel::AvgPoolOp>(anchor_))
    return 0;
  std::set<int64_t> products;
  for (int64_t y : tapCounts(p_.outputHeight, p_.rows()))
    for (int64_t x : tapCounts(p_.outputWidth, p_.columns()))
      products.insert(y * x);
  return static_cast<int64_t>(products.size()) * averageChannels() * 12;
}

// The largest tile that leaves room for a second one: full rows and all channels when they fit,
// else fewer rows, then fewer channels, then fewer columns.
WindowPlan Window::plan(ElementChain chain) {
  const isa::Memory &spad = context_.isa.memory(isa::Space::Spad),
                    &acc = context_.isa.memory(isa::Space::Acc);
  int64_t resident = stage_.weightBytes() + chain.residentBytes() + averageBytes();
  bool throughAcc = llvm::isa<kernel::AvgPoolOp, kernel::SumPoolOp>(anchor_) ||
                    (llvm::isa<kernel::DepthwiseOp>(anchor_) && !chain.leadingRescale());
  // Of a block of channels. What goes through the accumulators leaves room for a second tile; what
  // only its element-wise operators keep there need not.
  const int64_t accBytes = static_cast<int64_t>(acc.bytes),
                blockBytes = throughAcc ? accBytes / std::max(acc.banks, 2) : accBytes,
                accBytesPerElement = chain.accBytesPerElement() + (throughAcc ? 4 : 0);
  auto bytes = [&](const WindowPlan &plan) {
    int64_t input = inputExtent(plan.tileHeight, p_.strideY, p_.kernelHeight, p_.dilationY) *
                    inputExtent(plan.tileWidth, p_.strideX, p_.kernelWidth, p_.dilationX) *
                    plan.tileChannels;
    int64_t result = plan.tileHeight * plan.tileWidth * plan.tileChannels;
    return input + result * (1 + chain.spadBytesPerElement());
  };
  // Tiles that fill most banks leave none to the weights alone, and two streams from one bank take
  // turns.
  int64_t spadBytes = static_cast<int64_t>(spad.bytes), budget = spadBytes * 5 / 8 - resident,
          copies = 2; // of a tile: the next one loads under this one
  const int64_t operandBytes = chain.wideOperandBytes(); // of whole tiles
  auto fits = [&](const WindowPlan &plan) {
    return bytes(plan) * copies <= budget &&
           plan.tileHeight * plan.tileWidth * plan.tileChannels * operandBytes * 2 <= accBytes &&
           plan.tileHeight * plan.tileWidth * std::min(plan.tileChannels, context_.channels) *
                   accBytesPerElement <=
               blockBytes;
  };
  int64_t rowLimit = INT64_MAX; // of what may compute this window
  for (isa::Role role : stage_.roles())
    if (const isa::Instruction *instruction = context_.isa.withRole(role))
      rowLimit = std::min(rowLimit, context_.limit(*instruction, "n0"));
  WindowPlan best{0, 0, 0};
  double bestCost = 0;
  int64_t least = INT64_MAX; // bytes of the smallest tile that was tried
  auto search = [&] {
    for (int64_t widths = 1; widths <= p_.outputWidth; widths *= 2)
      for (int64_t groups = 1; groups <= p_.channels; groups *= 2) {
        int64_t channels =
            groups == 1
                ? p_.channels
                : std::min(p_.channels,
                           ceilDiv(ceilDiv(p_.channels, groups), context_.lanes) * context_.lanes);
        if (p_.multiplier > 1)
          channels = std::max(p_.multiplier, channels / p_.multiplier * p_.multiplier);
        if (groups > 1 && channels <= context_.lanes && groups * channels >= 2 * p_.channels)
          channels = std::max<int64_t>(p_.multiplier, ceilDiv(p_.channels, groups) / p_.multiplier *
                                                          p_.multiplier);
        WindowPlan plan{p_.outputHeight, std::min(ceilDiv(p_.outputWidth, widths), rowLimit),
                        channels};
        while (plan.tileHeight > 1 && !fits(plan))
          plan.tileHeight = (plan.tileHeight + 1) / 2;
        least = std::min(least, bytes(plan));
        if (!fits(plan))
          continue;
        // Lower tiles overlap more of the first load and the last store.
        for (int parts = 0; parts < 4; ++parts) {
          double cost = cycles(plan, chain);
          if (best.tileHeight == 0 || cost < bestCost)
            best = plan, bestCost = cost;
          plan.tileHeight = (plan.tileHeight + 1) / 2;
        }
      }
  };
  search();
  // Where memory is short: no room to spare, then no second tile.
  for (auto [fewer, most] : {std::pair(int64_t(2), spadBytes * 15 / 16), {1, spadBytes}})
    if (best.tileHeight == 0) {
      copies = fewer;
      budget = most - resident;
      search();
    }
  // Tiles of several channel blocks begin at a block.
  if (best.tileChannels > context_.channels && best.tileChannels < p_.channels)
    best.tileChannels =
        p_.multiplier == 1
            ? best.tileChannels / context_.channels * context_.channels
            : std::max(p_.multiplier, context_.channels / p_.multiplier * p_.multiplier);
  if (best.tileHeight == 0) {
    const int64_t smallest = least + resident;
    throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group_.getLoc()).name))},
                    fmt::format("no tile fits on chip: the smallest window needs {} bytes of the "
                                "scratchpad, target '{}' has {}",
                                smallest, context_.isa.target(), spad.bytes),
                    fmt::format("a scratchpad of {} bytes works", smallest + smallest / 4 + 1));
  }
  return best;
}

// TOSA 1.0, AVG_POOL2D: the sum is divided by the number of taps inside the tensor, as a
// multiplication by reciprocal_scale of that number. Pixels with the same number of taps form
// rectangles (interior, edges, corners); each is one rescale.
void Window::averagePool(std::vector<Task> &out, const Box &box, const Extent &extent,
                         const Tile &sums, const Tile &d, TileOps &ops) {
  auto pool = llvm::cast<kernel::AvgPoolOp>(anchor_);
  struct Run {
    int64_t first, count, taps;
  };
  auto runs = [](int64_t start, int64_t size, const WindowAxis &axis) {
    std::vector<Run> list;
    for (int64_t o = 0; o < size; ++o) {
      int64_t count = tapsInside(axis, start + o).count;
      if (!list.empty() && list.back().taps == count)
        ++list.back().count;
      else
        list.push_back({o, 1, count});
    }
    return list;
  };
  const std::vector<Run> rows = runs(box.start[1], extent.n1, p_.rows()),
                         columns = runs(box.start[2], extent.n0, p_.columns());
  for (const Run &row : rows)
    for (const Run &column : columns) {
      int64_t count = row.taps * column.taps;
      auto known = averages_.find(count);
      if (known == averages_.end()) {
        int leading = count > 1 ? __builtin_clz(static_cast<uint32_t>(count - 1)) : 32;
        int k = 32 - leading;
        int64_t multiplier =
            static_cast<int64_t>((((uint64_t(1) << 30) + 1) << k) / static_cast<uint64_t>(count));
        known = averages_
                    .emplace(count, ops.channelBlocks(out, {0}, {static_cast<int32_t>(multiplier)},
                                                      {30 + k}, averageChannels()))
                    .first;
      }
      auto part = [&](Tile tile) {
        tile.offset += row.first * tile.s1 + column.first * tile.s0;
        return tile;
      };
      ops.rescale(out, known->second, 0, {row.count, column.count, extent.nc}, part(d), part(sums),
                  static_cast<int64_t>(pool.getOutputZp()), -128, 127);
    }
}

void Window::lower() {
  const ElementChain::Shapes shapes = ElementChain::shapesOf(group_);
  WindowPlan plan =
      this->plan(ElementChain(context_, steps_, group_, anchor_, shapes, context_.channels));
  int64_t block = std::min(plan.tileChannels, context_.channels);
  steps_.plan = fmt::format("{} steps of {}x{}x{} (y, x, channels); input and result "
                            "double-buffered",
                            p_.batch * ceilDiv(p_.outputHeight, plan.tileHeight) *
                                ceilDiv(p_.outputWidth, plan.tileWidth) *
                                ceilDiv(p_.channels, plan.tileChannels),
                            plan.tileHeight, plan.tileWidth, plan.tileChannels);
  ElementChain chain(context_, steps_, group_, anchor_, shapes, block);
  kernel::RescaleOp leading =
      llvm::isa<kernel::DepthwiseOp>(anchor_) ? chain.leadingRescale() : nullptr;
  bool isDepthwise = llvm::isa<kernel::DepthwiseOp>(anchor_),
       isAverage = llvm::isa<kernel::AvgPoolOp>(anchor_),
       isSum = llvm::isa<kernel::SumPoolOp>(anchor_);
  const DramTensor to = context_.tensor(group_.getResult());
  llvm::ArrayRef<int64_t> shape = shapeOf(anchor_->getResult(0));
  for (int64_t n = 0; n < p_.batch; ++n)
    for (int64_t c = 0; c < p_.channels; c += plan.tileChannels)
      for (int64_t y = 0; y < p_.outputHeight; y += plan.tileHeight)
        for (int64_t x = 0; x < p_.outputWidth; x += plan.tileWidth) {
          steps_.steps.emplace_back();
          Step &step = steps_.steps.back();
          if (steps_.steps.size() == 1) {
            stage_.loadWeights(stage_.computesWeights() ? step.loads : step.constants);
            chain.prepare(step.constants);
          }
          Box box{{n, y, x, c},
                  {1, std::min(plan.tileHeight, p_.outputHeight - y),
                   std::min(plan.tileWidth, p_.outputWidth - x),
                   std::min(plan.tileChannels, p_.channels - c)}};
          Extent whole{box.size[1], box.size[2], box.size[3]};
          WindowStage::Input input = stage_.loadInput(step.loads, box);
          chain.loadOperands(step.loads, box);
          Tile result = denseTile(isa::Space::Spad, -1, whole);
          if (!chain.resultInAccumulators())
            result.buffer = steps_.add(isa::Space::Spad, whole.elements(), "result tile");
          auto storePart = [&](const Tile &value, int64_t part, const Extent &extent) {
            Box partBox = box;
            partBox.start[3] += part;
            partBox.size[3] = extent.nc;
            storeBox(context_, step.compute, to, shape, partBox, chain.resultBytes(), value);
          };
          for (int64_t part = 0; part < whole.nc; part += block) {
            Extent extent{whole.n1, whole.n0, std::min(block, whole.nc - part)};
            Tile slice = result;
            slice.offset += part;
            Tile value;
            if (leading) {
              // The instruction rescales by itself: its result is the leading rescale's.
              value =
                  chain.isLeadingLast()
                      ? slice
                      : denseTile(isa::Space::Spad,
                                  steps_.add(isa::Space::Spad, extent.elements(), "depthwise tile"),
                                  extent);
              chain.ops().selectBlock(step.compute, chain.leadingBlocks(), c + part);
              stage_.reduce(step.compute, isa::Role::DepthwiseI8, box, extent, value, input, part,
                            c + part, leading);
              value = chain.run(step.compute, value, extent, part, slice, true);
              if (chain.resultInAccumulators())
                storePart(value, part, extent);
              continue;
            }
            if (isDepthwise || isAverage || isSum) {
              value = denseTile(
                  isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
              stage_.reduce(step.compute, isDepthwise ? isa::Role::Depthwise : isa::Role::SumPool,
                            box, extent, value, input, part, c + part);
            }
            if (!isDepthwise && !isSum) {
              // 8-bit anchors: the window's own result, then the operations that follow.
              Tile pooled =
                  chain.isEmpty()
                      ? slice
                      : denseTile(isa::Space::Spad,
                                  steps_.add(isa::Space::Spad, extent.elements(), "pooled tile"),
                                  extent);
              if (isAverage)
                averagePool(step.compute, box, extent, value, pooled, chain.ops());
              else
                stage_.reduce(step.compute, isa::Role::MaxPool, box, extent, pooled, input, part,
                              c + part);
              value = pooled;
            }
            value = chain.run(step.compute, value, extent, part, slice);
            if (chain.resultInAccumulators())
              storePart(value, part, extent);
          }
          if (!chain.resultInAccumulators())
            storeBox(context_, step.compute, to, shape, box, chain.resultBytes(), result);
        }
}

} // namespace

void lowerWindow(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  if (!lowerImageSum(context, group, steps))
    Window(context, group, steps).lower();
}

} // namespace tilewright

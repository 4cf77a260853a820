// Depthwise convolutions and pools on the vector unit: reductions over a window of pixels, channel
// by channel.
//
// A step loads a tile of the input for some channels, its columns padded (with the zero point, or
// the least value for a maximum); the vector unit reduces the taps of each output pixel; the
// group's element-wise operations follow; the result tile is stored.
#include "lowering.h"

#include "tilewright/compiler/conv_plan.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/compiler/taps.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct WindowProblem {
  int64_t batch, height, width, channels; // channels of the result
  int64_t inputChannels, multiplier; // depthwise: result channel = input channel * multiplier + m
  int64_t outputHeight, outputWidth;
  int64_t kernelHeight, kernelWidth, strideY, strideX, dilationY = 1, dilationX = 1, padTop,
                                                       padLeft;
  int64_t padValue = 0;
  WindowAxis rows() const { return {kernelHeight, strideY, dilationY, padTop, height}; }
  WindowAxis columns() const { return {kernelWidth, strideX, dilationX, padLeft, width}; }
};

struct WindowPlan {
  int64_t tileHeight, tileWidth, tileChannels;
};

class Window {
public:
  Window(LoweringContext &context, kernel::GroupOp group, Steps &steps)
      : context_(context), group_(group), steps_(steps) {
    anchor_ = &group.getBody().front().front();
    while (!llvm::isa<kernel::DepthwiseOp, kernel::MaxPoolOp, kernel::AvgPoolOp>(anchor_))
      anchor_ = anchor_->getNextNode();
    describe();
  }
  void lower();

private:
  void describe();
  WindowPlan plan(ElementChain chain);
  int64_t averageBytes() const;
  // Channels that a block of an average's parameters covers.
  int64_t averageChannels() const { return std::min<int64_t>(context_.channels, 64); }
  double cycles(const WindowPlan &plan, ElementChain &chain) const;
  struct Input {
    int buffer;
    int64_t firstRow;              // of the tensor
    int64_t rowPitch, columnPitch; // bytes
  };
  Input loadInput(std::vector<Task> &loads, const Box &box);
  void reduce(std::vector<Task> &out, const char *instruction, const Box &box, const Extent &extent,
              const Tile &d, const Input &input, int64_t channel, int64_t weightOffset,
              kernel::RescaleOp rescale = nullptr);
  void averagePool(std::vector<Task> &out, const Box &box, const Extent &extent, const Tile &sums,
                   const Tile &d, TileOps &ops);

  LoweringContext &context_;
  kernel::GroupOp group_;
  Steps &steps_;
  mlir::Operation *anchor_;
  WindowProblem p_;
  mlir::Value input_;
  std::vector<int32_t> bias_;
  int64_t inputZeroPoint_ = 0, weightZeroPoint_ = 0;
  int weightBuffer_ = -1;
  std::map<int64_t, ChannelBlocks> averages_; // by number of valid taps
};

void Window::describe() {
  input_ = anchor_->getOperand(0);
  llvm::ArrayRef<int64_t> x = shapeOf(input_), y = shapeOf(anchor_->getResult(0));
  p_.batch = x[0], p_.height = x[1], p_.width = x[2], p_.inputChannels = x[3];
  p_.outputHeight = y[1], p_.outputWidth = y[2], p_.channels = y[3];
  p_.multiplier = p_.channels / p_.inputChannels;
  auto geometry = [&](llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> stride,
                      llvm::ArrayRef<int64_t> pad) {
    p_.kernelHeight = kernel[0], p_.kernelWidth = kernel[1];
    p_.strideY = stride[0], p_.strideX = stride[1];
    p_.padTop = pad[0], p_.padLeft = pad[2];
  };
  if (auto depthwise = llvm::dyn_cast<kernel::DepthwiseOp>(anchor_)) {
    geometry(shapeOf(depthwise.getWeight()).take_front(2), depthwise.getStride(),
             depthwise.getPad());
    p_.dilationY = depthwise.getDilation()[0], p_.dilationX = depthwise.getDilation()[1];
    inputZeroPoint_ = p_.padValue = static_cast<int64_t>(depthwise.getInputZp());
    weightZeroPoint_ = static_cast<int64_t>(depthwise.getWeightZp());
    for (int64_t value : integersOf(depthwise.getBias()))
      bias_.push_back(static_cast<int32_t>(value));
    if (llvm::all_of(bias_, [](int32_t value) { return value == 0; }))
      bias_.clear();
  } else if (auto pool = llvm::dyn_cast<kernel::AvgPoolOp>(anchor_)) {
    geometry(pool.getKernel(), pool.getStride(), pool.getPad());
    inputZeroPoint_ = p_.padValue = static_cast<int64_t>(pool.getInputZp());
  } else {
    auto max = llvm::cast<kernel::MaxPoolOp>(anchor_);
    geometry(max.getKernel(), max.getStride(), max.getPad());
    p_.padValue = -128;
  }
}

// Time of a plan when DRAM and the vector unit each run at their own pace, with the first load and
// the last store in the open.
double Window::cycles(const WindowPlan &plan, ElementChain &chain) const {
  const ConvMachine &m = context_.machine;
  auto tilesOf = [](int64_t whole, int64_t part) {
    return static_cast<double>(ceilDiv(whole, part));
  };
  double tiles = static_cast<double>(p_.batch) * tilesOf(p_.outputHeight, plan.tileHeight) *
                 tilesOf(p_.outputWidth, plan.tileWidth) * tilesOf(p_.channels, plan.tileChannels);
  // A run that does not start at a DRAM access takes one more of them.
  auto dram = [&](int64_t height, int64_t width, int64_t whole, int64_t channels,
                  int64_t elementBytes, double burstOverhead) {
    bool rows = channels == p_.channels, block = rows && width >= whole;
    double run = static_cast<double>((block  ? height * width
                                      : rows ? width
                                             : 1) *
                                     channels * elementBytes);
    double runs = static_cast<double>(block ? 1 : rows ? height : height * width);
    double accesses = (run - 1) / m.accessBytes + 1, bursts = std::max(1.0, run / m.burstBytes);
    return runs * std::max(accesses * m.accessBytes / m.dramBytesPerCycle + bursts * burstOverhead,
                           bursts);
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
  double passes = static_cast<double>(p_.kernelHeight * p_.kernelWidth + chain.operationCount());
  // Top, middle and bottom rows have instructions of their own.
  double vector = blocks * (static_cast<double>(plan.tileHeight * plan.tileWidth) * passes *
                                tilesOf(block, m.lanes) +
                            static_cast<double>((2 + chain.operationCount()) * m.vectorOverhead));
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
  int64_t weights =
      llvm::isa<kernel::DepthwiseOp>(anchor_) ? p_.kernelHeight * p_.kernelWidth * p_.channels : 0;
  int64_t resident = weights + chain.residentBytes() + averageBytes();
  bool throughAcc = llvm::isa<kernel::AvgPoolOp>(anchor_) ||
                    (llvm::isa<kernel::DepthwiseOp>(anchor_) && !chain.leadingRescale());
  int64_t accElements =
      static_cast<int64_t>(acc.bytes) / std::max(acc.banks, 2) / (4 + chain.accBytesPerElement());
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
  auto fits = [&](const WindowPlan &plan) {
    return bytes(plan) * copies <= budget &&
           (!throughAcc ||
            plan.tileHeight * plan.tileWidth * std::min(plan.tileChannels, context_.channels) <=
                accElements);
  };
  int64_t rowLimit = context_.limit("vmaxpool", "n0");
  WindowPlan best{0, 0, 0};
  double bestCost = 0;
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
    const int64_t smallest = bytes({1, 1, p_.multiplier}) + resident;
    throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group_.getLoc()).name))},
                    fmt::format("no tile fits on chip: the smallest window needs {} bytes of the "
                                "scratchpad, target '{}' has {}",
                                smallest, context_.isa.target(), spad.bytes),
                    fmt::format("a scratchpad of {} bytes works", smallest + smallest / 4 + 1));
  }
  return best;
}

// Rows are clipped to the tensor (the taps outside are left out of the reduction), columns are
// padded.
Window::Input Window::loadInput(std::vector<Task> &loads, const Box &box) {
  int64_t y0 = box.start[1] * p_.strideY - p_.padTop, x0 = box.start[2] * p_.strideX - p_.padLeft;
  int64_t width = inputExtent(box.size[2], p_.strideX, p_.kernelWidth, p_.dilationX);
  int64_t channels = box.size[3];
  int64_t yBegin = std::max<int64_t>(0, y0);
  int64_t yEnd =
      std::min(p_.height, y0 + inputExtent(box.size[1], p_.strideY, p_.kernelHeight, p_.dilationY));
  int64_t xBegin = std::max<int64_t>(0, x0), xEnd = std::min(p_.width, x0 + width);
  int64_t height = std::max<int64_t>(1, yEnd - yBegin);
  Input input{-1, yBegin, width * channels, channels};
  input.buffer = steps_.add(isa::Space::Spad, height * input.rowPitch, "input tile");
  auto fill = [&](int64_t column, int64_t columns) {
    int64_t most = context_.limit("fill", "n1"), longest = context_.limit("fill", "n0");
    int64_t run = columns * channels;
    for (int64_t r = 0; r < height; r += most)
      for (int64_t c = 0; c < run; c += longest)
        loads.push_back(context_.form("fill")
                            .build()
                            .buffer("d", input.buffer, r * input.rowPitch + column * channels + c)
                            .imm("value", p_.padValue)
                            .imm("n1", std::min(most, height - r))
                            .imm("n0", std::min(longest, run - c))
                            .reg("n2", 1)
                            .reg("d_s0", 1)
                            .reg("d_s1", input.rowPitch));
  };
  if (yBegin >= yEnd || xBegin >= xEnd) {
    fill(0, width);
    return input;
  }
  fill(0, xBegin - x0);
  fill(xEnd - x0, x0 + width - xEnd);
  int64_t inputChannel = box.start[3] / p_.multiplier, inputChannels = channels / p_.multiplier;
  ImageView view = viewOf(input_);
  int64_t address = context_.address(view.storage);
  int64_t offset = view.offset + box.start[0] * view.batch + yBegin * view.row +
                   xBegin * view.column + inputChannel;
  for (int64_t m = 0; m < p_.multiplier; ++m) {
    Tile tile{isa::Space::Spad, input.buffer, (xBegin - x0) * channels + m, 0, 0, 1};
    copyStrided(context_, loads, Direction::Load, address + offset, 1, Signedness::Signed, tile,
                {{yEnd - yBegin, view.row, input.rowPitch},
                 {xEnd - xBegin, view.column, channels},
                 {inputChannels, 1, p_.multiplier}});
  }
  return input;
}

// One instruction for each run of output rows whose taps inside the tensor are the same ones.
void Window::reduce(std::vector<Task> &out, const char *instruction, const Box &box,
                    const Extent &extent, const Tile &d, const Input &input, int64_t channel,
                    int64_t weightOffset, kernel::RescaleOp rescale) {
  auto tapsOf = [&](int64_t row) { return tapsInside(p_.rows(), box.start[1] + row); };
  for (int64_t row = 0; row < extent.n1;) {
    const auto [first, taps] = tapsOf(row);
    int64_t rows = 1;
    while (row + rows < extent.n1 && tapsOf(row + rows) == Taps{first, taps})
      ++rows;
    int64_t inputRow = taps == 0 ? 0
                                 : (box.start[1] + row) * p_.strideY - p_.padTop +
                                       first * p_.dilationY - input.firstRow;
    TaskForm::Builder task = context_.form(instruction).build();
    task.buffer("a", input.buffer, inputRow * input.rowPitch + channel)
        .buffer("d", d.buffer, d.offset + row * d.s1);
    task.imm("n0", extent.n0).imm("nc", extent.nc).reg("n1", rows);
    task.reg("k1", taps).reg("k0", p_.kernelWidth);
    task.reg("a_k1", p_.dilationY * input.rowPitch).reg("a_k0", p_.dilationX * input.columnPitch);
    task.reg("a_s1", p_.strideY * input.rowPitch).reg("a_s0", p_.strideX * input.columnPitch);
    task.reg("d_s1", d.s1).reg("d_s0", d.s0);
    if (rescale)
      task.reg("d_zp", static_cast<int64_t>(rescale.getOutputZp()))
          .reg("lo", static_cast<int64_t>(rescale.getLo()))
          .reg("hi", static_cast<int64_t>(rescale.getHi()));
    if (weightOffset >= 0) {
      int64_t weightRow = p_.kernelWidth * p_.channels;
      task.buffer("b", weightBuffer_, weightOffset + first * weightRow);
      task.reg("b_k1", weightRow).reg("b_k0", p_.channels).reg("b_zp", weightZeroPoint_);
    }
    if (!llvm::isa<kernel::MaxPoolOp>(anchor_))
      task.reg("a_zp", inputZeroPoint_);
    out.push_back(task);
    row += rows;
  }
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
  ElementChain::Shapes shapes;
  for (mlir::Operation &op : group_.getBody().front())
    for (mlir::Value value : op.getOperands())
      shapes[value] = llvm::SmallVector<int64_t>(shapeOf(value).begin(), shapeOf(value).end());
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
  chain.setBias(bias_);
  kernel::RescaleOp leading =
      llvm::isa<kernel::DepthwiseOp>(anchor_) ? chain.leadingRescale() : nullptr;
  bool isDepthwise = llvm::isa<kernel::DepthwiseOp>(anchor_),
       isAverage = llvm::isa<kernel::AvgPoolOp>(anchor_);
  int64_t address = context_.address(group_.getResult());
  llvm::ArrayRef<int64_t> shape = shapeOf(anchor_->getResult(0));
  for (int64_t n = 0; n < p_.batch; ++n)
    for (int64_t c = 0; c < p_.channels; c += plan.tileChannels)
      for (int64_t y = 0; y < p_.outputHeight; y += plan.tileHeight)
        for (int64_t x = 0; x < p_.outputWidth; x += plan.tileWidth) {
          steps_.steps.emplace_back();
          Step &step = steps_.steps.back();
          if (steps_.steps.size() == 1) {
            if (isDepthwise) {
              std::string weights =
                  constantBytes(anchor_->getOperand(1)); // [KH,KW,C,M]: result channels in order
              int64_t size = static_cast<int64_t>(weights.size());
              weightBuffer_ = steps_.add(isa::Space::Spad, size, "weights");
              copyStrided(context_, step.constants, Direction::Load,
                          context_.constants.add(std::move(weights)), 1, Signedness::Signed,
                          {isa::Space::Spad, weightBuffer_, 0, 0, 0, 1}, {{size, 1, 1}});
            }
            chain.prepare(step.constants);
          }
          Box box{{n, y, x, c},
                  {1, std::min(plan.tileHeight, p_.outputHeight - y),
                   std::min(plan.tileWidth, p_.outputWidth - x),
                   std::min(plan.tileChannels, p_.channels - c)}};
          Extent whole{box.size[1], box.size[2], box.size[3]};
          Input input = loadInput(step.loads, box);
          chain.loadOperands(step.loads, box);
          Tile result = denseTile(isa::Space::Spad, -1, whole);
          if (!chain.resultInAccumulators())
            result.buffer = steps_.add(isa::Space::Spad, whole.elements(), "result tile");
          auto storePart = [&](const Tile &value, int64_t part, const Extent &extent) {
            Box partBox = box;
            partBox.start[3] += part;
            partBox.size[3] = extent.nc;
            storeBox(context_, step.compute, address, shape, partBox, chain.resultBytes(), value);
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
              chain.ops().selectBlock(step.compute, chain.blocksOf(leading), c + part);
              reduce(step.compute, "vdw.i8", box, extent, value, input, part, c + part, leading);
              value = chain.run(step.compute, value, extent, part, slice, true);
              if (chain.resultInAccumulators())
                storePart(value, part, extent);
              continue;
            }
            if (isDepthwise || isAverage) {
              value = denseTile(
                  isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
              reduce(step.compute, isDepthwise ? "vdw" : "vsumpool", box, extent, value, input,
                     part, isDepthwise ? c + part : -1);
            }
            if (!isDepthwise) {
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
                reduce(step.compute, "vmaxpool", box, extent, pooled, input, part, -1);
              value = pooled;
            }
            value = chain.run(step.compute, value, extent, part, slice);
            if (chain.resultInAccumulators())
              storePart(value, part, extent);
          }
          if (!chain.resultInAccumulators())
            storeBox(context_, step.compute, address, shape, box, chain.resultBytes(), result);
        }
}

} // namespace

void lowerWindow(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Window(context, group, steps).lower();
}

} // namespace tilewright

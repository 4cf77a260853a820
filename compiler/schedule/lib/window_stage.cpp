#include "window_stage.h"

#include "conv_stage.h"

#include "tilewright/compiler/schedule/conv_plan.h"

#include <algorithm>
#include <stdexcept>

namespace tilewright {

WindowStage::WindowStage(LoweringContext &context, mlir::Operation *anchor, Steps &steps)
    : context_(context), anchor_(anchor), steps_(steps) {
  llvm::ArrayRef<int64_t> x = shapeOf(anchor_->getOperand(0)), y = shapeOf(anchor_->getResult(0));
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
  } else if (auto pool = llvm::dyn_cast<kernel::AvgPoolOp>(anchor_)) {
    geometry(pool.getKernel(), pool.getStride(), pool.getPad());
    inputZeroPoint_ = p_.padValue = static_cast<int64_t>(pool.getInputZp());
  } else if (auto sum = llvm::dyn_cast<kernel::SumPoolOp>(anchor_)) {
    geometry(sum.getKernel(), sum.getStride(), sum.getPad());
    inputZeroPoint_ = p_.padValue = static_cast<int64_t>(sum.getInputZp());
  } else {
    auto max = llvm::cast<kernel::MaxPoolOp>(anchor_);
    geometry(max.getKernel(), max.getStride(), max.getPad());
    p_.padValue = -128;
  }
}

int64_t WindowStage::weightBytes() const {
  return isDepthwise() ? p_.kernelHeight * p_.kernelWidth * p_.channels : 0;
}

void WindowStage::loadWeights(std::vector<Task> &tasks) {
  if (computesWeights()) {
    loadComputedWeights(tasks);
    return;
  }
  ChannelParts whole{{p_.channels}, {{}}};
  loadWeights(whole, p_.channels);
  append(tasks, whole.loads.front());
}

// [KH,KW,C,M]: result channels in order.
void WindowStage::loadComputedWeights(std::vector<Task> &tasks) {
  const DramTensor weights = context_.tensor(anchor_->getOperand(1));
  const int64_t size = weightBytes();
  chunkChannels_ = p_.channels;
  weightBuffer_ = steps_.add(isa::Space::Spad, size, "weights", Traffic::Beside);
  if (weights.pitch > 0)
    throw std::logic_error("computed weights stand apart"); // in_place.cpp leaves them as one run
  copyStrided(context_, tasks, Direction::Load, weights.address, 1, Signedness::Signed,
              {isa::Space::Spad, weightBuffer_, 0, 0, 0, 1}, {{size, 1, 1}});
}

void WindowStage::loadWeights(ChannelParts &parts, int64_t chunkChannels) {
  if (!isDepthwise())
    return;
  chunkChannels_ = chunkChannels;
  const int64_t taps = p_.kernelHeight * p_.kernelWidth;
  const std::string weights =
      constantBytes(anchor_->getOperand(1)); // [KH,KW,C,M]: result channels in order
  std::string packed;
  for (int64_t first = 0; first < p_.channels; first += chunkChannels)
    for (int64_t tap = 0; tap < taps; ++tap)
      packed.append(weights, static_cast<size_t>(tap * p_.channels + first),
                    static_cast<size_t>(std::min(chunkChannels, p_.channels - first)));
  weightBuffer_ = steps_.add(isa::Space::Spad, weightBytes(), "weights", Traffic::Beside);
  const int64_t address = context_.constants.add(packed);
  int64_t from = 0;
  for (size_t i = 0; i < parts.ends.size(); ++i) {
    const int64_t to = parts.ends[i] * taps;
    copyStrided(context_, parts.loads[i], Direction::Load, address + from, 1, Signedness::Signed,
                {isa::Space::Spad, weightBuffer_, from, 0, 0, 1}, {{to - from, 1, 1}});
    from = to;
  }
}

int64_t WindowStage::inputColumns(int64_t outputs) const {
  return inputExtent(outputs, p_.strideX, p_.kernelWidth, p_.dilationX);
}

void WindowStage::padColumns(std::vector<Task> &loads, const Input &input, int64_t rows,
                             int64_t column, int64_t columns) {
  fillSpad(context_, loads, input.buffer, column * input.columnPitch, rows, input.rowPitch,
           columns * input.columnPitch, p_.padValue);
}

WindowStage::Input WindowStage::loadInput(std::vector<Task> &loads, const Box &box, int buffer) {
  int64_t y0 = box.start[1] * p_.strideY - p_.padTop, x0 = box.start[2] * p_.strideX - p_.padLeft;
  int64_t width = inputColumns(box.size[2]);
  int64_t channels = box.size[3];
  int64_t yBegin = std::max<int64_t>(0, y0);
  int64_t yEnd =
      std::min(p_.height, y0 + inputExtent(box.size[1], p_.strideY, p_.kernelHeight, p_.dilationY));
  int64_t xBegin = std::max<int64_t>(0, x0), xEnd = std::min(p_.width, x0 + width);
  int64_t height = std::max<int64_t>(1, yEnd - yBegin);
  Input input{-1, yBegin, width * channels, channels};
  input.buffer = reuse(steps_, buffer, isa::Space::Spad, height * input.rowPitch, "input tile");
  if (yBegin >= yEnd || xBegin >= xEnd) {
    padColumns(loads, input, height, 0, width);
    return input;
  }
  padColumns(loads, input, height, 0, xBegin - x0);
  padColumns(loads, input, height, xEnd - x0, x0 + width - xEnd);
  int64_t inputChannel = box.start[3] / p_.multiplier, inputChannels = channels / p_.multiplier;
  ImageView view = viewOf(context_, anchor_->getOperand(0));
  int64_t address = context_.tensor(view.storage).address;
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
void WindowStage::reduce(std::vector<Task> &out, isa::Role role, const Box &box,
                         const Extent &extent, const Tile &d, const Input &input, int64_t channel,
                         int64_t weightChannel, kernel::RescaleOp rescale) {
  auto tapsOf = [&](int64_t row) { return tapsInside(p_.rows(), box.start[1] + row); };
  for (int64_t row = 0; row < extent.n1;) {
    const auto [first, taps] = tapsOf(row);
    int64_t rows = 1;
    while (row + rows < extent.n1 && tapsOf(row + rows) == Taps{first, taps})
      ++rows;
    int64_t inputRow = taps == 0 ? 0
                                 : (box.start[1] + row) * p_.strideY - p_.padTop +
                                       first * p_.dilationY - input.firstRow;
    TaskForm::Builder task = context_.form(role).build();
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
    if (isDepthwise()) {
      const int64_t inChunk = weightChannel % chunkChannels_, begin = weightChannel - inChunk,
                    chunk = std::min(chunkChannels_, p_.channels - begin),
                    weightRow = p_.kernelWidth * chunk;
      task.buffer("b", weightBuffer_,
                  begin * p_.kernelHeight * p_.kernelWidth + inChunk + first * weightRow);
      task.reg("b_k1", weightRow).reg("b_k0", chunk).reg("b_zp", weightZeroPoint_);
    }
    if (!llvm::isa<kernel::MaxPoolOp>(anchor_))
      task.reg("a_zp", inputZeroPoint_);
    out.push_back(task);
    row += rows;
  }
}

} // namespace tilewright

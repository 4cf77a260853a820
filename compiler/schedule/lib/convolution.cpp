// Convolutions and matrix products on the matrix unit.
//
// 1. The planner picks step tiles and accumulator tiles (conv_plan.h).
// 2. A step loads its input tile (clipped to the tensor; with merged taps, padded along x) and its
// chunk of weights, unless they are there already.
// 3. An accumulator tile is filled fold by fold: mload of a weight tile, mmul over the pixels whose
// tap lies inside the input. Padding taps cost
//    nothing. The first fold overwrites; when no tap covers the whole tile, the tile is zeroed
//    first.
// 4. The group's element-wise operations run on the tile; the result tile is stored when all its
// channels are there.
#include "lowering.h"

#include "tilewright/compiler/conv_plan.h"
#include "tilewright/compiler/estimate.h"
#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// One reduction slice: a tap (or, merged, a row of taps) and a range of its contiguous elements.
struct Fold {
  int64_t ky, kx;       // kx is 0 when taps are merged
  int64_t first, count; // elements of the reduction row
  int64_t weightRow;    // rows of weights before this fold
};

struct Span {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
};

// Output positions in [from, to) whose tap k falls inside [0, extent).
Span validOutputs(int64_t from, int64_t to, int64_t k, int64_t stride, int64_t dilation,
                  int64_t pad, int64_t extent) {
  int64_t shift = k * dilation - pad;
  int64_t begin = std::max(from, ceilDiv(-shift, stride));
  int64_t end = std::min(to, ceilDiv(extent - shift, stride));
  return {begin, end};
}

void append(std::vector<Task> &to, std::vector<Task> &from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

class Convolution {
public:
  Convolution(LoweringContext &context, kernel::GroupOp group, Steps &steps)
      : context_(context), group_(group), steps_(steps) {
    anchor_ = &group.getBody().front().front();
    while (!llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor_))
      anchor_ = anchor_->getNextNode();
    describe();
    probe();
  }

  const ConvProblem &problem() const { return p_; }
  // Appends the steps of `plan`. For a trial, weights get an address and are not put into DRAM.
  void lower(const ConvPlan &plan, bool isTrial);

private:
  void describe();
  void probe();
  void skipUnread();
  void listFolds();
  int64_t packWeights();
  void loadInput(Step &step, int64_t n, Span y, Span x);
  void loadWeights(Step &step, int64_t n, Span channels, Span folds);
  void computeTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x,
                   Span channels, Tile result);
  void fillTile(std::vector<Task> &out, Span y, Span x, Span channels, const Tile &acc, bool onto);
  void finishTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x, Span part,
                  int64_t firstChannel, const Tile &acc, const Tile &result);
  void storeResult(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x,
                   Span channels, const Tile &value);
  int64_t weightRows(Span folds) const;

  LoweringContext &context_;
  kernel::GroupOp group_;
  Steps &steps_;
  mlir::Operation *anchor_;
  mlir::Value input_, weights_;
  ImageView view_; // of the input
  int64_t inputZeroPoint_ = 0, weightZeroPoint_ = 0;
  std::vector<int32_t> bias_;
  // Only every gatherY_-th row and gatherX_-th column of the tensor is read; p_ speaks of those.
  int64_t gatherY_ = 1, gatherX_ = 1;
  ConvProblem p_;
  ConvPlan plan_{};
  ElementChain::Shapes shapes_;
  std::vector<Fold> folds_;
  int64_t packedWeights_ = 0; // DRAM address
  // What is on chip now.
  int inputBuffer_ = -1, weightBuffer_ = -1;
  Span inputY_{0, 0}, inputX_{0, 0}; // input rows and columns of the input tile; columns may lie
                                     // outside the tensor (padding)
  Span weightChannels_{0, 0};
  Span weightFolds_{0, 0};
};

void Convolution::describe() {
  p_ = {};
  p_.dilationY = p_.dilationX = p_.strideY = p_.strideX = p_.kernelHeight = p_.kernelWidth = 1;
  if (auto conv = llvm::dyn_cast<kernel::Conv2DOp>(anchor_)) {
    input_ = conv.getX();
    weights_ = conv.getWeight();
    view_ = viewOf(input_);
    p_.inputScattered = view_.channel != 1 && shapeOf(input_)[3] > 1;
    llvm::ArrayRef<int64_t> x = shapeOf(input_), w = shapeOf(weights_),
                            y = shapeOf(conv.getResult());
    p_.batch = x[0], p_.height = x[1], p_.width = x[2], p_.inputChannels = x[3];
    p_.outputHeight = y[1], p_.outputWidth = y[2], p_.outputChannels = y[3];
    p_.kernelHeight = w[1], p_.kernelWidth = w[2];
    p_.strideY = conv.getStride()[0], p_.strideX = conv.getStride()[1];
    p_.dilationY = conv.getDilation()[0], p_.dilationX = conv.getDilation()[1];
    p_.padTop = conv.getPad()[0], p_.padLeft = conv.getPad()[2];
    inputZeroPoint_ = static_cast<int64_t>(conv.getInputZp());
    weightZeroPoint_ = static_cast<int64_t>(conv.getWeightZp());
    for (int64_t value : integersOf(conv.getBias()))
      bias_.push_back(static_cast<int32_t>(value));
    if (llvm::all_of(bias_, [](int32_t value) { return value == 0; }))
      bias_.clear();
    skipUnread();
    return;
  }
  // a [N,H,C] is an image of one row of H pixels; b [N,C,W] are weights of W output channels.
  auto matmul = llvm::cast<kernel::MatMulOp>(anchor_);
  input_ = matmul.getA();
  weights_ = matmul.getB();
  view_ = {input_, 0, shapeOf(input_)[1] * shapeOf(input_)[2], 0, shapeOf(input_)[2], 1};
  llvm::ArrayRef<int64_t> a = shapeOf(input_), b = shapeOf(weights_);
  p_.batch = a[0], p_.height = 1, p_.width = a[1], p_.inputChannels = a[2];
  p_.outputHeight = 1, p_.outputWidth = a[1], p_.outputChannels = b[2];
  p_.weightsAreActivations = true;
  inputZeroPoint_ = static_cast<int64_t>(matmul.getAZp());
  weightZeroPoint_ = static_cast<int64_t>(matmul.getBZp());
}

// Pixels between the strides of a one-tap kernel need not come on chip, where a pixel is long
// enough for a DRAM access.
void Convolution::skipUnread() {
  if (static_cast<double>(p_.inputChannels) < context_.machine.accessBytes)
    return;
  auto skip = [](int64_t kernel, int64_t pad, int64_t outputs, int64_t &stride, int64_t &size,
                 int64_t &gather) {
    if (kernel != 1 || pad != 0 || stride == 1)
      return;
    gather = std::exchange(stride, 1);
    size = outputs;
  };
  skip(p_.kernelHeight, p_.padTop, p_.outputHeight, p_.strideY, p_.height, gatherY_);
  skip(p_.kernelWidth, p_.padLeft, p_.outputWidth, p_.strideX, p_.width, gatherX_);
}

void Convolution::listFolds() {
  int64_t rowLength = plan_.mergedTaps ? p_.kernelWidth * p_.inputChannels : p_.inputChannels;
  int64_t weightRow = 0;
  for (int64_t ky = 0; ky < p_.kernelHeight; ++ky)
    for (int64_t kx = 0; kx < (plan_.mergedTaps ? 1 : p_.kernelWidth); ++kx)
      for (int64_t first = 0; first < rowLength; first += context_.rows) {
        int64_t count = std::min(context_.rows, rowLength - first);
        folds_.push_back({ky, kx, first, count, weightRow});
        weightRow += count;
      }
}

// Weights in the order in which the array loads them: for each column tile, each fold's rows of up
// to `cols` output channels.
int64_t Convolution::packWeights() {
  std::string source = constantBytes(weights_), packed;
  packed.reserve(source.size());
  int64_t depth = p_.kernelHeight * p_.kernelWidth * p_.inputChannels;
  for (int64_t channel = 0; channel < p_.outputChannels; channel += context_.cols) {
    int64_t columns = std::min(context_.cols, p_.outputChannels - channel);
    for (const Fold &fold : folds_)
      for (int64_t row = 0; row < fold.count; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          int64_t inRow =
              (fold.ky * p_.kernelWidth + fold.kx) * p_.inputChannels + fold.first + row;
          packed.push_back(source[static_cast<size_t>((channel + column) * depth + inRow)]);
        }
  }
  return context_.constants.add(std::move(packed));
}

void Convolution::loadInput(Step &step, int64_t n, Span y, Span x) {
  Span rows{std::max<int64_t>(0, y.begin * p_.strideY - p_.padTop),
            std::min(p_.height, (y.end - 1) * p_.strideY - p_.padTop +
                                    (p_.kernelHeight - 1) * p_.dilationY + 1)};
  Span columns{x.begin * p_.strideX - p_.padLeft,
               (x.end - 1) * p_.strideX - p_.padLeft + (p_.kernelWidth - 1) * p_.dilationX + 1};
  Span inside{std::max<int64_t>(0, columns.begin), std::min(p_.width, columns.end)};
  if (!plan_.mergedTaps)
    columns = inside;
  inputY_ = rows;
  inputX_ = columns;
  if (rows.empty() || columns.empty()) { // nothing but padding
    inputBuffer_ = -1;
    return;
  }
  int64_t pitch = columns.size() * p_.inputChannels;
  inputBuffer_ = steps_.add(isa::Space::Spad, rows.size() * pitch, "input tile");
  Tile tile{isa::Space::Spad, inputBuffer_, 0, pitch, p_.inputChannels, 1};
  auto pad = [&](Span part) {
    if (part.empty())
      return;
    for (int64_t row = 0; row < rows.size(); row += context_.limit("fill", "n1"))
      step.loads.push_back(
          context_.form("fill")
              .build()
              .buffer("d", inputBuffer_,
                      row * pitch + (part.begin - columns.begin) * p_.inputChannels)
              .imm("value", inputZeroPoint_)
              .imm("n1", std::min(context_.limit("fill", "n1"), rows.size() - row))
              .imm("n0", part.size() * p_.inputChannels)
              .reg("n2", 1)
              .reg("d_s0", 1)
              .reg("d_s1", pitch));
  };
  pad({columns.begin, std::min(columns.end, inside.begin)});
  pad({std::max(columns.begin, inside.end), columns.end});
  if (inside.empty())
    return;
  tile.offset = (inside.begin - columns.begin) * p_.inputChannels;
  int64_t first = view_.offset + n * view_.batch + rows.begin * gatherY_ * view_.row +
                  inside.begin * gatherX_ * view_.column;
  copyStrided(context_, step.loads, Direction::Load, context_.address(view_.storage) + first, 1,
              Signedness::Signed, tile,
              {{rows.size(), gatherY_ * view_.row, pitch},
               {inside.size(), gatherX_ * view_.column, p_.inputChannels},
               {p_.inputChannels, view_.channel, 1}});
}

int64_t Convolution::weightRows(Span folds) const {
  int64_t rows = 0;
  for (int64_t i = folds.begin; i < folds.end; ++i)
    rows += folds_[static_cast<size_t>(i)].count;
  return rows;
}

// On chip: for each column tile of the chunk, the rows of these folds.
void Convolution::loadWeights(Step &step, int64_t n, Span channels, Span folds) {
  weightChannels_ = channels;
  weightFolds_ = folds;
  int64_t depth = p_.kernelHeight * p_.kernelWidth * p_.inputChannels;
  if (p_.weightsAreActivations) {
    weightBuffer_ = steps_.add(isa::Space::Spad, depth * channels.size(), "weights");
    int64_t shape[] = {1, p_.batch, depth, p_.outputChannels};
    loadBox(context_, step.loads, context_.address(weights_), shape,
            {{0, n, 0, channels.begin}, {1, 1, depth, channels.size()}}, 1, Signedness::Signed,
            denseTile(isa::Space::Spad, weightBuffer_, {1, depth, channels.size()}));
    return;
  }
  int64_t rows = weightRows(folds), cols = context_.cols,
          firstRow = folds_[static_cast<size_t>(folds.begin)].weightRow;
  weightBuffer_ = steps_.add(isa::Space::Spad, rows * channels.size(), "weights");
  auto copy = [&](int64_t channel, int64_t tiles, int64_t columns) {
    if (tiles * columns == 0)
      return;
    copyStrided(context_, step.constants, Direction::Load,
                packedWeights_ + channel * depth + firstRow * columns, 1, Signedness::Signed,
                {isa::Space::Spad, weightBuffer_, (channel - channels.begin) * rows, 0, 0, 1},
                {{tiles, depth * columns, rows * columns}, {rows * columns, 1, 1}});
  };
  int64_t whole = channels.size() / cols;
  copy(channels.begin, whole, cols);
  copy(channels.begin + whole * cols, 1, channels.size() % cols);
}

// Adds the products of the folds whose weights are on chip; `onto` what earlier ones left.
void Convolution::fillTile(std::vector<Task> &out, Span y, Span x, Span channels, const Tile &acc,
                           bool onto) {
  Span columnSpan = x;
  auto covers = [&](const Fold &fold) {
    Span ySpan =
        validOutputs(y.begin, y.end, fold.ky, p_.strideY, p_.dilationY, p_.padTop, p_.height);
    Span xSpan = plan_.mergedTaps ? columnSpan
                                  : validOutputs(x.begin, x.end, fold.kx, p_.strideX, p_.dilationX,
                                                 p_.padLeft, p_.width);
    return ySpan.size() == y.size() && xSpan.size() == x.size();
  };
  // The fold that comes first overwrites: one that covers the tile; without one, zeros do.
  int64_t start = weightFolds_.begin;
  bool accumulate = onto;
  if (!onto) {
    while (start < weightFolds_.end &&
           (inputBuffer_ < 0 || !covers(folds_[static_cast<size_t>(start)])))
      ++start;
    accumulate = start == weightFolds_.end;
  }
  if (accumulate)
    start = weightFolds_.begin;
  if (accumulate && !onto) {
    for (int64_t row = 0; row < y.size() * x.size(); row += context_.limit("fill.acc", "n1"))
      out.push_back(
          context_.form("fill.acc")
              .build()
              .buffer("d", acc.buffer, acc.offset + row * acc.s0)
              .imm("value", 0)
              .imm("n1", std::min(context_.limit("fill.acc", "n1"), y.size() * x.size() - row))
              .imm("n0", channels.size())
              .reg("n2", 1)
              .reg("d_s0", 1)
              .reg("d_s1", acc.s0));
  }
  if (inputBuffer_ < 0)
    return;
  int64_t pitch = inputX_.size() * p_.inputChannels;
  int64_t rows = weightRows(weightFolds_),
          firstRow = folds_[static_cast<size_t>(weightFolds_.begin)].weightRow;
  for (int64_t column = channels.begin; column < channels.end; column += context_.cols) {
    int64_t count = std::min(context_.cols, channels.end - column);
    bool adds = accumulate;
    for (int64_t i = 0; i < weightFolds_.size(); ++i) {
      const Fold &fold = folds_[static_cast<size_t>(
          weightFolds_.begin + (start - weightFolds_.begin + i) % weightFolds_.size())];
      Span ySpan =
          validOutputs(y.begin, y.end, fold.ky, p_.strideY, p_.dilationY, p_.padTop, p_.height);
      Span xSpan = plan_.mergedTaps ? x
                                    : validOutputs(x.begin, x.end, fold.kx, p_.strideX,
                                                   p_.dilationX, p_.padLeft, p_.width);
      if (ySpan.empty() || xSpan.empty())
        continue;
      int64_t weightAddress, weightStride;
      if (p_.weightsAreActivations) {
        weightAddress = fold.first * weightChannels_.size() + (column - weightChannels_.begin);
        weightStride = weightChannels_.size();
      } else {
        weightAddress =
            (column - weightChannels_.begin) * rows + (fold.weightRow - firstRow) * count;
        weightStride = count;
      }
      out.push_back(context_.form("mload")
                        .build()
                        .buffer("w", weightBuffer_, weightAddress)
                        .imm("k", fold.count)
                        .imm("n", count)
                        .reg("w_s0", weightStride)
                        .reg("w_zp", weightZeroPoint_));
      int64_t inputRow =
          ySpan.begin * p_.strideY + fold.ky * p_.dilationY - p_.padTop - inputY_.begin;
      int64_t inputColumn =
          xSpan.begin * p_.strideX + fold.kx * p_.dilationX - p_.padLeft - inputX_.begin;
      TaskForm::Builder task = context_.form("mmul").build();
      task.buffer("a", inputBuffer_, inputRow * pitch + inputColumn * p_.inputChannels + fold.first)
          .buffer("d", acc.buffer,
                  acc.offset + (ySpan.begin - y.begin) * acc.s1 + (xSpan.begin - x.begin) * acc.s0 +
                      (column - channels.begin))
          .imm("n1", ySpan.size())
          .imm("n0", xSpan.size())
          .imm("k", fold.count)
          .imm("n", count)
          .imm("accumulate", adds)
          .imm("swap", 1)
          .reg("a_zp", inputZeroPoint_)
          .reg("a_s0", p_.strideX * p_.inputChannels)
          .reg("d_s0", acc.s0);
      if (ySpan.size() > 1)
        task.reg("a_s1", p_.strideY * pitch).reg("d_s1", acc.s1);
      out.push_back(task);
      adds = true;
    }
  }
}

// The result tile [y][x][channels] of a step, in accumulator tiles of at most tileChannels
// channels.
void Convolution::computeTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y,
                              Span x, Span channels, Tile result) {
  for (int64_t c = channels.begin; c < channels.end; c += plan_.tileChannels) {
    Span part{c, std::min(channels.end, c + plan_.tileChannels)};
    Extent extent{y.size(), x.size(), part.size()};
    Tile acc =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
    fillTile(out, y, x, part, acc, false);
    finishTile(out, chain, n, y, x, part, channels.begin, acc, result);
  }
  if (!chain.resultInAccumulators())
    storeResult(out, chain, n, y, x, channels, result);
}

// The element-wise operations on a finished accumulator tile; `result` begins at `firstChannel`.
void Convolution::finishTile(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y, Span x,
                             Span part, int64_t firstChannel, const Tile &acc, const Tile &result) {
  Tile slice = result;
  slice.offset += part.begin - firstChannel;
  Tile value =
      chain.run(out, acc, {y.size(), x.size(), part.size()}, part.begin - firstChannel, slice);
  if (chain.resultInAccumulators())
    storeResult(out, chain, n, y, x, part, value);
}

void Convolution::storeResult(std::vector<Task> &out, ElementChain &chain, int64_t n, Span y,
                              Span x, Span channels, const Tile &value) {
  int64_t shape[] = {p_.batch, p_.outputHeight, p_.outputWidth, p_.outputChannels};
  storeBox(context_, out, context_.address(group_.getResult()), shape,
           {{n, y.begin, x.begin, channels.begin}, {1, y.size(), x.size(), channels.size()}},
           chain.resultBytes(), value);
}

// What the operations that follow need on chip.
void Convolution::probe() {
  for (mlir::Operation &op : group_.getBody().front())
    for (mlir::Value value : op.getOperands()) {
      llvm::SmallVector<int64_t> shape(shapeOf(value).begin(), shapeOf(value).end());
      if (shape.size() == 3) // a matrix product's [N,H,W] is [N,1,H,W] here
        shape.insert(shape.begin() + 1, 1);
      shapes_[value] = shape;
    }
  ElementChain chain(context_, steps_, group_, anchor_, shapes_, context_.cols);
  chain.setBias(bias_);
  p_.resultBytes = chain.resultBytes();
  p_.resultInAccumulators = chain.resultInAccumulators();
  p_.spadBytesPerElement = chain.spadBytesPerElement();
  p_.accBytesPerElement = chain.accBytesPerElement();
  p_.residentBytes = chain.residentBytes();
}

void Convolution::lower(const ConvPlan &plan, bool isTrial) {
  plan_ = plan;
  steps_.plan = tilewright::describe(p_, plan_);
  listFolds();
  if (!p_.weightsAreActivations)
    packedWeights_ = isTrial ? context_.constants.end() : packWeights();
  ElementChain chain(context_, steps_, group_, anchor_, shapes_,
                     std::min(plan_.tileChannels, context_.channels));
  chain.setBias(bias_);

  struct Place {
    int64_t n;
    Span y, x;
  };
  std::vector<Place> places;
  for (int64_t n = 0; n < p_.batch; ++n)
    for (int64_t y = 0; y < p_.outputHeight; y += plan_.stepHeight)
      for (int64_t x = 0; x < p_.outputWidth; x += plan_.stepWidth)
        places.push_back({n,
                          {y, std::min(p_.outputHeight, y + plan_.stepHeight)},
                          {x, std::min(p_.outputWidth, x + plan_.stepWidth)}});
  std::vector<Span> chunks;
  for (int64_t c = 0; c < p_.outputChannels; c += plan_.stepChannels)
    chunks.push_back({c, std::min(p_.outputChannels, c + plan_.stepChannels)});

  const Place *loadedPlace = nullptr;
  const Span *loadedChunk = nullptr;
  int64_t loadedBatch = -1;
  // One accumulator tile in several steps: each brings the weights of some folds.
  auto addParts = [&](const Place &place, const Span &chunk) {
    Extent extent{place.y.size(), place.x.size(), chunk.size()};
    Tile acc =
        denseTile(isa::Space::Acc,
                  steps_.add(isa::Space::Acc, extent.elements() * 4, "accumulator tile"), extent);
    auto folds = static_cast<int64_t>(folds_.size());
    int64_t each = ceilDiv(folds, plan_.weightParts);
    for (int64_t first = 0; first < folds; first += each) {
      steps_.steps.emplace_back();
      Step &step = steps_.steps.back();
      if (steps_.steps.size() == 1)
        chain.prepare(step.constants);
      loadWeights(step, place.n, chunk, {first, std::min(folds, first + each)});
      if (loadedPlace != &place)
        loadInput(step, place.n, place.y, place.x);
      loadedPlace = &place;
      fillTile(step.compute, place.y, place.x, chunk, acc, first > 0);
      if (first + each < folds)
        continue;
      Tile result = denseTile(isa::Space::Spad, -1, extent);
      if (!chain.resultInAccumulators())
        result.buffer = steps_.add(isa::Space::Spad, extent.elements(), "result tile");
      chain.loadOperands(step.loads, {{place.n, place.y.begin, place.x.begin, chunk.begin},
                                      {1, place.y.size(), place.x.size(), chunk.size()}});
      finishTile(step.compute, chain, place.n, place.y, place.x, chunk, chunk.begin, acc, result);
      if (!chain.resultInAccumulators())
        storeResult(step.compute, chain, place.n, place.y, place.x, chunk, result);
    }
  };
  auto addStep = [&](const Place &place, const Span &chunk) {
    if (plan_.weightParts > 1)
      return addParts(place, chunk);
    steps_.steps.emplace_back();
    Step &step = steps_.steps.back();
    if (steps_.steps.size() == 1)
      chain.prepare(step.constants);
    if (loadedChunk != &chunk || (p_.weightsAreActivations && loadedBatch != place.n))
      loadWeights(step, place.n, chunk, {0, static_cast<int64_t>(folds_.size())});
    if (loadedPlace != &place)
      loadInput(step, place.n, place.y, place.x);
    loadedPlace = &place;
    loadedChunk = &chunk;
    loadedBatch = place.n;
    // Operands of the next accumulator tile come in under this one.
    std::vector<Task> computed;
    for (int64_t y = place.y.begin; y < place.y.end; y += plan_.tileHeight)
      for (int64_t x = place.x.begin; x < place.x.end; x += plan_.tileWidth) {
        Span ySpan{y, std::min(place.y.end, y + plan_.tileHeight)},
            xSpan{x, std::min(place.x.end, x + plan_.tileWidth)};
        Extent extent{ySpan.size(), xSpan.size(), chunk.size()};
        Tile result = denseTile(isa::Space::Spad, -1, extent);
        if (!chain.resultInAccumulators())
          result.buffer = steps_.add(isa::Space::Spad, extent.elements(), "result tile");
        bool isFirst = y == place.y.begin && x == place.x.begin;
        chain.loadOperands(
            isFirst ? step.loads : step.compute,
            {{place.n, y, x, chunk.begin}, {1, ySpan.size(), xSpan.size(), chunk.size()}});
        append(step.compute, computed);
        computeTile(computed, chain, place.n, ySpan, xSpan, chunk, result);
      }
    append(step.compute, computed);
  };
  if (plan_.weightsOuter)
    for (const Span &chunk : chunks)
      for (const Place &place : places)
        addStep(place, chunk);
  else
    for (const Place &place : places)
      for (const Span &chunk : chunks)
        addStep(place, chunk);
}

} // namespace

// Plans that are tried out, at most.
static constexpr size_t trials = 4;

// What decides a convolution's plan: groups of which this is equal take the same time.
static std::string signature(const ConvProblem &p, kernel::GroupOp group) {
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", p.batch, p.height,
                                 p.width, p.inputChannels, p.outputHeight, p.outputWidth,
                                 p.outputChannels, p.kernelHeight, p.kernelWidth, p.strideY,
                                 p.strideX, p.dilationY, p.dilationX, p.padTop, p.padLeft);
  for (mlir::Operation &op : group.getBody().front()) {
    text += fmt::format(" {}", op.getName().getStringRef().str());
    for (mlir::Value value : op.getOperands())
      text += fmt::format(" {}x{} {}", elementsOf(value), bytesOf(value), isConstant(value));
  }
  mlir::Value input = group.getBody().front().front().getOperand(0);
  if (auto view = input.getDefiningOp<kernel::StridedViewOp>())
    for (int64_t stride : view.getStrides())
      text += fmt::format(" {}", stride);
  return text;
}

// Tries plans out: emits each on an empty chip and estimates its time. The best one that fits.
static std::optional<LoweringContext::Chosen>
bestOf(LoweringContext &context, kernel::GroupOp group, const std::vector<ConvPlan> &plans) {
  std::optional<LoweringContext::Chosen> best;
  int64_t least = 0;
  const size_t constants = context.constants.bytes().size();
  for (const ConvPlan &plan : plans) {
    try {
      Steps steps;
      Convolution(context, group, steps).lower(plan, true);
      Emitter emitter(context.isa, context.buffering);
      emitter.append(std::move(steps), "");
      const int64_t cycles =
          estimate(emitter.finish(), context.isa, static_cast<uint64_t>(context.constants.end()))
              .cycles;
      if (!best || cycles < least) {
        best = {plan, emitter.layout()};
        least = cycles;
      }
    } catch (const UserError &) { // it does not fit
    }
    context.constants.rollBack(constants);
  }
  return best;
}

void lowerConvolution(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Convolution convolution(context, group, steps);
  const ConvProblem &problem = convolution.problem();
  int64_t smallest = 0;
  const std::string known = signature(problem, group);
  auto chosen = context.chosen.find(known);
  if (chosen == context.chosen.end()) {
    std::vector<ConvPlan> plans = planConvolution(problem, context.machine, trials, &smallest);
    std::optional<LoweringContext::Chosen> best = bestOf(context, group, plans);
    if (!best)
      throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group.getLoc()).name))},
                      fmt::format("no tile fits on chip: the smallest needs {} bytes of the "
                                  "scratchpad, target '{}' has {}",
                                  smallest, context.isa.target(), context.machine.spadBytes),
                      fmt::format("a scratchpad of {} bytes works", smallest + smallest / 15 + 1));
    chosen = context.chosen.emplace(known, std::move(*best)).first;
  }
  convolution.lower(chosen->second.plan, false);
  if (!isSafe(chosen->second.plan, context.machine))
    steps.layout = chosen->second.layout;
}

} // namespace tilewright

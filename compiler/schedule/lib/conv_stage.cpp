#include "conv_stage.h"

#include "expansion.h"
#include "zero_weights.h"

#include "tilewright/support/make_space.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// Output positions in [from, to) whose tap k falls inside [0, extent).
static Span validOutputs(Span outputs, int64_t k, int64_t stride, int64_t dilation, int64_t pad,
                         int64_t extent) {
  int64_t shift = k * dilation - pad;
  return {std::max(outputs.begin, ceilDiv(-shift, stride)),
          std::min(outputs.end, ceilDiv(extent - shift, stride))};
}

int reuse(Steps &steps, int buffer, isa::Space space, int64_t bytes, const char *purpose,
          Traffic traffic) {
  if (buffer < 0)
    return steps.add(space, bytes, purpose, traffic);
  int64_t &known = steps.buffers[static_cast<size_t>(buffer)].bytes;
  known = std::max(known, bytes);
  return buffer;
}

void append(std::vector<Task> &to, std::vector<Task> &from) {
  if (to.empty())
    return to.swap(from);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

void takeOperations(ConvProblem &problem, ElementChain &operations) {
  problem.resultBytes = operations.resultBytes();
  problem.resultInAccumulators = operations.resultInAccumulators();
  problem.spadBytesPerElement = operations.spadBytesPerElement();
  problem.accBytesPerElement = operations.accBytesPerElement();
  problem.residentBytes = operations.residentBytes();
}

ConvStage::ConvStage(LoweringContext &context, mlir::Operation *anchor, Steps &steps,
                     InputFrom from)
    : context_(context), anchor_(anchor), steps_(steps), columnTile_(context.cols) {
  if (auto depthwise = llvm::dyn_cast<kernel::DepthwiseOp>(anchor))
    describe(depthwise);
  else
    describe(from);
}

void ConvStage::describe(kernel::DepthwiseOp depthwise) {
  isDepthwise_ = true;
  columnTile_ = groupChannels(context_.machine);
  weights_ = depthwise.getWeight();
  llvm::ArrayRef<int64_t> x = shapeOf(depthwise.getX()), w = shapeOf(weights_),
                          y = shapeOf(depthwise.getResult());
  p_.batch = x[0], p_.height = x[1], p_.width = x[2], p_.inputChannels = x[3];
  p_.outputHeight = y[1], p_.outputWidth = y[2], p_.outputChannels = y[3];
  p_.kernelHeight = w[0], p_.kernelWidth = w[1];
  p_.strideY = depthwise.getStride()[0], p_.strideX = depthwise.getStride()[1];
  p_.dilationY = depthwise.getDilation()[0], p_.dilationX = depthwise.getDilation()[1];
  p_.padTop = depthwise.getPad()[0], p_.padLeft = depthwise.getPad()[2];
  inputZeroPoint_ = static_cast<int64_t>(depthwise.getInputZp());
  weightZeroPoint_ = static_cast<int64_t>(depthwise.getWeightZp());
}

void ConvStage::describe(InputFrom from) {
  p_.dilationY = p_.dilationX = p_.strideY = p_.strideX = p_.kernelHeight = p_.kernelWidth = 1;
  if (auto conv = llvm::dyn_cast<kernel::Conv2DOp>(anchor_)) {
    input_ = conv.getX();
    weights_ = conv.getWeight();
    view_ = viewOf(context_, input_);
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
    if (const std::string squares = ZeroWeights(conv).squares(context_.rows, context_.cols);
        !squares.empty())
      p_.filled = static_cast<double>(std::count(squares.begin(), squares.end(), '1')) /
                  static_cast<double>(squares.size());
    if (from == InputFrom::Dram)
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
void ConvStage::skipUnread() {
  if (static_cast<double>(p_.inputChannels) < context_.machine.accessBytes)
    return;
  auto skip = [](int64_t kernel, int64_t pad, int64_t outputs, int64_t &stride, int64_t &size,
                 int64_t &gather) {
    const bool isInside = pad == 0 && (outputs - 1) * stride < size;
    if (kernel != 1 || stride == 1 || !isInside)
      return;
    gather = std::exchange(stride, 1);
    size = outputs;
  };
  skip(p_.kernelHeight, p_.padTop, p_.outputHeight, p_.strideY, p_.height, gatherY_);
  skip(p_.kernelWidth, p_.padLeft, p_.outputWidth, p_.strideX, p_.width, gatherX_);
}

void ConvStage::listFolds(TapMerge merge, int64_t channelChunk, Stands stands) {
  merge_ = merge;
  stands_ = stands;
  channelChunk_ = channelChunk;
  folds_.clear();
  const int64_t height = merge == TapMerge::All ? 1 : p_.kernelHeight, // of folds' taps
      width = merge == TapMerge::None ? p_.kernelWidth : 1, taps = height * width,
                rowLength = isDepthwise_
                                ? columnTile_
                                : p_.kernelHeight * p_.kernelWidth / taps * p_.inputChannels,
                chunk = merge == TapMerge::None && !isDepthwise_ ? channelChunk : rowLength;
  // The tap that lies inside the tensor at every output comes first: it overwrites what the tile
  // held.
  const int64_t inside = stands == Stands::Sums
                             ? 0
                             : std::min(height - 1, ceilDiv(p_.padTop, p_.dilationY)) * width +
                                   std::min(width - 1, ceilDiv(p_.padLeft, p_.dilationX));
  int64_t weightRow = 0;
  for (int64_t begin = 0; begin < rowLength; begin += chunk)
    for (int64_t i = 0; i < taps; ++i) {
      const int64_t tap = (inside + i) % taps, end = std::min(rowLength, begin + chunk);
      for (int64_t first = begin; first < end; first += context_.rows) {
        int64_t count = std::min(context_.rows, end - first);
        folds_.push_back({tap / width, tap % width, first, count, weightRow});
        weightRow += count;
      }
    }
  findZeros();
}

// Column tile by column tile, fold by fold.
void ConvStage::findZeros() {
  areZero_.clear();
  if (p_.filled == 1 || stands_ == Stands::Sums)
    return;
  const ZeroWeights zeros(llvm::cast<kernel::Conv2DOp>(anchor_));
  for (int64_t channel = 0; channel < p_.outputChannels; channel += columnTile_)
    for (const Fold &fold : folds_)
      areZero_.push_back(zeros.areAll(channel, std::min(columnTile_, p_.outputChannels - channel),
                                      fold.count,
                                      [&](int64_t i) { return weightOffset(fold, i); }));
}

bool ConvStage::isZero(int64_t channel, int64_t fold) const {
  return !areZero_.empty() &&
         areZero_[static_cast<size_t>(channel / columnTile_ * allFolds().end + fold)];
}

Span ConvStage::foldsOfChunk(int64_t chunk) const {
  auto belongs = [&](const Fold &fold) { return fold.first / channelChunk_ == chunk; };
  auto begin = std::find_if(folds_.begin(), folds_.end(), belongs);
  return {begin - folds_.begin(), std::find_if_not(begin, folds_.end(), belongs) - folds_.begin()};
}

void ConvStage::placeWeights(bool isTrial) {
  if (p_.weightsAreActivations)
    return;
  if (isTrial) {
    weightAddress_ = context_.constants.end();
    return;
  }
  std::string weights = isDepthwise_ ? packedDiagonals() : packedWeights();
  if (const Expansion *expansion = expansionOf(context_.isa, anchor_, GroupedBy::Outputs))
    weights = *expansion->packed(weights);
  weightAddress_ = context_.constants.add(weights);
}

// Group by group, tap by tap in the order of the folds: what lies one behind the other goes onto
// diagonals that do, too. The last group is filled up.
std::string ConvStage::packedDiagonals() const {
  const std::string source = constantBytes(weights_); // [ky][kx][channel]
  std::string packed;
  for (int64_t first = 0; first < p_.outputChannels; first += columnTile_)
    for (const Fold &fold : folds_)
      for (int64_t channel = first; channel < first + columnTile_; ++channel)
        packed += channel < p_.outputChannels
                      ? source[static_cast<size_t>(
                            (fold.ky * p_.kernelWidth + fold.kx) * p_.outputChannels + channel)]
                      : '\0';
  return packed;
}

// Where element i of a fold stands in an output channel's weights, [ky][kx][channel].
int64_t ConvStage::weightOffset(const Fold &fold, int64_t i) const {
  const int64_t element = fold.first + i, channels = p_.inputChannels;
  if (merge_ != TapMerge::All)
    return (fold.ky * p_.kernelWidth + fold.kx) * channels + element;
  const int64_t tap = element / channels, ky = tap % p_.kernelHeight, kx = tap / p_.kernelHeight;
  return (ky * p_.kernelWidth + kx) * channels + element % channels;
}

// In the order in which the array loads them: for each column tile, each fold's rows of up to
// `cols` output channels.
std::string ConvStage::packedWeights() const {
  const std::string source = constantBytes(weights_);
  std::string packed(source.size(), '\0');
  char *next = packed.data();
  int64_t depth = p_.kernelHeight * p_.kernelWidth * p_.inputChannels;
  for (int64_t channel = 0; channel < p_.outputChannels; channel += context_.cols) {
    int64_t columns = std::min(context_.cols, p_.outputChannels - channel);
    for (const Fold &fold : folds_) {
      for (int64_t i = 0; i < fold.count; ++i) {
        const char *row = source.data() + channel * depth + weightOffset(fold, i);
        for (int64_t column = 0; column < columns; ++column)
          *next++ = row[column * depth];
      }
    }
  }
  return packed;
}

Span ConvStage::inputRows(Span y) const {
  return {std::max<int64_t>(0, y.begin * p_.strideY - p_.padTop),
          std::min(p_.height, (y.end - 1) * p_.strideY - p_.padTop +
                                  (p_.kernelHeight - 1) * p_.dilationY + 1)};
}

// Input columns that output columns `x` need, padding among them.
Span ConvStage::inputColumns(Span x) const {
  const int64_t begin = x.begin * p_.strideX - p_.padLeft;
  return {begin, begin + inputExtent(x.size(), p_.strideX, p_.kernelWidth, p_.dilationX)};
}

// 1. What the tile holds of the tensor: padding is on chip along x where taps are merged, along y
// where all are.
// 2. Padding is filled in.
// 3. What is inside is loaded, by parts of the channels.
ConvStage::Input ConvStage::loadInput(std::vector<Task> &loads, int64_t n, Span y, Span x,
                                      int64_t parts, int buffer) {
  return loadInput(loads, n, y, x, {0, p_.inputChannels}, parts, buffer);
}

ConvStage::Input ConvStage::loadInput(std::vector<Task> &loads, int64_t n, Span y, Span x,
                                      Span channels, int64_t parts, int buffer, int64_t firstRow) {
  const Span every = inputColumns(x),
             inside{std::max<int64_t>(0, every.begin), std::min(p_.width, every.end)};
  Span insideRows = inputRows(y);
  const bool isPadded = stands_ == Stands::Sums; // and so are merged taps
  const Span columns = merge_ == TapMerge::None && !isPadded ? inside : every;
  Span rows = insideRows;
  if (merge_ == TapMerge::All || isPadded) {
    rows.begin = y.begin * p_.strideY - p_.padTop;
    rows.end = rows.begin + inputExtent(y.size(), p_.strideY, p_.kernelHeight, p_.dilationY);
  }
  const int64_t pixel = channels.size();
  const bool isColumns = merge_ == TapMerge::All && hasColumnsOfTaps(p_);
  Input input{-1,
              rows,
              columns,
              isColumns ? pixel : columns.size() * pixel,
              isColumns ? rows.size() * pixel : pixel,
              channels.begin};
  if (rows.empty() || columns.empty())
    return input;
  input.buffer = reuse(steps_, buffer, isa::Space::Spad, rows.size() * columns.size() * pixel,
                       "input tile", merge_ == TapMerge::All ? Traffic::Streamed : Traffic::Matrix);
  insideRows.begin = std::max(insideRows.begin, firstRow);
  const Span made{std::max(rows.begin, firstRow), rows.end};
  auto pad = [&](Span y, Span x) {
    if (y.empty() || x.empty())
      return;
    const int64_t offset =
        (y.begin - rows.begin) * input.rowPitch + (x.begin - columns.begin) * input.columnPitch;
    if (isColumns)
      fillSpad(context_, loads, input.buffer, offset, x.size(), input.columnPitch, y.size() * pixel,
               inputZeroPoint_);
    else
      fillSpad(context_, loads, input.buffer, offset, y.size(), input.rowPitch, x.size() * pixel,
               inputZeroPoint_);
  };
  pad(made, {columns.begin, std::min(columns.end, inside.begin)});
  pad(made, {std::max(columns.begin, inside.end), columns.end});
  pad({made.begin, std::min(rows.end, insideRows.begin)}, inside);
  pad({std::max(rows.begin, insideRows.end), rows.end}, inside);
  if (inside.empty() || insideRows.empty())
    return input;
  Tile tile{isa::Space::Spad,
            input.buffer,
            (insideRows.begin - rows.begin) * input.rowPitch +
                (inside.begin - columns.begin) * input.columnPitch,
            input.rowPitch,
            input.columnPitch,
            1};
  if (context_.tensor(view_.storage).scatter) { // a product's: all of some rows
    loadBox(context_, loads, context_.tensor(view_.storage), {p_.batch, p_.width, p_.inputChannels},
            {{n, inside.begin, channels.begin}, {1, inside.size(), pixel}}, 1, Signedness::Signed,
            {isa::Space::Spad, tile.buffer, tile.offset, tile.s1, tile.s0, 1});
    return input;
  }
  int64_t first = view_.offset + n * view_.batch + insideRows.begin * gatherY_ * view_.row +
                  inside.begin * gatherX_ * view_.column + channels.begin * view_.channel;
  const int64_t part = ceilDiv(pixel, parts);
  for (int64_t channel = 0; channel < pixel; channel += part) {
    copyStrided(context_, loads, Direction::Load,
                context_.tensor(view_.storage).address + first + channel * view_.channel, 1,
                Signedness::Signed, tile,
                {{insideRows.size(), gatherY_ * view_.row, tile.s1},
                 {inside.size(), gatherX_ * view_.column, tile.s0},
                 {std::min(part, pixel - channel), view_.channel, 1}});
    tile.offset += part;
  }
  return input;
}

ConvStage::Input ConvStage::loadInputBehind(std::vector<Task> &loads, std::vector<Task> &copies,
                                            int64_t n, Span y, Span x, const Input &before,
                                            int buffer) {
  std::vector<Task> all;
  const Input input =
      loadInput(all, n, y, x, {0, p_.inputChannels}, 1, buffer); // if nothing is there
  const int64_t pixel = p_.inputChannels,
                rows = std::min(before.y.end, input.y.end) - input.y.begin; // that are there
  // Runs that are one behind the other: of a column, or of a row.
  const bool isColumns = input.rowPitch == pixel;
  const int64_t run = pixel * (isColumns ? rows : input.x.size()),
                runs = isColumns ? input.x.size() : rows;
  const int64_t most = context_.limit(isa::Role::MaxPool, "n0");
  if (input.isEmpty() || before.isEmpty() || rows <= 0 || before.y.begin > input.y.begin ||
      run > context_.limit(isa::Role::MaxPool, "nc")) {
    append(loads, all);
    return input;
  }
  loadInput(loads, n, y, x, {0, pixel}, 1, input.buffer, input.y.begin + rows);
  const int64_t from = isColumns ? before.columnPitch : before.rowPitch,
                to = isColumns ? input.columnPitch : input.rowPitch,
                first = (input.y.begin - before.y.begin) * before.rowPitch;
  for (int64_t at = 0; at < runs; at += most)
    copies.push_back(context_.form(isa::Role::MaxPool)
                         .build()
                         .buffer("a", before.buffer, first + at * from)
                         .buffer("d", input.buffer, at * to)
                         .imm("n0", std::min(most, runs - at))
                         .imm("nc", run)
                         .reg("n1", 1)
                         .reg("k1", 1)
                         .reg("k0", 1)
                         .reg("a_k1", 0)
                         .reg("a_k0", 0)
                         .reg("a_s1", 0)
                         .reg("a_s0", from)
                         .reg("d_s1", 0)
                         .reg("d_s0", to));
  return input;
}

ConvStage::Input ConvStage::loadInputApart(std::vector<std::vector<Task>> &loads, int64_t n, Span y,
                                           Span x, int64_t parts) {
  const Span rows = inputRows(y), every = inputColumns(x),
             columns{every.begin, std::min(p_.width, every.end)};
  const int64_t pixel = p_.inputChannels, part = ceilDiv(pixel, parts);
  Input input{-1, rows, columns, columns.size() * part, part, 0, {}, part};
  const int64_t first = context_.tensor(view_.storage).address + view_.offset + n * view_.batch +
                        rows.begin * gatherY_ * view_.row + columns.begin * gatherX_ * view_.column;
  for (int64_t channel = 0; channel < pixel; channel += part) {
    const int buffer = steps_.add(isa::Space::Spad, rows.size() * columns.size() * part,
                                  "part of an input tile", Traffic::Matrix);
    input.parts.push_back(buffer);
    copyStrided(context_, loads.emplace_back(), Direction::Load, first + channel * view_.channel, 1,
                Signedness::Signed,
                {isa::Space::Spad, buffer, 0, input.rowPitch, input.columnPitch, 1},
                {{rows.size(), gatherY_ * view_.row, input.rowPitch},
                 {columns.size(), gatherX_ * view_.column, input.columnPitch},
                 {std::min(part, pixel - channel), view_.channel, 1}});
  }
  std::reverse(loads.begin(), loads.end());
  return input;
}

// A greatest element of one tap is a copy. The taps of a column go at once where they lie one
// behind the other.
ConvStage::Input ConvStage::gather(std::vector<Task> &out, const Input &input, Span y, Span x,
                                   int buffer) {
  if (merge_ != TapMerge::All || input.buffer < 0)
    return input;
  const Span columns = inputColumns(x);
  const int64_t window = p_.kernelHeight * p_.inputChannels;
  const bool isColumns = hasColumnsOfTaps(p_) && window <= context_.limit(isa::Role::MaxPool, "nc");
  Input windows{-1, y, columns, columns.size() * window, window, 0};
  windows.buffer = reuse(steps_, buffer, isa::Space::Spad, y.size() * windows.rowPitch,
                         "gathered windows", Traffic::Matrix);
  const int64_t most = context_.limit(isa::Role::MaxPool, "n0"),
                runs = isColumns ? 1 : p_.kernelHeight;
  for (int64_t column = 0; column < columns.size(); column += most)
    for (int64_t ky = 0; ky < runs; ++ky) {
      const int64_t row = y.begin * p_.strideY - p_.padTop + ky * p_.dilationY - input.y.begin;
      out.push_back(context_.form(isa::Role::MaxPool)
                        .build()
                        .buffer("a", input.buffer,
                                row * input.rowPitch +
                                    (columns.begin + column - input.x.begin) * input.columnPitch)
                        .buffer("d", windows.buffer, column * window + ky * p_.inputChannels)
                        .imm("n0", std::min(most, columns.size() - column))
                        .imm("nc", window / runs)
                        .reg("n1", y.size())
                        .reg("k1", 1)
                        .reg("k0", 1)
                        .reg("a_k1", 0)
                        .reg("a_k0", 0)
                        .reg("a_s1", p_.strideY * input.rowPitch)
                        .reg("a_s0", input.columnPitch)
                        .reg("d_s1", windows.rowPitch)
                        .reg("d_s0", window));
    }
  return windows;
}

int64_t ConvStage::weightRows(Span folds) const {
  int64_t rows = 0;
  for (int64_t i = folds.begin; i < folds.end; ++i)
    rows += folds_[static_cast<size_t>(i)].count;
  return rows;
}

ConvStage::Weights ConvStage::loadWeights(Step &step, int64_t n, Span channels, Span folds,
                                          int buffer) {
  Weights weights{-1, channels, folds};
  const Traffic traffic = stands_ == Stands::Sums ? Traffic::WeightStream : Traffic::Streamed;
  int64_t depth = p_.kernelHeight * p_.kernelWidth * p_.inputChannels;
  if (p_.weightsAreActivations) {
    weights.buffer = steps_.add(isa::Space::Spad, depth * channels.size(), "weights", traffic);
    int64_t shape[] = {1, p_.batch, depth, p_.outputChannels};
    loadBox(context_, step.loads, context_.tensor(weights_), shape,
            {{0, n, 0, channels.begin}, {1, 1, depth, channels.size()}}, 1, Signedness::Signed,
            denseTile(isa::Space::Spad, weights.buffer, {1, depth, channels.size()}));
    return weights;
  }
  int64_t rows = weightRows(folds), cols = context_.cols,
          firstRow = folds_[static_cast<size_t>(folds.begin)].weightRow;
  weights.buffer =
      reuse(steps_, buffer, isa::Space::Spad, rows * channels.size(), "weights", traffic);
  const Expansion *expansion = expansionOf(context_.isa, anchor_, GroupedBy::Outputs);
  auto copy = [&](int64_t channel, int64_t tiles, int64_t columns) {
    if (tiles * columns == 0)
      return;
    const int64_t first = channel * depth + firstRow * columns;
    const Tile tile{isa::Space::Spad, weights.buffer, (channel - channels.begin) * rows, 0, 0, 1};
    if (!expansion)
      return copyWeights(context_, step.constants, weightAddress_ + first, tile,
                         {{tiles, depth * columns, rows * columns}, {rows * columns, 1, 1}});
    const int64_t group = expansion->chipBytes(), run = rows * columns / group;
    copyExpanded(context_, step.constants, *expansion,
                 weightAddress_ + first / group * expansion->dramBytes(), tile,
                 {{tiles, depth * columns / group, run}, {run, 1, 1}});
  };
  int64_t whole = channels.size() / cols;
  copy(channels.begin, whole, cols);
  copy(channels.begin + whole * cols, 1, channels.size() % cols);
  return weights;
}

int ConvStage::addSquares(std::vector<Task> &loads, int64_t channels, int buffer) {
  const int64_t bytes =
      squareBytes(context_.machine, static_cast<int64_t>(folds_.size()), channels);
  const int squares = reuse(steps_, buffer, isa::Space::Spad, bytes, "weights");
  fillSpad(context_, loads, squares, 0, 1, bytes, bytes, weightZeroPoint_);
  return squares;
}

ConvStage::Weights ConvStage::loadDiagonals(std::vector<Task> &loads, int squares, Span channels) {
  if (channels.begin % columnTile_ != 0)
    throw std::logic_error("a run of depthwise weights begins within a square");
  const auto taps = static_cast<int64_t>(folds_.size());
  const int64_t count = ceilDiv(channels.size(), columnTile_) * columnTile_ * taps;
  copyStrided(context_, loads, Direction::Load, weightAddress_ + channels.begin * taps, 1,
              Signedness::Signed, {isa::Space::Spad, squares, 0, 0, 0, 1},
              {{count, 1, columnTile_ + 1}});
  return {squares, channels, allFolds()};
}

// Merged taps have padding on chip.
Span ConvStage::outputRows(Span y, const Fold &fold) const {
  return merge_ == TapMerge::All
             ? y
             : validOutputs(y, fold.ky, p_.strideY, p_.dilationY, p_.padTop, p_.height);
}

Span ConvStage::outputColumns(Span x, const Fold &fold) const {
  return merge_ != TapMerge::None || isDepthwise_ // columns are padded
             ? x
             : validOutputs(x, fold.kx, p_.strideX, p_.dilationX, p_.padLeft, p_.width);
}

void ConvStage::clear(std::vector<Task> &out, int64_t pixels, int64_t channels, const Tile &acc) {
  const int64_t most = context_.limit(isa::Role::FillI32, "n1");
  for (int64_t row = 0; row < pixels; row += most)
    out.push_back(context_.form(isa::Role::FillI32)
                      .build()
                      .buffer("d", acc.buffer, acc.offset + row * acc.s0)
                      .imm("value", 0)
                      .imm("n1", std::min(most, pixels - row))
                      .imm("n0", channels)
                      .reg("n2", 1)
                      .reg("d_s0", 1)
                      .reg("d_s1", acc.s0));
}

const ConvStage::Forms &ConvStage::forms() {
  if (forms_)
    return *forms_;
  const TaskForm &load = context_.form(isa::Role::LoadWeights),
                 &product = context_.form(isa::Role::MatrixProduct);
  forms_.emplace();
  forms_->ofLoad = {load.operand("w"), load.operand("k"), load.operand("n")};
  forms_->ofProduct = {product.operand("a"),         product.operand("d"), product.operand("n1"),
                       product.operand("n0"),        product.operand("k"), product.operand("n"),
                       product.operand("accumulate")};
  forms_->inputRow = product.reg("a_s1"), forms_->inputColumn = product.reg("a_s0");
  forms_->sumRow = product.reg("d_s1"), forms_->sumColumn = product.reg("d_s0");
  forms_->load = load.build().reg("w_s0", 0).reg("w_zp", weightZeroPoint_);
  forms_->product = product.build().imm("swap", 1).reg("a_zp", inputZeroPoint_);
  return *forms_;
}

void ConvStage::fill(std::vector<Task> &out, const Input &input, const Weights &weights, Span y,
                     Span x, Span channels, const Tile &acc, bool onto) {
  if (stands_ == Stands::Sums)
    return fillStanding(out, input, weights, y, x, channels, acc);
  auto foldAt = [&](int64_t i) -> const Fold & { return folds_[static_cast<size_t>(i)]; };
  const Span folds = weights.folds;
  // The fold that comes first overwrites: one that covers the tile; without one, zeros do.
  auto covers = [&](int64_t i) {
    const Fold &fold = foldAt(i);
    return outputRows(y, fold).size() == y.size() && outputColumns(x, fold).size() == x.size();
  };
  auto firstThat = [&](auto mayBe) {
    int64_t i = folds.begin;
    while (i < folds.end && !mayBe(i))
      ++i;
    return i;
  };
  const int64_t first = onto || input.isEmpty() ? folds.end : firstThat(covers);
  const bool accumulate = first == folds.end;
  if (accumulate && !onto)
    clear(out, y.size() * x.size(), channels.size(), acc);
  if (input.isEmpty())
    return;
  const Forms &forms = this->forms();
  const int64_t rows = weightRows(folds), firstRow = foldAt(folds.begin).weightRow;
  Task product = forms.product;
  product.registers.emplace_back(forms.inputColumn, p_.strideX * input.columnPitch);
  product.registers.emplace_back(forms.sumColumn, acc.s0);
  makeSpace(out, static_cast<size_t>(2 * folds.size() * ceilDiv(channels.size(), columnTile_)));
  for (int64_t column = channels.begin; column < channels.end; column += columnTile_) {
    const int64_t count = std::min(columnTile_, channels.end - column),
                  weightColumn = column - weights.channels.begin;
    // Where nothing but zeros covers the tile, they overwrite.
    int64_t start = accumulate
                        ? folds.begin
                        : firstThat([&](int64_t i) { return covers(i) && !isZero(column, i); });
    if (start == folds.end)
      start = first;
    bool adds = accumulate;
    for (int64_t i = 0; i < folds.size(); ++i) {
      const int64_t at = folds.begin + (start - folds.begin + i) % folds.size();
      if (isZero(column, at) && (accumulate || at != start))
        continue;
      const Fold &fold = foldAt(at);
      Span ySpan = outputRows(y, fold), xSpan = outputColumns(x, fold);
      if (ySpan.empty() || xSpan.empty())
        continue;
      int64_t weightAddress, weightStride;
      if (p_.weightsAreActivations) {
        weightAddress = fold.first * weights.channels.size() + weightColumn;
        weightStride = weights.channels.size();
      } else if (isDepthwise_) {
        weightAddress = (weightColumn * folds.size() + fold.weightRow) * (columnTile_ + 1);
        weightStride = columnTile_;
      } else {
        weightAddress = weightColumn * rows + (fold.weightRow - firstRow) * count;
        weightStride = count;
      }
      const int64_t depth = isDepthwise_ ? count : fold.count,
                    inputChannel = fold.first + (isDepthwise_ ? column : 0) - input.firstChannel;
      Task &load = out.emplace_back(forms.load);
      load.buffers[forms.ofLoad.w] = weights.buffer;
      load.values[forms.ofLoad.w] = weightAddress;
      load.values[forms.ofLoad.k] = depth;
      load.values[forms.ofLoad.n] = count;
      load.registers[0].second = weightStride;
      const int64_t inputRow =
          merge_ == TapMerge::All
              ? ySpan.begin - input.y.begin
              : ySpan.begin * p_.strideY + fold.ky * p_.dilationY - p_.padTop - input.y.begin;
      int64_t inputColumn =
          xSpan.begin * p_.strideX + fold.kx * p_.dilationX - p_.padLeft - input.x.begin;
      Task &task = out.emplace_back(product);
      const bool isApart = !input.parts.empty();
      task.buffers[forms.ofProduct.a] =
          isApart ? input.parts[static_cast<size_t>(inputChannel / input.partChannels)]
                  : input.buffer;
      task.values[forms.ofProduct.a] = inputRow * input.rowPitch + inputColumn * input.columnPitch +
                                       (isApart ? inputChannel % input.partChannels : inputChannel);
      task.buffers[forms.ofProduct.d] = acc.buffer;
      task.values[forms.ofProduct.d] = acc.offset + (ySpan.begin - y.begin) * acc.s1 +
                                       (xSpan.begin - x.begin) * acc.s0 + column - channels.begin;
      task.values[forms.ofProduct.n1] = ySpan.size();
      task.values[forms.ofProduct.n0] = xSpan.size();
      task.values[forms.ofProduct.k] = depth;
      task.values[forms.ofProduct.n] = count;
      task.values[forms.ofProduct.accumulate] = adds;
      if (ySpan.size() > 1) {
        task.registers.emplace_back(forms.inputRow,
                                    (merge_ == TapMerge::All ? 1 : p_.strideY) * input.rowPitch);
        task.registers.emplace_back(forms.sumRow, acc.s1);
      }
      adds = true;
    }
  }
}

} // namespace tilewright

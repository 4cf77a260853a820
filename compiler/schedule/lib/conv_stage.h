// A convolution or matrix product as work of the matrix unit: its folds, its weights in the order
// of the folds, and the instructions that fill a tile of accumulators from an input tile on chip.
// Which tiles there are and in which order they are made is up to the caller.
//
// A depthwise convolution has a fold a tap: a group of channels has its weights on the diagonal of
// a square, so that the array adds each channel's products to its own accumulator.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/conv_plan.h"

#include <optional>
#include <vector>

namespace tilewright {

struct Span {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
};

// A buffer of at least so many bytes: `buffer`, whose contents are done with, or (-1) a new one.
int reuse(Steps &steps, int buffer, isa::Space space, int64_t bytes, const char *purpose,
          Traffic traffic = Traffic::Streamed);

// Moves the tasks of `from` behind those of `to`.
void append(std::vector<Task> &to, std::vector<Task> &from);

// Enters what the operations that follow a convolution need on chip.
void takeOperations(ConvProblem &problem, ElementChain &operations);

class ConvStage {
public:
  // `anchor`: kernel.conv2d, kernel.matmul or kernel.depthwise (of as many result channels as input
  // channels; its input is made on chip, with its columns padded). An input that is made on chip
  // has all its pixels; of one in DRAM, those that a stride passes over may be left there.
  enum class InputFrom { Dram, Chip };
  ConvStage(LoweringContext &context, mlir::Operation *anchor, Steps &steps, InputFrom from);

  const ConvProblem &problem() const { return p_; }
  bool readsAll() const { return gatherY_ == 1 && gatherX_ == 1; } // of the tensor's pixels

  // Cuts the reduction into folds of at most `rows` elements. The folds of the first `channelChunk`
  // input channels come first, then those of the next (unless taps are merged).
  // Sums that stand in the array take all of the reduction at once, in its own order.
  void listFolds(TapMerge merge, int64_t channelChunk, Stands stands = Stands::Weights);
  Span allFolds() const { return {0, static_cast<int64_t>(folds_.size())}; }
  Span foldsOfChunk(int64_t chunk) const;
  // Gives the weights their place in DRAM. In a trial they get an address and no bytes.
  void placeWeights(bool isTrial);

  // Input rows and columns [y][x][channel] on chip. Columns may lie outside the tensor (padding).
  // With all taps merged, rows may lie outside as well, and the tile is [x][y][channel] where
  // hasColumnsOfTaps says so.
  struct Input {
    int buffer = -1; // -1: nothing but padding
    Span y{0, 0}, x{0, 0};
    int64_t rowPitch = 0, columnPitch = 0; // bytes
    int64_t firstChannel = 0;
    // Where each part of the channels has a buffer of its own: these, each of so many channels.
    llvm::SmallVector<int, 8> parts = {};
    int64_t partChannels = 0;
    bool isEmpty() const { return buffer < 0 && parts.empty(); } // nothing but padding
  };
  // For each column tile of the channels, the rows of these folds.
  struct Weights {
    int buffer = -1;
    Span channels{0, 0}, folds{0, 0};
  };
  // Input rows inside the tensor that output rows `y` need.
  Span inputRows(Span y) const;
  // `parts`: the channels come in so many loads, so that the first folds need not wait for the last
  // channels. `buffer`, here and below, as of `reuse`.
  Input loadInput(std::vector<Task> &loads, int64_t n, Span y, Span x, int64_t parts = 1,
                  int buffer = -1);
  // These channels alone.
  Input loadInput(std::vector<Task> &loads, int64_t n, Span y, Span x, Span channels, int64_t parts,
                  int buffer, int64_t firstRow = INT64_MIN);
  // Of an image whose channels stand apart in DRAM, so that it comes an element a cycle: rows that
  // `before` has as well, which ends with them, are copied from there by tasks of `copies`.
  Input loadInputBehind(std::vector<Task> &loads, std::vector<Task> &copies, int64_t n, Span y,
                        Span x, const Input &before, int buffer);
  // The same of one tap, of which each part has a buffer of its own: the first ones may come in
  // while something else takes up the room of the last ones. `loads`: by part, the first one last.
  Input loadInputApart(std::vector<std::vector<Task>> &loads, int64_t n, Span y, Span x,
                       int64_t parts);
  // The windows of an output tile, [output row][x][ky][channel]: what `fill` takes for it. Without
  // merged rows of taps that is the input itself.
  Input gather(std::vector<Task> &out, const Input &input, Span y, Span x, int buffer = -1);
  Weights loadWeights(Step &step, int64_t n, Span channels, Span folds, int buffer = -1);
  // Of a depthwise convolution, on so many channels: a buffer of squares with nothing on them, and
  // the weights of channels from a group's first on that come onto the diagonals.
  int addSquares(std::vector<Task> &loads, int64_t channels, int buffer = -1);
  Weights loadDiagonals(std::vector<Task> &loads, int squares, Span channels);
  // Adds the products of the folds whose weights are on chip; `onto` what earlier ones left.
  // `input` is what `gather` gave for a tile around these pixels. `acc` begins at the first of y, x
  // and channels.
  void fill(std::vector<Task> &out, const Input &input, const Weights &weights, Span y, Span x,
            Span channels, const Tile &acc, bool onto);

private:
  // One reduction slice: a tap (or a row of taps, or all of them) and a range of its contiguous
  // elements.
  struct Fold {
    int64_t ky, kx;       // 0 where taps are merged
    int64_t first, count; // elements of the reduction row
    int64_t weightRow;    // rows of weights before this fold
  };
  // A load of weights and a product, with what all of them have in common, and where the rest goes.
  struct Forms {
    Task load, product;
    struct { // operands
      size_t w, k, n;
    } ofLoad;
    struct {
      size_t a, d, n1, n0, k, n, accumulate;
    } ofProduct;
    int inputRow, inputColumn, sumRow, sumColumn; // registers; the first of a load is its stride
  };
  void describe(InputFrom from);
  void describe(kernel::DepthwiseOp depthwise);
  void skipUnread();
  void findZeros();
  bool isZero(int64_t channel, int64_t fold) const; // of the column tile that holds the channel
  const Forms &forms();
  std::string packedWeights() const;
  std::string packedDiagonals() const;
  int64_t weightRows(Span folds) const;
  int64_t weightOffset(const Fold &fold, int64_t i) const;
  Span inputColumns(Span x) const;
  Span outputRows(Span y, const Fold &fold) const;
  Span outputColumns(Span x, const Fold &fold) const;
  void fillStanding(std::vector<Task> &out, const Input &input, const Weights &weights, Span y,
                    Span x, Span channels, const Tile &acc);
  void clear(std::vector<Task> &out, int64_t pixels, int64_t channels, const Tile &acc);

  LoweringContext &context_;
  mlir::Operation *anchor_;
  Steps &steps_;
  mlir::Value input_, weights_;
  ImageView view_; // of the input
  int64_t inputZeroPoint_ = 0, weightZeroPoint_ = 0;
  // Only every gatherY_-th row and gatherX_-th column of the tensor is read; p_ speaks of those.
  int64_t gatherY_ = 1, gatherX_ = 1;
  ConvProblem p_{};
  TapMerge merge_ = TapMerge::None;
  Stands stands_ = Stands::Weights;
  int64_t channelChunk_ = 0;
  std::vector<Fold> folds_;
  std::vector<bool> areZero_; // none: no fold of any column tile
  int64_t weightAddress_ = 0; // DRAM
  bool isDepthwise_ = false;
  int64_t columnTile_;         // output channels that the array makes at once
  std::optional<Forms> forms_; // once they were asked for
};

} // namespace tilewright

// Shared by the lowerings of groups to steps: constants in DRAM, tensors' addresses, tiles, and the
// vector work on a tile.
#pragma once

#include "scatter.h"

#include "tilewright/compiler/schedule/conv_plan.h"
#include "tilewright/compiler/schedule/emitter.h"
#include "tilewright/compiler/schedule/task.h"
#include "tilewright/compiler/schedule/tuner.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/selection.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/isa/isa.h"
#include "tilewright/simulator/timing/instruction_timing.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tilewright {

// The initial contents of DRAM that the program carries; equal blocks are kept once.
class ConstantPool {
public:
  explicit ConstantPool(int64_t base) : base_(base) {}
  int64_t add(std::string_view bytes);
  // Forgets what was added when there were only so many bytes.
  void rollBack(size_t size);
  int64_t base() const { return base_; }
  int64_t end() const { return base_ + static_cast<int64_t>(bytes_.size()); }
  const std::string &bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); } // at the end

private:
  struct Block {
    size_t offset, size;
  };
  int64_t base_;
  std::string bytes_;
  std::unordered_multimap<size_t, Block> known_; // by the hash of the bytes
};

// Where a tensor stands in DRAM.
struct DramTensor {
  int64_t address = 0;
  // Elements from a row of the last dimension to the next, where rows stand apart: the tensor is
  // some channels of another one. 0: dense.
  int64_t pitch = 0;
  // Where its elements stand instead, if it stands nowhere by itself.
  const Scatter *scatter = nullptr;
};
using DramTensors = llvm::DenseMap<mlir::Value, DramTensor>;

// Elements of a tile, and what all tiles cost by the estimator, on an empty chip.
struct ChosenTile {
  int64_t elements, cost;
  int64_t interval = 1; // stages from a tile to the next
};

// What trials of a region found: a tile, or that none takes less than so many cycles.
struct TriedTile {
  std::optional<ChosenTile> best;
  int64_t limit;
};

// What a lowering may ask.
struct LoweringContext {
  const isa::Isa &isa;
  ConstantPool &constants;
  const DramTensors &tensors; // all that stand in DRAM
  int64_t rows, cols, lanes, channels;
  const ConvMachine machine;
  const Buffering buffering;
  const std::vector<timing::InstructionTiming> plans; // by instruction, for estimates
  struct Chosen {
    ConvPlan plan;
    std::vector<int64_t> layout; // Steps::layout
    int64_t cycles;              // by the estimator, on an empty chip
    std::optional<RunnerUp> runnerUp;
    int64_t transfer = 0; // Trial's
  };
  std::map<std::string, Chosen> chosen;   // plans of convolutions, by what decides them
  std::map<std::string, TriedTile> tiles; // of regions
  std::shared_ptr<Selection> selection;   // shared by all contexts of a schedule
  Tuner *tuner = nullptr;                 // null: the planner's plans are final
  std::map<std::string, Chosen> tuned;    // plans of convolutions that the tuner gave
  std::optional<UnfitDescription> unfit;  // why a trial ended, if not for want of room

  // Throws UnfitDescription where the target has no instruction of the role.
  const isa::Instruction &instruction(isa::Role role) const;
  // The arrays that blocks of parameters fill. Throws UnfitDescription where the instruction of
  // role LoadChannels is missing or fills others.
  patterns::ChannelArrays channelArrays() const;
  // Of the role LoadBytes, or what does the same on another load DMA.
  const isa::Instruction &weightLoad() const;
  const TaskForm &form(const isa::Instruction &instruction);
  const TaskForm &form(isa::Role role) { return form(instruction(role)); }
  // Largest immediate that an operand of an instruction holds.
  int64_t limit(const isa::Instruction &instruction, Name operand);
  int64_t registerLimit(const isa::Instruction &instruction, Name name); // of the unit's register
  int64_t limit(isa::Role role, Name operand) { return limit(instruction(role), operand); }
  DramTensor tensor(mlir::Value value) const; // constants are added to the pool by the caller first

private:
  const isa::Instruction *const weightLoad_; // null: there is no load
  std::map<int, TaskForm> forms_;            // by instruction

public:
  LoweringContext(const isa::Isa &isa, ConstantPool &constants, const DramTensors &tensors,
                  Buffering buffering, std::shared_ptr<Selection> selection);
};

// A tile of a tensor on chip: elements [y][x][c] at `offset` (in elements) of a buffer. Strides in
// elements; sc is 0 or 1.
struct Tile {
  isa::Space space = isa::Space::Spad;
  int buffer = -1;
  int64_t offset = 0;
  int64_t s1 = 0, s0 = 0, sc = 1;
  int64_t elementBytes() const { return space == isa::Space::Acc ? 4 : 1; }
};
struct Extent {
  int64_t n1 = 1, n0 = 1, nc = 1;
  int64_t elements() const { return n1 * n0 * nc; }
};
Tile denseTile(isa::Space space, int buffer, const Extent &extent, int64_t offset = 0);

// A box of a row-major tensor of any rank: per dimension its start and size.
struct Box {
  llvm::SmallVector<int64_t> start, size;
};

// The dense tile of what a tensor of this shape has of a box, by its last three dimensions; strides
// are 0 where it has one element for all.
Tile repeatedTile(llvm::ArrayRef<int64_t> shape, const Box &box, isa::Space space, int buffer);

// Moves between a box of a DRAM tensor and a dense tile, cut into as many DMA instructions as its
// rank needs. `elementBytes` is the tensor's element in DRAM; accumulators hold it widened.
enum class Signedness { Signed, Unsigned };
void loadBox(LoweringContext &context, std::vector<Task> &out, const DramTensor &tensor,
             llvm::ArrayRef<int64_t> shape, const Box &box, int elementBytes, Signedness sign,
             const Tile &tile);
void storeBox(LoweringContext &context, std::vector<Task> &out, const DramTensor &tensor,
              llvm::ArrayRef<int64_t> shape, const Box &box, int elementBytes, const Tile &tile);

// One strided copy of elements between DRAM and a tile buffer: index i maps to DRAM address + sum(i
// * dram) * elementBytes and to tile element offset + sum(i * chip).
enum class Direction { Load, Store };
void copyStrided(LoweringContext &context, std::vector<Task> &out, Direction direction,
                 int64_t address, int elementBytes, Signedness sign, const Tile &tile,
                 llvm::SmallVector<CopyDim> dims);
// Bytes of weights, by a load DMA of their own where the machine has one.
void copyWeights(LoweringContext &context, std::vector<Task> &out, int64_t address,
                 const Tile &tile, llvm::SmallVector<CopyDim> dims);

// Sets `rows` runs of `bytes` to `value`, each `pitch` after the one before, on the load unit.
void fillSpad(LoweringContext &context, std::vector<Task> &out, int buffer, int64_t offset,
              int64_t rows, int64_t pitch, int64_t bytes, int64_t value);

// Per-channel parameters of a rescale, resident on chip: blocks of biases, multipliers and shifts.
struct ChannelBlocks {
  int buffer = -1;
  int64_t blockChannels = 0; // channels a block covers (the last may cover fewer)
  int64_t channels = 0;      // 1: the same parameters for every channel
  int64_t first = 0;         // the channel of the first block
  int64_t stripOffset = 0;   // in bytes, of the same parameters for `lanes` channels; 0: none

  // Whether there are such ones behind the block.
  bool hasStrip(int64_t lanes) const { return channels == 1 && blockChannels > lanes; }
};

// Channels of a group whose parameters are resident at once.
struct ChannelRange {
  int64_t first = 0, count = INT64_MAX;
};

// Loads of what stands on chip by channel, in parts: those of the first channels come in before
// the others.
struct ChannelParts {
  std::vector<int64_t> ends;            // of each part, the channel at which it ends
  std::vector<std::vector<Task>> loads; // of each part
};

// Work of the vector unit on tiles of one group, appended to a task list in program order.
class TileOps {
public:
  TileOps(LoweringContext &context, Steps &steps) : context_(context), steps_(steps) {}

  // Writes the parameter blocks into the constant pool and loads them with the first step's
  // constants. bias, multiplier, shift have `channels` elements each (1 or the last dimension).
  // With `parts`, blocks come in by those.
  ChannelBlocks channelBlocks(std::vector<Task> &constants, llvm::ArrayRef<int32_t> bias,
                              llvm::ArrayRef<int32_t> multiplier, llvm::ArrayRef<int32_t> shift,
                              int64_t blockChannels, ChannelParts *parts = nullptr);

  // d = rescale(a) for channels [channel0, channel0 + nc); a and d each in either memory.
  void rescale(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel0,
               const Extent &extent, const Tile &d, const Tile &a, int64_t zeroPoint, int64_t lo,
               int64_t hi);
  // The channels [channel0, channel0 + nc) by any element-wise instruction; `operands` by
  // Pattern::reads. `blocks` null: the instruction has no parameters a channel.
  void apply(std::vector<Task> &out, const patterns::Match &match, const ChannelBlocks *blocks,
             int64_t channel0, const Extent &extent, const Tile &d, llvm::ArrayRef<Tile> operands);
  // The table of a match, by the load of the registers that the match reads.
  void loadTable(std::vector<Task> &out, int buffer, const patterns::Match &match);
  // Makes the block that covers `channel` current in the channel registers, unless it is.
  void selectBlock(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel);
  // Other work comes before what follows: nothing is known to be selected.
  void forget() { channelState_ = {-1, -1}, tableState_ = -1; }

private:
  // Registers and fields of an instruction beyond strides and extents.
  struct Settings {
    llvm::SmallVector<std::pair<int, int64_t>, 12> registers;
    llvm::SmallVector<std::pair<int, int64_t>, 2> immediates;
  };
  void select(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t offset, int64_t count);
  void byChannels(std::vector<Task> &out, const patterns::Pattern &pattern,
                  const ChannelBlocks &blocks, int64_t channel0, const Extent &extent,
                  const Tile &d, llvm::ArrayRef<Tile> operands, const Settings &settings);
  void emit(std::vector<Task> &out, const patterns::Pattern &pattern, Extent extent, Tile d,
            llvm::ArrayRef<Tile> operands, const Settings &settings, int64_t innerLimit,
            bool mayFlatten);

  LoweringContext &context_;
  Steps &steps_;
  std::pair<int, int64_t> channelState_{-1, -1}; // buffer and block in the channel registers
  int tableState_ = -1;
};

// Where the elements of an image [N,H,W,C] stand: in DRAM, or in the tensor that a strided view
// shows. Strides in elements.
struct ImageView {
  mlir::Value storage;
  int64_t offset = 0, batch = 0, row = 0, column = 0, channel = 1;
};
ImageView viewOf(const LoweringContext &context, mlir::Value image);

// Elements of a constant, splats expanded.
std::vector<int64_t> integersOf(mlir::Value value);
bool isConstant(mlir::Value value);
std::string constantBytes(mlir::Value value); // as they stand in DRAM

// The element-wise operations of a group on tiles of its result: all of them, or those that follow
// an anchor.
//
// 8-bit values stand in the scratchpad, wider ones (and unsigned 8-bit ones) in the accumulators.
// Operands from outside the group are loaded for the whole result tile; the operations then run on
// slices of it along the last dimension.
class ElementChain {
public:
  // `shapes` gives every outside operand the rank of the result's boxes, with 1 where it is
  // broadcast.
  using Shapes = llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>>;
  static Shapes shapesOf(kernel::GroupOp group); // as they are
  // `range`: parameters of other channels are not loaded; it begins at a block.
  ElementChain(LoweringContext &context, Steps &steps, kernel::GroupOp group,
               mlir::Operation *anchor, Shapes shapes, int64_t blockChannels,
               ChannelRange range = {});

  // The same with an instruction for each operation. Nothing where that is no difference, or some
  // operation has none by itself.
  std::optional<ElementChain> unfused() const;

  // Loads what stays on chip for all channels of the range: parameters (by parts, if there are
  // some) and tables.
  void prepare(std::vector<Task> &constants, ChannelParts *parts = nullptr);
  // Loads the outside operands for the result tile at `box`; the last three dimensions of a box are
  // the tile's.
  void loadOperands(std::vector<Task> &loads, const Box &box);
  // What is read from outside the group, once for each memory and sign.
  struct Read {
    mlir::Value value;
    isa::Space space;
    Signedness sign;
  };
  llvm::SmallVector<Read> outsideReads() const;
  // Whether an outside operand may stand in the scratchpad wherever it is read.
  bool mayProvide(mlir::Value value) const;
  // Where an outside operand stands, beginning at the next box: it is not loaded into that memory.
  // `isLast`: nobody reads the tile behind this group, whose results may take its place.
  void provide(mlir::Value value, const Tile &tile, bool isLast = false) {
    provided_[{value, static_cast<int>(tile.space)}] = tile;
    if (isLast)
      replaceable_.insert(value);
    else
      replaceable_.erase(value);
  }
  // From now on, operands that are the same for two boxes, one after the other, stay on chip.
  void keepOperands() { keepsOperands_ = true; }
  // Of operands there are several copies: the tiles that come by turns read each its own, for its
  // own box.
  void useCopy(size_t copy) {
    copies_.resize(std::max({copies_.size(), copy + 1, copy_ + 1}));
    copies_[copy_] = {std::move(box_), std::move(outside_), std::move(loaded_)};
    copy_ = copy;
    std::tie(box_, outside_, loaded_) = std::move(copies_[copy]);
  }
  // `narrow` in accumulators; asked for before `prepare`.
  void needWidening() { needsWidening_ = true; }
  void widen(std::vector<Task> &out, const Extent &extent, const Tile &wide, const Tile &narrow);
  // Runs the operations on channels [channel, channel + extent.nc) of the tile, `channel` counted
  // from the box's start. `anchorValue` is the anchor's result there; an 8-bit result goes to
  // `result`, a wider one to the accumulator tile that is returned. With `leadingDone`,
  // `anchorValue` is the result of the leading rescale already.
  Tile run(std::vector<Task> &out, const Tile &anchorValue, const Extent &extent, int64_t channel,
           const Tile &result, bool leadingDone = false);

  bool isEmpty() const { return operations_.empty(); }
  int64_t instructionCount() const { return static_cast<int64_t>(covers_->size()); }
  TileOps &ops() { return ops_; }
  bool isLeadingLast() const { return operations_.size() == 1; }
  // The rescale to 8 bits that comes first, if one does: an anchor's instruction that rescales by
  // itself (vdw.i8) may stand for it too.
  kernel::RescaleOp leadingRescale() const;
  const ChannelBlocks &leadingBlocks() const { return blocks_.find(&covers_->front())->second; }
  bool resultInAccumulators() const;
  int resultBytes(); // of an element of the group's result in DRAM
  // Bytes that outside operands and intermediate values take, for each element of a result tile.
  int64_t spadBytesPerElement();
  int64_t accBytesPerElement();
  int64_t wideOperandBytes(); // of these, what outside operands take
  int64_t residentBytes();    // parameters and tables
  // Of these, what the operations on a tile select one after the other: none where one selection
  // serves all tiles.
  int64_t selectedBytes();
  bool isPerChannel() const; // some rescale has parameters along the last dimension

private:
  static mlir::Value valueOf(const Cover &cover, size_t read) {
    return cover.operands[static_cast<size_t>(cover.match.operands[read])];
  }
  // An outside operand and how it stands on chip: two covers may want it in two ways.
  using Key = std::pair<mlir::Value, int>;
  Key keyOf(const Cover &cover, size_t read) const {
    mlir::Value value = valueOf(cover, read);
    const int space = static_cast<int>(cover.match.pattern->reads[read].space);
    return {value, space * 2 + readsUnsigned(cover, value)};
  }
  // Whether an operand comes from outside the group.
  bool isOutside(const Cover &cover, size_t read) const;
  // Values of the group that the cover reads, each once, the one made last at the end.
  struct Inside {
    mlir::Value value;
    bool isWide;    // stands in the accumulators
    bool isWidened; // for the cover
  };
  llvm::SmallVector<Inside, 4> insideReads(const Cover &cover) const;
  bool readsUnsigned(const Cover &cover, mlir::Value value) const;
  ChannelBlocks blocksOf(std::vector<Task> &constants, const patterns::Match &match,
                         ChannelParts *parts);
  std::optional<Tile> replaced(const Cover &cover, const Extent &extent) const;

  LoweringContext &context_;
  Steps &steps_;
  TileOps ops_;
  kernel::GroupOp group_;
  mlir::Operation *anchor_;
  Shapes shapes_;
  int64_t blockChannels_;
  ChannelRange range_;
  llvm::SmallVector<mlir::Operation *> operations_;
  std::vector<int32_t> bias_;
  Box box_;
  const Covers *covers_;
  std::map<const Cover *, ChannelBlocks> blocks_;
  std::map<const Cover *, int> tables_;
  ChannelBlocks identity_;   // widens 8-bit values
  ChannelBlocks biasBlocks_; // adds the bias where no rescale takes it
  llvm::DenseMap<Key, Tile> outside_;
  llvm::DenseMap<Key, Box> loaded_; // of these, what was loaded; where operands are kept
  std::vector<std::tuple<Box, llvm::DenseMap<Key, Tile>, llvm::DenseMap<Key, Box>>>
      copies_; // the others
  size_t copy_ = 0;
  bool keepsOperands_ = false, needsWidening_ = false;
  llvm::DenseMap<Key, Tile> provided_; // by value and memory
  llvm::DenseSet<mlir::Value> replaceable_;
};

// What decides how a group is tiled: groups of which this is equal take the same time.
std::string signatureOf(const LoweringContext &context, kernel::GroupOp group);

// The lowerings, one an anchor: they append the group's steps. All throw UserError when no tile
// fits on chip.
void lowerConvolution(LoweringContext &context, kernel::GroupOp group,
                      Steps &steps); // conv2d, matmul
// Whether others may run between its steps, and the same for such ones.
bool mayRunBeside(LoweringContext &context, kernel::GroupOp group);
void lowerBeside(LoweringContext &context, kernel::GroupOp group, Steps &steps);
// A convolution's best plan by the estimator, on an empty chip. `first`: firstConvolutionPlan, if
// that was tried out.
const LoweringContext::Chosen &
bestPlan(LoweringContext &context, kernel::GroupOp group,
         const std::optional<LoweringContext::Chosen> &first = std::nullopt);
// The plan that is the best by the planner's own estimate, a rough one, tried out; nothing where it
// does not fit.
std::optional<LoweringContext::Chosen> firstConvolutionPlan(LoweringContext &context,
                                                            kernel::GroupOp group);
// Its cycles by that estimate, without a trial.
int64_t expectedConvolutionCycles(LoweringContext &context, kernel::GroupOp group);
void lowerWindow(LoweringContext &context, kernel::GroupOp group,
                 Steps &steps); // depthwise, max_pool, avg_pool, sum_pool
void lowerAssemble(LoweringContext &context, kernel::GroupOp group, Steps &steps);

} // namespace tilewright

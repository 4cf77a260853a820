// A region: groups of element-wise operations, reductions and products of activations, one after
// the other in the program, that one loop nest over tiles runs, so that what they hand on stays on
// chip. As a mapping in the sense of LoopTree (Gilbert et al., 2024):
//
//   loop     boxes of the ranks that the groups have in common (common_ranks.h)
//   storage  a tile of each tensor: operands from DRAM, results between groups, on chip; the second
//            operand of a product, for all rows that it is multiplied with
//   sequence the groups
//   compute  a group's instructions on its tile, on the vector unit; products on the array
//
// Products, and what is between them, are stages, which work on different tiles at once
// (interleave.h). A group of
// element-wise operations or a reduction alone is a region, too.
#pragma once

#include "conv_stage.h"
#include "lowering.h"
#include "reduction.h"

#include "tilewright/compiler/schedule/common_ranks.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <optional>

namespace tilewright {

class Workers;

class Region {
public:
  // Nothing where the groups have no ranks in common, or one cannot read what another one leaves on
  // chip; a group alone is always one. `layers`: of each, for the instructions' records.
  static std::optional<Region> make(LoweringContext &context,
                                    llvm::ArrayRef<kernel::GroupOp> groups,
                                    llvm::ArrayRef<int> layers);
  // The same with another context.
  Region in(LoweringContext &context) const;

  bool isFused() const { return kernels_.size() > 1; }
  bool takesFused() const; // some instruction computes several operations
  size_t products() const;
  bool hasManyProducts() const { return products() > 2; } // more than one's operand is another's
  int64_t elements() const { return ranks_.elements(); }  // iterations of the common ranks
  // Of these in a tile, so that two tiles are on chip, as far as is known without a trial. Throws
  // UserError where none fits.
  int64_t mostElements() const;
  int64_t tiles(int64_t most) const; // of at most so many elements
  bool areSameTiles(int64_t most, int64_t other) const;
  // The first `mostTiles` of them. A tile begins `interval` stages after the one before, which is
  // odd: products are in every other stage, so that the array and the vector unit have work in
  // each.
  void lower(Steps &steps, int64_t most, int64_t interval, int64_t mostTiles = INT64_MAX) const;
  std::string words(int64_t most) const;
  // Groups of which this is equal take the same time.
  std::string signature() const;
  // Results that only groups of the region read.
  llvm::SmallVector<mlir::Value> withinResults() const;

private:
  // A group under the common ranks: shapes are [outer.., own.., last].
  struct Kernel {
    kernel::GroupOp group;
    int layer = -1;
    bool isReduction = false, isPerChannel = false, keepsLast = false;
    bool isStored = false, isHandedOn = false;
    bool widens = false;                // what another kernel leaves in the scratchpad
    mlir::Operation *product = nullptr; // kernel.matmul, or null
    Extents batch; // of a product: the outer ranks that its second operand has, 1 for the others
    llvm::SmallVector<mlir::Value> operands; // from outside the group, no parameters or tables
    Extents space, result;                   // as they are until they have their shapes
    ElementChain::Shapes shapes;             // of the operands
  };
  struct Held { // a tensor on chip
    isa::Space space;
    int buffer, wide = -1; // `wide`: its copy in accumulators
  };
  using HeldTensors = llvm::DenseMap<mlir::Value, Held>; // by what gives it; if nobody: itself
  struct Running {                                       // a kernel while its tasks are made
    const Kernel &kernel;
    std::optional<ElementChain> chain;
    std::optional<Reduction> reduction;
    std::optional<ConvStage> stage; // of a product
    ConvStage::Weights weights;     // its second operand,
    int64_t batch;                  // of this batch; -1: there is none
  };
  struct Turn {
    size_t sums, rest; // stages
  };
  struct TileInFlight {
    Box box; // empty: there is no tile
    int64_t number = 0;
    HeldTensors held;
    std::vector<llvm::SmallVector<Tile>> sums; // by kernel, of products
  };

  Region(LoweringContext &context, llvm::ArrayRef<kernel::GroupOp> groups,
         llvm::ArrayRef<int> layers);
  void describe(Kernel &kernel) const;
  KernelRanks ranksOf(const Kernel &kernel) const;
  void giveShapes(Kernel &kernel) const;
  bool mayHandOn();
  void findShared();
  void findInputs();
  bool isShared(const Kernel &kernel, mlir::Value value, isa::Space space, Signedness sign) const;
  void chooseRange();
  size_t placeOf(const Kernel &kernel) const {
    return static_cast<size_t>(&kernel - kernels_.data());
  }
  const Kernel *makerOf(mlir::Value value) const;           // null: it comes from outside
  Held *heldOf(mlir::Value value, HeldTensors &held) const; // null: it is to be loaded
  void loadShared(Steps &steps, Step &step, const Kernel &kernel, mlir::Value value,
                  isa::Space space, const Box &box, HeldTensors &held) const;
  bool mayTurn() const;
  void computeTurned(Steps &steps, Step &step, Running &running, const TileInFlight &tile) const;
  bool isFactor(const Kernel &kernel) const;
  bool isReadBehind(const Kernel &kernel, mlir::Value value) const; // by kernels behind this one
  size_t ownRanks(const Kernel &kernel) const;
  size_t tiledRanks() const;
  bool tilesChannels() const;
  int64_t residentBytes(int64_t block, const ChannelRange &range) const;
  Extents common() const;
  Extents tileOf(llvm::ArrayRef<int64_t> all, int64_t most) const;
  Box boxOf(const Kernel &kernel, const Box &tile) const;
  Running begin(const Kernel &kernel, Steps &steps, int64_t block, const ChannelRange &range) const;
  llvm::SmallVector<Tile> multiply(Steps &steps, Step &step, Running &running,
                                   const TileInFlight &tile, HeldTensors &held) const;
  Tile compute(Steps &steps, Step &step, Running &running, const Box &box, HeldTensors &held,
               llvm::ArrayRef<Tile> sums) const;
  Tile reduce(Steps &steps, Step &step, const Running &running, const Box &box,
              HeldTensors &held) const;
  void findTurns();
  std::optional<size_t> latestTurn(const Kernel &kernel) const;
  bool isReadBefore(size_t i, size_t stage) const;
  void addStage(Steps &steps, Step &step, std::vector<Running> &running, size_t stage,
                TileInFlight &tile) const;

  LoweringContext &context_;
  std::vector<Kernel> kernels_;
  std::vector<Turn> turns_; // by kernel
  size_t stages_ = 0;
  // Operands from outside of which a tile is loaded once, for all kernels that read it.
  llvm::SetVector<mlir::Value> shared_;
  // By products whose first operand another kernel reads from outside, too: by that one as this.
  struct Same {
    const Kernel *kernel;
    mlir::Value value;
  };
  llvm::DenseMap<mlir::Operation *, Same> inputs_;
  CommonRanks ranks_;
  bool isTurned_ = false; // its transpose is made on its way in and out by turns
  int64_t block_ = 0;     // channels whose parameters are selected at once
  int64_t range_ = 0; // channels whose parameters are resident at once, of a group alone; or all
};

// The tiles with which a region ends first. Nothing where none fits on chip, or ends before
// `limit`. `workers`: who share the trials, where nothing stands in the pool of constants yet.
std::optional<ChosenTile> chooseTile(LoweringContext &context, const Region &region,
                                     int64_t limit = INT64_MAX, Workers *workers = nullptr);

struct ChosenRegion {
  llvm::SmallVector<kernel::GroupOp> groups;
  llvm::SmallVector<int> layers;
  ChosenTile tile;
};

// Regions of several groups, by the place of their first group in the program: those into which
// runs of free groups are divided so that they take the least time.
std::map<size_t, ChosenRegion> findRegions(LoweringContext &context, Workers &workers,
                                           llvm::ArrayRef<kernel::GroupOp> groups,
                                           llvm::function_ref<bool(size_t)> isFree);

void lowerRegion(LoweringContext &context, const ChosenRegion &chosen, Steps &steps);
// A group alone.
void lowerAlone(LoweringContext &context, kernel::GroupOp group, Steps &steps);

} // namespace tilewright

#include "register_blocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include <functional>
#include <map>

using namespace mlir;

namespace tilewright::float_kernels {

namespace {

// How an input is read while registers hold the sums.
enum class Reading {
  None,   // its value is not used
  Scalar, // the same element for a whole vector
  Vector, // elements side by side
  Panel   // elements side by side in a copy
};

struct Input {
  Value buffer;
  AffineMap map;
  Reading reading = Reading::None;
  Value panel; // of the block that is being built, for Reading::Panel
};

// Vectors of one block: where each begins, and its lanes.
struct Lane {
  int64_t offset = 0;
  int64_t count = 0;
};

bool isNumber(Type type) { return type.isIntOrFloat(); }

class Blocks {
public:
  Blocks(RewriterBase &rewriter, linalg::GenericOp op, unsigned innermost, const BlockShape &shape)
      : rewriter_(rewriter), op_(op), location_(op.getLoc()), innermost_(innermost), shape_(shape),
        sizes_(op.getStaticLoopRanges()) {}

  LogicalResult prepare() {
    if (op_.getNumDpsInits() != 1 || llvm::any_of(sizes_, ShapedType::isDynamic))
      return failure();
    // Blocks are more code than a plain loop: it takes longer to compile than little work is worth.
    constexpr int64_t leastSteps = 32, leastWork = 1 << 20;
    int64_t steps = 1, work = 1;
    for (auto [size, iterator] : llvm::zip(sizes_, op_.getIteratorTypesArray())) {
      steps *= iterator == utils::IteratorType::parallel ? 1 : size;
      work *= size;
    }
    if (steps < leastSteps || work < leastWork)
      return failure();
    output_ = op_.getDpsInits()[0];
    outputMap_ = op_.getMatchingIndexingMap(op_.getDpsInitOperand(0));
    if (!outputMap_.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        !lastIs(outputMap_, innermost_) || !isNumber(getElementTypeOrSelf(output_)))
      return failure();
    for (unsigned loop = 0; loop < op_.getNumLoops(); ++loop) {
      bool isParallel = op_.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
      if (!isParallel)
        reductions_.push_back(loop);
      else if (loop != innermost_)
        outer_.push_back(loop);
    }
    for (OpOperand *operand : op_.getDpsInputOperands())
      if (failed(addInput(*operand)))
        return failure();
    for (Operation &op : op_.getBody()->without_terminator())
      if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1 ||
          !isNumber(op.getResult(0).getType()))
        return failure();
    // Sums of several elements of the dimension before the last one stand in registers, too.
    for (AffineExpr result : outputMap_.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result);
          dim && dim.getPosition() != innermost_ && sizes_[dim.getPosition()] > 1)
        row_ = dim.getPosition();
    if (row_)
      llvm::erase(outer_, *row_);
    return success();
  }

  void run() {
    rewriter_.setInsertionPoint(op_);
    int64_t size = sizes_[innermost_], block = shape_.lanes * shape_.vectors;
    int64_t whole = size / block * block;
    std::vector<Lane> vectors;
    for (int64_t i = 0; i < shape_.vectors; ++i)
      vectors.push_back({i * shape_.lanes, shape_.lanes});
    if (whole > 0)
      loop(0, whole, block, [&](OpFoldResult start) { addBlock(start, vectors); });
    for (int64_t lanes = shape_.lanes, at = whole; lanes > 0; lanes /= 2)
      for (; at + lanes <= size; at += lanes)
        addBlock(index(at), {{0, lanes}});
  }

private:
  static bool lastIs(AffineMap map, unsigned loop) {
    ArrayRef<AffineExpr> results = map.getResults();
    return !results.empty() && results.back() == getAffineDimExpr(loop, map.getContext());
  }

  LogicalResult addInput(OpOperand &operand) {
    Input input{operand.get(), op_.getMatchingIndexingMap(&operand), Reading::Scalar, {}};
    auto uses = [&](unsigned loop) { return input.map.isFunctionOfDim(loop); };
    if (op_.getMatchingBlockArgument(&operand).use_empty()) {
      input.reading = Reading::None;
    } else if (!isNumber(getElementTypeOrSelf(input.buffer))) {
      return failure();
    } else if (uses(innermost_)) {
      ArrayRef<AffineExpr> results = input.map.getResults();
      bool isLast = lastIs(input.map, innermost_) &&
                    llvm::none_of(results.drop_back(), [&](AffineExpr result) {
                      return result.isFunctionOfDim(innermost_);
                    });
      bool isWeight = input.map.isProjectedPermutation() && llvm::none_of(outer_, uses);
      if (!isLast && !isWeight)
        return failure();
      input.reading = isLast ? Reading::Vector : Reading::Panel;
    }
    inputs_.push_back(input);
    return success();
  }

  // --- Small helpers

  OpFoldResult index(int64_t value) { return rewriter_.getIndexAttr(value); }

  Value valueOf(OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(rewriter_, location_, index);
  }

  OpFoldResult plus(OpFoldResult index, int64_t offset) {
    AffineExpr sum = getAffineDimExpr(0, rewriter_.getContext()) + offset;
    return affine::makeComposedFoldedAffineApply(rewriter_, location_, AffineMap::get(1, 0, sum),
                                                 {index});
  }

  SmallVector<Value> at(AffineMap map, ArrayRef<OpFoldResult> indices) {
    SmallVector<Value> positions;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      positions.push_back(valueOf(affine::makeComposedFoldedAffineApply(
          rewriter_, location_, map.getSubMap({i}), indices)));
    return positions;
  }

  // A loop, or what stands in it when it would run once.
  void loop(int64_t begin, int64_t end, int64_t step,
            const std::function<void(OpFoldResult)> &body) {
    if (end - begin <= step)
      return body(index(begin));
    auto loop = scf::ForOp::create(rewriter_, location_, valueOf(index(begin)), valueOf(index(end)),
                                   valueOf(index(step)));
    OpBuilder::InsertionGuard guard(rewriter_);
    rewriter_.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  // Loops over `dims`, which set their indices.
  void nest(ArrayRef<unsigned> dims, const std::function<void()> &body) {
    if (dims.empty())
      return body();
    loop(0, sizes_[dims[0]], 1, [&](OpFoldResult at) {
      indices_[dims[0]] = at;
      nest(dims.drop_front(), body);
    });
  }

  // --- One block of the last dimension

  void addBlock(OpFoldResult start, const std::vector<Lane> &vectors) {
    start_ = start;
    vectors_ = vectors;
    indices_.assign(op_.getNumLoops(), index(0));
    for (Input &input : inputs_)
      if (input.reading == Reading::Panel)
        input.panel = packed(input);
    nest(outer_, [&] {
      int64_t size = row_ ? sizes_[*row_] : 1;
      int64_t blocks = (size + shape_.rows - 1) / shape_.rows, rows = (size + blocks - 1) / blocks,
              whole = size / rows * rows;
      loop(0, whole, rows, [&](OpFoldResult first) { addSums(first, rows); });
      if (whole < size)
        addSums(index(whole), size - whole);
    });
    for (Input &input : inputs_)
      if (input.reading == Reading::Panel)
        memref::DeallocOp::create(rewriter_, location_, input.panel);
  }

  // Elements of `input` for this block: in the order of the reductions, vectors last.
  Value packed(const Input &input) {
    int64_t width = vectors_.back().offset + vectors_.back().count;
    SmallVector<int64_t> shape;
    for (unsigned loop : reductions_)
      shape.push_back(sizes_[loop]);
    shape.push_back(width);
    auto type = MemRefType::get(shape, getElementTypeOrSelf(input.buffer));
    Value panel = memref::AllocOp::create(rewriter_, location_, type);
    // Short runs along both sides, so that what is read and written stays near.
    constexpr int64_t run = 16;
    ArrayRef<unsigned> outer = ArrayRef(reductions_).drop_back();
    unsigned last = reductions_.back();
    auto copyRun = [&](OpFoldResult first, int64_t count) {
      loop(0, width, 1, [&](OpFoldResult lane) {
        loop(0, count, 1, [&](OpFoldResult step) {
          indices_[last] = sum(first, step);
          indices_[innermost_] = sum(start_, lane);
          Value element =
              memref::LoadOp::create(rewriter_, location_, input.buffer, at(input.map, indices_));
          SmallVector<Value> place;
          for (unsigned loop : reductions_)
            place.push_back(valueOf(indices_[loop]));
          place.push_back(valueOf(lane));
          memref::StoreOp::create(rewriter_, location_, element, panel, place);
        });
      });
    };
    nest(outer, [&] {
      int64_t size = sizes_[last], whole = size / run * run;
      if (whole > 0)
        loop(0, whole, run, [&](OpFoldResult first) { copyRun(first, run); });
      if (whole < size)
        copyRun(index(whole), size - whole);
    });
    indices_.assign(op_.getNumLoops(), index(0));
    return panel;
  }

  OpFoldResult sum(OpFoldResult a, OpFoldResult b) {
    MLIRContext *context = rewriter_.getContext();
    AffineExpr both = getAffineDimExpr(0, context) + getAffineDimExpr(1, context);
    return affine::makeComposedFoldedAffineApply(rewriter_, location_, AffineMap::get(2, 0, both),
                                                 {a, b});
  }

  // --- Sums in registers

  void setPlace(OpFoldResult first, int64_t row, const Lane &vector) {
    if (row_)
      indices_[*row_] = plus(first, row);
    indices_[innermost_] = plus(start_, vector.offset);
  }

  void addSums(OpFoldResult first, int64_t rows) {
    SmallVector<Value> sums;
    Type element = getElementTypeOrSelf(output_);
    for (int64_t row = 0; row < rows; ++row)
      for (const Lane &vector : vectors_) {
        setPlace(first, row, vector);
        sums.push_back(vector::LoadOp::create(rewriter_, location_,
                                              VectorType::get({vector.count}, element), output_,
                                              at(outputMap_, indices_)));
      }
    sums = reduce(reductions_, sums,
                  [&](ArrayRef<Value> before) { return step(first, rows, before); });
    size_t next = 0;
    for (int64_t row = 0; row < rows; ++row)
      for (const Lane &vector : vectors_) {
        setPlace(first, row, vector);
        vector::StoreOp::create(rewriter_, location_, sums[next++], output_,
                                at(outputMap_, indices_));
      }
  }

  SmallVector<Value> reduce(ArrayRef<unsigned> dims, const SmallVector<Value> &sums,
                            const std::function<SmallVector<Value>(ArrayRef<Value>)> &step) {
    if (dims.empty())
      return step(sums);
    if (sizes_[dims[0]] == 1) {
      indices_[dims[0]] = index(0);
      return reduce(dims.drop_front(), sums, step);
    }
    auto loop = scf::ForOp::create(rewriter_, location_, valueOf(index(0)),
                                   valueOf(index(sizes_[dims[0]])), valueOf(index(1)), sums);
    OpBuilder::InsertionGuard guard(rewriter_);
    rewriter_.setInsertionPointToStart(loop.getBody());
    indices_[dims[0]] = loop.getInductionVar();
    scf::YieldOp::create(
        rewriter_, location_,
        reduce(dims.drop_front(), SmallVector<Value>(loop.getRegionIterArgs()), step));
    return SmallVector<Value>(loop.getResults());
  }

  // One step of the reduction for all sums of a block.
  SmallVector<Value> step(OpFoldResult first, int64_t rows, ArrayRef<Value> before) {
    SmallVector<Value> after;
    // What does not depend on the row is read once.
    std::map<std::pair<size_t, size_t>, Value> shared;
    for (int64_t row = 0; row < rows; ++row) {
      std::map<std::pair<size_t, int64_t>, Value> broadcasts;
      for (size_t v = 0; v < vectors_.size(); ++v) {
        IRMapping mapping;
        for (size_t i = 0; i < inputs_.size(); ++i) {
          const Input &input = inputs_[i];
          if (input.reading == Reading::None)
            continue;
          bool ofRow = row_ && input.reading != Reading::Panel && input.map.isFunctionOfDim(*row_);
          Value &known = input.reading == Reading::Scalar && ofRow
                             ? broadcasts[{i, vectors_[v].count}]
                             : shared[{i, v}];
          if (!known || (ofRow && input.reading == Reading::Vector)) {
            setPlace(first, row, vectors_[v]);
            known = read(input, vectors_[v]);
          }
          mapping.map(op_.getBody()->getArgument(i), known);
        }
        mapping.map(op_.getBody()->getArguments().back(), before[after.size()]);
        after.push_back(compute(mapping, vectors_[v].count));
      }
    }
    return after;
  }

  Value read(const Input &input, const Lane &vector) {
    auto type = VectorType::get({vector.count}, getElementTypeOrSelf(input.buffer));
    if (input.reading == Reading::Vector)
      return vector::LoadOp::create(rewriter_, location_, type, input.buffer,
                                    at(input.map, indices_));
    if (input.reading == Reading::Panel) {
      SmallVector<Value> place;
      for (unsigned loop : reductions_)
        place.push_back(valueOf(indices_[loop]));
      place.push_back(valueOf(index(vector.offset)));
      return vector::LoadOp::create(rewriter_, location_, type, input.panel, place);
    }
    Value element = input.buffer; // or it is a number itself
    if (isa<MemRefType>(element.getType()))
      element = memref::LoadOp::create(rewriter_, location_, element, at(input.map, indices_));
    return vector::BroadcastOp::create(rewriter_, location_, type, element);
  }

  // The operator's body on vectors.
  Value compute(IRMapping &mapping, int64_t lanes) {
    for (Operation &op : op_.getBody()->without_terminator()) {
      for (Value operand : op.getOperands())
        if (!isa<VectorType>(mapping.lookupOrDefault(operand).getType()))
          mapping.map(operand, vector::BroadcastOp::create(
                                   rewriter_, location_,
                                   VectorType::get({lanes}, operand.getType()), operand));
      Operation *clone = rewriter_.clone(op, mapping);
      Value result = clone->getResult(0);
      result.setType(VectorType::get({lanes}, result.getType()));
    }
    return mapping.lookup(op_.getBody()->getTerminator()->getOperand(0));
  }

  RewriterBase &rewriter_;
  linalg::GenericOp op_;
  Location location_;
  unsigned innermost_;
  const BlockShape &shape_;
  SmallVector<int64_t> sizes_; // of the loops
  Value output_;
  AffineMap outputMap_;
  std::vector<Input> inputs_;
  SmallVector<unsigned> outer_, reductions_; // loops
  std::optional<unsigned> row_;

  // Of the block that is being built: where it begins, its vectors, and the loops' indices.
  OpFoldResult start_;
  std::vector<Lane> vectors_;
  SmallVector<OpFoldResult> indices_;
};

} // namespace

LogicalResult lowerInBlocks(RewriterBase &rewriter, linalg::GenericOp op, unsigned innermost,
                            const BlockShape &shape) {
  Blocks blocks(rewriter, op, innermost, shape);
  if (failed(blocks.prepare()))
    return failure();
  blocks.run();
  return success();
}

} // namespace tilewright::float_kernels

// Sums of products a[.., i] * b[i, j] whose factors fit 16 bits, two products an operation: what a
// matrix unit's semantics say.
//
//   1. Pack b once: rows 2p and 2p + 1 interleaved, so that a vector holds a pair for each of 16
//   columns.
//   2. For blocks of rows of the result: the rows of a, as 16-bit pairs, go to a buffer.
//   3. For each 16 columns: accumulators of all rows of the block stay in registers while the loop
//   over pairs multiplies
//      one vector of b by the broadcast pair of every row.
#include "step_emitter.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tilewright::kernels {

using isa::Expr;
using isa::ExprKind;
using isa::Step;
using llvm::Value;

namespace {

constexpr int columnLanes = 16; // 32-bit accumulators of a vector
constexpr int depthLanes = 16;  // elements of a converted at once
constexpr int blockRows = 4;
constexpr int64_t largestPack = 1 << 16; // elements of b on the stack; more go the general way
constexpr int64_t largestDepth = 1 << 12;

struct Factors {
  const Expr *row = nullptr;    // varies with the reduction and the rows of the result
  const Expr *column = nullptr; // varies with the reduction and the columns
};

bool fits16(const Expr &expr, Ranges &ranges) {
  Container container = containerOf(ranges.of(expr));
  return container.bits < 16 || (container.bits == 16 && container.isSigned);
}

// All reads are linear, follow `iterator` by single steps, and see nothing that the step writes.
bool readsFollow(const Expr &expr, int iterator, StepFrame &frame) {
  bool follow = true;
  forEachRead(expr, [&](const Expr &read) {
    const Access &access = frame.emitter.access(read);
    const auto &out = frame.step.out;
    follow = follow && access.affine && strideOf(access, iterator) != Stride::Runtime &&
             !(access.isMemory == out.isMemory && access.index == out.index);
  });
  return follow;
}

bool match(StepFrame &frame, Factors &factors) {
  const Step &step = frame.step;
  if (step.kind != isa::StepKind::Reduce || step.combiner != isa::Combiner::Add ||
      frame.reductions() != 1 || frame.spatial() < 1 || step.expr->kind != ExprKind::Multiply ||
      containerOf(rangeOf(step.accumulator)).bits != 32)
    return false;
  const int column = frame.spatial() - 1, depth = frame.spatial();
  if (frame.emitter.access(step.out).affine == false ||
      strideOf(frame.emitter.access(step.out), column) != Stride::One)
    return false;
  auto forEachStepRead = [&](const isa::ExprPtr &expr, auto &&visit) {
    if (expr)
      forEachRead(*expr, visit);
  };
  bool simple = true;
  for (const auto &expr : {step.init, step.post})
    forEachStepRead(expr, [&](const Expr &read) {
      const Access &access = frame.emitter.access(read);
      simple = simple && access.affine && strideOf(access, column) != Stride::Runtime;
    });
  if (!simple)
    return false;
  for (size_t i : {size_t(0), size_t(1)}) {
    const Expr &row = *step.expr->args[i], &other = *step.expr->args[1 - i];
    bool fixed = true;
    for (int outer = 0; outer < column; ++outer)
      fixed = fixed && !dependsOn(other, outer);
    if (fixed && !dependsOn(row, column) && dependsOn(row, depth) && dependsOn(other, column) &&
        fits16(row, frame.emitter.ranges()) && fits16(other, frame.emitter.ranges()) &&
        readsFollow(row, depth, frame) && readsFollow(other, column, frame)) {
      factors = {&row, &other};
      return true;
    }
  }
  return false;
}

class Contraction {
public:
  Contraction(StepFrame &frame, Factors factors, PairProducts pairs)
      : frame_(frame), kernel_(frame.kernel), b_(frame.kernel.builder), factors_(factors),
        instructions_(pairs), column_(frame.spatial() - 1), depth_(frame.spatial()),
        depthExtent_(frame.extents[static_cast<size_t>(depth_)]),
        columnExtent_(frame.extents[static_cast<size_t>(column_)]) {
    accumulators_ = llvm::FixedVectorType::get(b_.getInt32Ty(), columnLanes);
    pairVector_ = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * columnLanes);
    pairCount_ =
        b_.CreateLShr(b_.CreateAdd(depthExtent_, kernel_.constant(1)), kernel_.constant(1));
    columnChunks_ = b_.CreateUDiv(b_.CreateAdd(columnExtent_, kernel_.constant(columnLanes - 1)),
                                  kernel_.constant(columnLanes));
  }

  // Whether both factors are small enough for the buffers.
  Value *small() {
    Value *depth = b_.CreateICmpULE(depthExtent_, kernel_.constant(largestDepth));
    Value *columns = b_.CreateICmpULE(columnExtent_, kernel_.constant(largestPack));
    Value *elements = b_.CreateMul(b_.CreateMul(pairCount_, columnChunks_),
                                   kernel_.constant(2 * int64_t(columnLanes)));
    Value *pack = b_.CreateICmpULE(elements, kernel_.constant(largestPack));
    return b_.CreateAnd(b_.CreateAnd(depth, columns), pack);
  }

  void emit() {
    rowPitch_ = b_.CreateAnd(b_.CreateAdd(depthExtent_, kernel_.constant(depthLanes - 1)),
                             kernel_.constant(-depthLanes));
    // Buffers of this call, given back at its end.
    Value *saved = b_.CreateStackSave();
    pack_ = buffer(b_.CreateMul(b_.CreateMul(pairCount_, columnChunks_),
                                kernel_.constant(2 * int64_t(columnLanes))));
    rows_ = buffer(b_.CreateMul(rowPitch_, kernel_.constant(blockRows)));
    packColumns();
    // Without columns nothing is computed, and the rows may lie anywhere.
    kernel_.branch(b_.CreateICmpSGT(columnExtent_, kernel_.constant(0)), [&] {
      if (column_ == 0)
        block(1);
      else
        frame_.nest(0, column_ - 1, [&] { blocks(); });
    });
    b_.CreateStackRestore(saved);
  }

private:
  Value *buffer(Value *elements) {
    auto *slot = b_.CreateAlloca(b_.getInt16Ty(), elements);
    slot->setAlignment(llvm::Align(64));
    return slot;
  }

  Value *packed(Value *chunk, Value *pair) {
    Value *index = b_.CreateAdd(b_.CreateMul(chunk, pairCount_), pair);
    return b_.CreateGEP(pairVector_, pack_, index);
  }

  // Row `depth` of b at the chunk of columns that the position says.
  Value *columnRow(Value *depth) {
    Value *row = nullptr;
    frame_.emitter.scope([&] {
      frame_.emitter.position.iterators[static_cast<size_t>(depth_)] = depth;
      row = frame_.emitter.emitLanes(*factors_.column, 16);
    });
    return row;
  }

  void packColumns() {
    std::vector<int> interleave;
    for (int lane = 0; lane < columnLanes; ++lane) {
      interleave.push_back(lane);
      interleave.push_back(columnLanes + lane);
    }
    Value *wholePairs = b_.CreateLShr(depthExtent_, kernel_.constant(1));
    frame_.chunks(column_, columnLanes, [&] {
      Value *chunk = b_.CreateUDiv(frame_.emitter.position.iterators[static_cast<size_t>(column_)],
                                   kernel_.constant(columnLanes));
      auto put = [&](Value *pair, Value *even, Value *odd) {
        b_.CreateAlignedStore(b_.CreateShuffleVector(even, odd, interleave), packed(chunk, pair),
                              llvm::Align(64));
      };
      kernel_.loop(kernel_.constant(0), wholePairs, 1, [&](Value *pair) {
        Value *even = b_.CreateShl(pair, kernel_.constant(1));
        put(pair, columnRow(even), columnRow(b_.CreateAdd(even, kernel_.constant(1))));
      });
      kernel_.branch(b_.CreateICmpSLT(wholePairs, pairCount_), [&] {
        Value *last = columnRow(b_.CreateShl(wholePairs, kernel_.constant(1)));
        put(wholePairs, last, llvm::Constant::getNullValue(last->getType()));
      });
    });
  }

  // Blocks of rows along the innermost spatial iterator but the columns, then what is left one by
  // one.
  void blocks() {
    auto inner = static_cast<size_t>(column_ - 1);
    Value *extent = frame_.extents[inner];
    auto &iterator = frame_.emitter.position.iterators[inner];
    Value *whole = b_.CreateAnd(extent, kernel_.constant(-blockRows));
    auto run = [&](Value *begin, Value *end, int rows) {
      kernel_.loop(begin, end, rows, [&](Value *index) {
        frame_.emitter.scope([&] {
          iterator = index;
          block(rows);
        });
      });
    };
    run(kernel_.constant(0), whole, blockRows);
    run(whole, extent, 1);
  }

  // Runs `body` as for the row `row` of the block.
  template <typename Body> void atRow(int row, const Body &body) {
    if (row == 0)
      return frame_.emitter.scope(body);
    auto inner = static_cast<size_t>(column_ - 1);
    Value *first = frame_.emitter.position.iterators[inner];
    frame_.emitter.scope([&] {
      frame_.emitter.position.iterators[inner] = b_.CreateAdd(first, kernel_.constant(row));
      body();
    });
    frame_.emitter.position.iterators[inner] = first;
  }

  Value *rowBuffer(int row) {
    return b_.CreateGEP(b_.getInt16Ty(), rows_, b_.CreateMul(rowPitch_, kernel_.constant(row)));
  }

  void block(int rows) {
    for (int row = 0; row < rows; ++row)
      atRow(row, [&] {
        frame_.chunks(depth_, depthLanes, [&] {
          Value *at = frame_.emitter.position.iterators[static_cast<size_t>(depth_)];
          b_.CreateAlignedStore(frame_.emitter.emitLanes(*factors_.row, 16),
                                b_.CreateGEP(b_.getInt16Ty(), rowBuffer(row), at), llvm::Align(32));
        });
      });
    frame_.chunks(column_, columnLanes, [&] { columns(rows); });
  }

  void columns(int rows) {
    std::vector<llvm::AllocaInst *> slots;
    for (int row = 0; row < rows; ++row)
      atRow(row, [&] {
        slots.push_back(kernel_.slot(accumulators_, "accumulator"));
        b_.CreateStore(frame_.initial(32), slots.back());
      });
    Value *chunk = b_.CreateUDiv(frame_.emitter.position.iterators[static_cast<size_t>(column_)],
                                 kernel_.constant(columnLanes));
    kernel_.loop(kernel_.constant(0), pairCount_, 1, [&](Value *pair) {
      Value *columns = b_.CreateAlignedLoad(pairVector_, packed(chunk, pair), llvm::Align(64));
      for (int row = 0; row < rows; ++row) {
        Value *place = b_.CreateGEP(b_.getInt32Ty(), rowBuffer(row), pair);
        Value *both = b_.CreateVectorSplat(
            columnLanes, b_.CreateAlignedLoad(b_.getInt32Ty(), place, llvm::Align(4)));
        auto *slot = slots[static_cast<size_t>(row)];
        Value *products = multiply(columns, b_.CreateBitCast(both, pairVector_));
        b_.CreateStore(b_.CreateAdd(b_.CreateLoad(accumulators_, slot), products), slot);
      }
    });
    for (int row = 0; row < rows; ++row)
      atRow(row, [&] {
        frame_.finish(b_.CreateLoad(accumulators_, slots[static_cast<size_t>(row)]), 32);
      });
  }

  // Sums of the products of neighbors, modulo 2^32.
  Value *multiply(Value *a, Value *b) {
    if (instructions_ == PairProducts::Avx512)
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmaddw_d_512, {a, b});
    std::vector<int> low, high, all;
    for (int lane = 0; lane < columnLanes; ++lane) {
      low.push_back(lane);
      high.push_back(columnLanes + lane);
      all.push_back(lane);
    }
    auto half = [&](const std::vector<int> &lanes) {
      return b_.CreateIntrinsic(
          llvm::Intrinsic::x86_avx2_pmadd_wd,
          {b_.CreateShuffleVector(a, lanes), b_.CreateShuffleVector(b, lanes)});
    };
    return b_.CreateShuffleVector(half(low), half(high), all);
  }

  StepFrame &frame_;
  KernelFunction &kernel_;
  llvm::IRBuilder<> &b_;
  Factors factors_;
  PairProducts instructions_;
  int column_, depth_;
  Value *depthExtent_, *columnExtent_;
  Value *pairCount_ = nullptr, *columnChunks_ = nullptr, *rowPitch_ = nullptr;
  Value *pack_ = nullptr, *rows_ = nullptr;
  llvm::FixedVectorType *accumulators_ = nullptr, *pairVector_ = nullptr;
};

} // namespace

bool emitContraction(StepFrame &frame, PairProducts pairs, const std::function<void()> &otherwise) {
  Factors factors;
  if (pairs == PairProducts::None || !match(frame, factors))
    return false;
  Contraction contraction(frame, factors, pairs);
  frame.kernel.branch(
      contraction.small(), [&] { frame.emitter.scope([&] { contraction.emit(); }); },
      [&] { frame.emitter.scope(otherwise); });
  return true;
}

} // namespace tilewright::kernels

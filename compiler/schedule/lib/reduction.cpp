#include "reduction.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace tilewright {

static int64_t bytesIn(isa::Space space) { return space == isa::Space::Acc ? 4 : 1; }

static const ReductionCover &coverOf(LoweringContext &context, kernel::GroupOp group) {
  kernel::ReduceOp reduce = reductionOf(group);
  llvm::SmallVector<mlir::Operation *> run;
  for (mlir::Operation &op : group.getBody().front().without_terminator())
    if (&op != reduce && !isConstant(op.getResult(0)))
      run.push_back(&op);
  return context.selection->coverOf(group, run, reduce);
}

Reduction::Reduction(LoweringContext &context, Steps &steps, kernel::GroupOp group)
    : context_(context), steps_(steps), cover_(coverOf(context, group)),
      pattern_(*cover_.match.pattern), again_(cover_.again ? &*cover_.again : nullptr),
      join_(cover_.join ? &*cover_.join : nullptr) {
  kernel::ReduceOp reduce = reductionOf(group);
  llvm::ArrayRef<int64_t> x = shapeOf(reduce.getX());
  const size_t axis = static_cast<size_t>(reduce.getAxis());
  length_ = x[axis];
  for (size_t i = 0; i < x.size(); ++i)
    (i < axis ? outer_ : inner_) *= i == axis ? 1 : x[i];
  for (size_t i = 0; i < pattern_.reads.size(); ++i) {
    mlir::Value value = cover_.operands[static_cast<size_t>(cover_.match.operands[i])];
    const isa::Space space = pattern_.reads[i].space;
    auto *known = llvm::find_if(
        reads_, [&](const Read &read) { return read.value == value && read.space == space; });
    readOf_.push_back(static_cast<size_t>(known - reads_.begin()));
    if (known == reads_.end())
      reads_.push_back({value, space, *repeatsOf(value, reduce)});
  }
}

int64_t Reduction::bytesPerElement(isa::Space space) const {
  int64_t elements = pattern_.result.space == space ? 1 : 0;
  for (const Read &read : reads_)
    elements += read.space == space ? length_ : 0;
  return elements * bytesIn(space);
}

Tile Reduction::newTile(int64_t rows, int64_t columns) {
  const isa::Space space = resultSpace();
  return denseTile(space,
                   steps_.add(space, rows * columns * bytesIn(space), "result of a reduction"),
                   {1, rows, columns});
}

// The cheapest way from `length` elements of a row to one.
std::vector<Reduction::Pass> Reduction::passesOf(int64_t rows, int64_t columns,
                                                 llvm::ArrayRef<Tile> tiles) const {
  bool mayFold = (again_ || join_) && columns == 1, mayJoin = join_ && cover_.isPlain;
  for (size_t i = 0; i < pattern_.reads.size(); ++i) {
    const Tile &tile = tiles[readOf_[i]];
    mayFold &= tile.s0 == 1 || (tile.s0 == 0 && pattern_.reads[i].sc >= 0);
    mayJoin &= tile.s0 == 1;
  }
  if (!mayFold)
    return {{length_, 1}};
  // Cycles of a row, with what begins and ends an instruction divided among the rows.
  auto begin = [&](const patterns::Pattern &pattern) {
    const auto index = static_cast<size_t>(pattern.instruction->index);
    return static_cast<double>(context_.plans[index].latency) / static_cast<double>(rows);
  };
  const double begins = begin(pattern_);
  auto costOf = [&](const Pass &pass) {
    if (pass.joinsLanes)
      return static_cast<double>(llvm::divideCeilSigned(pass.length, context_.lanes)) +
             begin(*join_->pattern);
    const int64_t strips = llvm::divideCeilSigned(pass.width, context_.lanes),
                  left = llvm::divideCeilSigned(pass.left(), context_.lanes),
                  cycles = pass.length / pass.width * strips + left;
    return static_cast<double>(cycles) + begins * (pass.left() > 0 ? 2 : 1);
  };
  struct Way {
    double cost;
    Pass first;
  };
  std::map<int64_t, Way> ways; // by length
  std::function<double(int64_t)> cheapest = [&](int64_t length) {
    if (const auto known = ways.find(length); known != ways.end())
      return known->second.cost;
    const bool isFirst = length == length_;
    Way best{costOf({length, 1}), {length, 1}};
    if (!isFirst && !again_)
      best.cost = std::numeric_limits<double>::infinity();
    if (join_ && (!isFirst || mayJoin) && length <= join_->pattern->ncLimit)
      if (const double cost = costOf({length, 1, true}); cost < best.cost)
        best = {cost, {length, 1, true}};
    for (int64_t width = 2; (isFirst || again_) && width <= std::min(length / 2, context_.lanes);
         ++width) {
      const Pass pass{length, width};
      if (pass.results() >= length)
        continue;
      const double cost = costOf(pass) + cheapest(pass.results());
      if (cost < best.cost)
        best = {cost, pass};
    }
    return ways.emplace(length, best).first->second.cost;
  };
  cheapest(length_);
  std::vector<Pass> passes;
  for (int64_t length = length_;; length = passes.back().results()) {
    passes.push_back(ways.at(length).first);
    if (passes.back().width == 1)
      return passes;
  }
}

Tile Reduction::run(std::vector<Task> &out, int64_t rows, int64_t columns,
                    llvm::ArrayRef<Tile> tiles) {
  llvm::SmallVector<Tile> operands;
  for (size_t read : readOf_)
    operands.push_back(tiles[read]);
  const patterns::Match *match = &cover_.match;
  Tile result;
  for (const Pass &pass : passesOf(rows, columns, tiles)) {
    if (pass.joinsLanes) {
      result = newTile(rows, columns);
      emitJoin(out, rows, pass.length, operands, result);
      break;
    }
    if (pass.width == 1) {
      result = newTile(rows, columns);
      emit(out, *match, {1, rows, columns}, pass.length, operands, result);
      break;
    }
    result = newTile(rows, pass.results());
    const int64_t folded = pass.length / pass.width;
    llvm::SmallVector<Tile> parts = operands;
    for (Tile &part : parts) {
      part.sc = part.s0;
      part.s0 *= pass.width;
    }
    emit(out, *match, {1, rows, pass.width}, folded, parts, result);
    if (pass.left() > 0) {
      Tile behind = result;
      behind.offset += pass.width;
      for (Tile &part : parts)
        part.offset += folded * part.s0;
      emit(out, *match, {1, rows, pass.left()}, 1, parts, behind);
    }
    match = again_;
    Tile partial = result;
    partial.s1 = result.s0;
    partial.s0 = 1;
    operands.assign((again_ ? again_ : join_)->pattern->reads.size(), partial);
  }
  return result;
}

// Rows of `tiles` are s1 apart, those of the result s0.
void Reduction::emitJoin(std::vector<Task> &out, int64_t rows, int64_t length,
                         llvm::ArrayRef<Tile> tiles, Tile result) {
  const patterns::Pattern &pattern = *join_->pattern;
  for (int64_t row = 0; row < rows; row += pattern.n0Limit) {
    TaskForm::Builder task = context_.form(*pattern.instruction).build();
    for (size_t i = 0; i < pattern.reads.size(); ++i) {
      const patterns::OperandForm &operand = pattern.reads[i];
      task.bufferAt(static_cast<size_t>(operand.operand), tiles[i].buffer,
                    tiles[i].offset + row * tiles[i].s1)
          .regAt(operand.s0, tiles[i].s1);
      if (operand.sc >= 0)
        task.regAt(operand.sc, 1);
    }
    task.bufferAt(static_cast<size_t>(pattern.result.operand), result.buffer,
                  result.offset + row * result.s0)
        .immAt(static_cast<size_t>(pattern.n0), std::min(pattern.n0Limit, rows - row))
        .immAt(static_cast<size_t>(pattern.nc), length)
        .regAt(pattern.n1, 1)
        .regAt(pattern.result.s0, result.s0);
    for (auto [operand, value] : join_->immediates)
      task.immAt(static_cast<size_t>(operand), value);
    for (auto [reg, value] : join_->registers)
      task.regAt(reg, value);
    out.push_back(task);
  }
}

// Strides of `tiles` as of `run`; rows of the result are s0 apart.
void Reduction::emit(std::vector<Task> &out, const patterns::Match &match, const Extent &extent,
                     int64_t length, llvm::ArrayRef<Tile> tiles, Tile result) {
  const patterns::Pattern &pattern = *match.pattern;
  const patterns::OperandForm &form = pattern.result;
  for (int64_t row = 0; row < extent.n0; row += pattern.n0Limit)
    for (int64_t column = 0; column < extent.nc; column += pattern.ncLimit) {
      TaskForm::Builder task = context_.form(*pattern.instruction).build();
      for (size_t i = 0; i < pattern.reads.size(); ++i) {
        const patterns::OperandForm &operand = pattern.reads[i];
        const Tile &tile = tiles[i];
        task.bufferAt(static_cast<size_t>(operand.operand), tile.buffer,
                      tile.offset + row * tile.s1 + column * tile.sc)
            .regAt(operand.k0, tile.s0)
            .regAt(operand.s0, tile.s1);
        if (operand.sc >= 0)
          task.regAt(operand.sc, tile.sc);
      }
      task.bufferAt(static_cast<size_t>(form.operand), result.buffer,
                    result.offset + row * result.s0 + column)
          .immAt(static_cast<size_t>(pattern.n0), std::min(pattern.n0Limit, extent.n0 - row))
          .immAt(static_cast<size_t>(pattern.nc), std::min(pattern.ncLimit, extent.nc - column))
          .regAt(pattern.n1, 1)
          .regAt(pattern.k1, 1)
          .regAt(pattern.k0, length)
          .regAt(form.s0, result.s0);
      if (form.sc >= 0)
        task.regAt(form.sc, 1);
      for (auto [operand, value] : match.immediates)
        task.immAt(static_cast<size_t>(operand), value);
      for (auto [reg, value] : match.registers)
        task.regAt(reg, value);
      out.push_back(task);
    }
}

} // namespace tilewright

// Groups of element-wise operations alone, and reductions along an axis: tiles of the result,
// whatever its rank.
#include "lowering.h"

#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

using Shape = llvm::SmallVector<int64_t>;

[[noreturn]] void nothingFits(LoweringContext &context, mlir::Operation *op,
                              const isa::Memory &memory, int64_t needed) {
  throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(op->getLoc()).name))},
                  fmt::format("no tile fits on chip: the smallest needs {} bytes of {}, target "
                              "'{}' has {}",
                              needed, memory.name, context.isa.target(), memory.bytes),
                  fmt::format("give {} at least {} bytes", memory.name, needed));
}

// Merges neighboring dimensions that every operand either has in full or repeats, so that few are
// left; at least three. `keepLast`: the last dimension stays by itself (per-channel parameters run
// along it).
void collapse(Shape &result, std::vector<Shape *> operands, bool keepLast) {
  auto repeats = [&](const Shape &shape, size_t dim) {
    return shape[dim] == 1 && result[dim] != 1;
  };
  for (size_t dim = result.size(); dim-- > 1;) {
    bool isLast = dim + 1 == result.size();
    if (isLast && keepLast)
      continue;
    bool mergeable = llvm::all_of(operands, [&](Shape *shape) {
      return result[dim] == 1 || result[dim - 1] == 1 ||
             repeats(*shape, dim) == repeats(*shape, dim - 1);
    });
    if (!mergeable)
      continue;
    for (Shape *shape : operands) {
      (*shape)[dim - 1] *= (*shape)[dim];
      shape->erase(shape->begin() + static_cast<long>(dim));
    }
    result[dim - 1] *= result[dim];
    result.erase(result.begin() + static_cast<long>(dim));
  }
  operands.push_back(&result);
  for (Shape *shape : operands)
    while (shape->size() < 3)
      shape->insert(shape->begin(), 1);
}

// Calls `visit` with every box of at most `size` that the shape is cut into.
template <typename Visit> void forEachBox(const Shape &shape, const Shape &size, Visit visit) {
  Box box{Shape(shape.size(), 0), Shape(shape.size(), 1)};
  std::function<void(size_t)> loop = [&](size_t dim) {
    if (dim == shape.size())
      return visit(box);
    for (int64_t at = 0; at < shape[dim]; at += size[dim]) {
      box.start[dim] = at;
      box.size[dim] = std::min(size[dim], shape[dim] - at);
      loop(dim + 1);
    }
  };
  loop(0);
}

} // namespace

void lowerElementwise(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  Shape shape(shapeOf(group.getResult()).begin(), shapeOf(group.getResult()).end());
  ElementChain::Shapes shapes;
  for (mlir::Operation &op : group.getBody().front())
    for (mlir::Value value : op.getOperands())
      if (shapeOf(value).size() == shape.size())
        shapes[value] = Shape(shapeOf(value).begin(), shapeOf(value).end());
  bool perChannel =
      ElementChain(context, steps, group, nullptr, ElementChain::Shapes(), 1).isPerChannel();
  std::vector<Shape *> operands;
  for (auto &entry : shapes)
    operands.push_back(&entry.second);
  collapse(shape, operands, perChannel);

  int64_t block = perChannel ? std::min(shape.back(), context.channels) : context.channels;
  ElementChain chain(context, steps, group, nullptr, shapes, block);
  const isa::Memory &spad = context.isa.memory(isa::Space::Spad),
                    &acc = context.isa.memory(isa::Space::Acc);
  int64_t spadBudget = (static_cast<int64_t>(spad.bytes) * 15 / 16 - chain.residentBytes()) / 2;
  const int64_t needed = 2 * (chain.spadBytesPerElement() + 1) + chain.residentBytes();
  int64_t most = spadBudget / (chain.spadBytesPerElement() + 1);
  if (most < 1 && needed <= static_cast<int64_t>(spad.bytes))
    most = 1; // no room to spare
  if (most < 1)
    nothingFits(context, group, spad, needed);
  if (chain.accBytesPerElement() > 0)
    most = std::min(most, static_cast<int64_t>(acc.bytes) / 2 / chain.accBytesPerElement());
  most = std::min<int64_t>(most, 16384);
  if (most < 1)
    nothingFits(context, group, acc, 2 * chain.accBytesPerElement());
  Shape size(shape.size(), 1);
  int64_t room = most;
  for (size_t dim = shape.size(), taken = 0; dim-- > 0 && taken < 3; ++taken) {
    size[dim] = std::min(shape[dim], room);
    if (perChannel && taken == 0 && size[dim] < shape[dim])
      size[dim] = std::max(block, size[dim] / block * block);
    room = std::max<int64_t>(1, room / size[dim]);
  }
  int64_t address = context.address(group.getResult());
  forEachBox(shape, size, [&](const Box &box) {
    steps.steps.emplace_back();
    Step &step = steps.steps.back();
    if (steps.steps.size() == 1)
      chain.prepare(step.constants);
    chain.loadOperands(step.loads, box);
    size_t rank = shape.size();
    Extent extent{box.size[rank - 3], box.size[rank - 2], box.size[rank - 1]};
    Tile result = denseTile(isa::Space::Spad, -1, extent);
    if (!chain.resultInAccumulators())
      result.buffer = steps.add(isa::Space::Spad, extent.elements(), "result tile");
    Tile value = chain.run(step.compute, {}, extent, 0, result);
    storeBox(context, step.compute, address, shape, box, chain.resultBytes(), value);
  });
}

void lowerReduce(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  kernel::ReduceOp reduce = reductionOf(group);
  llvm::SmallVector<mlir::Operation *> run;
  for (mlir::Operation &op : group.getBody().front().without_terminator())
    if (&op != reduce && !isConstant(op.getResult(0)))
      run.push_back(&op);
  const ReductionCover &cover = context.selection->coverOf(group, run, reduce);
  const patterns::Pattern &pattern = *cover.match.pattern;
  llvm::ArrayRef<int64_t> x = shapeOf(reduce.getX());
  size_t axis = static_cast<size_t>(reduce.getAxis());
  int64_t outer = 1, inner = 1, length = x[axis];
  for (size_t i = 0; i < x.size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : x[i];
  auto elementBytes = [](isa::Space space) { return space == isa::Space::Acc ? 4 : 1; };
  int64_t most = INT64_MAX; // elements of the result at a time
  for (isa::Space space : {isa::Space::Spad, isa::Space::Acc}) {
    int64_t elements = pattern.result.space == space ? 1 : 0;
    for (const patterns::OperandForm &read : pattern.reads)
      elements += read.space == space ? length : 0;
    if (elements == 0)
      continue;
    const isa::Memory &memory = context.isa.memory(space);
    const int64_t needed = elements * elementBytes(space) * 2;
    most = std::min(most, static_cast<int64_t>(memory.bytes) / needed);
    if (most < 1)
      nothingFits(context, group, memory, needed);
  }
  int64_t innerSize = std::min({inner, most, pattern.ncLimit});
  int64_t outerSize = std::min({outer, most / innerSize, pattern.n0Limit});
  int64_t to = context.address(group.getResult());
  const TaskForm &form = context.form(pattern.instruction->name);
  for (int64_t o = 0; o < outer; o += outerSize)
    for (int64_t i = 0; i < inner; i += innerSize) {
      steps.steps.emplace_back();
      Step &step = steps.steps.back();
      int64_t rows = std::min(outerSize, outer - o), columns = std::min(innerSize, inner - i);
      TaskForm::Builder task = form.build();
      std::map<int, Tile> tiles; // by operand of the function
      for (size_t read = 0; read < pattern.reads.size(); ++read) {
        const patterns::OperandForm &operand = pattern.reads[read];
        auto [known, isNew] = tiles.try_emplace(cover.match.operands[read]);
        if (isNew || known->second.space != operand.space) {
          mlir::Value value = cover.operands[static_cast<size_t>(known->first)];
          known->second = denseTile(operand.space,
                                    steps.add(operand.space,
                                              rows * length * columns * elementBytes(operand.space),
                                              "input tile"),
                                    {rows, length, columns});
          loadBox(context, step.loads, context.address(value), {outer, length, inner},
                  {{o, 0, i}, {rows, length, columns}}, bytesOf(value), Signedness::Signed,
                  known->second);
        }
        task.bufferAt(static_cast<size_t>(operand.operand), known->second.buffer, 0)
            .regAt(operand.k0, columns)
            .regAt(operand.s0, length * columns);
        if (operand.sc >= 0)
          task.regAt(operand.sc, 1);
      }
      Tile result =
          denseTile(pattern.result.space,
                    steps.add(pattern.result.space,
                              rows * columns * elementBytes(pattern.result.space), "result tile"),
                    {1, rows, columns});
      task.bufferAt(static_cast<size_t>(pattern.result.operand), result.buffer, 0)
          .immAt(static_cast<size_t>(pattern.n0), rows)
          .immAt(static_cast<size_t>(pattern.nc), columns)
          .regAt(pattern.n1, 1)
          .regAt(pattern.k1, 1)
          .regAt(pattern.k0, length)
          .regAt(pattern.result.s0, columns);
      for (auto [operand, value] : cover.match.immediates)
        task.immAt(static_cast<size_t>(operand), value);
      for (auto [reg, value] : cover.match.registers)
        task.regAt(reg, value);
      step.compute.push_back(task);
      storeBox(context, step.compute, to, {1, outer, inner}, {{0, o, i}, {1, rows, columns}},
               bytesOf(group.getResult()), result);
    }
}

} // namespace tilewright

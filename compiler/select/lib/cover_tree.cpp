// Covers of a group's operations, which are a tree: dynamic programming from its leaves.
//  1. Of each operation's value, the cheapest cover that leaves it in the scratchpad and in the
//  accumulators: an instruction that computes a run ending there, and the covers of what that run
//  reads, in the memory that the instruction reads it from. A narrow value may be widened.
//  2. A pass costs far more than a value that takes 32 bits instead of 8.
//  3. From the result back to the leaves, the covers that are the cheapest together.
#include "selection_runs.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <array>

namespace tilewright {

namespace {

constexpr int64_t passCost = 64; // an instruction's, against a value in 32 bits instead of 8
constexpr int64_t impossible = int64_t(1) << 40;
constexpr size_t mostOnChip = 4; // 8-bit values of the group that one run reads

using Run = llvm::SmallVector<mlir::Operation *>;

bool isByte(mlir::Value value) { return widthOf(value) <= 8; }
size_t placeOf(isa::Space space) { return space == isa::Space::Spad; }

// Sorts by the order of the operations in the group.
template <typename T, typename OpOf>
void sortByPlace(T &list, llvm::ArrayRef<mlir::Operation *> operations, OpOf opOf) {
  llvm::sort(list, [&](const auto &a, const auto &b) {
    return llvm::find(operations, opOf(a)) < llvm::find(operations, opOf(b));
  });
}

// How a value comes to stand in one memory.
struct Route {
  int64_t cost = impossible;
  std::optional<Cover> cover; // none: the anchor's value, or one that is widened
};
using Routes = std::array<Route, 2>; // by memory: placeOf

// Makes the runs, of at most `most` operations, that hold `run` and any of those that `open` may
// still bring in.
void grow(llvm::ArrayRef<mlir::Operation *> operations, size_t most, Run run, Run open,
          std::vector<Run> &runs) {
  if (open.empty()) {
    sortByPlace(run, operations, [](mlir::Operation *op) { return op; });
    runs.push_back(std::move(run));
    return;
  }
  mlir::Operation *next = open.pop_back_val();
  grow(operations, most, run, open, runs);
  const bool isReadWithin = llvm::all_of(
      next->getUsers(), [&](mlir::Operation *user) { return llvm::is_contained(run, user); });
  if (run.size() == most || !isReadWithin)
    return;
  run.push_back(next);
  for (mlir::Value operand : next->getOperands())
    if (mlir::Operation *producer = operand.getDefiningOp();
        llvm::is_contained(operations, producer) && !llvm::is_contained(open, producer))
      open.push_back(producer);
  grow(operations, most, std::move(run), std::move(open), runs);
}

} // namespace

std::vector<Run> runsEndingAt(llvm::ArrayRef<mlir::Operation *> operations, size_t last,
                              size_t most) {
  Run open;
  for (mlir::Value operand : operations[last]->getOperands())
    if (mlir::Operation *producer = operand.getDefiningOp();
        llvm::is_contained(operations, producer) && !llvm::is_contained(open, producer))
      open.push_back(producer);
  std::vector<Run> runs, largestFirst;
  grow(operations, most, {operations[last]}, std::move(open), runs);
  for (size_t size = most; size > 0; --size)
    llvm::copy_if(runs, std::back_inserter(largestFirst),
                  [&](const Run &run) { return run.size() == size; });
  return largestFirst;
}

std::vector<RunContext> contextsOf(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *anchor,
                                   llvm::ArrayRef<mlir::Operation *> operations,
                                   llvm::ArrayRef<int32_t> bias) {
  llvm::SmallSetVector<mlir::Value, 4> onChip;
  for (mlir::Operation *op : run)
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *producer = operand.getDefiningOp();
          producer && !llvm::is_contained(run, producer) &&
          (producer == anchor || llvm::is_contained(operations, producer)))
        onChip.insert(operand);
  const size_t bytes = static_cast<size_t>(llvm::count_if(onChip, isByte));
  if (bytes > mostOnChip)
    return {};
  std::vector<RunContext> contexts(size_t(1) << bytes);
  for (size_t i = 0; i < contexts.size(); ++i) {
    size_t wide = i; // a bit for each byte
    for (mlir::Value value : onChip) {
      const bool isNarrow = isByte(value) && (wide & 1) == 0;
      wide >>= isByte(value);
      contexts[i].onChip.push_back({value, isNarrow ? isa::Space::Spad : isa::Space::Acc});
    }
    contexts[i].anchored = anchor ? anchor->getResult(0) : mlir::Value();
    contexts[i].bias = bias;
  }
  return contexts;
}

std::optional<Selection::Chosen>
Selection::chooseCovers(mlir::Operation *anchor, llvm::ArrayRef<mlir::Operation *> operations,
                        llvm::ArrayRef<int32_t> bias, size_t mostOperations) {
  if (operations.empty())
    return Chosen();
  llvm::DenseMap<mlir::Value, Routes> known;
  auto widen = [&](Routes &routes) {
    Route &narrow = routes[placeOf(isa::Space::Spad)], &wide = routes[placeOf(isa::Space::Acc)];
    if (widening_ && narrow.cost + passCost < wide.cost)
      wide = {narrow.cost + passCost, std::nullopt};
  };
  if (anchor) {
    Routes &routes = known[anchor->getResult(0)];
    routes[isByte(anchor->getResult(0))].cost = 0;
    widen(routes);
  }
  for (size_t place = 0; place < operations.size(); ++place) {
    const mlir::Value result = operations[place]->getResult(0);
    Routes routes;
    for (const Run &run : runsEndingAt(operations, place, mostOperations))
      for (const RunContext &context : contextsOf(run, anchor, operations, bias)) {
        int64_t before = passCost;
        for (const RunContext::OnChip &each : context.onChip)
          before += known[each.value][placeOf(each.space)].cost;
        if (before >= impossible)
          continue;
        for (Found &found : matches(run, context)) {
          const isa::Space space = found.match.pattern->result.space;
          // The group's result is stored with all its bits.
          if (space == isa::Space::Spad && place + 1 == operations.size() && !isByte(result))
            continue;
          // Bytes that stand in 32 bits: loaded and kept at four times their size.
          int64_t cost = before + (isByte(result) && space != isa::Space::Spad);
          for (auto [operand, read] :
               llvm::zip_equal(found.match.operands, found.match.pattern->reads))
            cost += isByte(found.function.operands[static_cast<size_t>(operand)]) &&
                    read.space == isa::Space::Acc;
          Route &route = routes[placeOf(space)];
          if (cost >= route.cost)
            continue;
          Cover cover;
          cover.run.assign(run.begin(), run.end());
          cover.operands = found.function.operands;
          if (!found.match.tables.empty())
            cover.table =
                found.function.tables[static_cast<size_t>(found.match.tables.begin()->second)];
          cover.match = std::move(found.match);
          route = {cost, std::move(cover)};
        }
      }
    widen(routes);
    known[result] = std::move(routes);
  }
  const mlir::Value result = operations.back()->getResult(0);
  Routes &last = known[result];
  Chosen chosen{{}, std::min(last[0].cost, last[1].cost)};
  if (chosen.cost >= impossible)
    return std::nullopt;
  Covers &covers = chosen.covers;
  std::vector<std::pair<mlir::Value, isa::Space>> wanted = {
      {result, last[1].cost <= last[0].cost ? isa::Space::Spad : isa::Space::Acc}};
  while (!wanted.empty()) {
    const auto [value, space] = wanted.back();
    wanted.pop_back();
    if (anchor && value == anchor->getResult(0))
      continue;
    Routes &routes = known[value];
    const bool isMade = routes[placeOf(space)].cover.has_value(); // or widened
    Cover &cover = *routes[isMade ? placeOf(space) : placeOf(isa::Space::Spad)].cover;
    llvm::SmallSetVector<mlir::Value, 4> read;
    for (auto [operand, form] : llvm::zip_equal(cover.match.operands, cover.match.pattern->reads)) {
      const mlir::Value each = cover.operands[static_cast<size_t>(operand)];
      if (known.count(each) && read.insert(each))
        wanted.emplace_back(each, form.space);
    }
    covers.push_back(std::move(cover));
  }
  sortByPlace(covers, operations, [](const Cover &cover) { return cover.run.back(); });
  return chosen;
}

} // namespace tilewright

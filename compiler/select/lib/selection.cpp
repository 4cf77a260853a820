#include "tilewright/compiler/select/selection.h"

#include "selection_runs.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

constexpr const char *howToSeeMore =
    "compile with --explain-selection to see what each instruction lacks";

bool isByte(mlir::Value value) { return widthOf(value) <= 8; }

} // namespace

// "sub", "reduce_sum", "rescale".
static std::string nameOf(mlir::Operation *op) {
  if (auto binary = llvm::dyn_cast<kernel::BinaryOp>(op))
    return kernel::infoOf(binary.getFunction()).name.str();
  if (auto unary = llvm::dyn_cast<kernel::UnaryOp>(op))
    return kernel::infoOf(unary.getFunction()).name.str();
  if (auto reduce = llvm::dyn_cast<kernel::ReduceOp>(op))
    return "reduce_" + kernel::infoOf(reduce.getFunction()).name.str();
  return op->getName().stripDialect().str();
}

// The operations as a user knows them: "sub + abs of 32 bits".
std::string describeRun(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *last) {
  std::string names;
  llvm::SmallVector<mlir::Operation *> all(run);
  if (last)
    all.push_back(last);
  for (mlir::Operation *op : all) {
    names += (names.empty() ? "" : " + ") + nameOf(op);
  }
  return fmt::format("{} of {} bits", names, widthOf(all.back()->getResult(0)));
}

Selection::Selection(const isa::Isa &isa) : isa_(isa), patterns_(isa), widening_(findWidening()) {}

const patterns::Pattern *Selection::find(const isa::Instruction &instruction) const {
  for (const patterns::Pattern &pattern : patterns_.maps())
    if (pattern.instruction == &instruction)
      return &pattern;
  return nullptr;
}

bool Selection::isServed(int array, isa::Role role) const {
  // A role that none has is not this array's fault: the scheduler refuses the layer and names it.
  const isa::Instruction *load = isa_.withRole(role);
  return !load || patterns::isLoaded(*load, array);
}

std::string Selection::unserved(const patterns::Match &match) const {
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(match.pattern->instruction->unit)];
  auto nothingLoads = [&](int array) {
    return fmt::format("nothing is known to load the registers '{}'",
                       unit.arrays[static_cast<size_t>(array)].name);
  };
  if (match.tables.size() > 1)
    return "it takes several tables";
  const int64_t limit = match.pattern->ncLimit, channels = patterns::channelsAtOnce(isa_);
  if (!match.channels.empty() && limit < channels)
    return fmt::format("it takes {} channels at once, and parameters are loaded for {}", limit,
                       channels);
  for (const auto &[array, values] : match.channels)
    if (!isServed(array, isa::Role::LoadChannels))
      return nothingLoads(array);
  for (const auto &[array, table] : match.tables)
    if (!isServed(array, patterns::tableLoadOf(unit.arrays[static_cast<size_t>(array)])))
      return nothingLoads(array);
  return "";
}

std::vector<Selection::Found> Selection::matches(llvm::ArrayRef<mlir::Operation *> run,
                                                 const RunContext &context) {
  std::vector<Found> found;
  for (RunFunction &function : functionsOf(run, context)) {
    const patterns::Candidate candidate(function.function, &terms_);
    for (const patterns::Pattern &pattern : patterns_.maps()) {
      const bool known =
          llvm::any_of(found, [&](const Found &other) { return other.match.pattern == &pattern; });
      if (known)
        continue;
      auto match = patterns::match(isa_, pattern, candidate);
      if (match && unserved(*match).empty())
        found.push_back({std::move(*match), function});
    }
  }
  return found;
}

std::optional<patterns::Match> Selection::findWidening() const {
  const patterns::Function identity{fmt::format("cast<i32>(min(max({} + p3, p4), p5))",
                                                scaled("cast<i32>(x0[c] + p0)", "p1", "p2")),
                                    {{"x0", {true, 8}, true, false, false}},
                                    {{"p0", {true, 32}, {0}},
                                     {"p1", {true, 32}, {int64_t(1) << 30}},
                                     {"p2", {false, 6}, {30}},
                                     {"p3", {true, 32}, {0}},
                                     {"p4", {true, 32}, {INT32_MIN}},
                                     {"p5", {true, 32}, {INT32_MAX}}},
                                    {},
                                    -128,
                                    127};
  patterns::Function plain = identity;
  plain.text = "x0[c]";
  plain.parameters.clear();
  for (const patterns::Function &function : {plain, identity})
    for (const patterns::Pattern &pattern : patterns_.maps())
      if (pattern.result.space == isa::Space::Acc) {
        auto match = patterns::match(isa_, pattern, patterns::Candidate(function));
        if (match && unserved(*match).empty())
          return match;
      }
  return std::nullopt;
}

std::optional<int64_t> Selection::cost(mlir::Operation *anchor,
                                       llvm::ArrayRef<mlir::Operation *> operations,
                                       llvm::ArrayRef<int32_t> bias) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<Chosen> chosen = chooseCovers(anchor, operations, bias, longestRun);
  return chosen ? std::optional(chosen->cost) : std::nullopt;
}

std::optional<ReductionCover> Selection::choose(llvm::ArrayRef<mlir::Operation *> run,
                                                kernel::ReduceOp reduce) {
  std::lock_guard<std::mutex> lock(mutex_);
  return chooseReduction(run, reduce);
}

bool Selection::computes(mlir::Operation *op) {
  if (auto reduce = llvm::dyn_cast<kernel::ReduceOp>(op))
    return choose({}, reduce).has_value();
  return cost(nullptr, op, {}).has_value();
}

std::optional<Repeats> repeatsOf(mlir::Value operand, kernel::ReduceOp reduce) {
  const llvm::ArrayRef<int64_t> all = shapeOf(reduce.getX()), shape = shapeOf(operand);
  if (all.size() != shape.size())
    return std::nullopt;
  const size_t axis = static_cast<size_t>(reduce.getAxis());
  auto repeats = [&](size_t from, size_t count) -> std::optional<bool> {
    if (shape.slice(from, count) == all.slice(from, count))
      return false;
    if (llvm::all_of(shape.slice(from, count), [](int64_t size) { return size == 1; }))
      return true;
    return std::nullopt;
  };
  const auto outer = repeats(0, axis), along = repeats(axis, 1),
             inner = repeats(axis + 1, all.size() - axis - 1);
  if (!outer || !along || !inner)
    return std::nullopt;
  return Repeats{*outer, *along, *inner};
}

// The elements as they are.
static patterns::Function plainFunction(const isa::Type &type, bool mayBeNarrow, bool mayBeWide) {
  return {"x0[c]",
          {{"x0", type, mayBeNarrow, mayBeWide, false}},
          {},
          {},
          static_cast<int64_t>(type.least()),
          static_cast<int64_t>(type.greatest())};
}

std::vector<RunFunction> takenIn(llvm::ArrayRef<mlir::Operation *> run, kernel::ReduceOp reduce) {
  if (run.empty()) {
    const isa::Type type{true, widthOf(reduce.getX())};
    RunFunction plain;
    plain.operands = {reduce.getX()};
    plain.function = plainFunction(type, type.bits == 8, true);
    return {plain};
  }
  std::vector<RunFunction> functions = functionsOf(run, {});
  llvm::erase_if(functions, [&](RunFunction &each) {
    for (size_t i = 0; i < each.operands.size(); ++i) {
      const std::optional<Repeats> repeats = repeatsOf(each.operands[i], reduce);
      // Reductions load signed elements.
      if (!repeats || (!each.function.operands[i].type.isSigned && widthOf(each.operands[i]) > 1))
        return true;
      each.function.operands[i].isBroadcast = repeats->inner;
    }
    return false;
  });
  return functions;
}

patterns::Reduction combinerOf(kernel::ReduceOp reduce) {
  const kernel::FunctionInfo &function = kernel::infoOf(reduce.getFunction());
  return {function.combiner, function.neutral};
}

std::optional<ReductionCover> Selection::chooseReduction(llvm::ArrayRef<mlir::Operation *> run,
                                                         kernel::ReduceOp reduce) {
  std::optional<ReductionCover> best;
  int64_t bestBytes = 0;
  for (RunFunction &function : takenIn(run, reduce)) {
    const patterns::Candidate candidate(function.function, &terms_);
    for (const patterns::Pattern &pattern : patterns_.reductions()) {
      auto match = patterns::match(isa_, pattern, candidate, combinerOf(reduce));
      if (!match || !match->channels.empty() || !match->tables.empty() ||
          (pattern.result.space == isa::Space::Spad && !isByte(reduce.getResult())))
        continue;
      int64_t bytes = 0; // of an element's operands on chip
      for (const patterns::OperandForm &read : pattern.reads)
        bytes += read.space == isa::Space::Acc ? 4 : 1;
      if (best && bytes >= bestBytes)
        continue;
      best =
          ReductionCover{std::move(*match), function.operands, std::nullopt, std::nullopt, false};
      bestBytes = bytes;
    }
  }
  if (!best)
    return best;
  const patterns::Pattern &pattern = *best->match.pattern;
  best->again = findAgain(pattern, combinerOf(reduce), patterns_.reductions());
  best->join = findAgain(pattern, combinerOf(reduce), patterns_.joins());
  best->isPlain =
      run.empty() && llvm::all_of(pattern.reads, [&](const patterns::OperandForm &read) {
        return read.space == pattern.result.space;
      });
  return best;
}

std::optional<patterns::Match>
Selection::findAgain(const patterns::Pattern &first, const patterns::Reduction &reduction,
                     llvm::ArrayRef<patterns::Pattern> patterns) const {
  const isa::Space space = first.result.space;
  const patterns::Candidate candidate(
      plainFunction(first.result.type, space == isa::Space::Spad, space == isa::Space::Acc));
  for (const patterns::Pattern &pattern : patterns) {
    auto match = patterns::match(isa_, pattern, candidate, reduction);
    const bool isServed = match && match->channels.empty() && match->tables.empty() &&
                          pattern.result.space == space &&
                          llvm::all_of(pattern.reads, [&](const patterns::OperandForm &read) {
                            return read.space == space;
                          });
    if (isServed)
      return match;
  }
  return std::nullopt;
}

const Covers &Selection::coversOf(kernel::GroupOp group, mlir::Operation *anchor,
                                  llvm::ArrayRef<mlir::Operation *> operations,
                                  llvm::ArrayRef<int32_t> bias) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [known, isNew] = known_.try_emplace({group.getOperation(), anchor});
  if (!isNew)
    return known->second;
  std::optional<Chosen> chosen = chooseCovers(anchor, operations, bias, longestRun);
  if (!chosen) {
    known_.erase(known);
    for (mlir::Operation *op : operations)
      if (!chooseCovers(nullptr, op, {}, longestRun))
        throw UserError({},
                        fmt::format("no instruction of target '{}' computes {}", isa_.target(),
                                    describeRun(op)),
                        howToSeeMore);
    throw UserError({},
                    fmt::format("no instructions of target '{}' compute {} one after the other",
                                isa_.target(), describeRun(operations)),
                    howToSeeMore);
  }
  known->second = std::move(chosen->covers);
  return known->second;
}

const Covers *Selection::singleCoversOf(kernel::GroupOp group, mlir::Operation *anchor,
                                        llvm::ArrayRef<mlir::Operation *> operations,
                                        llvm::ArrayRef<int32_t> bias) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [known, isNew] = knownSingle_.try_emplace({group.getOperation(), anchor});
  if (isNew)
    if (std::optional<Chosen> chosen = chooseCovers(anchor, operations, bias, 1))
      known->second = std::move(chosen->covers);
  return known->second ? &*known->second : nullptr;
}

const ReductionCover &Selection::coverOf(kernel::GroupOp group,
                                         llvm::ArrayRef<mlir::Operation *> run,
                                         kernel::ReduceOp reduce) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto known = knownReductions_.find(group);
  if (known != knownReductions_.end())
    return known->second;
  std::optional<ReductionCover> chosen = chooseReduction(run, reduce);
  if (!chosen)
    throw UserError({},
                    fmt::format("no instruction of target '{}' computes {}", isa_.target(),
                                describeRun(run, reduce)),
                    howToSeeMore);
  return knownReductions_.emplace(group, std::move(*chosen)).first->second;
}

std::vector<int32_t> biasOf(mlir::Operation *anchor) {
  mlir::Value bias;
  if (auto conv = llvm::dyn_cast_or_null<kernel::Conv2DOp>(anchor))
    bias = conv.getBias();
  else if (auto depthwise = llvm::dyn_cast_or_null<kernel::DepthwiseOp>(anchor))
    bias = depthwise.getBias();
  if (!bias)
    return {};
  auto values = *constantIntegers(bias);
  if (llvm::all_of(values, [](int64_t value) { return value == 0; }))
    return {};
  return {values.begin(), values.end()};
}

llvm::SmallVector<isa::Role> templateOf(mlir::Operation *anchor) {
  if (llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(anchor))
    return {isa::Role::LoadWeights, isa::Role::MatrixProduct};
  if (llvm::isa<kernel::DepthwiseOp>(anchor))
    return {isa::Role::Depthwise};
  if (llvm::isa<kernel::MaxPoolOp>(anchor))
    return {isa::Role::MaxPool};
  if (llvm::isa<kernel::AvgPoolOp>(anchor))
    return {isa::Role::SumPool, isa::Role::Rescale};
  if (llvm::isa<kernel::SumPoolOp>(anchor))
    return {isa::Role::SumPool};
  return {};
}

kernel::ReduceOp reductionOf(kernel::GroupOp group) {
  auto end = llvm::cast<kernel::YieldOp>(group.getBody().front().getTerminator());
  return end.getValue().getDefiningOp<kernel::ReduceOp>();
}

} // namespace tilewright

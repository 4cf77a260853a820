#include "selection.h"

#include "lowering.h"

#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <limits>

namespace tilewright {

namespace {

constexpr size_t longestRun = 6; // operations that one instruction is tried for
constexpr int64_t passCost = 64; // an instruction's, against a value in 32 bits instead of 8
constexpr int64_t impossible = int64_t(1) << 40;

bool isByte(mlir::Value value) { return bitsOf(value) == 8; }

// Registers by name that the scheduler knows how to fill: vchannel's, and the tables.
bool hasLoader(const std::string &array) {
  return array == "bias" || array == "mult" || array == "shift" || array == "table" ||
         array == "table16";
}

std::string describeOperation(mlir::Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto function = op->getAttrOfType<mlir::StringAttr>("function"))
    name = function.getValue().str();
  return fmt::format("{} of {} bits", name, bitsOf(op->getResult(0)));
}

// The cheapest way to reach each place between operations, by where the value stands then.
struct Reached {
  int64_t cost = impossible;
  int from = -1; // place
  bool fromNarrow = false;
  bool widens = false;
  std::optional<Cover> cover; // none: widened
};

} // namespace

Selection::Selection(const isa::Isa &isa) : isa_(isa), patterns_(isa) {}

const patterns::Pattern *Selection::find(llvm::StringRef instruction) const {
  for (const patterns::Pattern &pattern : patterns_.maps())
    if (pattern.instruction->name == instruction)
      return &pattern;
  return nullptr;
}

std::string Selection::unserved(const patterns::Match &match) const {
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(match.pattern->instruction->unit)];
  auto check = [&](const auto &arrays) -> std::string {
    for (const auto &[index, value] : arrays)
      if (const std::string &name = unit.arrays[static_cast<size_t>(index)].name; !hasLoader(name))
        return fmt::format("nothing is known to load the registers '{}'", name);
    return "";
  };
  if (match.tables.size() > 1)
    return "it takes several tables";
  const patterns::Pattern &pattern = *match.pattern;
  const isa::Operand &nc = pattern.instruction->operands[static_cast<size_t>(pattern.nc)];
  if (!match.channels.empty() && pattern.ncLimit < std::min(isa_.param("channels"), nc.greatest))
    return "it takes fewer channels at once than there are parameters";
  std::string reason = check(match.channels);
  return reason.empty() ? check(match.tables) : reason;
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

const patterns::Match *Selection::widening() {
  if (!widening_) {
    widening_.emplace();
    const patterns::Function identity{"cast<i32>(min(max(cast<i32>((cast<i64>(cast<i32>(x0[c] + "
                                      "p0) * p1) + (cast<i64>(1) << (p2 - "
                                      "1))) >> p2) + p3, p4), p5))",
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
        if (!*widening_ && pattern.result.space == isa::Space::Acc) {
          auto match = patterns::match(isa_, pattern, patterns::Candidate(function, &terms_));
          if (match && unserved(*match).empty())
            *widening_ = std::move(match);
        }
  }
  return *widening_ ? &**widening_ : nullptr;
}

std::optional<Covers> Selection::choose(mlir::Operation *anchor,
                                        llvm::ArrayRef<mlir::Operation *> operations,
                                        llvm::ArrayRef<int32_t> bias) {
  const size_t count = operations.size();
  // By place between operations: [0] wide, [1] narrow. A group without an anchor begins with
  // neither.
  std::vector<std::array<Reached, 2>> reached(count + 1);
  const bool beginsNarrow = anchor && isByte(anchor->getResult(0));
  reached[0][beginsNarrow].cost = 0;
  for (size_t place = 0; place < count; ++place) {
    mlir::Value entering = place > 0 ? operations[place - 1]->getResult(0)
                           : anchor  ? anchor->getResult(0)
                                     : mlir::Value();
    Reached &narrow = reached[place][1], &wide = reached[place][0];
    if (entering && narrow.cost + passCost < wide.cost && widening()) {
      wide = Reached{narrow.cost + passCost, static_cast<int>(place), true, true, std::nullopt};
    }
    for (bool isNarrow : {true, false}) {
      const Reached &before = reached[place][isNarrow];
      if (before.cost >= impossible)
        continue;
      RunContext context{entering, isNarrow, place == 0 ? bias : llvm::ArrayRef<int32_t>()};
      for (size_t length = 1; length <= std::min(longestRun, count - place); ++length) {
        for (Found &found : matches(operations.slice(place, length), context)) {
          const bool resultIsNarrow = found.match.pattern->result.space == isa::Space::Spad;
          int64_t cost = before.cost + passCost;
          // Bytes that stand in 32 bits: loaded and kept at four times their size.
          cost += isByte(operations[place + length - 1]->getResult(0)) && !resultIsNarrow;
          for (size_t i = 0; i < found.match.operands.size(); ++i)
            cost += isByte(found.function.operands[static_cast<size_t>(found.match.operands[i])]) &&
                    found.match.pattern->reads[i].space == isa::Space::Acc;
          Reached &after = reached[place + length][resultIsNarrow];
          // At equal cost the cover that came first stays: it begins earlier, so it is larger.
          if (cost >= after.cost)
            continue;
          Cover cover;
          cover.first = place;
          cover.count = length;
          cover.entersNarrow = isNarrow;
          cover.operands = found.function.operands;
          if (!found.match.tables.empty())
            cover.table =
                found.function.tables[static_cast<size_t>(found.match.tables.begin()->second)];
          cover.match = std::move(found.match);
          after = Reached{cost, static_cast<int>(place), isNarrow, false, std::move(cover)};
        }
      }
    }
  }
  bool isNarrow = reached[count][1].cost <= reached[count][0].cost;
  if (reached[count][isNarrow].cost >= impossible)
    return std::nullopt;
  Covers covers;
  for (size_t place = count; place > 0 || reached[place][isNarrow].widens;) {
    Reached &here = reached[place][isNarrow];
    if (here.cover)
      covers.push_back(std::move(*here.cover));
    place = static_cast<size_t>(here.from);
    isNarrow = here.fromNarrow;
  }
  std::reverse(covers.begin(), covers.end());
  return covers;
}

std::string Selection::explain(mlir::Operation *anchor,
                               llvm::ArrayRef<mlir::Operation *> operations,
                               llvm::ArrayRef<int32_t> bias) {
  std::string text;
  for (size_t place = 0; place < operations.size(); ++place) {
    mlir::Value entering = place > 0 ? operations[place - 1]->getResult(0)
                           : anchor  ? anchor->getResult(0)
                                     : mlir::Value();
    for (size_t length = 1; length <= std::min(longestRun, operations.size() - place); ++length) {
      llvm::ArrayRef<mlir::Operation *> run = operations.slice(place, length);
      std::string names;
      for (mlir::Operation *op : run)
        names += (names.empty() ? "" : " + ") + describeOperation(op);
      for (const patterns::Pattern &pattern : patterns_.maps()) {
        std::string reason;
        bool isMatch = false;
        for (bool isNarrow : {true, false}) {
          if (!entering && !isNarrow)
            break;
          RunContext context{entering, isNarrow, place == 0 ? bias : llvm::ArrayRef<int32_t>()};
          for (RunFunction &function : functionsOf(run, context)) {
            std::string why;
            auto match = patterns::match(isa_, pattern,
                                         patterns::Candidate(function.function, &terms_), &why);
            if (match)
              why = unserved(*match);
            isMatch |= match && why.empty();
            if (reason.empty())
              reason = why;
          }
        }
        // Of several operations only what does match is worth a line.
        if (isMatch || length == 1)
          text += fmt::format("  {}: {} {}\n", names, pattern.instruction->name,
                              isMatch ? "computes it" : "does not: " + reason);
      }
    }
  }
  return text;
}

const Covers &Selection::coversOf(kernel::GroupOp group, mlir::Operation *anchor,
                                  llvm::ArrayRef<mlir::Operation *> operations,
                                  llvm::ArrayRef<int32_t> bias) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [known, isNew] = known_.try_emplace({group.getOperation(), anchor});
  if (!isNew)
    return known->second;
  std::optional<Covers> chosen = choose(anchor, operations, bias);
  if (!chosen) {
    known_.erase(known);
    for (mlir::Operation *op : operations)
      if (!choose(nullptr, op, {}))
        throw UserError({"", 0, 0, fmt::format("layer '{}'", escape(layerOf(op->getLoc()).name))},
                        fmt::format("no instruction of target '{}' computes {}", isa_.target(),
                                    describeOperation(op)),
                        "compile with --explain-selection to see what each instruction lacks");
    throw UserError(
        {"", 0, 0, fmt::format("layer '{}'", escape(layerOf(group.getLoc()).name))},
        fmt::format("no instructions of target '{}' compute its operations one after the "
                    "other",
                    isa_.target()),
        "compile with --explain-selection to see what each instruction lacks");
  }
  known->second = std::move(*chosen);
  return known->second;
}

} // namespace tilewright

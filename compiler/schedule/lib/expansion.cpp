#include "expansion.h"

#include "tilewright/isa/normal_form.h"

#include <algorithm>
#include <mutex>

namespace tilewright {

namespace {

constexpr int mostDramBytes = 2; // elements are tried one by one
constexpr const char *markByOutputs = "tilewright.weights_by_outputs";
constexpr const char *markByInputs = "tilewright.weights_by_inputs";

bool isSame(const isa::ExprPtr &a, const isa::ExprPtr &b) {
  return a->kind == b->kind && a->value == b->value && a->index == b->index &&
         std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(), isSame);
}

bool isSame(const isa::AffineForm &a, const isa::AffineForm &b) {
  return isSame(a.constant, b.constant) &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const isa::AffineTerm &x, const isa::AffineTerm &y) {
                      return x.iterator == y.iterator && isSame(x.coefficient, y.coefficient);
                    });
}

// Whether elements are moved from and to where the other instruction moves them.
bool movesAlike(const isa::Instruction &a, const isa::Instruction &b) {
  if (a.unit != b.unit || a.steps.size() != 1 || b.steps.size() != 1 ||
      a.steps[0].kind != isa::StepKind::Map || a.steps[0].when ||
      a.operands.size() != b.operands.size() || !a.requires_.empty())
    return false;
  auto equal = [](const auto &left, const auto &right, auto isEqual) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), isEqual);
  };
  return equal(a.operands, b.operands,
               [](const isa::Operand &x, const isa::Operand &y) {
                 return x.name == y.name && x.kind == y.kind &&
                        (x.kind == isa::Operand::Kind::Immediate || x.space == y.space);
               }) &&
         equal(a.steps[0].iterators, b.steps[0].iterators,
               [](const isa::Iterator &x, const isa::Iterator &y) {
                 return isSame(x.extent, y.extent);
               }) &&
         equal(a.accesses, b.accesses, [](const isa::MemoryAccess &x, const isa::MemoryAccess &y) {
           return x.operand == y.operand && x.write == y.write && isSame(x.index, y.index);
         });
}

bool dependsOnElementAlone(const isa::Term &term) {
  switch (term.kind) {
  case isa::ExprKind::State:
  case isa::ExprKind::Immediate:
  case isa::ExprKind::Iterator:
  case isa::ExprKind::ArrayRead:
  case isa::ExprKind::BaseRegister:
    return false;
  default:
    return std::all_of(term.args.begin(), term.args.end(),
                       [](const isa::TermPtr &arg) { return dependsOnElementAlone(*arg); });
  }
}

// The expansions of a description. A table takes a while, and every trial of a plan asks for it.
const std::vector<std::unique_ptr<Expansion>> &expansionsOf(const isa::Isa &isa) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::unique_ptr<Expansion>>> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [place, isNew] = known.try_emplace(isa.hash());
  if (isNew)
    for (const isa::Instruction &instruction : isa.instructions())
      if (auto expansion = Expansion::of(isa, instruction))
        place->second.push_back(std::move(expansion));
  return place->second;
}

// Weights [output][ky][kx][input] with the outputs innermost.
std::string byOutputs(const std::string &weights, int64_t outputs) {
  std::string turned(weights.size(), '\0');
  const int64_t depth = static_cast<int64_t>(weights.size()) / outputs;
  for (int64_t output = 0; output < outputs; ++output)
    for (int64_t i = 0; i < depth; ++i)
      turned[static_cast<size_t>(i * outputs + output)] =
          weights[static_cast<size_t>(output * depth + i)];
  return turned;
}

// The one that reads least of those that serve the weights, in runs of `run` bytes and what is left
// of a row of `row`.
const Expansion *bestFor(const std::vector<std::unique_ptr<Expansion>> &expansions,
                         const std::string &weights, int64_t row, int64_t run) {
  const Expansion *best = nullptr;
  for (const std::unique_ptr<Expansion> &each : expansions) {
    const int64_t group = each->chipBytes();
    const bool reads = !best || each->dramBytes() * best->chipBytes() < best->dramBytes() * group;
    if (reads && run % group == 0 && row % group == 0 && each->packed(weights))
      best = each.get();
  }
  return best;
}

} // namespace

std::unique_ptr<Expansion> Expansion::of(const isa::Isa &isa, const isa::Instruction &instruction) {
  const isa::Instruction *load = isa.find("load");
  if (!load || &instruction == load || !movesAlike(instruction, *load))
    return nullptr;
  const isa::Step &step = instruction.steps[0];
  const isa::MemoryAccess *read = nullptr, *write = nullptr;
  for (const isa::MemoryAccess &access : instruction.accesses)
    (access.write ? write : read) = &access;
  if (!read || !write || read->elementBytes > mostDramBytes || write->elementBytes > 4 ||
      write->elementBytes <= read->elementBytes)
    return nullptr;
  const isa::TermPtr term = isa::normalize(step.expr);
  if (!dependsOnElementAlone(*term))
    return nullptr;
  auto expansion = std::make_unique<Expansion>();
  expansion->instruction_ = instruction.name;
  expansion->dramBytes_ = read->elementBytes;
  expansion->chipBytes_ = write->elementBytes;
  const isa::Type type = instruction.operands[static_cast<size_t>(read->operand)].type;
  const uint32_t bits = static_cast<uint32_t>(write->elementBytes) * 8;
  for (uint32_t element = 0; element < uint32_t(1) << (8 * read->elementBytes); ++element) {
    const __int128 value =
        isa::evaluate(*term, [&](const isa::Term &, const std::vector<__int128> &) -> __int128 {
          return type.isSigned && element >> (8 * read->elementBytes - 1)
                     ? static_cast<__int128>(element) - (__int128(1) << (8 * read->elementBytes))
                     : static_cast<__int128>(element);
        });
    const auto onChip =
        static_cast<uint32_t>(static_cast<unsigned __int128>(value) & ((uint64_t(1) << bits) - 1));
    expansion->elements_.emplace(onChip, element);
  }
  return expansion;
}

std::optional<std::string> Expansion::packed(const std::string &bytes) const {
  std::string packed;
  const auto group = static_cast<size_t>(chipBytes_);
  packed.reserve(bytes.size() / group * static_cast<size_t>(dramBytes_));
  for (size_t first = 0; first < bytes.size(); first += group) {
    uint32_t onChip = 0;
    for (size_t i = 0; i < group && first + i < bytes.size(); ++i)
      onChip |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[first + i])) << (8 * i);
    auto found = elements_.find(onChip);
    if (found == elements_.end())
      return std::nullopt;
    for (int i = 0; i < dramBytes_; ++i)
      packed += static_cast<char>(found->second >> (8 * i));
  }
  return packed;
}

void markExpansions(const isa::Isa &isa, llvm::ArrayRef<kernel::GroupOp> groups) {
  const std::vector<std::unique_ptr<Expansion>> &expansions = expansionsOf(isa);
  const int64_t rows = isa.param("rows"), cols = isa.param("cols");
  for (kernel::GroupOp group : groups)
    for (mlir::Operation &op : group.getBody().front()) {
      auto conv = llvm::dyn_cast<kernel::Conv2DOp>(op);
      if (!conv)
        continue;
      for (const char *name : {markByOutputs, markByInputs}) // of another description
        op.removeAttr(name);
      if (expansions.empty())
        continue;
      const std::string weights = constantBytes(conv.getWeight());
      llvm::ArrayRef<int64_t> shape = shapeOf(conv.getWeight());
      auto mark = [&](const char *name, const Expansion *expansion) {
        if (expansion)
          op.setAttr(name, mlir::StringAttr::get(op.getContext(), expansion->instruction()));
      };
      mark(markByOutputs, bestFor(expansions, byOutputs(weights, shape[0]), shape[0] % cols, cols));
      mark(markByInputs, bestFor(expansions, weights, shape[3], rows));
    }
}

const Expansion *expansionOf(const isa::Isa &isa, mlir::Operation *anchor, GroupedBy by) {
  auto mark = anchor->getAttrOfType<mlir::StringAttr>(by == GroupedBy::Outputs ? markByOutputs
                                                                               : markByInputs);
  if (!mark)
    return nullptr;
  for (const std::unique_ptr<Expansion> &each : expansionsOf(isa))
    if (each->instruction() == mark.getValue())
      return each.get();
  return nullptr;
}

std::string expansionMarks(mlir::Operation *op) {
  std::string marks;
  for (const char *name : {markByOutputs, markByInputs})
    if (auto mark = op->getAttrOfType<mlir::StringAttr>(name))
      marks += " " + mark.getValue().str();
  return marks;
}

} // namespace tilewright

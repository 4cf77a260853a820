#include "expansion.h"

#include "tilewright/isa/normal_form.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <mutex>

namespace tilewright {

namespace {

constexpr int mostTriedBytes = 2; // of elements that are tried one by one
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

uint64_t lowBits(int count) { return count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

// A bit for each byte that is zero.
uint64_t zeroBytesOf(uint64_t value, int bytes) {
  uint64_t zeros = 0;
  for (int i = 0; i < bytes; ++i)
    zeros |= static_cast<uint64_t>((value >> (8 * i) & 0xff) == 0) << i;
  return zeros;
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
    const bool reads =
        !best || each->dramBytes() * int64_t{best->chipBytes()} < best->dramBytes() * group;
    if (reads && run % group == 0 && row % group == 0 && each->packed(weights))
      best = each.get();
  }
  return best;
}

} // namespace

std::unique_ptr<Expansion> Expansion::of(const isa::Isa &isa, const isa::Instruction &instruction) {
  const isa::Instruction *load = isa.withRole(isa::Role::LoadBytes);
  if (!load || &instruction == load || !movesAlike(instruction, *load))
    return nullptr;
  const isa::Step &step = instruction.steps[0];
  const isa::MemoryAccess *read = nullptr, *write = nullptr;
  for (const isa::MemoryAccess &access : instruction.accesses)
    (access.write ? write : read) = &access;
  if (!read || !write || write->elementBytes <= read->elementBytes)
    return nullptr;
  const isa::TermPtr term = isa::normalize(step.expr);
  if (!dependsOnElementAlone(*term))
    return nullptr;
  auto expansion = std::make_unique<Expansion>();
  expansion->instruction_ = instruction.name;
  expansion->dramBytes_ = read->elementBytes;
  expansion->chipBytes_ = write->elementBytes;
  const isa::Type type = instruction.operands[static_cast<size_t>(read->operand)].type;
  if (read->elementBytes <= mostTriedBytes) {
    expansion->makeTable(*term, type);
    return expansion;
  }
  for (int byte = 0; byte < read->elementBytes; ++byte)
    if (expansion->makePatterns(*term, byte))
      return expansion;
  return nullptr;
}

void Expansion::makeTable(const isa::Term &term, const isa::Type &type) {
  for (uint64_t element = 0; element < uint64_t(1) << (8 * dramBytes_); ++element) {
    const __int128 value =
        isa::evaluate(term, [&](const isa::Term &, const std::vector<__int128> &) -> __int128 {
          return type.isSigned && element >> (8 * dramBytes_ - 1)
                     ? static_cast<__int128>(element) - (__int128(1) << (8 * dramBytes_))
                     : static_cast<__int128>(element);
        });
    elements_.emplace(static_cast<uint64_t>(value) & lowBits(8 * chipBytes_), element);
  }
}

bool Expansion::makePatterns(const isa::Term &term, int selectingByte) {
  BitSources element = constantBits(0);
  for (int i = 0; i < 8 * dramBytes_; ++i)
    element[static_cast<size_t>(i)].number = static_cast<int16_t>(i);
  std::vector<uint64_t> zeroBytes; // of each pattern
  for (uint64_t selector = 0; selector < 256; ++selector) {
    const uint64_t selecting = selector << (8 * selectingByte);
    const BitSources given = constantBits(static_cast<__int128>(selecting));
    const int firstBit = 8 * selectingByte;
    std::copy_n(given.begin() + firstBit, 8, element.begin() + firstBit);
    const std::optional<BitSources> bits = bitsOf(term, element);
    if (!bits) {
      patterns_.clear();
      return false;
    }
    Pattern pattern{selecting, 0, 0, {}};
    for (int i = 0; i < 8 * chipBytes_; ++i) {
      const BitSource &bit = (*bits)[static_cast<size_t>(i)];
      if (!bit.isConstant())
        pattern.copies.emplace_back(i, bit.number);
      pattern.constants |= static_cast<uint64_t>(bit.isConstant()) << i;
      pattern.values |= static_cast<uint64_t>(bit.number == BitSource::constant1) << i;
    }
    zeroBytes.push_back(zeroBytesOf(pattern.values | ~pattern.constants, chipBytes_));
    patterns_.push_back(std::move(pattern));
  }
  // Patterns that make most zeros leave least open.
  patternsFor_.assign(size_t(1) << chipBytes_, {});
  for (uint64_t zeros = 0; zeros < patternsFor_.size(); ++zeros) {
    std::vector<size_t> &serve = patternsFor_[zeros];
    for (size_t i = 0; i < patterns_.size(); ++i)
      if ((zeroBytes[i] & ~zeros) == 0)
        serve.push_back(i);
    std::sort(serve.begin(), serve.end(), [&](size_t a, size_t b) {
      const int ofA = llvm::popcount(zeroBytes[a]), ofB = llvm::popcount(zeroBytes[b]);
      return ofA != ofB ? ofA > ofB : a < b;
    });
  }
  return true;
}

std::optional<uint64_t> Expansion::Pattern::elementOf(uint64_t onChip) const {
  if ((onChip & constants) != values)
    return std::nullopt;
  uint64_t element = selecting, copied = 0;
  for (const auto &[to, from] : copies) {
    const uint64_t bit = onChip >> to & 1;
    if ((copied >> from & 1) != 0 && (element >> from & 1) != bit)
      return std::nullopt;
    copied |= uint64_t(1) << from;
    element |= bit << from;
  }
  return element;
}

std::optional<uint64_t> Expansion::elementOf(uint64_t onChip) const {
  if (patterns_.empty()) {
    auto found = elements_.find(onChip);
    return found == elements_.end() ? std::nullopt : std::optional<uint64_t>(found->second);
  }
  for (size_t i : patternsFor_[static_cast<size_t>(zeroBytesOf(onChip, chipBytes_))])
    if (auto element = patterns_[i].elementOf(onChip))
      return element;
  return std::nullopt;
}

std::optional<std::string> Expansion::packed(const std::string &bytes) const {
  std::string packed;
  const auto group = static_cast<size_t>(chipBytes_);
  packed.reserve(bytes.size() / group * static_cast<size_t>(dramBytes_));
  for (size_t first = 0; first < bytes.size(); first += group) {
    uint64_t onChip = 0;
    for (size_t i = 0; i < group && first + i < bytes.size(); ++i)
      onChip |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[first + i])) << (8 * i);
    const std::optional<uint64_t> element = elementOf(onChip);
    if (!element)
      return std::nullopt;
    for (int i = 0; i < dramBytes_; ++i)
      packed += static_cast<char>(*element >> (8 * i));
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

// Ranges of affine indices: each iterator runs from 0 to its extent - 1, so each term is least and
// greatest at one of the two ends.
//
// An index that stands under `when` is not evaluated where the guard fails; a guard "iterator <
// bound" therefore caps that iterator's extent. The result is exact for such guards, and covers all
// of the step's elements for any other condition.
#include "tilewright/isa/extent.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

// The extents of a step's iterators under the present state, spatial ones first.
using Extents = std::array<int64_t, limits::iterators.count()>;

// A memory access as numbers: index = constant + sum of coefficient * iterator over the iterators
// that take more than one value.
struct Reach {
  bool empty = false;
  int64_t constant = 0;
  std::array<int64_t, limits::iterators.count()> coefficients{};
};

struct Evaluator {
  const Instruction &instruction;
  const Isa &isa;
  ScalarContext context;

  Extents extents(const Step &step) const {
    Extents result{};
    size_t i = 0;
    for (const auto *iterators : {&step.iterators, &step.reductions})
      for (const Iterator &iterator : *iterators)
        result[i++] = evaluate(*iterator.extent, context);
    return result;
  }

  // Caps extents by the guards when the access stands under `when`; ignores reduction iterators for
  // one outside of the reduction.
  Extents effective(const MemoryAccess &access, const Step &step, Extents extents) const {
    if (access.guarded)
      for (size_t i = 0; i < step.guards.size(); ++i)
        if (step.guards[i])
          extents[i] = std::min(extents[i], evaluate(*step.guards[i], context));
    if (!access.reductions)
      for (size_t i = 0; i < step.reductions.size(); ++i)
        extents[step.iterators.size() + i] = 1;
    return extents;
  }

  Reach reach(const MemoryAccess &access, const Extents &extents, size_t iterators) const {
    Reach reach;
    for (size_t i = 0; i < iterators; ++i)
      reach.empty |= extents[i] <= 0;
    reach.constant = evaluate(*access.index.constant, context);
    for (const AffineTerm &term : access.index.terms)
      if (extents[static_cast<size_t>(term.iterator)] > 1)
        reach.coefficients[static_cast<size_t>(term.iterator)] =
            evaluate(*term.coefficient, context);
    return reach;
  }

  Range range(const MemoryAccess &access, const Reach &reach, const Extents &extents,
              int64_t address) const {
    int64_t least = reach.constant, greatest = reach.constant;
    for (size_t i = 0; i < limits::iterators.count(); ++i) {
      int64_t end = reach.coefficients[i] * (extents[i] - 1);
      least += std::min<int64_t>(end, 0);
      greatest += std::max<int64_t>(end, 0);
    }
    const Operand &operand = instruction.operands[static_cast<size_t>(access.operand)];
    int64_t base = address * isa.memory(operand.space).addressBytes;
    return {base + least * access.elementBytes, base + (greatest + 1) * access.elementBytes};
  }
};

// One access with the numbers that the overlap rule compares.
struct Touch {
  const MemoryAccess *access;
  Reach reach;
  Extents extents;
  Range range;
};

// Whether no element is visited twice: the strides, sorted, nest within each other. (Sufficient;
// strides that interleave are refused.)
bool visitsOnce(const Touch &touch) {
  std::array<std::pair<int64_t, int64_t>, limits::iterators.count()> strides;
  size_t count = 0;
  for (size_t i = 0; i < limits::iterators.count(); ++i)
    if (touch.extents[i] > 1)
      strides[count++] = {std::abs(touch.reach.coefficients[i]), touch.extents[i]};
  std::sort(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(count));
  int64_t span = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strides[i].first <= span)
      return false;
    span += strides[i].first * (strides[i].second - 1);
  }
  return true;
}

void addRange(Range &sum, const Range &range) {
  sum = sum.empty() ? range : Range{std::min(sum.begin, range.begin), std::max(sum.end, range.end)};
}

// Calls `visit(Touch)` for each access that touches anything.
template <typename Visit>
void forEachTouch(const Evaluator &evaluator, const int64_t *addresses, Visit visit) {
  const Instruction &instruction = evaluator.instruction;
  int current = -1;
  Extents extents{};
  for (const MemoryAccess &access : instruction.accesses) {
    const Step &step = instruction.steps[static_cast<size_t>(access.step)];
    if (access.step != current)
      extents = evaluator.extents(step);
    current = access.step;
    Touch touch{&access, {}, evaluator.effective(access, step, extents), {}};
    touch.reach =
        evaluator.reach(access, touch.extents, step.iterators.size() + step.reductions.size());
    if (touch.reach.empty)
      continue;
    touch.range = evaluator.range(access, touch.reach, touch.extents, addresses[access.operand]);
    visit(touch);
  }
}

ScalarContext contextOf(const DecodedInstruction &decoded, const int64_t *state) {
  ScalarContext context;
  context.immediates = decoded.values.data();
  context.state = state;
  return context;
}

} // namespace

// As forEachTouch, with nothing but the ends: for each instruction that is scheduled or run.
void operandRanges(const Instruction &instruction, const Isa &isa,
                   const DecodedInstruction &decoded, const int64_t *state,
                   const int64_t *addresses, Range *ranges) {
  std::fill(ranges, ranges + instruction.operands.size(), Range{});
  const ScalarContext context = contextOf(decoded, state);
  int current = -1;
  std::array<int64_t, limits::iterators.count()> extents;
  bool isEmpty = false, isEmptyOnce = false; // an extent is zero: some one, a spatial one
  for (const MemoryAccess &access : instruction.accesses) {
    const Step &step = instruction.steps[static_cast<size_t>(access.step)];
    const size_t spatial = step.iterators.size();
    if (access.step != current) {
      isEmpty = isEmptyOnce = false;
      for (size_t i = 0; i < spatial; ++i) {
        extents[i] = evaluate(*step.iterators[i].extent, context);
        isEmpty = isEmptyOnce |= extents[i] <= 0;
      }
      for (size_t i = 0; i < step.reductions.size(); ++i) {
        extents[spatial + i] = evaluate(*step.reductions[i].extent, context);
        isEmpty |= extents[spatial + i] <= 0;
      }
      current = access.step;
    }
    if (access.reductions ? isEmpty : isEmptyOnce)
      continue;
    bool isGuardEmpty = false;
    auto guarded = [&](size_t i) {
      return access.guarded && i < step.guards.size() && step.guards[i]
                 ? std::min(extents[i], evaluate(*step.guards[i], context))
                 : extents[i];
    };
    if (access.guarded)
      for (size_t i = 0; i < (access.reductions ? spatial + step.reductions.size() : spatial); ++i)
        isGuardEmpty |= guarded(i) <= 0;
    if (isGuardEmpty)
      continue;
    int64_t least = evaluate(*access.index.constant, context), greatest = least;
    for (const AffineTerm &term : access.index.terms) {
      const auto iterator = static_cast<size_t>(term.iterator);
      const int64_t last = (iterator < spatial || access.reductions ? guarded(iterator) : 1) - 1;
      if (last == 0)
        continue;
      const int64_t end = evaluate(*term.coefficient, context) * last;
      (end < 0 ? least : greatest) += end;
    }
    const auto operand = static_cast<size_t>(access.operand);
    const int64_t base =
        addresses[operand] * isa.memory(instruction.operands[operand].space).addressBytes;
    addRange(ranges[operand],
             {base + least * access.elementBytes, base + (greatest + 1) * access.elementBytes});
  }
}

std::vector<Range> operandRanges(const Instruction &instruction, const Isa &isa,
                                 const DecodedInstruction &decoded, const int64_t *state,
                                 const int64_t *addresses) {
  std::vector<Range> ranges(instruction.operands.size());
  operandRanges(instruction, isa, decoded, state, addresses, ranges.data());
  return ranges;
}

std::string trapReason(const Instruction &instruction, const Isa &isa,
                       const DecodedInstruction &decoded, const int64_t *state,
                       const int64_t *addresses) {
  if (instruction.accesses.empty())
    return "";
  Evaluator evaluator{instruction, isa, contextOf(decoded, state)};
  std::array<Range, limits::operands.count()> ranges{};
  std::array<Touch, limits::accesses.count()> touches;
  size_t count = 0;
  forEachTouch(evaluator, addresses, [&](const Touch &touch) {
    addRange(ranges[static_cast<size_t>(touch.access->operand)], touch.range);
    touches[count++] = touch;
  });
  for (const Operand &operand : instruction.operands) {
    const Range &range = ranges[static_cast<size_t>(operand.index)];
    const Memory &memory = isa.memory(operand.space);
    if (!range.empty() && (range.begin < 0 || range.end > static_cast<int64_t>(memory.bytes)))
      return fmt::format("operand '{}' of '{}' touches bytes {}..{} of {}, which has {}",
                         operand.name, instruction.name, range.begin, range.end - 1, memory.name,
                         memory.bytes);
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j) {
      const Touch &written = touches[i], &read = touches[j];
      if (!written.access->write || read.access->write)
        continue;
      const Operand &to = instruction.operands[static_cast<size_t>(written.access->operand)];
      const Operand &from = instruction.operands[static_cast<size_t>(read.access->operand)];
      bool apart = to.space != from.space || written.range.end <= read.range.begin ||
                   read.range.end <= written.range.begin;
      if (apart)
        continue;
      bool same = written.access->step == read.access->step && to.type == from.type &&
                  written.range.begin == read.range.begin && written.range.end == read.range.end &&
                  written.reach.coefficients == read.reach.coefficients && visitsOnce(written);
      if (!same)
        return fmt::format("operand '{}' of '{}' overlaps '{}', which it reads, at other elements",
                           to.name, instruction.name, from.name);
    }
  return "";
}

} // namespace tilewright::isa

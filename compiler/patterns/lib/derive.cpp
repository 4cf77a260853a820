// From semantics to patterns.
#include "tilewright/compiler/patterns/patterns.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace tilewright::patterns {

namespace {

using isa::ExprKind;

struct Unfit {
  std::string reason;
};

bool isLiteral(const isa::ExprPtr &expr, int64_t value) {
  return expr->kind == ExprKind::Literal && expr->value == value;
}

class Deriver {
public:
  Deriver(const isa::Instruction &instruction, const isa::Unit &unit)
      : instruction_(instruction), unit_(unit) {}

  Pattern derive() {
    if (instruction_.steps.size() != 1)
      throw Unfit{instruction_.steps.empty() ? "it sets registers"
                                             : "its semantics have several steps"};
    const isa::Step &step = instruction_.steps[0];
    if (!step.out.isMemory)
      throw Unfit{"it writes registers, not memory"};
    if (step.when)
      throw Unfit{"it writes under a condition"};
    pattern_.instruction = &instruction_;
    pattern_.isReduction = step.kind == isa::StepKind::Reduce;
    pattern_.joinsLanes = step.reducesLanes;
    const size_t iterators = pattern_.joinsLanes ? 2 : 3;
    if (step.iterators.size() != iterators)
      throw Unfit{fmt::format("it has {} iterators, not y, x{}", step.iterators.size(),
                              pattern_.joinsLanes ? "" : " and c")};
    pattern_.n1 = extent(step.iterators[0], ExprKind::State);
    pattern_.n0 = extent(step.iterators[1], ExprKind::Immediate);
    if (!pattern_.joinsLanes)
      pattern_.nc = extent(step.iterators[2], ExprKind::Immediate);
    if (pattern_.isReduction)
      reduction(step);
    operands();
    pattern_.expr = isa::normalize(step.expr);
    const isa::Type &type = pattern_.result.type;
    const bool converts =
        !pattern_.isReduction && step.expr->type == type &&
        (step.expr->kind == ExprKind::Cast || step.expr->kind == ExprKind::Saturate);
    pattern_.unconverted = converts ? isa::normalize(step.expr->args[0]) : pattern_.expr;
    layoutRegisters();
    limits();
    return pattern_;
  }

private:
  int extent(const isa::Iterator &iterator, ExprKind kind) {
    if (iterator.extent->kind != kind)
      throw Unfit{fmt::format("the extent of '{}' is no {}", iterator.name,
                              kind == ExprKind::State ? "register" : "immediate")};
    return iterator.extent->index;
  }

  void reduction(const isa::Step &step) {
    const size_t reductions = pattern_.joinsLanes ? 1 : 2;
    if (step.reductions.size() != reductions)
      throw Unfit{fmt::format("it reduces along {} iterators, not {}", step.reductions.size(),
                              pattern_.joinsLanes ? "one" : "two")};
    if (pattern_.joinsLanes) {
      pattern_.nc = extent(step.reductions[0], ExprKind::Immediate);
    } else {
      pattern_.k1 = extent(step.reductions[0], ExprKind::State);
      pattern_.k0 = extent(step.reductions[1], ExprKind::State);
    }
    if (step.post && step.post->kind != ExprKind::Result)
      throw Unfit{"its post is more than the result"};
    pattern_.combiner = step.combiner;
    pattern_.accumulator = step.accumulator;
    pattern_.init = isa::normalize(step.init);
  }

  static int stateOf(const isa::AffineForm &index, int iterator) {
    for (const isa::AffineTerm &term : index.terms)
      if (term.iterator == iterator)
        return term.coefficient->kind == ExprKind::State ? term.coefficient->index : -1;
    return -1;
  }

  OperandForm formOf(const isa::MemoryAccess &access) {
    const isa::Operand &operand = instruction_.operands[static_cast<size_t>(access.operand)];
    OperandForm form;
    form.operand = access.operand;
    form.space = operand.space;
    form.type = operand.type;
    auto unfit = [&] {
      throw Unfit{fmt::format("the index of '{}' is not y, x and c times registers (c: or 1)",
                              operand.name)};
    };
    const size_t expected = pattern_.joinsLanes                     ? (access.write ? 2 : 3)
                            : pattern_.isReduction && !access.write ? 5
                                                                    : 3;
    if (!isLiteral(access.index.constant, 0) || access.index.terms.size() != expected)
      unfit();
    form.s1 = stateOf(access.index, 0);
    form.s0 = stateOf(access.index, 1);
    form.sc = stateOf(access.index, 2);
    if (form.s1 < 0 || form.s0 < 0)
      unfit();
    for (const isa::AffineTerm &term : access.index.terms)
      if (term.iterator == 2 && form.sc < 0 && !isLiteral(term.coefficient, 1))
        unfit();
    if (expected == 5) {
      form.k1 = stateOf(access.index, 3);
      form.k0 = stateOf(access.index, 4);
      if (form.k1 < 0 || form.k0 < 0)
        unfit();
    }
    return form;
  }

  static std::array<int, 5> registersOf(const OperandForm &form) {
    return {form.s1, form.s0, form.sc, form.k1, form.k0};
  }

  void operands() {
    for (const isa::MemoryAccess &access : instruction_.accesses) {
      OperandForm form = formOf(access);
      const isa::Operand &operand = instruction_.operands[static_cast<size_t>(access.operand)];
      if (access.write) {
        if (operand.access != isa::Access::Write)
          throw Unfit{fmt::format("it updates '{}'", operand.name)};
        pattern_.result = form;
        continue;
      }
      auto known =
          std::find_if(pattern_.reads.begin(), pattern_.reads.end(),
                       [&](const OperandForm &read) { return read.operand == form.operand; });
      if (known == pattern_.reads.end())
        pattern_.reads.push_back(form);
      else if (registersOf(*known) != registersOf(form))
        throw Unfit{fmt::format("it reads two elements of '{}'", operand.name)};
    }
    std::for_each(pattern_.reads.begin(), pattern_.reads.end(),
                  [&](const OperandForm &read) { checkElements(read); });
    if (pattern_.reads.empty())
      throw Unfit{"it reads no memory"};
    checkElements(pattern_.result);
  }

  // Tensors lie in the scratchpad as signed bytes, in the accumulators as 32 bits.
  void checkElements(const OperandForm &form) const {
    if (form.space != isa::Space::Acc && form.type != isa::Type{true, 8})
      throw Unfit{fmt::format("'{}' is of {} in the scratchpad", nameOf(form), form.type.str())};
  }

  const std::string &nameOf(const OperandForm &form) const {
    return instruction_.operands[static_cast<size_t>(form.operand)].name;
  }

  // Registers that say how tensors lie get their values from the layer at hand, each for one
  // purpose: none may serve two, or be part of a value.
  void layoutRegisters() {
    std::map<int, std::string> purposes;
    auto take = [&](int reg, const std::string &purpose) {
      if (reg < 0)
        return;
      const auto [known, isNew] = purposes.emplace(reg, purpose);
      if (!isNew)
        throw Unfit{
            fmt::format("register '{}' is {} and {}", registerName(reg), known->second, purpose)};
    };
    take(pattern_.n1, "the extent of y");
    take(pattern_.k1, "the outer extent of the reduction");
    take(pattern_.k0, "the inner extent of the reduction");
    auto collect = [&](const OperandForm &form) {
      for (int reg : registersOf(form))
        take(reg, fmt::format("a stride of '{}'", nameOf(form)));
    };
    std::for_each(pattern_.reads.begin(), pattern_.reads.end(), collect);
    collect(pattern_.result);
    for (const auto &[reg, purpose] : purposes) {
      if (names(*pattern_.expr, ExprKind::State, reg) ||
          (pattern_.init && names(*pattern_.init, ExprKind::State, reg)))
        throw Unfit{
            fmt::format("register '{}' is {} and part of the value", registerName(reg), purpose)};
    }
  }

  const std::string &registerName(int reg) const {
    return unit_.registers[static_cast<size_t>(reg)].name;
  }

  // The greatest extents under the requires that name them alone; others are checked at a match.
  void limits() {
    auto greatest = [&](int operand) {
      const isa::Operand &field = instruction_.operands[static_cast<size_t>(operand)];
      std::vector<int64_t> values(instruction_.operands.size(), 0);
      auto holds = [&](int64_t value) {
        values[static_cast<size_t>(operand)] = value;
        isa::ScalarContext context;
        context.immediates = values.data();
        return std::all_of(instruction_.requires_.begin(), instruction_.requires_.end(),
                           [&](const isa::Require &require) {
                             return !namesOnly(*require.expr, operand) ||
                                    isa::evaluate(*require.expr, context) != 0;
                           });
      };
      int64_t low = 0, high = field.greatest; // low holds
      while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        (holds(middle) ? low : high) = holds(middle) ? middle : middle - 1;
      }
      if (low < 1)
        throw Unfit{fmt::format("its requires allow no extent '{}'", field.name)};
      return low;
    };
    const std::array<int, 2> extents = {pattern_.n0, pattern_.nc};
    for (const isa::Require &require : instruction_.requires_)
      if (std::any_of(extents.begin(), extents.end(), [&](int operand) {
            return names(*require.expr, ExprKind::Immediate, operand) &&
                   !namesOnly(*require.expr, operand);
          }))
        throw Unfit{fmt::format("require {} ({}) ties an extent to something else", require.label,
                                require.text)};
    pattern_.n0Limit = greatest(pattern_.n0);
    pattern_.ncLimit = greatest(pattern_.nc);
  }

  // Of an expression or a term.
  template <typename Node> static bool names(const Node &node, ExprKind kind, int index) {
    return (node.kind == kind && node.index == index) ||
           std::any_of(node.args.begin(), node.args.end(),
                       [&](const auto &arg) { return names(*arg, kind, index); });
  }

  static bool namesOnly(const isa::Expr &expr, int operand) {
    if (expr.kind == ExprKind::State || (expr.kind == ExprKind::Immediate && expr.index != operand))
      return false;
    return std::all_of(expr.args.begin(), expr.args.end(),
                       [&](const isa::ExprPtr &arg) { return namesOnly(*arg, operand); });
  }

  const isa::Instruction &instruction_;
  const isa::Unit &unit_;
  Pattern pattern_;
};

} // namespace

int64_t channelsAtOnce(const isa::Isa &isa) {
  const int64_t entries = isa.param("channels");
  const isa::Instruction *load = isa.withRole(isa::Role::LoadChannels);
  const int count = load ? load->operandIndex("nc") : -1;
  return count < 0 ? entries
                   : std::min(entries, load->operands[static_cast<size_t>(count)].greatest);
}

std::optional<ChannelArrays> channelArrays(const isa::Instruction &load) {
  // With one channel, the place of a step's first number is the array's place in the block.
  std::vector<int64_t> immediates(load.operands.size(), 0);
  immediates[static_cast<size_t>(load.operandIndex("nc"))] = 1;
  ChannelArrays arrays{-1, -1, -1};
  for (const isa::MemoryAccess &access : load.accesses) {
    const isa::Target &out = load.steps[static_cast<size_t>(access.step)].out;
    const int64_t place = isa::evaluate(*access.index.constant, {nullptr, immediates.data()});
    if (out.isMemory || place < 0 || place >= static_cast<int64_t>(arrays.size()))
      return std::nullopt;
    arrays[static_cast<size_t>(place)] = out.index;
  }
  return std::count(arrays.begin(), arrays.end(), -1) == 0 ? std::optional(arrays) : std::nullopt;
}

isa::Role tableLoadOf(const isa::StateArray &table) {
  return table.type.bits <= 8 ? isa::Role::LoadTable8 : isa::Role::LoadTable16;
}

bool isLoaded(const isa::Instruction &load, int array) {
  return std::any_of(load.steps.begin(), load.steps.end(), [&](const isa::Step &step) {
    return !step.out.isMemory && step.out.index == array;
  });
}

PatternSet::PatternSet(const isa::Isa &isa) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
    if (unit.kind != isa::UnitTemplate::Vector)
      continue;
    try {
      Pattern pattern = Deriver(instruction, unit).derive();
      (pattern.joinsLanes    ? joins_
       : pattern.isReduction ? reductions_
                             : maps_)
          .push_back(std::move(pattern));
    } catch (const Unfit &unfit) {
      others_.push_back({&instruction, unfit.reason});
    }
  }
}

} // namespace tilewright::patterns

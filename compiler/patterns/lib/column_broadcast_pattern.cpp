#include "tilewright/compiler/patterns/column_broadcast_pattern.h"

#include "tilewright/isa/column_broadcast.h"

#include <algorithm>

namespace tilewright::patterns {

namespace {

using isa::ExprKind;

// The number of an immediate or a register; -1: it is something else.
int numberOf(const isa::ExprPtr &expr, ExprKind kind) {
  return expr && expr->kind == kind ? expr->index : -1;
}

int strideOf(const isa::AffineForm &index, int iterator) {
  for (const isa::AffineTerm &term : index.terms)
    if (term.iterator == iterator)
      return numberOf(term.coefficient, ExprKind::State);
  return -1;
}

// The register that is taken from the activations before they meet the weights.
int zeroPointOf(const isa::Expr &product) {
  for (size_t i : {size_t(0), size_t(1)}) {
    const isa::Expr &difference = *product.args[i];
    if (product.args[1 - i]->kind == ExprKind::ArrayRead && difference.kind == ExprKind::Subtract &&
        difference.args[0]->kind == ExprKind::MemoryRead)
      return numberOf(difference.args[1], ExprKind::State);
  }
  return -1;
}

std::optional<ColumnBroadcastPattern> patternOf(const isa::Instruction &instruction,
                                                const isa::Isa &isa) {
  const std::optional<isa::ColumnBroadcast> window = isa::columnBroadcast(instruction, isa);
  if (!window)
    return std::nullopt;
  ColumnBroadcastPattern pattern;
  pattern.instruction = &instruction;
  bool isWhole = true;
  auto put = [&](int &place, int number) {
    place = number;
    isWhole = isWhole && number >= 0;
  };
  for (size_t i : {size_t(0), size_t(1)}) {
    put(pattern.outputs[i], numberOf(window->outputs[i], ExprKind::Immediate));
    put(pattern.taps[i], numberOf(window->taps[i], ExprKind::Immediate));
    put(pattern.strides[i], numberOf(window->strides[i], ExprKind::Immediate));
  }
  put(pattern.period, numberOf(window->period, ExprKind::Immediate));
  put(pattern.columns, instruction.operandIndex("n"));
  put(pattern.swap, instruction.operandIndex("swap"));
  put(pattern.accumulate, instruction.operandIndex("accumulate"));
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (access.index.constant->kind != ExprKind::Literal || access.index.constant->value != 0)
      return std::nullopt;
    const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
    for (int i : {0, 1}) {
      const auto at = static_cast<size_t>(i);
      if (access.write)
        put(pattern.outputRegisters[at], strideOf(access.index, isa::BroadcastY + i));
      else if (access.reductions)
        put(pattern.tapRegisters[at], strideOf(access.index, isa::BroadcastV + i));
    }
    if (access.write)
      pattern.sums = access.operand;
    else if (access.reductions)
      pattern.activations = access.operand;
    if (access.write)
      put(pattern.zeroPoint, step.expr->kind == ExprKind::Multiply ? zeroPointOf(*step.expr) : -1);
  }
  return isWhole ? std::optional(pattern) : std::nullopt;
}

} // namespace

std::optional<ColumnBroadcastPattern> findColumnBroadcast(const isa::Isa &isa) {
  for (const isa::Instruction &instruction : isa.instructions())
    if (isa.units()[static_cast<size_t>(instruction.unit)].kind == isa::UnitTemplate::Matrix)
      if (auto pattern = patternOf(instruction, isa))
        return pattern;
  return std::nullopt;
}

} // namespace tilewright::patterns

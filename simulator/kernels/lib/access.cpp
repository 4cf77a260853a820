#include "access.h"

#include "kernel_function.h"

#include <algorithm>

namespace tilewright::kernels {

using isa::Expr;
using isa::ExprKind;
using isa::ExprPtr;

namespace {

ExprPtr node(ExprKind kind, std::vector<ExprPtr> args, __int128 value = 0) {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->type = {true, 64};
  expr->args = std::move(args);
  expr->value = value;
  return expr;
}

// The position of an element of an array in row-major order.
ExprPtr flatten(const isa::StateArray &array, const std::vector<ExprPtr> &where) {
  ExprPtr flat = where[0];
  for (size_t i = 1; i < where.size(); ++i)
    flat = node(
        ExprKind::Add,
        {node(ExprKind::Multiply, {flat, node(ExprKind::Literal, {}, array.sizes[i])}), where[i]});
  return flat;
}

Access make(bool isMemory, int index, const std::vector<ExprPtr> &where,
            const isa::Instruction &instruction, const isa::Isa &isa) {
  Access access;
  access.isMemory = isMemory;
  access.index = index;
  access.where = where;
  ExprPtr flat;
  if (isMemory) {
    access.type = instruction.operands[static_cast<size_t>(index)].type;
    flat = where[0];
  } else {
    const auto &unit = isa.units()[static_cast<size_t>(instruction.unit)];
    const auto &array = unit.arrays[static_cast<size_t>(index)];
    access.type = array.type;
    flat = flatten(array, where);
  }
  access.affine = isa::asAffine(flat, access.form);
  // A form whose constant or coefficients read memory is linear in the iterators only when they do
  // not.
  auto fixed = [](const ExprPtr &expr) { return isUniform(*expr); };
  if (access.affine)
    access.affine = (!access.form.constant || fixed(access.form.constant)) &&
                    std::all_of(access.form.terms.begin(), access.form.terms.end(),
                                [&](const auto &term) { return fixed(term.coefficient); });
  return access;
}

} // namespace

int Access::storageBits() const { return isMemory ? type.bits : kernels::storageBits(type); }

Access accessOf(const Expr &read, const isa::Instruction &instruction, const isa::Isa &isa) {
  return make(read.kind == ExprKind::MemoryRead, read.index, read.args, instruction, isa);
}

Access accessOf(const isa::Target &target, const isa::Instruction &instruction,
                const isa::Isa &isa) {
  return make(target.isMemory, target.index, target.where, instruction, isa);
}

ExprPtr coefficientOf(const Access &access, int iterator) {
  for (const auto &term : access.form.terms)
    if (term.iterator == iterator)
      return term.coefficient;
  return nullptr;
}

Stride strideOf(const Access &access, int iterator) {
  ExprPtr coefficient = coefficientOf(access, iterator);
  if (!coefficient)
    return Stride::None;
  if (coefficient->kind == ExprKind::Literal && coefficient->value <= 1 && coefficient->value >= 0)
    return coefficient->value == 1 ? Stride::One : Stride::None;
  if (coefficient->kind == ExprKind::State && coefficient->type == isa::Type{false, 1})
    return Stride::Bit;
  return Stride::Runtime;
}

bool dependsOn(const Expr &expr, int iterator) {
  if (expr.kind == ExprKind::Iterator && expr.index == iterator)
    return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const ExprPtr &arg) { return dependsOn(*arg, iterator); });
}

bool isUniform(const Expr &expr) {
  if (expr.kind == ExprKind::Iterator || expr.kind == ExprKind::MemoryRead ||
      expr.kind == ExprKind::ArrayRead || expr.kind == ExprKind::Result)
    return false;
  return std::all_of(expr.args.begin(), expr.args.end(),
                     [](const ExprPtr &arg) { return isUniform(*arg); });
}

} // namespace tilewright::kernels

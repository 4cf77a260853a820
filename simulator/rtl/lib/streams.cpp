#include "streams.h"

#include <stdexcept>

namespace tilewright::rtl {

Streams::Streams(const isa::Instruction &instruction, int stepNumber) {
  const isa::Step &step = instruction.steps[static_cast<size_t>(stepNumber)];
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (access.step == stepNumber)
      (access.write ? write_ : reads_.emplace_back()) = &access;
  for (const isa::ExprPtr &index : step.out.where)
    visit(*index, false);
  visit(*step.expr, step.kind == isa::StepKind::Reduce);
  if (step.init)
    visit(*step.init, false);
  if (step.post)
    visit(*step.post, false);
  if (next_ != reads_.size())
    throw std::logic_error("memory reads that cannot be told apart");
}

int Streams::of(const isa::Expr &read, bool reductions) const {
  const auto found = numbers_.find({&read, reductions});
  return found == numbers_.end() ? -1 : static_cast<int>(found->second);
}

void Streams::visit(const isa::Expr &expr, bool reductions) {
  if (!seen_.insert({&expr, reductions}).second)
    return;
  if (expr.kind == isa::ExprKind::MemoryRead)
    numbers_[{&expr, reductions}] = next_++;
  for (const isa::ExprPtr &arg : expr.args)
    visit(*arg, reductions);
}

} // namespace tilewright::rtl

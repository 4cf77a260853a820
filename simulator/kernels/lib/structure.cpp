#include "structure.h"

#include <fmt/format.h>

namespace tilewright::kernels {

using isa::Expr;
using isa::Instruction;
using isa::Isa;

namespace {

// fmt has no 128-bit integers under strict C++17.
std::string decimal(__int128 value) {
  return fmt::format("{:x}:{:x}", static_cast<uint64_t>(value >> 64), static_cast<uint64_t>(value));
}

std::string head(const Expr &expr) {
  return fmt::format("{}{}#{}@{}", static_cast<int>(expr.kind), expr.type.str(),
                     decimal(expr.value), expr.index);
}

void append(const isa::ExprPtr &expr, std::string &text) {
  if (!expr) {
    text += '-';
    return;
  }
  text += head(*expr) + '(';
  for (const auto &arg : expr->args)
    append(arg, text);
  text += ')';
}

void append(const std::vector<isa::Iterator> &iterators, std::string &text) {
  text += '[';
  for (const auto &iterator : iterators)
    append(iterator.extent, text);
  text += ']';
}

void append(const isa::Step &step, std::string &text) {
  text += fmt::format("step{}", static_cast<int>(step.kind));
  append(step.iterators, text);
  append(step.reductions, text);
  text += fmt::format("out{}{}", step.out.isMemory ? 'm' : 'a', step.out.index);
  for (const auto &where : step.out.where)
    append(where, text);
  for (const auto &expr : {step.when, step.otherwise, step.expr, step.init, step.post})
    append(expr, text);
  text += fmt::format("{}{}", static_cast<int>(step.combiner), step.accumulator.str());
}

} // namespace

std::string structure(const Instruction &instruction, const Isa &isa) {
  std::string text;
  for (const auto &operand : instruction.operands)
    text += fmt::format("op{}{}:{}:{};", static_cast<int>(operand.kind), operand.type.str(),
                        static_cast<int>(operand.space), static_cast<int>(operand.access));
  for (auto space : {isa::Space::Dram, isa::Space::Spad, isa::Space::Acc})
    text += fmt::format("mem{};", isa.memory(space).addressBytes);
  for (const auto &array : isa.units()[static_cast<size_t>(instruction.unit)].arrays) {
    text += "array" + array.type.str();
    for (int64_t size : array.sizes)
      text += fmt::format(",{}", size);
  }
  for (const auto &step : instruction.steps)
    append(step, text);
  return text;
}

int Numbering::of(const Expr &expr) {
  auto known = byNode_.find(&expr);
  if (known != byNode_.end())
    return known->second;
  std::string text = head(expr);
  for (const auto &arg : expr.args)
    text += fmt::format(",{}", of(*arg));
  int number = byText_.emplace(text, static_cast<int>(byText_.size())).first->second;
  byNode_.emplace(&expr, number);
  return number;
}

} // namespace tilewright::kernels

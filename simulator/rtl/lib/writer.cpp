#include "writer.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;

std::string constantOf(const isa::Instruction &instruction) {
  std::string result = "Ins";
  bool upper = true;
  for (char c : instruction.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

const char *prefixOf(isa::UnitTemplate kind) {
  switch (kind) {
  case isa::UnitTemplate::Sequencer:
    return "sequencer";
  case isa::UnitTemplate::DmaLoad:
    return "load";
  case isa::UnitTemplate::DmaStore:
    return "store";
  case isa::UnitTemplate::Matrix:
    return "matrix";
  case isa::UnitTemplate::Vector:
    break;
  }
  return "vector";
}

const isa::Unit &unitOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  for (const isa::Unit &unit : isa.units())
    if (unit.kind == kind)
      return unit;
  throw std::logic_error("the loader gives one unit of each template");
}

std::vector<const isa::Instruction *> workOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  std::vector<const isa::Instruction *> result;
  for (const isa::Instruction &instruction : isa.instructions())
    if (isa.units()[static_cast<size_t>(instruction.unit)].kind == kind &&
        !instruction.steps.empty())
      result.push_back(&instruction);
  return result;
}

std::string field(const isa::Operand &operand) {
  const std::string bits = fmt::format("bits[{}:{}]", operand.low + operand.width - 1, operand.low);
  return operand.type.isSigned && operand.kind == isa::Operand::Kind::Immediate
             ? fmt::format("$signed({})", bits)
             : bits;
}

std::string scalarLeaf(const isa::Instruction &instruction, const isa::Isa &isa, const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Immediate: {
    const isa::Operand &operand = instruction.operands[static_cast<size_t>(expr.index)];
    if (operand.width != expr.type.bits)
      throw std::logic_error("a field that is not as wide as its value");
    return field(operand);
  }
  case ExprKind::State:
    return "state." + isa.units()[static_cast<size_t>(instruction.unit)]
                          .registers[static_cast<size_t>(expr.index)]
                          .name;
  default:
    throw std::logic_error("a scalar that is neither immediate nor register");
  }
}

ExpressionWriter scalarWriter(const isa::Instruction &instruction, const isa::Isa &isa,
                              std::string indent) {
  return ExpressionWriter(
      [&](ExpressionWriter &, const Expr &expr) { return scalarLeaf(instruction, isa, expr); },
      std::move(indent));
}

void refuse(const isa::Instruction &instruction, const std::string &message,
            const std::string &fix) {
  SourceLocation location;
  location.file = instruction.file;
  location.subject = fmt::format("instruction '{}'", escape(instruction.name));
  throw UserError(location, "the RTL templates do not make it: " + message, fix);
}

int addressSlot(const isa::Instruction &instruction, int operand) {
  int slot = 0;
  for (int i = 0; i < operand; ++i)
    slot += instruction.operands[static_cast<size_t>(i)].kind == isa::Operand::Kind::Memory;
  return slot;
}

namespace {

// value * bytes, as text; bytes is 1, 2 or 4.
std::string scaled(const std::string &value, int bytes) {
  return bytes == 1 ? value : fmt::format("({} <<< {})", value, bytes == 2 ? 1 : 2);
}

} // namespace

void writeWalk(ExpressionWriter &writer, std::string &text, const isa::Instruction &instruction,
               const isa::Isa &isa, const isa::MemoryAccess &access, const Nest &nest,
               const std::string &addressTarget, const std::string &strideTarget,
               const std::string &indent) {
  const isa::Operand &operand = instruction.operands[static_cast<size_t>(access.operand)];
  const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
  std::string address =
      scaled(fmt::format("$signed(address[{}])", addressSlot(instruction, access.operand)),
             isa.memory(operand.space).addressBytes);
  if (access.index.constant &&
      !(access.index.constant->kind == ExprKind::Literal && access.index.constant->value == 0))
    address +=
        " + " + scaled(writer.writeAs(*access.index.constant, addressType), access.elementBytes);
  const bool isLocal = operand.space != isa::Space::Dram;
  const auto fitted = [&](const std::string &value) {
    return isLocal ? fmt::format("local_t'({})", value) : value;
  };
  text += fmt::format("{}{} = {};\n", indent, addressTarget, fitted(address));
  for (const isa::AffineTerm &term : access.index.terms)
    text += fmt::format(
        "{}{}[{}] = {};\n", indent, strideTarget, nest.position(step, term.iterator),
        fitted(scaled(writer.writeAs(*term.coefficient, addressType), access.elementBytes)));
}

void writeExtents(ExpressionWriter &writer, std::string &text, const isa::Step &step,
                  const Nest &nest, const std::string &target, const std::string &indent) {
  int i = 0;
  for (const auto *iterators : {&step.iterators, &step.reductions})
    for (const isa::Iterator &iterator : *iterators)
      text += fmt::format("{}{}[{}] = {};\n", indent, target, nest.position(step, i++),
                          writer.writeAs(*iterator.extent, countType));
}

std::string vectorScalar(const isa::Instruction &instruction, const isa::Isa &isa,
                         const isa::Expr &expr) {
  std::string text = scalarLeaf(instruction, isa, expr);
  for (const char *name : {"bits[", "state."})
    if (const size_t at = text.find(name); at != std::string::npos)
      return text.insert(at + std::string(name).size() - 1, "_q");
  return text;
}

std::string flatIndex(ExpressionWriter &writer, const isa::StateArray &array,
                      const std::vector<isa::ExprPtr> &where) {
  std::string at;
  for (size_t i = 0; i < where.size(); ++i) {
    const std::string index = writer.writeAs(*where[i], countType);
    at = at.empty() ? index : fmt::format("({} * 32'd{} + {})", at, array.sizes[i], index);
  }
  return at;
}

namespace {

// Whether DRAM is contiguous along the innermost iterator of a move, whatever its registers hold.
bool alwaysHasRuns(const isa::Instruction &instruction) {
  const int inner = static_cast<int>(instruction.steps[0].iterators.size()) - 1;
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (instruction.operands[static_cast<size_t>(access.operand)].space != isa::Space::Dram)
      continue;
    const bool isContiguous = std::any_of(
        access.index.terms.begin(), access.index.terms.end(), [&](const isa::AffineTerm &term) {
          return term.iterator == inner && term.coefficient->kind == ExprKind::Literal &&
                 term.coefficient->value == 1;
        });
    if (inner >= 0 && !isContiguous)
      return false;
  }
  return true;
}

} // namespace

Shape shapeOf(const isa::Isa &isa) {
  Shape shape;
  bool runsAlways = true;
  while (isa.param("lanes") >> (shape.vectorCountBits - 1) > 0)
    ++shape.vectorCountBits;
  auto grow = [](Nest &nest, const isa::Step &step) {
    const int own = static_cast<int>(step.reductions.size()), behind = step.reducesLanes ? 0 : own,
              reductions = std::max(nest.dimensions - nest.spatial, behind);
    nest.spatial = std::max(nest.spatial, static_cast<int>(step.iterators.size()) + own - behind);
    nest.dimensions = nest.spatial + reductions;
  };
  for (const isa::Instruction &instruction : isa.instructions()) {
    int operands = 0;
    for (const isa::Operand &operand : instruction.operands)
      operands += operand.kind == isa::Operand::Kind::Memory;
    shape.memoryOperands = std::max(shape.memoryOperands, operands);
    const isa::UnitTemplate kind = isa.units()[static_cast<size_t>(instruction.unit)].kind;
    for (const isa::Step &step : instruction.steps) {
      if (kind == isa::UnitTemplate::DmaLoad || kind == isa::UnitTemplate::DmaStore) {
        grow(shape.move, step);
        runsAlways = runsAlways && alwaysHasRuns(instruction);
        for (const isa::Iterator &iterator : step.iterators)
          shape.moveCountBits =
              std::max(shape.moveCountBits, std::min(iterator.extent->type.bits, countType.bits));
      } else if (kind == isa::UnitTemplate::Matrix)
        grow(shape.matrix, step);
      else
        grow(shape.vector, step);
      if (kind == isa::UnitTemplate::Vector)
        for (const auto *iterators : {&step.iterators, &step.reductions})
          for (const isa::Iterator &iterator : *iterators)
            shape.vectorCountBits = std::max(shape.vectorCountBits,
                                             std::min(iterator.extent->type.bits, countType.bits));
    }
    if (kind != isa::UnitTemplate::Vector)
      continue;
    shape.vectorSteps = std::max(shape.vectorSteps, static_cast<int>(instruction.steps.size()));
    std::vector<int> reads(instruction.steps.size());
    for (const isa::MemoryAccess &access : instruction.accesses)
      if (!access.write)
        shape.vectorStreams =
            std::max(shape.vectorStreams, ++reads[static_cast<size_t>(access.step)]);
    shape.vectorLatency = std::max(shape.vectorLatency, instruction.pipeline.latency);
  }
  shape.moveLoops = std::max(shape.move.dimensions - (runsAlways ? 1 : 0), 1);
  return shape;
}

} // namespace tilewright::rtl

#include "reference.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tilewright::reference {

using isa::Expr;
using isa::ExprKind;

Integer wrap(const isa::Type &type, Integer value) {
  if (type.bits >= 128)
    return value;
  const Integer span = Integer(1) << type.bits;
  Integer low = value & (span - 1);
  return type.isSigned && low >= span / 2 ? low - span : low;
}

namespace {

struct Evaluation {
  const isa::Isa &isa;
  const isa::Instruction &instruction;
  const isa::Unit &unit;
  const isa::DecodedInstruction &decoded;
  const int64_t *addresses;
  const MachineState &before;
  std::vector<int64_t> iterators;
  Integer result = 0;

  static int bytesOf(const isa::Type &type) { return type.bits <= 8 ? 1 : type.bits <= 16 ? 2 : 4; }

  // The bytes of a memory operand's element in `state`.
  uint8_t *element(MachineState &state, const isa::Operand &operand, Integer index) const {
    const auto &memory = isa.memory(operand.space);
    Integer at =
        Integer(addresses[operand.index]) * memory.addressBytes + index * bytesOf(operand.type);
    Integer size =
        operand.space == isa::Space::Dram ? Integer(state.dramBytes) : Integer(memory.bytes);
    if (at < 0 || at + bytesOf(operand.type) > size)
      throw std::logic_error("access outside of " + memory.name);
    uint8_t *base = operand.space == isa::Space::Dram ? state.dram
                    : operand.space == isa::Space::Spad
                        ? state.spad.data()
                        : reinterpret_cast<uint8_t *>(state.acc.data());
    return base + static_cast<size_t>(at);
  }

  uint8_t *element(MachineState &state, const isa::StateArray &array,
                   const std::vector<Integer> &where) const {
    Integer at = 0;
    for (size_t i = 0; i < where.size(); ++i) {
      if (where[i] < 0 || where[i] >= array.sizes[i])
        throw std::logic_error("index outside of " + array.name);
      at = at * array.sizes[i] + where[i];
    }
    return state.arrays[static_cast<size_t>(unit.index)][static_cast<size_t>(array.index)].data() +
           static_cast<size_t>(at) * static_cast<size_t>(array.storageBytes());
  }

  static Integer load(const uint8_t *bytes, const isa::Type &type) {
    uint64_t value = 0;
    std::memcpy(&value, bytes, static_cast<size_t>(bytesOf(type)));
    return wrap(type, Integer(value));
  }

  static void store(uint8_t *bytes, const isa::Type &type, Integer value) {
    auto wrapped = static_cast<int64_t>(wrap(type, value));
    std::memcpy(bytes, &wrapped, static_cast<size_t>(bytesOf(type)));
  }

  std::vector<Integer> evaluateAll(const std::vector<isa::ExprPtr> &exprs) {
    std::vector<Integer> values;
    for (const auto &expr : exprs)
      values.push_back(evaluate(*expr));
    return values;
  }

  Integer evaluate(const Expr &expr) {
    if (expr.kind == ExprKind::MemoryRead) {
      const auto &operand = instruction.operands[static_cast<size_t>(expr.index)];
      return load(element(const_cast<MachineState &>(before), operand, evaluate(*expr.args[0])),
                  operand.type);
    }
    if (expr.kind == ExprKind::ArrayRead) {
      const auto &array = unit.arrays[static_cast<size_t>(expr.index)];
      return load(element(const_cast<MachineState &>(before), array, evaluateAll(expr.args)),
                  array.type);
    }
    std::vector<Integer> args = evaluateAll(expr.args);
    auto amount = [&](int bits) {
      return static_cast<int>(std::clamp<Integer>(args[1], 0, bits - 1));
    };
    switch (expr.kind) {
    case ExprKind::Literal:
      return expr.value;
    case ExprKind::Iterator:
      return iterators[static_cast<size_t>(expr.index)];
    case ExprKind::Immediate:
      return decoded.values[static_cast<size_t>(expr.index)];
    case ExprKind::State:
      return before.registers[static_cast<size_t>(unit.index)][static_cast<size_t>(expr.index)];
    case ExprKind::Result:
      return result;
    case ExprKind::Add:
      return args[0] + args[1];
    case ExprKind::Subtract:
      return args[0] - args[1];
    case ExprKind::Multiply:
      return args[0] * args[1];
    case ExprKind::Minimum:
      return std::min(args[0], args[1]);
    case ExprKind::Maximum:
      return std::max(args[0], args[1]);
    case ExprKind::ShiftLeft: {
      auto bits = static_cast<unsigned __int128>(args[0]) << amount(expr.type.bits);
      return wrap(expr.type, static_cast<Integer>(bits));
    }
    case ExprKind::ShiftRight:
      return args[0] >> amount(expr.args[0]->type.bits);
    case ExprKind::And:
      return args[0] & args[1];
    case ExprKind::Or:
      return args[0] | args[1];
    case ExprKind::Xor:
      return args[0] ^ args[1];
    case ExprKind::Not:
      return args[0] == 0;
    case ExprKind::Negate:
      return -args[0];
    case ExprKind::Equal:
      return args[0] == args[1];
    case ExprKind::NotEqual:
      return args[0] != args[1];
    case ExprKind::Less:
      return args[0] < args[1];
    case ExprKind::LessEqual:
      return args[0] <= args[1];
    case ExprKind::Greater:
      return args[0] > args[1];
    case ExprKind::GreaterEqual:
      return args[0] >= args[1];
    case ExprKind::Select:
      return args[0] != 0 ? args[1] : args[2];
    case ExprKind::Cast:
      return wrap(expr.type, args[0]);
    case ExprKind::Saturate:
      return std::clamp(args[0], expr.type.least(), expr.type.greatest());
    case ExprKind::CountLeadingZeros: {
      const int bits = expr.args[0]->type.bits;
      int count = 0;
      while (count < bits && !((args[0] >> (bits - 1 - count)) & 1))
        ++count;
      return count;
    }
    default:
      throw std::logic_error("not an expression of a unit's instruction");
    }
  }

  Integer combine(const isa::Step &step, Integer a, Integer b) {
    switch (step.combiner) {
    case isa::Combiner::Add:
      return wrap(step.accumulator, a + b);
    case isa::Combiner::Maximum:
      return std::max(a, wrap(step.accumulator, b));
    case isa::Combiner::Minimum:
      return std::min(a, wrap(step.accumulator, b));
    case isa::Combiner::And:
      return wrap(step.accumulator, a & b);
    case isa::Combiner::Or:
      return wrap(step.accumulator, a | b);
    }
    throw std::logic_error("no such combiner");
  }

  template <typename Visit>
  void nest(const std::vector<isa::Iterator> &loops, size_t first, size_t depth, Visit &&visit) {
    if (depth == loops.size())
      return visit();
    Integer extent = evaluate(*loops[depth].extent);
    for (Integer i = 0; i < extent; ++i) {
      iterators[first + depth] = static_cast<int64_t>(i);
      nest(loops, first, depth + 1, visit);
    }
  }

  Integer value(const isa::Step &step) {
    if (step.kind == isa::StepKind::Map)
      return step.when && evaluate(*step.when) == 0 ? evaluate(*step.otherwise)
                                                    : evaluate(*step.expr);
    Integer accumulated = wrap(step.accumulator, evaluate(*step.init));
    nest(step.reductions, step.iterators.size(), 0,
         [&] { accumulated = combine(step, accumulated, evaluate(*step.expr)); });
    result = accumulated;
    return step.post ? evaluate(*step.post) : accumulated;
  }

  void run(const isa::Step &step, MachineState &after) {
    iterators.assign(step.iterators.size() + step.reductions.size(), 0);
    nest(step.iterators, 0, 0, [&] {
      Integer stored = value(step);
      if (step.out.isMemory) {
        const auto &operand = instruction.operands[static_cast<size_t>(step.out.index)];
        store(element(after, operand, evaluate(*step.out.where[0])), operand.type, stored);
      } else {
        const auto &array = unit.arrays[static_cast<size_t>(step.out.index)];
        store(element(after, array, evaluateAll(step.out.where)), array.type, stored);
      }
    });
  }
};

} // namespace

void execute(const isa::Isa &isa, const isa::DecodedInstruction &decoded, const int64_t *addresses,
             MachineState &state) {
  const auto &instruction = isa.instructions()[static_cast<size_t>(decoded.instruction)];
  for (const auto &step : instruction.steps) {
    MachineState before = state;
    std::vector<uint8_t> dram(state.dram, state.dram + state.dramBytes);
    before.dram = dram.data();
    Evaluation evaluation{isa,
                          instruction,
                          isa.units()[static_cast<size_t>(instruction.unit)],
                          decoded,
                          addresses,
                          before,
                          {},
                          0};
    evaluation.run(step, state);
  }
}

} // namespace tilewright::reference

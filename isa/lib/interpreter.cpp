#include "tilewright/isa/interpreter.h"

#include "evaluate.h"
#include "type.h"

#include <algorithm>
#include <stdexcept>

namespace tilewright::isa {

InterpreterState::InterpreterState(const Isa &isa, const Unit &unit, uint64_t dramBytes) {
  for (Space space : {Space::Dram, Space::Spad, Space::Acc})
    memories[static_cast<size_t>(space)].assign(
        space == Space::Dram ? dramBytes : isa.memory(space).bytes, 0);
  for (const StateRegister &reg : unit.registers)
    registers.push_back(reg.reset);
  for (const StateArray &array : unit.arrays)
    arrays.emplace_back(static_cast<size_t>(array.elements()), array.reset);
}

namespace {

class Interpreter {
public:
  Interpreter(const Isa &isa, const DecodedInstruction &decoded, const int64_t *addresses,
              InterpreterState &state)
      : isa_(isa), instruction_(isa.instructions().at(static_cast<size_t>(decoded.instruction))),
        unit_(isa.units()[static_cast<size_t>(instruction_.unit)]), decoded_(decoded),
        addresses_(addresses), state_(state) {}

  void run() {
    for (const auto &[number, value] : instruction_.sets) {
      auto index = static_cast<size_t>(decoded_.values[static_cast<size_t>(number)]);
      state_.registers[index] = static_cast<int64_t>(
          wrap(decoded_.values[static_cast<size_t>(value)], unit_.registers[index].type));
    }
    for (const Step &step : instruction_.steps) {
      iterators_.assign(step.iterators.size() + step.reductions.size(), 0);
      spatial(step, 0);
    }
  }

private:
  int64_t extent(const Iterator &iterator) { return static_cast<int64_t>(value(*iterator.extent)); }

  void spatial(const Step &step, size_t depth) {
    if (depth == step.iterators.size())
      return write(step.out, element(step));
    int64_t end = extent(step.iterators[depth]);
    for (iterators_[depth] = 0; iterators_[depth] < end; ++iterators_[depth])
      spatial(step, depth + 1);
  }

  __int128 element(const Step &step) {
    if (step.kind == StepKind::Map)
      return value(step.when && value(*step.when) == 0 ? *step.otherwise : *step.expr);
    result_ = value(*step.init);
    reduce(step, 0);
    return step.post ? value(*step.post) : result_;
  }

  void reduce(const Step &step, size_t depth) {
    if (depth < step.reductions.size()) {
      int64_t &iterator = iterators_[step.iterators.size() + depth];
      int64_t end = extent(step.reductions[depth]);
      for (iterator = 0; iterator < end; ++iterator)
        reduce(step, depth + 1);
      iterator = 0;
      return;
    }
    __int128 next = value(*step.expr);
    switch (step.combiner) {
    case Combiner::Add:
      result_ += next;
      break;
    case Combiner::Maximum:
      result_ = std::max(result_, next);
      break;
    case Combiner::Minimum:
      result_ = std::min(result_, next);
      break;
    case Combiner::And:
      result_ &= next;
      break;
    case Combiner::Or:
      result_ |= next;
      break;
    }
    result_ = wrap(result_, step.accumulator);
  }

  __int128 value(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Literal:
      return expr.value;
    case ExprKind::Iterator:
      return iterators_[static_cast<size_t>(expr.index)];
    case ExprKind::Immediate:
      return decoded_.values[static_cast<size_t>(expr.index)];
    case ExprKind::State:
      return state_.registers[static_cast<size_t>(expr.index)];
    case ExprKind::Result:
      return result_;
    case ExprKind::MemoryRead:
      return load(instruction_.operands[static_cast<size_t>(expr.index)],
                  static_cast<int64_t>(value(*expr.args[0])));
    case ExprKind::ArrayRead:
      return arrayElement(expr.index, expr.args);
    default:
      break;
    }
    __int128 values[3];
    for (size_t i = 0; i < expr.args.size(); ++i)
      values[i] = value(*expr.args[i]);
    return applyOperation(expr, values);
  }

  int64_t &arrayElement(int array, const std::vector<ExprPtr> &where) {
    const StateArray &shape = unit_.arrays[static_cast<size_t>(array)];
    int64_t at = 0;
    for (size_t i = 0; i < where.size(); ++i)
      at = at * shape.sizes[i] + static_cast<int64_t>(value(*where[i]));
    return state_.arrays[static_cast<size_t>(array)].at(static_cast<size_t>(at));
  }

  // The bytes of an element.
  uint8_t *bytesOf(const Operand &operand, int64_t index) {
    auto &memory = state_.memories[static_cast<size_t>(operand.space)];
    int64_t bytes = operand.type.bits / 8;
    int64_t begin =
        addresses_[operand.index] * isa_.memory(operand.space).addressBytes + index * bytes;
    if (begin < 0 || begin + bytes > static_cast<int64_t>(memory.size()))
      throw std::out_of_range("an access outside of its memory");
    return memory.data() + begin;
  }

  __int128 load(const Operand &operand, int64_t index) {
    const uint8_t *bytes = bytesOf(operand, index);
    uint64_t bits = 0;
    for (int i = 0; i < operand.type.bits / 8; ++i)
      bits |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return wrap(bits, operand.type);
  }

  void write(const Target &target, __int128 value) {
    if (!target.isMemory) {
      arrayElement(target.index, target.where) = static_cast<int64_t>(value);
      return;
    }
    const Operand &operand = instruction_.operands[static_cast<size_t>(target.index)];
    uint8_t *bytes = bytesOf(operand, static_cast<int64_t>(this->value(*target.where[0])));
    for (int i = 0; i < operand.type.bits / 8; ++i)
      bytes[i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
  }

  const Isa &isa_;
  const Instruction &instruction_;
  const Unit &unit_;
  const DecodedInstruction &decoded_;
  const int64_t *addresses_;
  InterpreterState &state_;
  std::vector<int64_t> iterators_;
  __int128 result_ = 0;
};

} // namespace

void interpret(const Isa &isa, const DecodedInstruction &decoded, const int64_t *addresses,
               InterpreterState &state) {
  Interpreter(isa, decoded, addresses, state).run();
}

} // namespace tilewright::isa

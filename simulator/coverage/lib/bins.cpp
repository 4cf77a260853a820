#include "tilewright/coverage/bins.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright::coverage {

using isa::ExprKind;
using isa::ExprPtr;
using isa::Instruction;
using isa::Operand;
using isa::Space;
using isa::UnitTemplate;

namespace {

// An immediate of this few values is a mode: each of them is a bin.
constexpr int64_t mostModes = 8;

bool reads(const Instruction &instruction, Space space) {
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (!access.write && instruction.operands[static_cast<size_t>(access.operand)].space == space)
      return true;
  return false;
}

bool writes(const Instruction &instruction, Space space) {
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (access.write && instruction.operands[static_cast<size_t>(access.operand)].space == space)
      return true;
  return false;
}

// The registers and operands that an expression depends on.
struct Leaves {
  std::set<int> registers, operands;
  void visit(const ExprPtr &expr) {
    if (!expr)
      return;
    if (expr->kind == ExprKind::State)
      registers.insert(expr->index);
    if (expr->kind == ExprKind::Immediate)
      operands.insert(expr->index);
    for (const ExprPtr &arg : expr->args)
      visit(arg);
  }
};

Leaves leavesOf(const Instruction &instruction) {
  Leaves leaves;
  for (const isa::Step &step : instruction.steps) {
    for (const auto *iterators : {&step.iterators, &step.reductions})
      for (const isa::Iterator &iterator : *iterators)
        leaves.visit(iterator.extent);
    for (const ExprPtr &expr : step.out.where)
      leaves.visit(expr);
    for (const ExprPtr &expr : {step.when, step.otherwise, step.expr, step.init, step.post})
      leaves.visit(expr);
  }
  return leaves;
}

// Whether an operand's range can be empty: an extent, or a guard, can be 0.
bool canBeEmpty(const Instruction &instruction, const isa::Isa &isa, int operand) {
  const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
  bool result = false;
  auto zero = [&](const ExprPtr &expr) {
    if (!expr)
      return;
    if (expr->kind == ExprKind::Immediate)
      result |= instruction.operands[static_cast<size_t>(expr->index)].least <= 0;
    if (expr->kind == ExprKind::State)
      result |= unit.registers[static_cast<size_t>(expr->index)].type.least() <= 0;
  };
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (access.operand != operand)
      continue;
    const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
    for (const isa::Iterator &iterator : step.iterators)
      zero(iterator.extent);
    if (access.guarded)
      for (const ExprPtr &guard : step.guards)
        zero(guard);
  }
  return result;
}

class BinMaker {
public:
  BinMaker(const isa::Isa &isa, const Instruction &instruction, std::vector<Bin> &bins)
      : isa_(isa), instruction_(instruction), bins_(bins) {}

  void make() {
    add(Group::Mode, "waits", [](const Execution &e) { return e.decoded->wait != 0; });
    add(Group::Mode, "signals", [](const Execution &e) { return e.decoded->signal != 0; });
    if (instruction_.control == isa::Control::Branch) {
      taken("taken", true);
      taken("not taken", false);
    }
    for (const Operand &operand : instruction_.operands) {
      if (operand.kind == Operand::Kind::Memory)
        memory(operand);
      else
        immediate(operand);
    }
    for (int index : leavesOf(instruction_).registers)
      registerOf(index);
    for (const isa::Step &step : instruction_.steps)
      if (step.reducesLanes)
        joins(step.reductions.back());
    stalls();
  }

private:
  using Seen = std::function<bool(const Execution &)>;

  void add(Group group, std::string what, Seen seen) {
    bins_.push_back({instruction_.index, group, std::move(what), std::move(seen)});
  }

  void taken(const char *what, bool wanted) {
    const ExprPtr condition = instruction_.controlValue;
    add(Group::Mode, what, [condition, wanted](const Execution &e) {
      isa::ScalarContext context;
      context.immediates = e.decoded->values.data();
      context.base = e.base;
      return (isa::evaluate(*condition, context) != 0) == wanted;
    });
  }

  bool isMode(const Operand &operand) const {
    return operand.isRegister || operand.isBaseRegister ||
           operand.greatest - operand.least < mostModes;
  }

  void immediate(const Operand &operand) {
    const auto at = static_cast<size_t>(operand.index);
    auto equals = [&](Group group, const std::string &what, int64_t value) {
      add(group, fmt::format("{} {}", operand.name, what),
          [at, value](const Execution &e) { return e.decoded->values[at] == value; });
    };
    if (isMode(operand)) {
      const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction_.unit)];
      for (int64_t value = operand.least; value <= operand.greatest; ++value)
        equals(Group::Mode,
               operand.isRegister ? unit.registers[static_cast<size_t>(value)].name
                                  : std::to_string(value),
               value);
      return;
    }
    const int64_t least = operand.least, greatest = operand.greatest;
    // A loop's length ends with its program: its greatest value stands in none.
    const bool isLength = instruction_.control == isa::Control::Loop && operand.name == "length";
    if (canHold(operand, least))
      equals(Group::Corner, "least", least);
    if (!isLength && canHold(operand, greatest))
      equals(Group::Corner, "greatest", greatest);
    if (least < 0)
      equals(Group::Corner, "zero", 0);
    add(Group::Corner, operand.name + " between", [at, least, greatest](const Execution &e) {
      const int64_t value = e.decoded->values[at];
      return value != least && value != greatest && value != 0;
    });
  }

  // Whether a `require` allows the value, with all other operands 0 or the same value.
  bool canHold(const Operand &operand, int64_t value) const {
    isa::DecodedInstruction decoded;
    decoded.instruction = instruction_.index;
    decoded.bases.assign(instruction_.operands.size(), 0);
    for (const bool alike : {false, true}) {
      decoded.values.clear();
      for (const Operand &other : instruction_.operands)
        decoded.values.push_back(
            std::clamp<int64_t>(alike ? value : 0, other.least, other.greatest));
      decoded.values[static_cast<size_t>(operand.index)] = value;
      try {
        isa_.encode(decoded);
        return true;
      } catch (const UserError &) {
        // A constraint does not hold.
      }
    }
    return false;
  }

  // Where an operand stands in its memory. Of DRAM a program has a part: it has no last byte here.
  void memory(const Operand &operand) {
    const auto at = static_cast<size_t>(operand.index);
    const isa::Memory &memory = isa_.memory(operand.space);
    auto where = [&](const char *what, std::function<bool(const isa::Range &)> holds) {
      add(Group::Corner, fmt::format("{} {}", operand.name, what),
          [at, holds = std::move(holds)](const Execution &e) {
            const isa::Range &range = (*e.ranges)[at];
            return !range.empty() && holds(range);
          });
    };
    add(Group::Mode, fmt::format("{} based", operand.name), [at](const Execution &e) {
      return e.decoded->bases[at] != 0 && e.base[e.decoded->bases[at]] != 0;
    });
    if (canBeEmpty(instruction_, isa_, operand.index))
      add(Group::Corner, fmt::format("{} nothing", operand.name),
          [at](const Execution &e) { return (*e.ranges)[at].empty(); });
    if (operand.space == Space::Dram) {
      const int64_t busBytes = isa_.param("bus_bytes"), burst = isa_.param("burst_bytes");
      where("misaligned", [busBytes](const isa::Range &r) { return r.begin % busBytes != 0; });
      where("across bursts",
            [burst](const isa::Range &r) { return r.begin / burst != (r.end - 1) / burst; });
      return;
    }
    const auto bytes = static_cast<int64_t>(memory.bytes);
    where("first byte", [](const isa::Range &r) { return r.begin == 0; });
    where("last byte", [bytes](const isa::Range &r) { return r.end == bytes; });
    if (memory.portBytes > memory.addressBytes)
      where("misaligned",
            [port = memory.portBytes](const isa::Range &r) { return r.begin % port != 0; });
    if (memory.banks > 1) {
      const auto bank = static_cast<int64_t>(memory.bankBytes());
      where("at a bank",
            [bank](const isa::Range &r) { return r.begin != 0 && r.begin % bank == 0; });
      where("across banks",
            [bank](const isa::Range &r) { return r.begin / bank != (r.end - 1) / bank; });
    }
  }

  void registerOf(int index) {
    const isa::StateRegister &reg =
        isa_.units()[static_cast<size_t>(instruction_.unit)].registers[static_cast<size_t>(index)];
    auto where = [&](const char *what, std::function<bool(int64_t)> holds) {
      add(Group::Corner, fmt::format("{} {}", reg.name, what),
          [index, holds = std::move(holds)](const Execution &e) {
            return holds(e.registers[index]);
          });
    };
    where("zero", [](int64_t value) { return value == 0; });
    where("positive", [](int64_t value) { return value > 0; });
    if (reg.type.isSigned)
      where("negative", [](int64_t value) { return value < 0; });
  }

  // How many lanes a reduction along them joins, in how many strips.
  void joins(const isa::Iterator &iterator) {
    const int64_t lanes = isa_.param("lanes");
    auto where = [&](const char *what, std::function<bool(int64_t)> holds) {
      add(Group::Corner, fmt::format("{} {}", iterator.name, what),
          [extent = iterator.extent, holds = std::move(holds)](const Execution &e) {
            isa::ScalarContext context;
            context.immediates = e.decoded->values.data();
            context.state = e.registers;
            return holds(isa::evaluate(*extent, context));
          });
    };
    where("joins nothing", [](int64_t elements) { return elements == 0; });
    where("joins some lanes", [lanes](int64_t elements) { return elements % lanes != 0; });
    where("joins all lanes",
          [lanes](int64_t elements) { return elements > 0 && elements % lanes == 0; });
    where("joins strips", [lanes](int64_t elements) { return elements > lanes; });
  }

  void stalls() {
    for (int i = 0; i < static_cast<int>(Stall::Count); ++i) {
      const auto cause = static_cast<Stall>(i);
      if (!canStall(isa_, instruction_, cause))
        continue;
      const Seen seen = [i](const Execution &e) { return e.record->stalls[i] > 0; };
      add(Group::Stall, tilewright::name(cause), seen);
      for (const Operand &operand : instruction_.operands) {
        if (operand.kind != Operand::Kind::Immediate || operand.isBaseRegister ||
            operand.isRegister || operand.greatest - operand.least != 1)
          continue;
        for (int64_t value = operand.least; value <= operand.greatest; ++value)
          add(Group::Cross, fmt::format("{} {}, {}", operand.name, value, tilewright::name(cause)),
              [seen, value, at = static_cast<size_t>(operand.index)](const Execution &e) {
                return e.decoded->values[at] == value && seen(e);
              });
      }
    }
  }

  const isa::Isa &isa_;
  const Instruction &instruction_;
  std::vector<Bin> &bins_;
};

} // namespace

const char *name(Group group) {
  static const char *const names[] = {"mode", "corner", "stall", "cross"};
  return names[static_cast<int>(group)];
}

bool canStall(const isa::Isa &isa, const Instruction &instruction, Stall cause) {
  const UnitTemplate kind = isa.units()[static_cast<size_t>(instruction.unit)].kind;
  const bool isControl = instruction.control != isa::Control::None;
  const bool waitsForUnits =
      instruction.control == isa::Control::Halt || instruction.control == isa::Control::Fence;
  const bool isWork = !instruction.steps.empty();
  const bool spad = reads(instruction, Space::Spad) || writes(instruction, Space::Spad);
  const bool acc = reads(instruction, Space::Acc) || writes(instruction, Space::Acc);
  switch (cause) {
  case Stall::Fetch:
  case Stall::Semaphore:
    return true;
  case Stall::QueueFull:
    return !isControl;
  case Stall::Dram:
    return reads(instruction, Space::Dram) || writes(instruction, Space::Dram);
  case Stall::Dependence:
    return waitsForUnits || (kind == UnitTemplate::Matrix && isWork);
  case Stall::SpadPort:
    // PORT-priority: activations come first at a read port, the vector unit at a write port;
    // weights lose to activations alone, and then the unit is busy with these.
    if (kind == UnitTemplate::Matrix)
      return false;
    return kind == UnitTemplate::Vector ? reads(instruction, Space::Spad) : spad;
  case Stall::AccPort:
    return kind != UnitTemplate::Matrix && acc;
  case Stall::None:
  case Stall::Count:
    break;
  }
  return false;
}

std::vector<Bin> makeBins(const isa::Isa &isa) {
  std::vector<Bin> bins;
  for (const Instruction &instruction : isa.instructions())
    BinMaker(isa, instruction, bins).make();
  return bins;
}

} // namespace tilewright::coverage

// A tree of loops as instructions.
//
// A register is known to hold what its class moves by (loop_registers.h) and an offset; the field
// of an address is its first value less the offset. Where it does not fit, the offset is added to
// the register first.
#include "loop_tree.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace tilewright {

namespace {

class Writer {
public:
  Writer(const Stream &stream, const LoopTree &tree, const isa::Isa &isa,
         const LoopMachine &machine)
      : stream_(stream), tree_(tree), machine_(machine), made_(isa),
        registers_(static_cast<size_t>(machine.registers)) {
    for (const isa::Instruction &instruction : isa.instructions()) {
      memories_.emplace_back();
      for (const isa::Operand &operand : instruction.operands)
        if (operand.kind == isa::Operand::Kind::Memory)
          memories_.back().push_back(&operand);
    }
  }

  Stream write() {
    for (const LoopNode &node : tree_.nodes) {
      if (node.loop < 0) {
        made_.push_back(stream_[node.instruction]);
        continue;
      }
      outer_.assign(node.addressCount, 0);
      classes_.assign(1, {});
      writeLoop(node, tree_.addresses.data() + node.addresses, outer_.data());
    }
    return std::move(made_);
  }

private:
  struct Class {
    uint32_t outer = 0; // what it is in the loop around
    int64_t delta = 0;
    int holder = -1; // the register that holds it
  };
  struct Register {
    bool isKnown = true; // that it holds this class
    uint32_t held = 0;
    int64_t offset = 0;
    bool isTaken = false; // by the loop at hand
  };

  size_t holderOf(uint32_t held) const { return static_cast<size_t>(classes_[held].holder); }
  void emit(const isa::DecodedInstruction &decoded) { made_.push_back({decoded, layer_}); }

  // Makes a register hold a class without an offset.
  void settle(size_t at, uint32_t held) {
    const size_t from = held == 0 ? 0 : static_cast<size_t>(classes_[held].holder);
    emit(machine_.makeAdd(static_cast<int>(at), static_cast<int>(from), -registers_[from].offset));
    registers_[at].isKnown = true;
    registers_[at].held = held;
    registers_[at].offset = 0;
  }

  // Classes of the loop's addresses; those that move here are new.
  std::vector<uint32_t> enter(const RolledLoop &loop, const uint32_t *outer) {
    const size_t first = classes_.size();
    std::vector<uint32_t> inner(loop.deltas.size());
    for (size_t i = 0; i < inner.size(); ++i) {
      inner[i] = outer[i];
      if (loop.deltas[i] == 0)
        continue;
      size_t known = first;
      while (known < classes_.size() &&
             (classes_[known].outer != outer[i] || classes_[known].delta != loop.deltas[i]))
        ++known;
      if (known == classes_.size())
        classes_.push_back({outer[i], loop.deltas[i], -1});
      inner[i] = static_cast<uint32_t>(known);
    }
    return inner;
  }

  bool fits(int64_t address, int64_t offset, const isa::Operand &operand) const {
    const int64_t field = address - offset;
    return field >= operand.least && field <= operand.greatest &&
           std::abs(offset) <= machine_.reach;
  }

  // Calls work(operand, number of the address in the loop) for the addresses of a class that
  // instructions of the body, without loops in it, have.
  template <typename Work> void forEachUse(const RolledLoop &loop, Work work) const {
    size_t at = 0;
    for (const LoopNode &node : loop.body) {
      if (node.loop < 0)
        for (const isa::Operand *operand : memories(node))
          work(*operand, at++);
      else
        at += node.addressCount;
    }
  }
  const std::vector<const isa::Operand *> &memories(const LoopNode &leaf) const {
    return memories_[static_cast<size_t>(stream_.instruction(leaf.instruction))];
  }

  bool fitAll(const RolledLoop &loop, const int64_t *addresses, const std::vector<uint32_t> &inner,
              uint32_t held, int64_t offset) const {
    bool result = std::abs(offset) <= machine_.reach;
    forEachUse(loop, [&](const isa::Operand &operand, size_t at) {
      if (inner[at] == held && !fits(addresses[at], offset, operand))
        result = false;
    });
    return result;
  }

  // Gives each new class a register, and makes all registers that the loop uses hold what it needs.
  void assign(const RolledLoop &loop, const int64_t *addresses, const uint32_t *outer,
              const std::vector<uint32_t> &inner, size_t first) {
    std::vector<bool> isKept(first, false);
    for (size_t i = 0; i < inner.size(); ++i)
      if (loop.deltas[i] == 0)
        isKept[outer[i]] = true;
    std::vector<size_t> without; // classes that have no register yet
    for (size_t made = first; made < classes_.size(); ++made) {
      const uint32_t from = classes_[made].outer;
      if (from != 0 && !isKept[from]) { // it goes on in the register that holds the outer class
        isKept[from] = true;
        classes_[made].holder = classes_[from].holder;
      } else {
        without.push_back(made);
      }
    }
    for (size_t made : without)
      if (const size_t found = choose(loop, addresses, inner, static_cast<uint32_t>(made)); found) {
        registers_[found].isTaken = true;
        classes_[made].holder = static_cast<int>(found);
      }
    for (size_t made : without)
      if (classes_[made].holder < 0)
        settleNew(made);
    for (size_t i = 1; i < registers_.size(); ++i) {
      if (!registers_[i].isTaken)
        continue;
      uint32_t held = registers_[i].held;
      for (size_t made = first; made < classes_.size(); ++made)
        if (classes_[made].holder == static_cast<int>(i))
          held = static_cast<uint32_t>(made);
      if (registers_[i].offset != 0 && !fitAll(loop, addresses, inner, held, registers_[i].offset))
        correct(i);
    }
  }

  // A register that holds what the class goes on from and needs nothing added; 0: there is none.
  size_t choose(const RolledLoop &loop, const int64_t *addresses,
                const std::vector<uint32_t> &inner, uint32_t made) const {
    for (size_t i = 1; i < registers_.size(); ++i)
      if (const Register &each = registers_[i]; !each.isTaken && each.isKnown &&
                                                each.held == classes_[made].outer &&
                                                fitAll(loop, addresses, inner, made, each.offset))
        return i;
    return 0;
  }

  void settleNew(size_t made) {
    size_t best = 0;
    for (size_t i = 1; i < registers_.size(); ++i)
      if (!registers_[i].isTaken &&
          (best == 0 || (registers_[best].isKnown && !registers_[i].isKnown)))
        best = i;
    if (best == 0)
      throw std::logic_error("a nest of loops needs more base registers than there are");
    settle(best, classes_[made].outer);
    registers_[best].isTaken = true;
    classes_[made].holder = static_cast<int>(best);
  }

  void correct(size_t at) {
    emit(machine_.makeAdd(static_cast<int>(at), static_cast<int>(at), -registers_[at].offset));
    registers_[at].offset = 0;
  }

  void writeLoop(const LoopNode &node, const int64_t *addresses, const uint32_t *outer) {
    const RolledLoop &loop = tree_.loops[static_cast<size_t>(node.loop)];
    layer_ = stream_.layer(node.instruction);
    const size_t first = classes_.size();
    const std::vector<uint32_t> inner = enter(loop, outer);
    const std::vector<Register> before = registers_; // those that are taken stay so
    assign(loop, addresses, outer, inner, first);
    const size_t begin = made_.size();
    emit(machine_.makeLoop(loop.count, 0));
    for (size_t made = first; made < classes_.size(); ++made)
      registers_[static_cast<size_t>(classes_[made].holder)].held = static_cast<uint32_t>(made);
    const bool hasLoops = loop.depth > 1;
    for (size_t i = 1; i < registers_.size(); ++i)
      if (!registers_[i].isTaken && hasLoops)
        registers_[i].isKnown = false; // a loop in it may have used it in the copy before
    const std::vector<Register> start = registers_;
    size_t at = 0;
    for (const LoopNode &each : loop.body) {
      if (each.loop < 0)
        writeLeaf(each, addresses + at, inner.data() + at);
      else
        writeLoop(each, addresses + at, inner.data() + at);
      at += each.addressCount;
    }
    layer_ = made_.layer(made_.size() - 1);
    const std::vector<std::pair<int, int64_t>> steps = moveOn(loop, start, first);
    const auto length = static_cast<int64_t>(made_.size() - begin - 1);
    made_.replace(begin, {machine_.makeLoop(loop.count, length, steps), made_.layer(begin)});
    for (size_t i = 1; i < registers_.size(); ++i) {
      registers_[i].isTaken = before[i].isTaken;
      if (registers_[i].held < first)
        continue;
      registers_[i].isKnown = start[i].isTaken;
      const Class &moved = classes_[registers_[i].held];
      registers_[i].held = moved.outer;
      registers_[i].offset += loop.count * moved.delta;
    }
    classes_.resize(first);
  }

  void writeLeaf(const LoopNode &node, const int64_t *addresses, const uint32_t *classes) {
    StreamInstruction made = stream_[node.instruction];
    layer_ = made.layer;
    const std::vector<const isa::Operand *> &operands = memories(node);
    for (size_t i = 0; i < operands.size(); ++i) // before any field is made
      if (classes[i] != 0)
        if (const size_t at = holderOf(classes[i]);
            !fits(addresses[i], registers_[at].offset, *operands[i]))
          correct(at);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (classes[i] == 0)
        continue;
      const size_t at = holderOf(classes[i]);
      const auto index = static_cast<size_t>(operands[i]->index);
      made.decoded.values[index] = addresses[i] - registers_[at].offset;
      made.decoded.bases[index] = static_cast<uint8_t>(at);
    }
    made_.push_back(made);
  }

  // At the end of a body: registers begin the next copy as they began this one. Returns what the
  // loop adds itself.
  std::vector<std::pair<int, int64_t>> moveOn(const RolledLoop &loop,
                                              const std::vector<Register> &start, size_t first) {
    std::vector<std::pair<int, int64_t>> steps, others;
    for (size_t at = 1; at < registers_.size(); ++at) {
      if (!start[at].isTaken)
        continue;
      const int64_t delta = start[at].held < first ? 0 : classes_[start[at].held].delta;
      const int64_t amount = delta + start[at].offset - registers_[at].offset;
      registers_[at].offset = start[at].offset;
      if (amount != 0)
        (machine_.isStep(amount) ? steps : others).emplace_back(static_cast<int>(at), amount);
    }
    const size_t moves = steps.size() + others.size(),
                 inBody = machine_.additions(loop.count, moves, loop.body.back().loop >= 0);
    while (others.size() < inBody || steps.size() > machine_.stepsOf(loop.count)) {
      others.push_back(steps.back());
      steps.pop_back();
    }
    for (const auto &[at, amount] : others)
      emit(machine_.makeAdd(at, at, amount));
    return steps;
  }

  const Stream &stream_;
  const LoopTree &tree_;
  const LoopMachine &machine_;
  std::vector<std::vector<const isa::Operand *>> memories_; // by instruction
  Stream made_;
  std::vector<Register> registers_;
  std::vector<Class> classes_;
  std::vector<uint32_t> outer_;
  int layer_ = -1;
};

} // namespace

Stream writeLoops(const Stream &stream, const LoopTree &tree, const isa::Isa &isa,
                  const LoopMachine &machine) {
  return Writer(stream, tree, isa, machine).write();
}

} // namespace tilewright

// Work of the units before it has addresses: tasks on buffers, grouped in steps (tiles).
#pragma once

#include "tilewright/compiler/schedule/arena.h"
#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/support/chunked_list.h"
#include "tilewright/support/error.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright {

// A piece of on-chip memory that lives from the first task that names it to the last.
struct Buffer {
  isa::Space space = isa::Space::Spad;
  int64_t bytes = 0;
  std::string purpose; // "weights", for messages and the memory map
  Traffic traffic = Traffic::Streamed;
  int64_t bank = -1; // in which it had better be, counted around; -1: any
};

// One instruction whose on-chip addresses are still buffer-relative.
struct Task {
  int instruction = 0; // Isa::instructions() index
  // By operand; for a memory operand on chip: the address within the buffer, else the DRAM address.
  InlineVector<int64_t, isa::limits::operands.count()> values;
  InlineVector<int, isa::limits::operands.count()>
      buffers; // by operand: index in Steps::buffers, or -1
  llvm::SmallVector<std::pair<int, int64_t>, 8> registers; // of the unit -> value it needs
  int layer = -1; // of the model, where steps serve several; -1: Steps::layer

  Task() = default;
  Task(const Task &) = default;
  Task &operator=(const Task &) = default;
  // Lists of tasks that grow move them: SmallVector does not say that its moves never throw.
  Task(Task &&) noexcept = default;
  Task &operator=(Task &&) noexcept = default;
  ~Task() = default;
};

// The memory operands, by number, that an instruction writes.
uint64_t writtenOperands(const isa::Instruction &instruction);

// One tile: what it loads, computes and stores. `constants` read nothing that a previous group
// stores, so they may come in earlier.
struct Step {
  std::vector<Task> constants;
  std::vector<Task> loads;
  std::vector<Task> compute;
  std::vector<Task> stores;
};

// Tasks in little space: what many have alike, all but addresses and buffers, is kept once.
class PackedTasks {
public:
  explicit PackedTasks(const isa::Isa &isa);

  void push_back(const Task &task);
  // Tasks in the order in which they were added, from one on.
  class Reader {
  public:
    Reader(const PackedTasks &tasks, size_t begin) : tasks_(tasks), at_(begin) {}
    Task next();

  private:
    const PackedTasks &tasks_;
    size_t at_;
  };
  size_t end() const { return words_.size(); } // where the next one will stand

private:
  uint32_t numberOf(const Task &form);

  std::vector<std::vector<uint8_t>> memories_; // by instruction: its operands in memory
  std::vector<Task> forms_;                    // without buffers and lower halves of addresses
  std::unordered_multimap<uint64_t, uint32_t> known_; // by hash
  ChunkedList<uint32_t>
      words_; // of a task: its form, and of each address the lower half, the buffer
};

// The steps of one group, in order, with their buffers.
struct Steps {
  int layer = -1;
  std::string plan; // in words
  std::optional<RunnerUp> runnerUp;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  // By buffer: the address that it had when these steps were tried out on an empty chip
  // (emitter.h), or -1 where any will do; empty when they were not.
  std::vector<int64_t> layout;
  int64_t cycles = 0; // of chains: that they take on an empty chip by the estimator; 0: no chain
  bool streamsWeights = false; // each step has constants of its own, at the pace of DRAM

  // The steps of a group may have millions of tasks: a finished step but the first one may be
  // packed, and is empty until it is unpacked.
  void pack(size_t step, const isa::Isa &isa);
  void unpack(size_t step);
  bool isPacked(size_t step) const { return packedSteps_.count(step) != 0; }
  // Calls work(step) for each, whether it is packed or not.
  template <typename Work> void forEachStep(Work work) const {
    for (size_t i = 0; i < steps.size(); ++i)
      if (isPacked(i))
        work(unpacked(i));
      else
        work(steps[i]);
  }

  int add(isa::Space space, int64_t bytes, std::string purpose,
          Traffic traffic = Traffic::Streamed) {
    buffers.push_back({space, bytes, std::move(purpose), traffic});
    return static_cast<int>(buffers.size()) - 1;
  }

private:
  struct PackedStep {
    size_t begin; // in packed_
    std::array<uint32_t, 4> counts{};
  };
  Step unpacked(size_t step) const;

  std::shared_ptr<PackedTasks> packed_; // of all copies: what stands there stays
  std::unordered_map<size_t, PackedStep> packedSteps_;
};

// Equal for steps of which the emitter makes the same program; those of other programs are hardly
// ever equal. Plans in words and layers do not count.
uint64_t hashOf(const Steps &steps);

// The name of an operand or a register, compared word by word: tasks are built by the hundred
// thousand.
class Name {
public:
  Name(const char *text) : Name(std::string_view(text)) {}
  Name(std::string_view text) : length_(text.size()) {
    if (length_ <= sizeof words_)
      text.copy(reinterpret_cast<char *>(words_), length_);
  }
  // Longer ones are nobody's: lowerings ask for short names.
  friend bool operator==(const Name &a, const Name &b) {
    return a.words_[0] == b.words_[0] && a.words_[1] == b.words_[1] && a.length_ == b.length_ &&
           a.length_ <= sizeof words_;
  }
  std::string str() const { return {reinterpret_cast<const char *>(words_), length_}; }

private:
  uint64_t words_[2] = {0, 0};
  size_t length_;
};

// What is in a plan's way is the description, and no want of room: it lacks an instruction or a
// part of one, or has one of another form.
class UnfitDescription : public UserError {
public:
  using UserError::UserError;
};

// Builds tasks of one instruction by the names of operands and registers. Its role has it that the
// operands are there; where the unit lacks a register, UnfitDescription is thrown.
class TaskForm {
public:
  TaskForm(const isa::Isa &isa, const isa::Instruction &instruction);

  class Builder {
  public:
    Builder(const TaskForm &form) : form_(form) {
      task_.instruction = form.instruction_->index;
      task_.values.assign(form.operands_.size(), 0);
      task_.buffers.assign(form.operands_.size(), -1);
    }
    Builder &buffer(Name operand, int buffer, int64_t address) {
      return bufferAt(form_.operand(operand), buffer, address);
    }
    Builder &dram(Name operand, int64_t address) { return imm(operand, address); }
    Builder &imm(Name operand, int64_t value) { return immAt(form_.operand(operand), value); }
    Builder &reg(Name name, int64_t value) { return regAt(form_.reg(name), value); }
    // By number: Operand::index, StateRegister::index.
    Builder &bufferAt(size_t operand, int buffer, int64_t address) {
      task_.buffers[operand] = buffer;
      task_.values[operand] = address;
      return *this;
    }
    Builder &immAt(size_t operand, int64_t value) {
      task_.values[operand] = value;
      return *this;
    }
    Builder &regAt(int reg, int64_t value) {
      task_.registers.emplace_back(reg, value);
      return *this;
    }
    operator Task() { return std::move(task_); }

  private:
    const TaskForm &form_;
    Task task_;
  };
  Builder build() const { return Builder(*this); }
  const isa::Instruction &instruction() const { return *instruction_; }
  size_t operand(Name name) const { // Operand::index
    for (size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i] == name)
        return i;
    hasNoOperand(name);
  }
  int reg(Name name) const { // StateRegister::index
    for (size_t i = 0; i < registers_.size(); ++i)
      if (registers_[i] == name)
        return static_cast<int>(i);
    hasNoRegister(name);
  }

private:
  [[noreturn]] void hasNoOperand(Name name) const;
  [[noreturn]] void hasNoRegister(Name name) const;

  const isa::Instruction *instruction_;
  const isa::Unit *unit_;
  std::vector<Name> operands_, registers_; // by index
};

} // namespace tilewright

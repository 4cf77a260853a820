// Work of the units before it has addresses: tasks on buffers, grouped in steps (tiles).
#pragma once

#include "tilewright/compiler/arena.h"
#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// A piece of on-chip memory that lives from the first task that names it to the last.
struct Buffer {
  isa::Space space = isa::Space::Spad;
  int64_t bytes = 0;
  std::string purpose; // "weights", for messages and the memory map
  Traffic traffic = Traffic::Streamed;
};

// One instruction whose on-chip addresses are still buffer-relative.
struct Task {
  int instruction = 0;         // Isa::instructions() index
  std::vector<int64_t> values; // by operand; for a memory operand on chip: the address within the
                               // buffer, else the DRAM address
  std::vector<int> buffers;    // by operand: index in Steps::buffers, or -1
  std::vector<std::pair<int, int64_t>> registers; // register of the unit -> value it needs
  int layer = -1; // of the model, where steps serve several; -1: Steps::layer
};

// One tile: what it loads, computes and stores. `constants` read nothing that a previous group
// stores, so they may come in earlier.
struct Step {
  std::vector<Task> constants;
  std::vector<Task> loads;
  std::vector<Task> compute;
  std::vector<Task> stores;
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

  int add(isa::Space space, int64_t bytes, std::string purpose,
          Traffic traffic = Traffic::Streamed) {
    buffers.push_back({space, bytes, std::move(purpose), traffic});
    return static_cast<int>(buffers.size()) - 1;
  }
};

// The operand of that name; throws UserError when the description does not have it.
int operandNamed(const isa::Instruction &instruction, const char *name);

// Builds tasks of one instruction, by the names of its operands and registers.
class TaskForm {
public:
  // Throws UserError when the ISA has no such instruction: `needs` is the user's operator that
  // needs it.
  TaskForm(const isa::Isa &isa, const std::string &name);

  class Builder {
  public:
    Builder(const TaskForm &form);
    Builder &buffer(const char *operand, int buffer, int64_t address);
    Builder &dram(const char *operand, int64_t address);
    Builder &imm(const char *operand, int64_t value);
    Builder &reg(const char *name, int64_t value);
    operator Task() { return std::move(task_); }

  private:
    const TaskForm &form_;
    Task task_;
  };
  Builder build() const { return Builder(*this); }
  const isa::Instruction &instruction() const { return *instruction_; }

private:
  const isa::Instruction *instruction_;
  const isa::Unit *unit_;
};

} // namespace tilewright

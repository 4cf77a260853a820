// What the vector unit has selected.
#pragma once

#include "tilewright/compiler/schedule/task.h"

#include <optional>

namespace tilewright {

// What is selected already (a block of parameters, a table) is not selected again: pieces were made
// without knowing what comes before them.
class Selections {
public:
  explicit Selections(const isa::Isa &isa) {
    auto indexOf = [&](isa::Role role) {
      const isa::Instruction *instruction = isa.withRole(role);
      return instruction ? instruction->index : -1;
    };
    block_ = indexOf(isa::Role::LoadChannels);
    tables_[0] = indexOf(isa::Role::LoadTable8), tables_[1] = indexOf(isa::Role::LoadTable16);
  }
  bool isRepeated(const Task &task) {
    if (task.instruction == block_)
      return repeats(selectedBlock_, task);
    if (task.instruction == tables_[0] || task.instruction == tables_[1])
      return repeats(selectedTable_, task);
    return false;
  }

private:
  static bool repeats(std::optional<Task> &selected, const Task &task) {
    if (selected && selected->instruction == task.instruction && selected->values == task.values &&
        selected->buffers == task.buffers)
      return true;
    selected = task;
    return false;
  }
  int block_, tables_[2];
  std::optional<Task> selectedBlock_, selectedTable_;
};

} // namespace tilewright

// The order in which a region's stages are dispatched. Instructions are dispatched in order, and
// each unit has a short queue: behind many of one unit's, those of another one come late.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/task_times.h"

namespace tilewright {

class Interleaving {
public:
  explicit Interleaving(const LoweringContext &context)
      : isa_(context.isa), times_(context.isa, context.machine, context.plans),
        free_(context.isa.units().size(), 0) {}

  // The tasks of stages that work on different tiles, by when they will begin; step after step.
  // Tasks of a stage, and those of a unit, stay in the order that they have stage by stage. Stages
  // that stand side by side hand tiles on from step to step.
  std::vector<Task> run(std::vector<std::vector<Task>> stages);

private:
  size_t unitOf(const Task &task) const {
    return static_cast<size_t>(isa_.instructions()[task.instruction].unit);
  }

  const isa::Isa &isa_;
  TaskTimes times_;
  std::vector<int64_t> free_; // by unit: when it has done what it has, of all steps
  std::vector<int64_t> ends_; // by stage: when it ends in the step before
};

} // namespace tilewright

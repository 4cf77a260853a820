// The order in which a region's stages are dispatched. Instructions are dispatched in order, and
// each unit has a short queue: behind many of one unit's, those of another one come late.
#pragma once

#include "lowering.h"

#include "tilewright/compiler/schedule/task_times.h"

namespace tilewright {

class Interleaving {
public:
  // `buffers`: of the steps; more may come. Null: stages wait for each other as a whole.
  explicit Interleaving(const LoweringContext &context,
                        const std::vector<Buffer> *buffers = nullptr);

  // The tasks of stages that work on different tiles, by when they will begin; step after step.
  // Tasks of a stage, and those of a unit, stay in the order that they have stage by stage. Stages
  // that stand side by side hand tiles on from step to step: what a stage reads is ready when the
  // one before has ended, or, of buffers that are known, when they are written. A buffer that wants
  // a bank takes the place of one of its size there.
  std::vector<Task> run(std::vector<std::vector<Task>> stages);

private:
  size_t unitOf(const Task &task) const {
    return static_cast<size_t>(isa_.instructions()[task.instruction].unit);
  }

  struct Use { // of a buffer: the latest ends
    int64_t written = 0, read = 0;
  };
  bool writes(const Task &task, size_t operand) const {
    return (written_[static_cast<size_t>(task.instruction)] >> operand & 1) != 0;
  }
  const Buffer *bufferOf(const Task &task, size_t operand) const {
    const int buffer = task.buffers[operand];
    return buffer < 0 ? nullptr : &(*buffers_)[static_cast<size_t>(buffer)];
  }
  std::pair<int64_t, int64_t> placeOf(const Buffer &buffer) const {
    return {buffer.bytes, buffer.bank % banks_};
  }
  int64_t readyFor(const Task &task) const;
  void use(const Task &task, int64_t end);

  const isa::Isa &isa_;
  const std::vector<Buffer> *buffers_;
  int64_t banks_;
  TaskTimes times_;
  std::vector<uint64_t> written_;                               // by instruction: the operands
  llvm::DenseMap<int, Use> uses_;                               // by buffer
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> places_; // when they were used last
  std::vector<int64_t> free_; // by unit: when it has done what it has, of all steps
  std::vector<int64_t> ends_; // by stage: when it ends in the step before
};

} // namespace tilewright

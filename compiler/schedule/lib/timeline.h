// Steps of groups that follow each other, in one order: while a unit has a group's last tiles,
// other units have the first ones of the group behind it.
//
// A step of a later group may stand beside one of an earlier group when it neither reads nor writes
// what that and the steps behind it move in DRAM. Steps that stand side by side are one step for
// the emitter; their tasks are dispatched by when they will begin (interleave.h).
#pragma once

#include "interleave.h"
#include "lowering.h"

#include "tilewright/compiler/schedule/hazards.h"

namespace tilewright {

class Timeline {
public:
  explicit Timeline(LoweringContext &context);
  // Adds a group behind the others, which are there whole. Returns how many of its steps stand
  // beside earlier ones.
  size_t add(Steps steps);
  // All of it, as one group's steps.
  Steps take();

private:
  struct Traffic {
    std::vector<isa::Range> reads, writes; // of DRAM
  };
  struct Member {
    Step step;
    Traffic traffic;
    int group;
  };
  struct Slot {
    std::vector<Member> members;
    std::vector<int64_t> busy; // cycles, by unit
  };
  const isa::Unit &unitOf(const Task &task) const;
  Traffic trafficOf(const Step &step);
  std::vector<int64_t> busyOf(const Step &step);
  static bool conflicts(const Traffic &earlier, const Traffic &later);
  size_t firstSlotFor(const Traffic &traffic) const;
  size_t slotFor(const std::vector<int64_t> &busy, size_t first) const;
  void shareBanks(const Slot &slot, int64_t &newest);
  int64_t productsOf(const std::vector<Task> &tasks);

  LoweringContext &context_;
  TaskTimes times_;
  AccessFinder accesses_;
  std::vector<std::vector<int64_t>> resets_; // by unit: registers
  int groups_ = 0;
  Steps all_;
  std::vector<Slot> slots_;
};

} // namespace tilewright

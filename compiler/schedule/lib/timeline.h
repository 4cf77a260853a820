// Steps of groups that follow each other, in one order: while a unit has a group's last tiles,
// other units have the first ones of the group behind it.
//
// A step of a later group may stand beside one of an earlier group when it neither reads nor writes
// what that and the steps behind it move in DRAM. Steps that stand side by side are one step for
// the emitter; their tasks are dispatched by when they will begin (interleave.h).
#pragma once

#include "interleave.h"
#include "lowering.h"

#include <optional>
#include <vector>

namespace tilewright {

class Timeline {
public:
  explicit Timeline(LoweringContext &context);
  // Adds a group behind the others, which are there whole. Returns how many of its steps stand
  // beside earlier ones. `leads`: of what its first step loads, so many eighths come in
  // pieces, each of them as soon as others have made it, if they make it one after the other.
  size_t add(Steps steps, int64_t leads = 0);
  // All of it, as one group's steps.
  Steps take();

private:
  // Of DRAM, bytes: from `begin` to `end`, or of them rows of `width` that begin `pitch` apart.
  struct Rows {
    int64_t begin, end;
    int64_t width = 0, pitch = 0;
    bool meets(const Rows &other) const;
  };
  struct Traffic {
    std::vector<Rows> reads, writes;
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
  std::optional<Rows> rowsOf(const Task &task, const std::vector<int64_t> &registers) const;
  Traffic trafficOf(const Step &step);
  std::vector<int64_t> busyOf(const Step &step);
  static bool conflicts(const Traffic &earlier, const Traffic &later);
  std::vector<Task> piecesOf(const Task &load) const;
  size_t lead(Step &first, int64_t eighths);
  void put(Member member, size_t slot);
  size_t firstSlotFor(const Traffic &traffic) const;
  size_t slotFor(const std::vector<int64_t> &busy, size_t first) const;
  void shareBanks(const Slot &slot, int64_t &newest);
  int64_t productsOf(const std::vector<Task> &tasks);

  LoweringContext &context_;
  TaskTimes times_;
  std::vector<std::vector<int64_t>> resets_; // by unit: registers
  int groups_ = 0;
  Steps all_;
  std::vector<Slot> slots_;
};

} // namespace tilewright

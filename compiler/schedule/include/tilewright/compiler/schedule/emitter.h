// Steps in, synchronized instructions out.
//
// 1. Program order: before a step computes, the next step's loads are emitted (double buffering),
// as far as their buffers fit on chip
//    beside what the step itself needs; loads of a new group come after the stores of the group
//    before, its constants need not, nor a chain's first inputs that were there already. They come
//    when that has nothing more to load; weights that stream, of two groups, while the bus is idle.
// 2. A buffer gets its address when the first task that names it is emitted, and gives it back
// after the last (arena.h). Of weights that stream it is that of a buffer like it, the one that was
// used longest ago, so that addresses come round and programs repeat (loops.h). Steps that fit only
// as they were tried out keep the layout that they had then, turned by whole banks to where the
// group before leaves room.
// 3. A `set` instruction is emitted when a register of a unit must change, unless an earlier one
// has a place left and nothing since has needed or set that register; parameters or a table are
// selected when others were, or none.
// 4. A hazard between two units (hazards.h) that earlier edges do not already order becomes an
// edge: a signal on the earlier instruction
//    and a wait on the later one, on the semaphore of that lane and that unit.
#pragma once

#include "tilewright/compiler/schedule/arena.h"
#include "tilewright/compiler/schedule/hazards.h"
#include "tilewright/compiler/schedule/stream.h"
#include "tilewright/compiler/schedule/task.h"
#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include "llvm/ADT/ArrayRef.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tilewright {

class TaskTimes;

enum class Buffering { None, Single, Double };

struct MemoryPlan {
  int64_t peakBytes = 0; // greatest address used
  int64_t lowerBoundBytes =
      0; // the most bytes that are live at once: no plan of this order needs less
};

// A group whose steps do not fit on chip.
class NoSpace : public UserError {
public:
  NoSpace(const UserError &error, size_t group) : UserError(error), group_(group) {}
  size_t group() const { return group_; } // counted from 0, as they were appended

private:
  size_t group_;
};

class Emitter {
public:
  // `alone`: groups that begin on an empty chip, without constants that came in early. `times`: by
  // which constants of the next group come in before the last step of the one at hand; or null
  // where a plan is tried out, which sets registers only as they must change: what is saved
  // otherwise ranks plans by less than their neighbors in the program change them.
  Emitter(const isa::Isa &isa, Buffering buffering, std::set<size_t> alone = {},
          TaskTimes *times = nullptr);

  // Adds a group. `layerName` is for messages. Throws NoSpace when a step does not fit on chip.
  void append(Steps steps, const std::string &layerName);
  // Ends the program: emits what is pending and a halt.
  Stream finish();

  MemoryPlan plan(isa::Space space) const;
  // The addresses that the buffers of the group appended last were given.
  const std::vector<int64_t> &layout() const { return last_->given; }

private:
  struct Group {
    Steps work;
    std::string name;
    size_t index = 0;                        // as they were appended
    Placement placement = Placement::Spread; // in the scratchpad
    int64_t largest = 0;                     // bytes of a buffer in the scratchpad
    int64_t largestSum = 0;                  // and in the accumulators
    std::vector<int> uses;                   // by buffer: tasks not yet emitted
    std::vector<size_t> constants;           // by step: those that are emitted
    size_t ahead = 0;                        // steps whose constants came in early
    size_t early = 0;                        // loads of the first step that need not wait
    size_t loaded = 0;                       // of these, that are emitted
    size_t loads = 0;                        // tasks of load DMAs not yet emitted
    // Cycles that units that compute are busy, by unit: with what was emitted so far, and until the
    // group ends.
    std::vector<int64_t> busy, all;
    int64_t bus = 0; // when the bus has done what was emitted so far, from the group's beginning
    std::vector<std::optional<int64_t>> address; // by buffer, while it is live
    std::vector<int64_t> stood;                  // by buffer: the same, -1: it has had none
    std::vector<int> like;   // by buffer: the last one before it that is like it, -1: there is none
    std::vector<int> beside; // by buffer: the large one with which it is read; below 0: not one
    std::vector<int64_t> given; // by buffer: its address, once it has had one
    bool isMirrored = false;    // the layout stands upside down,
    int64_t turnedBy = 0;       // and begins so many bytes higher
  };
  struct Pending {
    std::shared_ptr<Group> group;
    size_t step;
    bool loadsEmitted = false;
  };
  struct UnitState {
    std::vector<int64_t> registers;
    std::vector<size_t> touched; // by register: behind the last instruction that sets or needs it
    std::deque<size_t> spare;    // where the latest ones stand that set a register twice
    LaneClock current;           // what has ended for sure when its latest instruction starts
  };
  // What has ended for sure when an instruction of a lane starts: of those that learn more than the
  // one before them in their lane.
  struct Known {
    int32_t sequence; // the first one that knows it
    LaneClock ended;
  };
  struct LaneState {
    ChunkedList<uint32_t> stream; // by sequence number - 1: index in stream_
    ChunkedList<Known> known;
    LaneClock knownTo(int lane, int32_t sequence) const;
  };

  void advance();
  void process(Pending *next);
  bool isAlone(const Group &group) const { return alone_.count(group.index) != 0; }
  bool tryHoist(Group &group, llvm::ArrayRef<Task> tasks, const Pending &now);
  void count(const Task &task, size_t instructions);
  isa::Range inDram(const Task &task);
  void findEarlyLoads(Group &group, const Group &before);
  static llvm::ArrayRef<Task> earlyLoads(const Group &group);
  static int64_t timeIn(const Group &now);
  bool hasTimeFor(const Group &now, int64_t cycles) const;
  bool hoistAhead(Group &now);
  bool hoistConstants(Group &now, Group &next);
  bool hoist(Group &now, Group &next, const Task &task);
  bool reserve(Group &group);
  bool reserve(Group &group, llvm::ArrayRef<Task> tasks);
  bool reserve(Group &group, llvm::ArrayRef<int> buffers);
  bool mayBegin(Group &group) const;
  bool accumulatorsSuffice(const Group &group, const Step &step) const;
  bool turn(Group &group, llvm::ArrayRef<Task> tasks) const;
  bool stands(const Group &group, llvm::ArrayRef<Task> tasks) const;
  bool allocateFor(Group &group, const Task &task, std::vector<int> *allocated);
  static llvm::ArrayRef<Task> constantsLeft(const Group &group, size_t step);
  void emitConstants(Group &group, size_t step);
  void emitAll(Group &group, llvm::ArrayRef<Task> tasks);
  void emit(Group &group, const Task &task);
  void emitInstruction(Group &group, const Task &task);
  bool isSelected(const Group &group, const Task &task);
  void setRegisters(int unit, llvm::ArrayRef<std::pair<int, int64_t>> wanted);
  bool setEarlier(int unit, int index, int64_t value);
  bool crowded(int lane, int waiting, size_t from) const;
  int semaphoreOf(size_t lane, int unit);
  void synchronize(isa::DecodedInstruction decoded, const MemoryAccesses &accesses);
  uint32_t waitFor(const MemoryAccesses &accesses, int lane, int unit, int32_t sequence);
  void fence();
  std::optional<int64_t> allocate(Group &group, int buffer, int64_t beside = -1);
  std::optional<int64_t> again(const Group &group, int buffer, int64_t beside);
  std::optional<int64_t> allocateIn(Arena &arena, const Group &group, int buffer,
                                    int64_t beside = -1) const;
  void findBeside(Group &group, const Task &task) const;
  int64_t largeOperand(const Group &group, const Task &task, int small) const;
  static bool isPlanned(const Group &group, int buffer);
  static bool isPlaced(const Group &group);
  int64_t planned(const Group &group, int buffer) const;
  Arena &arena(isa::Space space);

  const isa::Isa &isa_;
  Buffering buffering_;
  std::set<size_t> alone_; // groups
  TaskTimes *times_;
  Arena spad_, acc_;
  AccessFinder accesses_;
  HazardTracker hazards_;
  int64_t semaphoreMax_;
  std::vector<const isa::Instruction *> sets_; // by unit: what sets its registers
  // By instruction that selects parameters or a table: whose it selected last, if nothing was
  // loaded there since.
  struct Selected {
    size_t group;
    Task task;
  };
  std::map<int, std::optional<Selected>> selected_;
  // By instruction of the description: its lane, and its operands that may stand in buffers.
  std::vector<int> laneOf_;
  std::vector<bool> isLoad_, isMove_; // by instruction: a load DMA's, any DMA's
  std::vector<InlineVector<uint8_t, isa::limits::operands.count()>> onChip_;
  std::vector<uint64_t> written_; // by instruction: operands
  std::vector<UnitState> units_;
  std::vector<LaneState> lanes_;
  // [signaling lane][waiting unit]: where in the stream the latest ones wait, as many as a
  // semaphore counts.
  std::vector<std::vector<std::deque<size_t>>> edges_;
  std::vector<std::vector<int>> semaphore_;
  int nextSemaphore_ = 0; // to be given, where they are given as pairs meet
  Stream stream_;
  bool mayHoist_ = true;                     // constants find room, as far as is known
  size_t groups_ = 0;                        // appended
  std::shared_ptr<Group> last_;              // of them
  std::deque<std::shared_ptr<Group>> ahead_; // whose steps are yet to come
  std::optional<Pending> pending_;
  Group *current_ = nullptr; // whose step is at hand
  bool isAhead_ = false;     // what is emitted is a later group's
  int64_t waiting_ = 1;      // loads that may wait in their queue for no loss
  int layer_ = -1;
  std::string layerName_; // of the task at hand, for messages
};

} // namespace tilewright

#include "tilewright/compiler/schedule/emitter.h"

#include "tilewright/compiler/schedule/lay_out.h"
#include "tilewright/compiler/schedule/task_times.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace tilewright {

// Of large buffers with which a small one is read; those are so many times as large.
static constexpr int none = -1, several = -2;
static constexpr int64_t largeTimes = 8;
// Groups that are known before one is emitted: it, the next one, and the one after that.
static constexpr size_t seen = 2;
// Instructions that set one register twice, of a unit, that are remembered.
static constexpr size_t mostSpare = 4;

static Arena arenaOf(const isa::Isa &isa, isa::Space space) {
  const isa::Memory &memory = isa.memory(space);
  return Arena(static_cast<int64_t>(memory.bytes), static_cast<int64_t>(memory.bankBytes()),
               alignmentOf(isa, memory));
}

// Of two load DMAs, most pairs of units never meet.
static bool hasTwoLoads(const isa::Isa &isa) {
  return std::count_if(isa.units().begin(), isa.units().end(), [](const isa::Unit &unit) {
           return unit.kind == isa::UnitTemplate::DmaLoad;
         }) > 1;
}

Emitter::Emitter(const isa::Isa &isa, Buffering buffering, std::set<size_t> alone, TaskTimes *times)
    : isa_(isa), buffering_(buffering), alone_(std::move(alone)), times_(times),
      spad_(arenaOf(isa, isa::Space::Spad)), acc_(arenaOf(isa, isa::Space::Acc)), accesses_(isa),
      hazards_(laneCount(isa)), semaphoreMax_(isa.param("semaphore_max")),
      sets_(isa.units().size(), nullptr), stream_(isa) {
  size_t count = isa.units().size();
  auto lanes = static_cast<size_t>(laneCount(isa));
  lanes_.resize(lanes);
  edges_.assign(lanes, std::vector<std::deque<size_t>>(count));
  semaphore_.assign(lanes, std::vector<int>(count, -1));
  for (const isa::Unit &unit : isa.units()) {
    UnitState state;
    for (const isa::StateRegister &reg : unit.registers)
      state.registers.push_back(reg.reset);
    state.touched.assign(state.registers.size(), 0);
    state.current.assign(lanes, 0);
    units_.push_back(std::move(state));
  }
  // A semaphore for each lane that can signal and each other unit that can wait.
  std::vector<bool> isUsed(lanes, false);
  for (const isa::Instruction &instruction : isa.instructions()) {
    laneOf_.push_back(laneOf(isa, instruction));
    const isa::UnitTemplate kind = isa.units()[static_cast<size_t>(instruction.unit)].kind;
    isLoad_.push_back(kind == isa::UnitTemplate::DmaLoad);
    isMove_.push_back(isLoad_.back() || kind == isa::UnitTemplate::DmaStore);
    if (isLoad_.back())
      waiting_ = std::max(1, isa.units()[static_cast<size_t>(instruction.unit)].queueDepth / 4);
    written_.push_back(writtenOperands(instruction));
    onChip_.emplace_back();
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory && operand.space != isa::Space::Dram)
        onChip_.back().push_back(static_cast<uint8_t>(operand.index));
    if (instruction.control == isa::Control::None && !instruction.steps.empty())
      isUsed[static_cast<size_t>(laneOf_.back())] = true;
    if (!instruction.sets.empty())
      sets_[static_cast<size_t>(instruction.unit)] = &instruction;
  }
  for (const isa::Role role :
       {isa::Role::LoadChannels, isa::Role::LoadTable8, isa::Role::LoadTable16})
    if (const isa::Instruction *instruction = isa.withRole(role))
      selected_[instruction->index];
  int needed = 0;
  for (size_t lane = 0; lane < lanes; ++lane)
    for (const isa::Unit &unit : isa.units())
      if (isUsed[lane] && unit.index != unitOfLane(isa, static_cast<int>(lane)) &&
          unit.kind != isa::UnitTemplate::Sequencer)
        semaphore_[lane][static_cast<size_t>(unit.index)] = needed++;
  if (needed <= isa.semaphores())
    return;
  if (!hasTwoLoads(isa))
    throw UserError({},
                    fmt::format("target '{}' has {} semaphores; {} units need {}", isa.target(),
                                isa.semaphores(), count - 1, needed),
                    fmt::format("set params: {{ semaphores: \"{}\" }}", needed));
  semaphore_.assign(lanes, std::vector<int>(count, -1));
}

// The semaphore by which a lane tells a unit that it has ended; -1: all are given to other pairs.
int Emitter::semaphoreOf(size_t lane, int unit) {
  int &semaphore = semaphore_[lane][static_cast<size_t>(unit)];
  if (semaphore < 0 && nextSemaphore_ < isa_.semaphores())
    semaphore = nextSemaphore_++;
  return semaphore;
}

Arena &Emitter::arena(isa::Space space) { return space == isa::Space::Spad ? spad_ : acc_; }

MemoryPlan Emitter::plan(isa::Space space) const {
  const Arena &arena = space == isa::Space::Spad ? spad_ : acc_;
  return {arena.highWater(), arena.peakBytes()};
}

void Emitter::append(Steps steps, const std::string &layerName) {
  auto group = std::make_shared<Group>();
  group->work = std::move(steps);
  group->name = layerName;
  group->index = groups_++;
  auto bankBytes = static_cast<int64_t>(isa_.memory(isa::Space::Spad).bankBytes());
  for (const Buffer &buffer : group->work.buffers) {
    int64_t &largest = buffer.space == isa::Space::Spad ? group->largest : group->largestSum;
    largest = std::max(largest, buffer.bytes);
  }
  if (group->largest > bankBytes)
    group->placement = Placement::Packed;
  std::map<std::tuple<isa::Space, int64_t, std::string, Traffic, int64_t>, int> kinds;
  group->given.assign(group->work.buffers.size(), 0);
  group->stood.assign(group->work.buffers.size(), -1);
  group->beside.assign(group->work.buffers.size(), none);
  for (const Buffer &buffer : group->work.buffers) {
    const auto number = static_cast<int>(group->like.size());
    const auto [last, isNew] = kinds.try_emplace(
        std::tuple(buffer.space, buffer.bytes, buffer.purpose, buffer.traffic, buffer.bank),
        number);
    group->like.push_back(isNew ? -1 : last->second);
    last->second = number;
  }
  if (times_ && !ahead_.empty())
    findEarlyLoads(*group, *ahead_.back());
  last_ = group;
  group->uses.assign(group->work.buffers.size(), 0);
  group->constants.assign(group->work.steps.size(), 0);
  group->busy.assign(isa_.units().size(), 0);
  group->all = group->busy;
  group->address.assign(group->work.buffers.size(), std::nullopt);
  bool multiplies = false;
  group->work.forEachStep([&](const Step &step) {
    for (const std::vector<Task> *tasks :
         {&step.constants, &step.loads, &step.compute, &step.stores})
      for (const Task &task : *tasks) {
        group->loads += isLoad_[task.instruction];
        if (times_ && !isMove_[task.instruction])
          group->all[isa_.instructions()[task.instruction].unit] += times_->cyclesOf(task);
        for (size_t operand : onChip_[task.instruction])
          if (const int buffer = task.buffers[operand]; buffer >= 0)
            ++group->uses[buffer];
        multiplies |= isa_.units()[isa_.instructions()[task.instruction].unit].kind ==
                      isa::UnitTemplate::Matrix;
        if (!multiplies)
          findBeside(*group, task);
      }
  });
  if (multiplies) // the other bank is the array's
    group->beside.assign(group->work.buffers.size(), none);
  if (group->work.steps.empty())
    return;
  ahead_.push_back(std::move(group));
  if (ahead_.size() > seen)
    advance();
}

// What a task touches in DRAM.
isa::Range Emitter::inDram(const Task &task) {
  const int unit = isa_.instructions()[task.instruction].unit;
  isa::DecodedInstruction decoded;
  decoded.instruction = task.instruction;
  decoded.values = task.values;
  std::vector<int64_t> registers = units_[unit].registers;
  for (auto [index, value] : task.registers)
    registers[index] = value;
  for (const MemoryAccess &access : accesses_.of(decoded, registers))
    if (access.space == isa::Space::Dram)
      return access.range;
  return {};
}

// Loads of the first step into the scratchpad that read nothing that the group before stores, and
// are of other buffers than the rest of its loads, come first among them. Of chains alone: other
// groups' operands would come before their inputs, and buffers without places lie otherwise.
void Emitter::findEarlyLoads(Group &group, const Group &before) {
  const bool isChain = group.work.cycles > 0;
  if (group.work.steps.empty() || !isChain || !isPlaced(group))
    return;
  std::vector<isa::Range> stored;
  before.work.forEachStep([&](const Step &step) {
    for (const std::vector<Task> *tasks : {&step.compute, &step.stores})
      for (const Task &task : *tasks)
        if (isMove_[task.instruction] && !isLoad_[task.instruction])
          stored.push_back(inDram(task));
  });
  std::vector<Task> &loads = group.work.steps.front().loads;
  auto isLate = [&](const Task &task) {
    const isa::Range read = inDram(task);
    return std::any_of(stored.begin(), stored.end(), [&](const isa::Range &range) {
      return range.begin < read.end && read.begin < range.end;
    });
  };
  auto takesAccumulators = [&](const Task &task) {
    return std::any_of(task.buffers.begin(), task.buffers.end(), [&](int buffer) {
      return buffer >= 0 && group.work.buffers[buffer].space == isa::Space::Acc;
    });
  };
  std::set<int> late; // buffers
  for (const Task &task : loads)
    if (isLate(task) || takesAccumulators(task))
      late.insert(task.buffers.begin(), task.buffers.end());
  late.erase(-1);
  std::vector<Task> early, others;
  for (Task &task : loads) {
    const bool waits = std::any_of(task.buffers.begin(), task.buffers.end(),
                                   [&](int buffer) { return late.count(buffer) != 0; });
    (waits ? others : early).push_back(std::move(task));
  }
  group.early = early.size();
  loads = std::move(early);
  std::move(others.begin(), others.end(), std::back_inserter(loads));
}

// Emits the first group that waits, but for its last step.
void Emitter::advance() {
  const std::shared_ptr<Group> group = ahead_.front();
  for (size_t i = 0; i < group->work.steps.size(); ++i) {
    group->work.unpack(i);
    Pending next{group, i};
    if (pending_)
      process(&next);
    pending_ = std::move(next);
    if (i == 0)
      ahead_.pop_front();
  }
}

Stream Emitter::finish() {
  while (!ahead_.empty())
    advance();
  if (pending_)
    process(nullptr);
  pending_.reset();
  isa::DecodedInstruction halt;
  const isa::Instruction *instruction = nullptr;
  for (const isa::Instruction &candidate : isa_.instructions())
    if (candidate.control == isa::Control::Halt)
      instruction = &candidate;
  halt.instruction = instruction->index;
  stream_.push_back({halt, -1});
  return std::move(stream_);
}

bool Emitter::isPlanned(const Group &group, int buffer) {
  return !group.work.layout.empty() && group.work.layout[buffer] >= 0;
}

// Whether the layout has a place for each buffer in the scratchpad.
bool Emitter::isPlaced(const Group &group) {
  for (size_t buffer = 0; buffer < group.work.buffers.size(); ++buffer)
    if (group.work.buffers[buffer].space == isa::Space::Spad &&
        !isPlanned(group, static_cast<int>(buffer)))
      return false;
  return true;
}

// Where the layout, as it stands now, has a buffer.
int64_t Emitter::planned(const Group &group, int buffer) const {
  const Buffer &info = group.work.buffers[buffer];
  const int64_t address = group.work.layout[buffer];
  if (info.space != isa::Space::Spad)
    return address;
  return ((group.isMirrored ? spad_.mirror(address, info.bytes) : address) + group.turnedBy) %
         spad_.bytes();
}

std::optional<int64_t> Emitter::allocateIn(Arena &arena, const Group &group, int buffer,
                                           int64_t beside) const {
  const Buffer &info = group.work.buffers[buffer];
  if (isPlanned(group, buffer) &&
      arena.allocateAt(planned(group, buffer), info.bytes, info.traffic))
    return planned(group, buffer);
  bool isSpad = info.space == isa::Space::Spad;
  const auto bankBytes = static_cast<int64_t>(isa_.memory(info.space).bankBytes());
  if (isSpad)
    return arena.allocate(info.bytes, info.traffic, group.placement, group.largest);
  if (info.bank >= 0)
    return arena.allocate(info.bytes, info.traffic, Placement::Turns, group.largestSum,
                          info.bank * bankBytes % arena.bytes());
  return arena.allocate(info.bytes, info.traffic, Placement::Alternate, group.largestSum, beside);
}

// Enters which small buffers of accumulators the task reads beside large ones.
void Emitter::findBeside(Group &group, const Task &task) const {
  auto readBuffer = [&](size_t operand) {
    const bool isRead = (written_[static_cast<size_t>(task.instruction)] >> operand & 1) == 0;
    const int buffer = isRead ? task.buffers[operand] : -1;
    return buffer >= 0 && group.work.buffers[buffer].space == isa::Space::Acc ? buffer : -1;
  };
  for (size_t operand : onChip_[task.instruction])
    for (size_t other : onChip_[task.instruction]) {
      const int small = readBuffer(operand), large = readBuffer(other);
      if (small >= 0 && large >= 0 &&
          group.work.buffers[large].bytes >= largeTimes * group.work.buffers[small].bytes)
        group.beside[small] =
            group.beside[small] == none || group.beside[small] == large ? large : several;
    }
}

// Of a small buffer of accumulators: the address of a large one with which it will be read, or that
// the task has beside it.
int64_t Emitter::largeOperand(const Group &group, const Task &task, int small) const {
  const Buffer &info = group.work.buffers[small];
  if (const int large = group.beside[small]; large >= 0 && group.address[large]) {
    const auto bankBytes = static_cast<int64_t>(isa_.memory(isa::Space::Acc).bankBytes());
    return (*group.address[large] + bankBytes) % acc_.bytes(); // in another bank
  }
  for (const int other : task.buffers)
    if (other >= 0 && group.address[other] && group.work.buffers[other].space == info.space &&
        info.space == isa::Space::Acc && group.work.buffers[other].bytes >= largeTimes * info.bytes)
      return *group.address[other];
  return -1;
}

std::optional<int64_t> Emitter::allocate(Group &group, int buffer, int64_t beside) {
  std::optional<int64_t> address =
      group.work.streamsWeights ? again(group, buffer, beside) : std::nullopt;
  if (!address)
    address = allocateIn(arena(group.work.buffers[buffer].space), group, buffer, beside);
  if (address)
    group.given[buffer] = group.stood[buffer] = *address;
  return address;
}

// Where a buffer like this one stood longest ago, if that is free, and another was released since:
// addresses that come round make a program that repeats. Nothing while they are one alone.
std::optional<int64_t> Emitter::again(const Group &group, int buffer, int64_t beside) {
  constexpr size_t mostSeen = 16;
  constexpr int mostLookedAt = 64; // few addresses may be those of very many buffers
  const Buffer &info = group.work.buffers[buffer];
  if (isPlanned(group, buffer) || beside >= 0 || info.bank >= 0)
    return std::nullopt;
  Arena &arena = this->arena(info.space);
  llvm::SmallVector<int64_t, mostSeen> seen;
  std::optional<int64_t> oldest;
  int lookedAt = 0;
  for (int before = group.like[buffer];
       before >= 0 && seen.size() < mostSeen && lookedAt < mostLookedAt;
       before = group.like[before], ++lookedAt) {
    const int64_t address = group.stood[before];
    if (address < 0 || llvm::is_contained(seen, address))
      continue;
    seen.push_back(address);
    if (arena.isFree(address, info.bytes) && arena.releasesSince(address, info.bytes) > 0)
      oldest = address;
  }
  if (seen.size() < 2 || !oldest)
    return std::nullopt;
  arena.allocateAt(*oldest, info.bytes, info.traffic);
  return oldest;
}

// Gives an address to each of the task's buffers that has none yet. False (and nothing but
// `allocated` to undo) when one does not fit.
bool Emitter::allocateFor(Group &group, const Task &task, std::vector<int> *allocated) {
  for (size_t operand : onChip_[task.instruction]) {
    const int buffer = task.buffers[operand];
    if (buffer < 0 || group.address[buffer])
      continue;
    group.address[buffer] = allocate(group, buffer, largeOperand(group, task, buffer));
    if (!group.address[buffer])
      return false;
    if (allocated)
      allocated->push_back(buffer);
  }
  return true;
}

// Whether everything that the layout places stands in one piece, and these tasks' part of it is
// free.
bool Emitter::stands(const Group &group, llvm::ArrayRef<Task> tasks) const {
  for (size_t buffer = 0; buffer < group.address.size(); ++buffer) {
    const Buffer &info = group.work.buffers[buffer];
    if (info.space == isa::Space::Spad && isPlanned(group, static_cast<int>(buffer)) &&
        planned(group, static_cast<int>(buffer)) + info.bytes > spad_.bytes())
      return false;
  }
  for (const Task &task : tasks)
    for (int buffer : task.buffers)
      if (buffer >= 0 && group.work.buffers[buffer].space == isa::Space::Spad &&
          isPlanned(group, buffer) &&
          !spad_.isFree(planned(group, buffer), group.work.buffers[buffer].bytes))
        return false;
  return true;
}

// Turns a layout by whole banks, plain or mirrored, until what these tasks need is free beside the
// group at hand. False when it never is.
bool Emitter::turn(Group &group, llvm::ArrayRef<Task> tasks) const {
  const auto bank = static_cast<int64_t>(isa_.memory(isa::Space::Spad).bankBytes());
  for (group.turnedBy = 0; group.turnedBy < spad_.bytes(); group.turnedBy += bank)
    for (bool isMirrored : {false, true}) {
      group.isMirrored = isMirrored;
      if (stands(group, tasks))
        return true;
    }
  group.isMirrored = false;
  group.turnedBy = 0;
  return false;
}

// Whether what is left of a step would find its accumulators, as they are allocated now.
bool Emitter::accumulatorsSuffice(const Group &group, const Step &step) const {
  Arena acc = acc_;
  struct Use {
    int64_t address;
    int left; // tasks
  };
  std::map<int, Use> uses;
  for (const std::vector<Task> *tasks : {&step.compute, &step.stores})
    for (const Task &task : *tasks) {
      for (int buffer : task.buffers) {
        if (buffer < 0 || group.work.buffers[buffer].space != isa::Space::Acc || uses.count(buffer))
          continue;
        std::optional<int64_t> address =
            group.address[buffer] ? group.address[buffer] : allocateIn(acc, group, buffer);
        if (!address)
          return false;
        uses[buffer] = {*address, group.uses[buffer]};
      }
      for (int buffer : task.buffers)
        if (auto use = uses.find(buffer); use != uses.end() && --use->second.left == 0)
          acc.release(use->second.address);
    }
  return true;
}

// Emits tasks of the step to come, if its buffers and those of the step at hand find room.
bool Emitter::tryHoist(Group &group, llvm::ArrayRef<Task> tasks, const Pending &now) {
  std::vector<int> allocated;
  bool fits = std::all_of(tasks.begin(), tasks.end(),
                          [&](const Task &task) { return allocateFor(group, task, &allocated); });
  bool takesAccumulators = std::any_of(allocated.begin(), allocated.end(), [&](int buffer) {
    return group.work.buffers[buffer].space == isa::Space::Acc;
  });
  if (fits && takesAccumulators)
    fits = accumulatorsSuffice(*now.group, now.group->work.steps[now.step]);
  if (fits) {
    emitAll(group, tasks);
    return true;
  }
  for (int buffer : allocated) {
    arena(group.work.buffers[buffer].space).release(*group.address[buffer]);
    group.address[buffer].reset();
  }
  return false;
}

// Emits the pending step, with the loads of `next` as far ahead as its buffers and its group's
// inputs allow.
void Emitter::process(Pending *next) {
  Pending now = std::move(*pending_);
  Group &group = *now.group;
  current_ = times_ ? &group : nullptr;
  const Step &step = group.work.steps[now.step];
  if (now.step == 0 && isAlone(group)) // all that was there before has been released
    for (isa::Space space : {isa::Space::Spad, isa::Space::Acc})
      arena(space).forget();
  emitConstants(group, now.step);
  if (!now.loadsEmitted)
    emitAll(group, llvm::ArrayRef(step.loads).drop_front(now.step == 0 ? group.loaded : 0));
  // What this step still needs in the scratchpad comes before what the next one would like to have.
  bool hasAll = true;
  for (const std::vector<Task> *tasks : {&step.compute, &step.stores})
    for (const Task &task : *tasks)
      for (size_t operand : onChip_[task.instruction])
        if (const int buffer = task.buffers[operand];
            buffer >= 0 && !group.address[buffer] &&
            group.work.buffers[buffer].space == isa::Space::Spad) {
          group.address[buffer] = allocate(group, buffer);
          hasAll &= group.address[buffer].has_value();
        }
  // Another group may not take what this step finds only while it goes on.
  const bool isAhead =
      next && buffering_ == Buffering::Double && (hasAll || next->group == now.group);
  // What this step's tiles read from now on comes before what another group begins with.
  bool waits = times_ && isAhead && next->group != now.group && group.loads > 0;
  auto hoistNext = [&] {
    Group &ahead = *next->group;
    const Step &nextStep = ahead.work.steps[next->step];
    const llvm::ArrayRef<Task> constants = constantsLeft(ahead, next->step);
    const bool isSame = next->group == now.group,
               hasPlace = isSame || (!isAlone(ahead) && mayBegin(ahead)),
               isHoisted = hasPlace && tryHoist(ahead, constants, now);
    if (isHoisted)
      ahead.constants[next->step] = nextStep.constants.size();
    if (isHoisted && !isSame && tryHoist(ahead, earlyLoads(ahead), now))
      ahead.loaded = ahead.early;
    if (isHoisted && isSame)
      next->loadsEmitted = tryHoist(ahead, nextStep.loads, now);
  };
  if (isAhead && !waits)
    hoistNext();
  for (const std::vector<Task> *tasks : {&step.compute, &step.stores})
    for (const Task &task : *tasks) {
      emit(group, task);
      if (waits && group.loads == 0) {
        hoistNext();
        waits = false;
      }
      if (mayHoist_ && times_ && buffering_ == Buffering::Double)
        mayHoist_ = hoistAhead(group);
    }
  current_ = nullptr;
  group.work.steps[now.step] = Step(); // nobody asks for it again
  if (buffering_ == Buffering::None)
    fence();
}

llvm::ArrayRef<Task> Emitter::constantsLeft(const Group &group, size_t step) {
  return llvm::ArrayRef(group.work.steps[step].constants).drop_front(group.constants[step]);
}

void Emitter::emitConstants(Group &group, size_t step) {
  emitAll(group, constantsLeft(group, step));
  group.constants[step] = group.work.steps[step].constants.size();
}

// Whether the group's layout, if it has one, stands where its first constants find their places.
bool Emitter::mayBegin(Group &group) const {
  return group.work.layout.empty() || group.constants.front() > 0 ||
         turn(group, group.work.steps.front().constants);
}

// Gives buffers that have no place yet one in the scratchpad: that of their layout, where they have
// one. All of them, or none.
bool Emitter::reserve(Group &group, llvm::ArrayRef<int> buffers) {
  if (buffers.empty())
    return true;
  const Arena before = spad_;
  for (int buffer : buffers) {
    const bool isTaken = isPlanned(group, buffer) &&
                         !spad_.isFree(planned(group, buffer), group.work.buffers[buffer].bytes);
    if (!isTaken)
      group.address[buffer] = allocate(group, buffer);
    if (group.address[buffer])
      continue;
    for (int each : buffers)
      group.address[each].reset();
    spad_ = before;
    return false;
  }
  return true;
}

// All that the group still brings into the scratchpad.
bool Emitter::reserve(Group &group) {
  llvm::SmallVector<int> buffers;
  for (size_t buffer = 0; buffer < group.address.size(); ++buffer)
    if (!group.address[buffer] && group.uses[buffer] > 0 &&
        group.work.buffers[buffer].space == isa::Space::Spad)
      buffers.push_back(static_cast<int>(buffer));
  return reserve(group, buffers);
}

// What tasks name.
bool Emitter::reserve(Group &group, llvm::ArrayRef<Task> tasks) {
  llvm::SmallVector<int> buffers;
  for (const Task &task : tasks)
    for (size_t operand : onChip_[task.instruction])
      if (const int buffer = task.buffers[operand];
          buffer >= 0 && !group.address[buffer] && !llvm::is_contained(buffers, buffer) &&
          group.work.buffers[buffer].space == isa::Space::Spad)
        buffers.push_back(buffer);
  return reserve(group, buffers);
}

// Loads of the first step that read nothing of the group before and are not emitted yet.
llvm::ArrayRef<Task> Emitter::earlyLoads(const Group &group) {
  return llvm::ArrayRef(group.work.steps.front().loads)
      .take_front(group.early)
      .drop_front(group.loaded);
}

// How far the group has come, in cycles since it began: by its busiest unit, which waits for the
// others now and then.
int64_t Emitter::timeIn(const Group &now) {
  const int64_t busy = *std::max_element(now.busy.begin(), now.busy.end()),
                all = *std::max_element(now.all.begin(), now.all.end());
  return now.work.cycles > all && all > 0 ? busy * now.work.cycles / all : busy;
}

// Whether a load of so many cycles may come in early: the bus has nothing to do where the group's
// work has come to. If nothing is left to be loaded, a few may wait for the bus, but not past the
// group's end.
bool Emitter::hasTimeFor(const Group &now, int64_t cycles) const {
  const int64_t time = timeIn(now), end = std::max(time, now.bus) + cycles;
  if (now.loads > 0)
    return end <= time + cycles;
  const int64_t all = *std::max_element(now.all.begin(), now.all.end());
  return end <= std::min(std::max(now.work.cycles, all), time + waiting_ * cycles);
}

// Constants of the next group come in early; those of the groups after it, as long as all of them
// stream and those before are on their way. False when there is too little room.
bool Emitter::hoistAhead(Group &now) {
  for (const std::shared_ptr<Group> &next : ahead_) {
    if (next != ahead_.front() && !next->work.streamsWeights)
      return true;
    if (!hoistConstants(now, *next))
      return false;
    if (!next->work.streamsWeights || next->ahead < next->work.steps.size())
      return true;
    if (!reserve(*next))
      return false;
  }
  return true;
}

// Constants of the next group's first step, and loads of its that need not wait for the group at
// hand, come in when that has loaded all that it needs. Those of a stream come in while the bus is
// idle, of as many steps as find room. False when there is too little.
bool Emitter::hoistConstants(Group &now, Group &next) {
  const bool isStream = next.work.streamsWeights;
  if (isAlone(next) || (now.loads > 0 ? !isStream || !isPlaced(now) : !isStream && !isPlaced(next)))
    return true;
  for (size_t &step = next.ahead; step < (isStream ? next.work.steps.size() : 1); ++step) {
    for (const Task &task : constantsLeft(next, step)) {
      if (isStream && !hasTimeFor(now, times_->cyclesOf(task)))
        return true;
      if (!hoist(now, next, task))
        return false;
      ++next.constants[step];
    }
    const Step &work = next.work.steps[step];
    if (isStream && !(reserve(next, work.loads) && reserve(next, work.compute)))
      return false;
  }
  for (const Task &task : isStream ? llvm::ArrayRef<Task>() : earlyLoads(next)) {
    if (!hoist(now, next, task))
      return false;
    ++next.loaded;
  }
  return true;
}

// Emits a load of a group to come. False where it, or what the group at hand still needs, finds no
// room.
bool Emitter::hoist(Group &now, Group &next, const Task &task) {
  if (!reserve(now) || !mayBegin(next) || !reserve(next, llvm::ArrayRef(task)))
    return false;
  isAhead_ = true;
  emit(next, task);
  isAhead_ = false;
  return true;
}

void Emitter::emitAll(Group &group, llvm::ArrayRef<Task> tasks) {
  for (const Task &task : tasks)
    emit(group, task);
}

void Emitter::emit(Group &group, const Task &task) {
  layer_ = task.layer >= 0 ? task.layer : group.work.layer;
  if (!allocateFor(group, task, nullptr)) {
    for (int buffer : task.buffers) {
      if (buffer < 0 || group.address[buffer])
        continue;
      const Buffer &info = group.work.buffers[buffer];
      const isa::Memory &memory = isa_.memory(info.space);
      throw NoSpace(
          {{"", 0, 0, fmt::format("layer '{}'", escape(group.name))},
           fmt::format("{} bytes for {} do not fit into {}: {} of {} are in use", info.bytes,
                       info.purpose, memory.name, arena(info.space).liveBytes(), memory.bytes),
           fmt::format("give {} at least {} bytes", memory.name,
                       arena(info.space).liveBytes() + info.bytes)},
          group.index);
    }
  }
  group.loads -= isLoad_[task.instruction];
  if (!isSelected(group, task))
    emitInstruction(group, task);
  for (size_t operand : onChip_[task.instruction]) {
    const int buffer = task.buffers[operand];
    if (buffer < 0 || --group.uses[buffer] > 0)
      continue;
    arena(group.work.buffers[buffer].space).release(*group.address[buffer]);
    mayHoist_ = true;
  }
}

// Whether the task selects what is selected already. Those who make tasks do not know which others
// come between them.
bool Emitter::isSelected(const Group &group, const Task &task) {
  const auto own = selected_.find(task.instruction);
  if (own == selected_.end()) {
    if (isLoad_[task.instruction])
      for (auto &[instruction, last] : selected_)
        if (last && last->group == group.index && llvm::any_of(last->task.buffers, [&](int buffer) {
              return buffer >= 0 && llvm::is_contained(task.buffers, buffer);
            }))
          last.reset();
    return false;
  }
  std::optional<Selected> &last = own->second;
  if (last && last->group == group.index && last->task.values == task.values &&
      last->task.buffers == task.buffers)
    return true;
  last = Selected{group.index, task};
  return false;
}

void Emitter::emitInstruction(Group &group, const Task &task) {
  const isa::Instruction &instruction = isa_.instructions()[task.instruction];
  const size_t before = stream_.size();
  layerName_ = group.name;
  setRegisters(instruction.unit, task.registers);
  isa::DecodedInstruction decoded;
  decoded.instruction = task.instruction;
  decoded.values = task.values;
  decoded.bases.assign(task.values.size(), 0);
  for (size_t i : onChip_[task.instruction]) {
    if (task.buffers[i] < 0)
      continue;
    int64_t bytes = *group.address[task.buffers[i]];
    decoded.values[i] += bytes / isa_.memory(instruction.operands[i].space).addressBytes;
  }
  if (current_)
    count(task, stream_.size() + 1 - before);
  synchronize(decoded, accesses_.of(decoded, units_[instruction.unit].registers));
  for (const auto &[index, value] : task.registers)
    units_[instruction.unit].touched[index] = stream_.size();
}

// Enters what a task takes of its unit and of the bus, with so many instructions; of the bus, once
// the group has something to compute, or for a group to come.
void Emitter::count(const Task &task, size_t instructions) {
  const std::vector<int64_t> &busy = current_->busy;
  if (!isAhead_ && isMove_[task.instruction] && *std::max_element(busy.begin(), busy.end()) == 0)
    return;
  const int64_t fetch = static_cast<int64_t>(instructions) * times_->fetchCycles(),
                cycles = times_->cyclesOf(task);
  const bool isMove = isMove_[task.instruction];
  // DRAM is slower than its bus now and then: who loads ahead leaves it time.
  const int64_t slack = isAhead_ ? cycles / 2 : 0;
  current_->bus =
      std::max(current_->bus, timeIn(*current_)) + fetch + (isMove ? cycles + slack : 0);
  if (!isMove)
    current_->busy[isa_.instructions()[task.instruction].unit] += cycles;
}

void Emitter::setRegisters(int unit, llvm::ArrayRef<std::pair<int, int64_t>> wanted) {
  llvm::SmallVector<std::pair<int, int64_t>, 8> changes;
  for (auto [index, value] : wanted) {
    if (units_[unit].registers[index] == value)
      continue;
    const isa::Unit &owner = isa_.units()[static_cast<size_t>(unit)];
    const isa::StateRegister &reg = owner.registers[static_cast<size_t>(index)];
    if (value < reg.type.least() || value > reg.type.greatest())
      throw UnfitDescription({"", 0, 0, fmt::format("layer '{}'", escape(layerName_))},
                             fmt::format("register {}.{} of type {} cannot hold {}", owner.name,
                                         reg.name, reg.type.str(), value),
                             "widen the register in the description");
    changes.emplace_back(index, value);
  }
  if (changes.empty())
    return;
  const isa::Instruction *set = sets_[unit]; // the loader sees to it that there is one
  UnitState &state = units_[unit];
  if (times_ && changes.size() % set->sets.size() != 0) // plans are tried out without
    for (auto change = changes.begin(); change != changes.end(); ++change)
      if (setEarlier(unit, change->first, change->second)) {
        changes.erase(change);
        break;
      }
  for (size_t i = 0; i < changes.size(); i += set->sets.size()) {
    isa::DecodedInstruction decoded;
    decoded.instruction = set->index;
    decoded.values.assign(set->operands.size(), 0);
    decoded.bases.assign(set->operands.size(), 0);
    for (size_t j = 0; j < set->sets.size(); ++j) {
      auto [index, value] = changes[std::min(i + j, changes.size() - 1)];
      decoded.values[set->sets[j].first] = index;
      decoded.values[set->sets[j].second] = value;
      state.registers[index] = value;
      state.touched[index] = stream_.size() + 1;
    }
    if (i + set->sets.size() > changes.size()) {
      state.spare.push_back(stream_.size());
      if (state.spare.size() > mostSpare)
        state.spare.pop_front();
    }
    synchronize(decoded, {});
  }
}

// By an instruction that sets another one twice, if none behind it sets or needs this one.
bool Emitter::setEarlier(int unit, int index, int64_t value) {
  UnitState &state = units_[unit];
  for (auto at = state.spare.end(); at != state.spare.begin();) {
    if (*--at < state.touched[index])
      return false;
    StreamInstruction earlier = stream_[*at];
    const auto [number, to] = sets_[unit]->sets.back();
    earlier.decoded.values[number] = index;
    earlier.decoded.values[to] = value;
    stream_.replace(*at, earlier);
    state.registers[index] = value;
    state.touched[index] = *at + 1;
    state.spare.erase(at);
    return true;
  }
  return false;
}

// Whether one more edge from stream position `from` to here could fill the semaphore: how many
// edges of the pair span `from`.
bool Emitter::crowded(int lane, int waiting, size_t from) const {
  const std::deque<size_t> &edges = edges_[lane][waiting];
  return static_cast<int64_t>(edges.size()) >= semaphoreMax_ && edges.front() > from;
}

LaneClock Emitter::LaneState::knownTo(int lane, int32_t sequence) const {
  size_t begin = 0; // the last one that is not later
  for (size_t end = known.size(); end - begin > 1;) {
    const size_t middle = begin + (end - begin) / 2;
    (known[middle].sequence <= sequence ? begin : end) = middle;
  }
  // Who waits for an instruction to end knows that its lane has ended up to it.
  LaneClock ended = known[begin].ended;
  ended[static_cast<size_t>(lane)] = sequence - 1;
  return ended;
}

// Adds an instruction to the stream and to its lane, behind those that it conflicts with.
void Emitter::synchronize(isa::DecodedInstruction decoded, const MemoryAccesses &accesses) {
  const int lane = laneOf_[decoded.instruction],
            unit = isa_.instructions()[decoded.instruction].unit;
  LaneState &own = lanes_[lane];
  const auto sequence = static_cast<int32_t>(own.stream.size()) + 1;
  if (!accesses.empty())
    decoded.wait |= waitFor(accesses, lane, unit, sequence);
  if (own.known.empty() || own.known.back().ended != units_[unit].current)
    own.known.push_back({sequence, units_[unit].current});
  own.stream.push_back(static_cast<uint32_t>(stream_.size()));
  stream_.push_back({decoded, layer_});
}

// The semaphores on which the instruction that is about to be added waits.
uint32_t Emitter::waitFor(const MemoryAccesses &accesses, int lane, int unit, int32_t sequence) {
  UnitState &state = units_[unit];
  const LaneClock needed = hazards_.visit(lane, sequence, accesses);
  const size_t both = lanes_.size() / 2; // a unit keeps its own order: both of its lanes
  auto isMissing = [&](size_t other) {
    return needed[other] > state.current[other] &&
           (other < both ? other : other - both) != static_cast<size_t>(unit);
  };
  auto producerOf = [&](size_t other) -> size_t {
    return lanes_[other].stream[static_cast<size_t>(needed[other]) - 1];
  };
  llvm::SmallVector<size_t, maximumLanes> missing;
  for (size_t other = 0; other < needed.size(); ++other)
    if (isMissing(other))
      missing.push_back(other);
  for (size_t other : missing) {
    if (semaphoreOf(other, unit) >= 0 && !crowded(static_cast<int>(other), unit, producerOf(other)))
      continue;
    fence();
    hazards_.visit(lane, sequence, accesses);
    break;
  }
  uint32_t wait = 0;
  for (size_t other : missing) {
    if (!isMissing(other)) // any more: what one signal tells may answer for others
      continue;
    const uint32_t semaphore = uint32_t(1) << semaphoreOf(other, unit);
    stream_.addSignal(producerOf(other), semaphore);
    wait |= semaphore;
    std::deque<size_t> &edges = edges_[other][unit];
    edges.push_back(stream_.size());
    if (static_cast<int64_t>(edges.size()) > semaphoreMax_)
      edges.pop_front();
    const LaneClock inherited = lanes_[other].knownTo(static_cast<int>(other), needed[other]);
    for (size_t i = 0; i < inherited.size(); ++i)
      state.current[i] = std::max(state.current[i], inherited[i]);
    state.current[other] = std::max(state.current[other], needed[other]);
  }
  return wait;
}

// Waits until all units are idle: orders everything before against everything after.
void Emitter::fence() {
  const isa::Instruction *instruction = nullptr;
  for (const isa::Instruction &candidate : isa_.instructions())
    if (candidate.control == isa::Control::Fence)
      instruction = &candidate;
  if (!instruction)
    throw UserError({}, fmt::format("target '{}' has no fence instruction", isa_.target()),
                    "keep it in the description, or try another --buffering");
  isa::DecodedInstruction decoded;
  decoded.instruction = instruction->index;
  stream_.push_back({decoded, layer_});
  hazards_.clear();
  LaneClock ended;
  for (const LaneState &lane : lanes_)
    ended.push_back(static_cast<int32_t>(lane.stream.size()));
  for (UnitState &unit : units_)
    unit.current = ended;
}

} // namespace tilewright

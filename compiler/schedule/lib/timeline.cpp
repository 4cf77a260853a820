#include "timeline.h"

#include "conv_stage.h"

#include "tilewright/simulator/timing/runs.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tilewright {

Timeline::Timeline(LoweringContext &context)
    : context_(context), times_(context.isa, context.machine, context.plans) {
  for (const isa::Unit &unit : context.isa.units()) {
    std::vector<int64_t> &registers = resets_.emplace_back();
    for (const isa::StateRegister &each : unit.registers)
      registers.push_back(each.reset);
  }
}

const isa::Unit &Timeline::unitOf(const Task &task) const {
  return context_.isa.units()[static_cast<size_t>(
      context_.isa.instructions()[static_cast<size_t>(task.instruction)].unit)];
}

// Nothing where nothing is moved.
std::optional<Timeline::Rows> Timeline::rowsOf(const Task &task,
                                               const std::vector<int64_t> &registers) const {
  isa::ScalarContext scalars;
  scalars.immediates = task.values.data();
  scalars.state = registers.data();
  timing::Runs runs(context_.plans[static_cast<size_t>(task.instruction)], context_.isa, scalars,
                    task.values.data());
  if (runs.isFill() || runs.done())
    return std::nullopt;
  auto first = static_cast<int64_t>(runs.dram()), before = first;
  const int64_t width = runs.elements() * runs.dramBytes();
  Rows rows{first, first + width, width};
  bool isAlike = true;
  for (runs.next(); !runs.done(); runs.next()) {
    const auto at = static_cast<int64_t>(runs.dram());
    isAlike &= rows.pitch == 0 || at - before == rows.pitch;
    rows.pitch = at - before;
    rows.begin = std::min(rows.begin, at);
    rows.end = std::max(rows.end, at + width);
    before = at;
  }
  if (!isAlike || rows.pitch <= width)
    rows.pitch = 0;
  return rows;
}

bool Timeline::Rows::meets(const Rows &other) const {
  if (begin >= other.end || other.begin >= end)
    return false;
  if (pitch == 0 || pitch != other.pitch)
    return true;
  const int64_t behind = ((other.begin - begin) % pitch + pitch) % pitch; // in a row
  return behind < width || behind + other.width > pitch;
}

Timeline::Traffic Timeline::trafficOf(const Step &step) {
  Traffic traffic;
  for (const std::vector<Task> *tasks : {&step.constants, &step.loads, &step.compute, &step.stores})
    for (const Task &task : *tasks) {
      const isa::Unit &unit = unitOf(task);
      if (unit.kind != isa::UnitTemplate::DmaLoad && unit.kind != isa::UnitTemplate::DmaStore)
        continue;
      std::vector<int64_t> registers = resets_[static_cast<size_t>(unit.index)];
      for (auto [index, value] : task.registers)
        registers[static_cast<size_t>(index)] = value;
      if (const std::optional<Rows> rows = rowsOf(task, registers))
        (unit.kind == isa::UnitTemplate::DmaStore ? traffic.writes : traffic.reads)
            .push_back(*rows);
    }
  return traffic;
}

// Of units that compute: transfers of several steps share the bus all the same.
std::vector<int64_t> Timeline::busyOf(const Step &step) {
  std::vector<int64_t> busy(context_.isa.units().size(), 0);
  for (const Task &task : step.compute) {
    const isa::Unit &unit = unitOf(task);
    if (unit.kind != isa::UnitTemplate::DmaLoad && unit.kind != isa::UnitTemplate::DmaStore)
      busy[static_cast<size_t>(unit.index)] += times_.cyclesOf(task);
  }
  return busy;
}

bool Timeline::conflicts(const Traffic &earlier, const Traffic &later) {
  auto meet = [](const std::vector<Rows> &some, const std::vector<Rows> &others) {
    return llvm::any_of(some, [&](const Rows &one) {
      return llvm::any_of(others, [&](const Rows &other) { return one.meets(other); });
    });
  };
  return meet(earlier.writes, later.reads) || meet(earlier.writes, later.writes) ||
         meet(earlier.reads, later.writes);
}

// A step's loads are emitted before the step ahead of it computes.
size_t Timeline::firstSlotFor(const Traffic &traffic) const {
  for (size_t slot = slots_.size(); slot-- > 0;)
    for (const Member &member : slots_[slot].members)
      if (member.group != groups_ && conflicts(member.traffic, traffic))
        return slot + 2;
  return 0;
}

// The first one in which a quarter of its time, or more, passes beside what is there, or which it
// hardly lengthens.
size_t Timeline::slotFor(const std::vector<int64_t> &busy, size_t first) const {
  const int64_t own = *std::max_element(busy.begin(), busy.end());
  for (size_t slot = first; slot < slots_.size(); ++slot) {
    if (!slots_[slot].members.empty() && slots_[slot].members.back().group == groups_)
      continue;
    int64_t together = 0;
    for (size_t unit = 0; unit < busy.size(); ++unit)
      together = std::max(together, busy[unit] + slots_[slot].busy[unit]);
    const int64_t before = *std::max_element(slots_[slot].busy.begin(), slots_[slot].busy.end());
    if (4 * (together - before) <= 3 * own || 4 * (together - before) <= before)
      return slot;
  }
  return std::max(first, slots_.size());
}

// By rows, or of one row by bytes; of other loads than plain ones there is one.
std::vector<Task> Timeline::piecesOf(const Task &load) const {
  constexpr int64_t most = 8, together = 64; // bytes that DRAM gives at once
  const TaskForm &form = context_.form(isa::Role::LoadBytes);
  if (load.instruction != form.instruction().index)
    return {load};
  auto valueOf = [&](const char *name) {
    const int wanted = form.reg(name);
    for (const auto &[reg, value] : load.registers)
      if (reg == wanted)
        return value;
    return resets_[static_cast<size_t>(form.instruction().unit)][static_cast<size_t>(wanted)];
  };
  const size_t source = form.operand("s"), chip = form.operand("d"), rows = form.operand("n1"),
               bytes = form.operand("n0");
  if (valueOf("n2") != 1)
    return {load};
  const bool byRows = load.values[rows] > 1;
  const size_t cut = byRows ? rows : bytes;
  const int64_t sourceStride = byRows ? valueOf("s_s1") : 1,
                chipStride = byRows ? valueOf("d_s1") : valueOf("d_s0"), all = load.values[cut],
                unit = byRows ? 1 : together,
                each = llvm::divideCeilSigned(llvm::divideCeilSigned(all, most), unit) * unit;
  std::vector<Task> pieces;
  for (int64_t first = 0; first < all; first += each) {
    Task &piece = pieces.emplace_back(load);
    piece.values[cut] = std::min(each, all - first);
    piece.values[source] += first * sourceStride;
    piece.values[chip] += first * chipStride;
  }
  return pieces;
}

void Timeline::put(Member member, size_t slot) {
  const std::vector<int64_t> busy = busyOf(member.step);
  while (slots_.size() <= slot)
    slots_.push_back({{}, std::vector<int64_t>(busy.size(), 0)});
  for (size_t unit = 0; unit < busy.size(); ++unit)
    slots_[slot].busy[unit] += busy[unit];
  slots_[slot].members.push_back(std::move(member));
}

// Takes the loads of a group's first step, and its constants, where those wait for several steps of
// others. Returns the slot of the last ones.
size_t Timeline::lead(Step &first, int64_t eighths) {
  std::map<size_t, Step> bySlot; // 0: of what waits for nobody
  std::map<size_t, int64_t> cycles;
  int64_t all = 0;
  auto slotOf = [&](const Task &load) {
    Step alone;
    alone.loads.push_back(load);
    return firstSlotFor(trafficOf(alone));
  };
  auto isInAccumulators = [&](const Task &load) {
    return llvm::any_of(load.buffers, [&](int buffer) {
      return buffer >= 0 && all_.buffers[static_cast<size_t>(buffer)].space == isa::Space::Acc;
    });
  };
  std::vector<Task> others; // are needed later, and where there is less room
  for (const Task &load : first.loads) {
    if (isInAccumulators(load)) {
      others.push_back(load);
      continue;
    }
    std::vector<Task> pieces = piecesOf(load);
    const size_t last = slotOf(load);
    if (slotOf(pieces.front()) == last) // they wait for the same
      pieces = {load};
    for (Task &piece : pieces) {
      const size_t slot = pieces.size() > 1 ? slotOf(piece) : last;
      const int64_t each = times_.cyclesOf(piece);
      cycles[slot] += each;
      all += each;
      bySlot[slot].loads.push_back(std::move(piece));
    }
  }
  // The last ones come when the others are done.
  const size_t end = slots_.size();
  int64_t early = 0;
  for (auto &[slot, step] : bySlot) {
    early += cycles[slot];
    if (slot < end && 8 * early > eighths * all) {
      std::vector<Task> late = std::exchange(step.loads, {});
      append(bySlot[end].loads, late);
    }
  }
  llvm::SmallVector<size_t> empty;
  for (const auto &[slot, step] : bySlot)
    if (step.loads.empty())
      empty.push_back(slot);
  for (const size_t slot : empty)
    bySlot.erase(slot);
  Step free;
  if (const auto none = bySlot.find(0); none != bySlot.end()) {
    free = std::move(none->second);
    bySlot.erase(none);
  }
  if (bySlot.size() < 2)
    return 0;
  // Not before the first piece: they would take up memory.
  Step &earliest = bySlot.begin()->second;
  earliest.loads.insert(earliest.loads.begin(), free.loads.begin(), free.loads.end());
  earliest.constants = std::exchange(first.constants, {});
  first.loads = std::move(others);
  for (auto &[slot, step] : bySlot) {
    Member member{std::move(step), {}, groups_};
    member.traffic = trafficOf(member.step);
    put(std::move(member), slot);
  }
  return bySlot.rbegin()->first;
}

size_t Timeline::add(Steps steps, int64_t leads) {
  const int buffers = static_cast<int>(all_.buffers.size());
  if (groups_ == 0) {
    all_.layer = steps.layer;
    all_.plan = steps.plan;
  }
  all_.buffers.insert(all_.buffers.end(), steps.buffers.begin(), steps.buffers.end());
  size_t first = 0, beside = 0;
  const size_t known = slots_.size();
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    steps.unpack(i);
    Step &step = steps.steps[i];
    for (std::vector<Task> *tasks : {&step.constants, &step.loads, &step.compute, &step.stores})
      for (Task &task : *tasks) {
        for (int &buffer : task.buffers)
          buffer += buffer >= 0 ? buffers : 0;
        task.layer = task.layer >= 0 ? task.layer : steps.layer;
      }
    if (leads > 0 && groups_ > 0 && i == 0) {
      first = lead(step, leads);
      beside += first > 0;
    }
    Member member{std::move(step), {}, groups_};
    member.traffic = trafficOf(member.step);
    const std::vector<int64_t> busy = busyOf(member.step);
    if (groups_ > 0)
      first = std::max(first, firstSlotFor(member.traffic));
    const size_t slot = groups_ == 0 ? slots_.size() : slotFor(busy, first);
    beside += slot < known;
    put(std::move(member), slot);
    first = slot;
  }
  ++groups_;
  return beside;
}

// Sums of others are where the array puts those of the newest tile, or has put them last: the
// vector unit is in the other banks then.
void Timeline::shareBanks(const Slot &slot, int64_t &newest) {
  llvm::SmallVector<int> free;
  for (const Member &member : slot.members)
    for (const Task &task : member.step.compute)
      for (const int buffer : task.buffers)
        if (buffer >= 0 && all_.buffers[static_cast<size_t>(buffer)].space == isa::Space::Acc) {
          const int64_t bank = all_.buffers[static_cast<size_t>(buffer)].bank;
          newest = std::max(newest, bank);
          if (bank < 0)
            free.push_back(buffer);
        }
  for (const int buffer : free)
    all_.buffers[static_cast<size_t>(buffer)].bank = newest;
}

// Cycles of the array.
int64_t Timeline::productsOf(const std::vector<Task> &tasks) {
  int64_t cycles = 0;
  for (const Task &task : tasks)
    if (unitOf(task).kind == isa::UnitTemplate::Matrix)
      cycles += times_.cyclesOf(task);
  return cycles;
}

Steps Timeline::take() {
  Interleaving interleaving(context_);
  int64_t newest = -1;
  for (Slot &slot : slots_) {
    shareBanks(slot, newest);
    Step &step = all_.steps.emplace_back();
    std::vector<std::vector<Task>> stages;
    int group = -1;
    for (Member &member : slot.members) {
      append(step.constants, member.step.constants);
      append(step.loads, member.step.loads);
      if (member.group != group)
        stages.emplace_back();
      group = member.group;
      append(stages.back(), member.step.compute);
      append(stages.back(), member.step.stores);
    }
    if (stages.empty())
      continue;
    // Where the array has no work for one, it waits for nothing that the array does for another.
    std::vector<std::pair<int64_t, size_t>> order; // by cycles of the array
    for (size_t i = 0; i < stages.size(); ++i)
      order.emplace_back(productsOf(stages[i]), i);
    llvm::sort(order);
    std::vector<std::vector<Task>> sorted;
    for (const auto &[products, i] : order)
      sorted.push_back(std::move(stages[i]));
    step.compute = sorted.size() > 1 ? interleaving.run(std::move(sorted)) : std::move(sorted[0]);
  }
  return std::move(all_);
}

} // namespace tilewright

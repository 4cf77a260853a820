#include "timeline.h"

#include "conv_stage.h"

#include <algorithm>

namespace tilewright {

Timeline::Timeline(LoweringContext &context)
    : context_(context), times_(context.isa, context.machine, context.plans),
      accesses_(context.isa) {
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

Timeline::Traffic Timeline::trafficOf(const Step &step) {
  Traffic traffic;
  for (const std::vector<Task> *tasks : {&step.constants, &step.loads, &step.compute, &step.stores})
    for (const Task &task : *tasks) {
      const isa::Unit &unit = unitOf(task);
      if (unit.kind != isa::UnitTemplate::DmaLoad && unit.kind != isa::UnitTemplate::DmaStore)
        continue;
      isa::DecodedInstruction decoded;
      decoded.instruction = task.instruction;
      decoded.values = task.values;
      std::vector<int64_t> registers = resets_[static_cast<size_t>(unit.index)];
      for (auto [index, value] : task.registers)
        registers[static_cast<size_t>(index)] = value;
      for (const MemoryAccess &access : accesses_.of(decoded, registers))
        if (access.space == isa::Space::Dram)
          (access.write ? traffic.writes : traffic.reads).push_back(access.range);
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
  auto meet = [](const std::vector<isa::Range> &some, const std::vector<isa::Range> &others) {
    return std::any_of(some.begin(), some.end(), [&](const isa::Range &one) {
      return std::any_of(others.begin(), others.end(), [&](const isa::Range &other) {
        return one.begin < other.end && other.begin < one.end;
      });
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

size_t Timeline::add(Steps steps) {
  const int buffers = static_cast<int>(all_.buffers.size());
  if (groups_ == 0) {
    all_.layer = steps.layer;
    all_.plan = steps.plan;
  }
  all_.buffers.insert(all_.buffers.end(), steps.buffers.begin(), steps.buffers.end());
  size_t first = 0, beside = 0;
  const size_t known = slots_.size();
  for (Step &step : steps.steps) {
    for (std::vector<Task> *tasks : {&step.constants, &step.loads, &step.compute, &step.stores})
      for (Task &task : *tasks) {
        for (int &buffer : task.buffers)
          buffer += buffer >= 0 ? buffers : 0;
        task.layer = task.layer >= 0 ? task.layer : steps.layer;
      }
    Member member{std::move(step), {}, groups_};
    member.traffic = trafficOf(member.step);
    const std::vector<int64_t> busy = busyOf(member.step);
    if (groups_ > 0)
      first = std::max(first, firstSlotFor(member.traffic));
    const size_t slot = groups_ == 0 ? slots_.size() : slotFor(busy, first);
    beside += slot < known;
    while (slots_.size() <= slot)
      slots_.push_back({{}, std::vector<int64_t>(busy.size(), 0)});
    for (size_t unit = 0; unit < busy.size(); ++unit)
      slots_[slot].busy[unit] += busy[unit];
    slots_[slot].members.push_back(std::move(member));
    first = slot;
  }
  ++groups_;
  return beside;
}

// Sums of others are where the array puts those of the newest tile, or has put them last: the vector
// unit is in the other banks then.
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

#include "interleave.h"

#include <algorithm>
#include <deque>

namespace tilewright {

Interleaving::Interleaving(const LoweringContext &context, const std::vector<Buffer> *buffers)
    : isa_(context.isa), buffers_(buffers), banks_(context.machine.accBanks),
      times_(context.isa, context.machine, context.plans), free_(context.isa.units().size(), 0) {
  for (const isa::Instruction &instruction : isa_.instructions())
    written_.push_back(writtenOperands(instruction));
}

// When what the task reads is written, and nobody reads any more what it writes.
int64_t Interleaving::readyFor(const Task &task) const {
  int64_t ready = 0;
  for (size_t i = 0; i < task.buffers.size(); ++i) {
    const Buffer *buffer = bufferOf(task, i);
    if (!buffer)
      continue;
    const auto known = uses_.find(task.buffers[i]);
    if (known == uses_.end()) {
      if (buffer->bank >= 0)
        ready = std::max(ready, places_.lookup(placeOf(*buffer)));
      continue;
    }
    ready = std::max(ready, known->second.written);
    if (writes(task, i))
      ready = std::max(ready, known->second.read);
  }
  return ready;
}

void Interleaving::use(const Task &task, int64_t end) {
  for (size_t i = 0; i < task.buffers.size(); ++i)
    if (const Buffer *buffer = bufferOf(task, i)) {
      Use &use = uses_[task.buffers[i]];
      int64_t &last = writes(task, i) ? use.written : use.read;
      last = std::max(last, end);
      if (buffer->bank >= 0) {
        int64_t &free = places_[placeOf(*buffer)];
        free = std::max(free, end);
      }
    }
}

std::vector<Task> Interleaving::run(std::vector<std::vector<Task>> stages) {
  struct Stage {
    std::vector<Task> *tasks;
    size_t next = 0;
    size_t unit = SIZE_MAX;     // of the latest task
    int64_t ready = 0, end = 0; // what other units have done for it; the latest task's end
  };
  std::vector<Stage> running;
  std::vector<std::deque<size_t>> turns(free_.size()); // by unit: the stages, as their turn comes
  size_t count = 0;
  ends_.resize(stages.size(), 0);
  for (size_t i = 0; i < stages.size(); ++i) {
    // What the stage before has made of the tile, and the one behind has left of the memory.
    const int64_t ready =
        std::max(i > 0 ? ends_[i - 1] : 0, i + 1 < ends_.size() ? ends_[i + 1] : 0);
    running.push_back({&stages[i], 0, SIZE_MAX, ready, ready});
    for (const Task &task : stages[i])
      turns[unitOf(task)].push_back(i);
    count += stages[i].size();
  }
  std::vector<Task> ordered;
  ordered.reserve(count);
  while (ordered.size() < count) {
    Stage *first = nullptr;
    int64_t start = INT64_MAX;
    for (size_t i = 0; i < running.size(); ++i) {
      Stage &stage = running[i];
      if (stage.next == stage.tasks->size())
        continue;
      const size_t unit = unitOf((*stage.tasks)[stage.next]);
      if (turns[unit].front() != i)
        continue;
      const Task &task = (*stage.tasks)[stage.next];
      const int64_t ready = buffers_             ? readyFor(task)
                            : unit == stage.unit ? stage.ready
                                                 : stage.end,
                    begins = std::max(ready, free_[unit]);
      if (begins < start)
        first = &stage, start = begins;
    }
    Task &task = (*first->tasks)[first->next++];
    const size_t unit = unitOf(task);
    if (unit != first->unit)
      first->ready = first->end;
    first->unit = unit;
    free_[unit] = first->end = start + times_.cyclesOf(task);
    if (buffers_)
      use(task, free_[unit]);
    turns[unit].pop_front();
    ordered.push_back(std::move(task));
  }
  for (size_t i = 0; i < running.size(); ++i)
    ends_[i] = std::max(ends_[i], running[i].end);
  return ordered;
}

} // namespace tilewright

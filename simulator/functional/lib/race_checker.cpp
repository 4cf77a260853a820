#include "race_checker.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

namespace {

// The operand by which the matrix template knows that new weights become active
// (docs/microarchitecture.md).
constexpr const char *swapOperand = "swap";

// Reads that are listed for a page before it gets a shadow: a list of these is about as large as
// one.
constexpr size_t mostReads = 4096;

void join(RaceChecker::Clock &clock, const RaceChecker::Clock &other) {
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

int64_t floorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}

template <typename Visit> void forEachBit(uint32_t mask, const Visit &visit) {
  for (size_t i = 0; mask; ++i, mask >>= 1)
    if (mask & 1)
      visit(i);
}

} // namespace

RaceChecker::RaceChecker(const isa::Isa &isa)
    : isa_(isa), loader_(isa.units().size()), known_(isa.units().size()),
      tokens_(static_cast<size_t>(isa.semaphores())), executed_(isa.units().size() + 1) {
  size_t matrix = 0;
  for (size_t unit = 0; unit < isa.units().size(); ++unit) {
    unitOf_.push_back(unit);
    if (isa.units()[unit].kind == isa::UnitTemplate::Matrix)
      matrix = unit;
  }
  unitOf_.push_back(matrix);
}

size_t RaceChecker::agentOf(const isa::Instruction &instruction) const {
  const auto unit = static_cast<size_t>(instruction.unit);
  const bool writesMemory =
      std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                  [](const isa::MemoryAccess &access) { return access.write; });
  return isa_.units()[unit].kind == isa::UnitTemplate::Matrix && !writesMemory ? loader_ : unit;
}

void RaceChecker::fence() { join(known_[0], ticks_); }

void RaceChecker::start(size_t unit, const Clock &dispatched, uint32_t mask) {
  join(known_[unit], dispatched);
  forEachBit(mask, [&](size_t semaphore) {
    join(known_[unit], tokens_[semaphore].front());
    tokens_[semaphore].pop_front();
  });
}

RaceChecker::Clock RaceChecker::passedOn(const isa::DecodedInstruction &decoded) const {
  const auto &instruction = isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  const auto unit = static_cast<size_t>(instruction.unit);
  Clock clock = known_[unit];
  // A register is set while what came before is still under way; only the vector unit does one
  // thing at a time.
  if (!instruction.steps.empty() || isa_.units()[unit].kind == isa::UnitTemplate::Vector) {
    size_t agent = agentOf(instruction);
    clock[agent] = ticks_[agent];
    int swap = instruction.operandIndex(swapOperand);
    if (agent == unitOf_[loader_] && swap >= 0 && decoded.values[static_cast<size_t>(swap)] != 0)
      clock[loader_] = ticks_[loader_];
  }
  return clock;
}

void RaceChecker::end(const Clock &passedOn, uint32_t mask) {
  forEachBit(mask, [&](size_t semaphore) { tokens_[semaphore].push_back(passedOn); });
}

// Whether an access of `agent` now comes after the end of that tick: units keep their own order.
bool RaceChecker::ordered(size_t agent, size_t other, uint32_t tick) const {
  return unitOf_[agent] == unitOf_[other] || tick <= known_[unitOf_[agent]][other];
}

// The shadow of a page, made with the reads that were listed for it.
RaceChecker::Page &RaceChecker::pageOf(isa::Space space, int64_t number) {
  auto &page = shadow_[static_cast<size_t>(space)][number];
  if (page)
    return *page;
  page = std::make_unique<Page>();
  if (space == isa::Space::Dram)
    if (auto listed = reads_.find(number); listed != reads_.end()) {
      for (const Read &read : listed->second)
        for (int64_t at = read.begin; at < read.end; ++at) {
          Shadow &shadow = (*page)[static_cast<size_t>(at) % pageAddresses];
          shadow.readers[read.agent] = read.tick;
          shadow.read |= static_cast<uint8_t>(1u << read.agent);
        }
      reads_.erase(listed);
    }
  return *page;
}

bool RaceChecker::touch(isa::Space space, int64_t begin, int64_t end, bool write, size_t agent,
                        Conflict &conflict) {
  const auto &pages = shadow_[static_cast<size_t>(space)];
  for (int64_t at = begin; at < end;) {
    const int64_t number = at / static_cast<int64_t>(pageAddresses);
    const int64_t stop = std::min(end, (number + 1) * static_cast<int64_t>(pageAddresses));
    if (!write && space == isa::Space::Dram && !pages.count(number)) {
      auto &reads = reads_[number];
      if (reads.size() < mostReads) {
        reads.push_back({at, stop, agent, ticks_[agent]});
        at = stop;
        continue;
      }
    }
    Page &page = pageOf(space, number);
    // Neighbors were mostly written by the same instruction.
    uint32_t knownWriter = 0;
    uint8_t knownAgent = 0;
    for (; at < stop; ++at) {
      Shadow &shadow = page[static_cast<size_t>(at) % pageAddresses];
      if (shadow.writer != knownWriter || shadow.writerAgent != knownAgent) {
        if (!ordered(agent, shadow.writerAgent, shadow.writer)) {
          conflict = {shadow.writerAgent, shadow.writer, at, true};
          return false;
        }
        knownWriter = shadow.writer;
        knownAgent = shadow.writerAgent;
      }
      if (!write) {
        shadow.readers[agent] = ticks_[agent];
        shadow.read |= static_cast<uint8_t>(1u << agent);
        continue;
      }
      bool passed = true;
      forEachBit(shadow.read, [&](size_t reader) {
        if (passed && !ordered(agent, reader, shadow.readers[reader])) {
          conflict = {reader, shadow.readers[reader], at, false};
          passed = false;
        }
      });
      if (!passed)
        return false;
      shadow.read = 0;
      shadow.writer = ticks_[agent];
      shadow.writerAgent = static_cast<uint8_t>(agent);
    }
  }
  return true;
}

// Every element of the access, neighbors along the innermost iterator together.
bool RaceChecker::visit(const isa::Instruction &instruction, const isa::MemoryAccess &access,
                        const isa::ScalarContext &context, int64_t address, size_t agent,
                        Conflict &conflict) {
  const auto &step = instruction.steps[static_cast<size_t>(access.step)];
  std::vector<int64_t> extents, strides;
  for (const auto &iterator : step.iterators)
    extents.push_back(isa::evaluate(*iterator.extent, context));
  if (access.guarded)
    for (size_t i = 0; i < step.guards.size(); ++i)
      if (step.guards[i])
        extents[i] = std::min(extents[i], isa::evaluate(*step.guards[i], context));
  if (access.reductions)
    for (const auto &iterator : step.reductions)
      extents.push_back(isa::evaluate(*iterator.extent, context));
  strides.resize(extents.size());
  for (const auto &term : access.index.terms)
    if (auto i = static_cast<size_t>(term.iterator); i < strides.size())
      strides[i] = isa::evaluate(*term.coefficient, context);
  if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; }))
    return true;
  // Without a stride, all values of an iterator are the same elements.
  for (size_t i = 0; i < extents.size(); ++i)
    if (strides[i] == 0)
      extents[i] = 1;
  // The iterator along which elements are neighbors, if there is one, makes runs.
  int64_t run = 1;
  for (size_t i = 0; i < extents.size(); ++i)
    if (strides[i] == 1) {
      std::swap(run, extents[i]);
      break;
    }
  const auto &operand = instruction.operands[static_cast<size_t>(access.operand)];
  const int64_t unit = isa_.memory(operand.space).addressBytes;
  const int64_t first = isa::evaluate(*access.index.constant, context);
  std::vector<int64_t> at(extents.size());
  for (;;) {
    int64_t element = first;
    for (size_t i = 0; i < at.size(); ++i)
      element += at[i] * strides[i];
    const int64_t begin = element * access.elementBytes;
    const int64_t end = begin + run * access.elementBytes;
    if (!touch(operand.space, address + floorDivide(begin, unit),
               address + floorDivide(end + unit - 1, unit), access.write, agent, conflict))
      return false;
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == extents[i - 1])
      at[--i] = 0;
    if (i == 0)
      return true;
  }
}

std::string RaceChecker::describe(const isa::Instruction &instruction, const isa::Operand &operand,
                                  const isa::MemoryAccess &access, const Conflict &conflict) const {
  const auto &memory = isa_.memory(operand.space);
  const auto &other = executed_[conflict.agent][conflict.tick - 1];
  return fmt::format("race: {} {} address 0x{:x} of {}, which instruction {} ({}) {}, and no "
                     "semaphore orders them",
                     instruction.name, access.write ? "writes" : "reads", conflict.address,
                     memory.name, other.pc,
                     isa_.instructions()[static_cast<size_t>(other.instruction)].name,
                     conflict.wrote ? "writes" : "reads");
}

std::string RaceChecker::access(const isa::DecodedInstruction &decoded, const int64_t *addresses,
                                const int64_t *state, uint64_t pc) {
  const auto &instruction = isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  if (instruction.accesses.empty())
    return "";
  const size_t agent = agentOf(instruction);
  ++ticks_[agent];
  executed_[agent].push_back({pc, decoded.instruction});
  isa::ScalarContext context;
  context.immediates = decoded.values.data();
  context.state = state;
  for (const auto &access : instruction.accesses) {
    Conflict conflict;
    if (!visit(instruction, access, context, addresses[access.operand], agent, conflict))
      return describe(instruction, instruction.operands[static_cast<size_t>(access.operand)],
                      access, conflict);
  }
  return "";
}

} // namespace tilewright

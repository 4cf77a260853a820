#include "trace.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/isa/extent.h"
#include "tilewright/simulator/engine/fault.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

namespace {

enum Kind : uint8_t { Busy, Idle, Stalled }; // activity_e
constexpr isa::UnitTemplate unitOrder[] = {isa::UnitTemplate::Sequencer, isa::UnitTemplate::Matrix,
                                           isa::UnitTemplate::Vector, isa::UnitTemplate::DmaLoad,
                                           isa::UnitTemplate::DmaStore}; // of the trace ports

} // namespace

int unitIndex(const isa::Isa &isa, int port) {
  for (const isa::Unit &unit : isa.units())
    if (unit.kind == unitOrder[port])
      return unit.index;
  throw std::logic_error("the machine lacks a unit that its RTL has");
}

Trace::Trace(const isa::Isa &isa, const Program &program, uint64_t dramBytes,
             const RunOptions &options)
    : isa_(isa), program_(program), dramBytes_(static_cast<int64_t>(dramBytes)),
      fetchBytes_(static_cast<uint64_t>(isa.timing().at("sequencer.fetch_bytes"))),
      matrixPipeline_(isa.timing().at("matrix.pipeline")), keep_(options.trace),
      flow_(isa, program), base_(static_cast<size_t>(isa.param("base_registers"))),
      decoded_(flow_.instructions()), semaphores_(static_cast<size_t>(isa.semaphores())),
      sink_(options.sink), stores_(static_cast<size_t>(isa.timing().at("store.inflight")), none) {
  if (sink_ != nullptr && !keep_)
    throw std::logic_error("a sink asks for a trace");
  for (const isa::Unit &unit : isa.units()) {
    registers_.emplace_back();
    for (const isa::StateRegister &reg : unit.registers)
      registers_.back().push_back(reg.reset);
  }
  record_.units.resize(isa.units().size());
}

const isa::DecodedInstruction &Trace::decode(uint64_t pc) {
  auto &decoded = decoded_[pc];
  if (!decoded) {
    auto made = std::make_unique<isa::DecodedInstruction>();
    std::string reason;
    if (!isa_.decode(flow_.bits(), *made, reason))
      fault(program_, pc, "illegal instruction: " + reason);
    decoded = std::move(made);
  }
  return *decoded;
}

// Entries are made in the order of execution; the next one when it is first spoken of.
Trace::Entry &Trace::entry(uint32_t id) {
  if (id == firstId_ + entries_.size() && id == nextId_) {
    if (keep_)
      flow_.checkTrace(entries_.size());
    entries_.emplace_back();
    entries_.back().record.pc = flow_.pc();
  }
  const uint32_t at = id - firstId_;
  if (at >= entries_.size())
    throw std::logic_error(fmt::format("the RTL speaks of instruction {}, which is not there", id));
  return entries_[at];
}

// `step` of an instruction at which the RTL does not trap: the program must not trap there either.
template <typename Step> static auto withoutTrap(const ModelPorts &ports, const Step &step) {
  try {
    return step();
  } catch (const UserError &error) {
    throw std::logic_error(
        fmt::format("the RTL does not trap at instruction {}: {}", ports.pc, error.message()));
  }
}

void Trace::execute(int64_t t, const ModelPorts &ports) {
  Entry &own = entry(ports.executedId);
  if (ports.executedId != nextId_ || ports.pc != flow_.pc())
    throw std::logic_error(fmt::format("the RTL executes instruction {} where the program is at {}",
                                       ports.pc, flow_.pc()));
  const isa::DecodedInstruction &decoded = *withoutTrap(ports, [&] {
    flow_.checkPc();
    return &decode(flow_.pc());
  });
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  own.decoded = &decoded;
  own.unit = instruction.unit;
  own.record.dispatch = t;
  ++nextId_;
  ++record_.instructions;
  if (ports.isControl != 0) {
    own.record.start = own.record.end = t;
    own.started = own.ended = true;
    for (size_t s = 0; s < semaphores_.size(); ++s)
      semaphores_[s] += static_cast<int64_t>(decoded.signal >> s & 1) -
                        static_cast<int64_t>(decoded.wait >> s & 1);
    withoutTrap(ports, [&] { flow_.execute(decoded, base_); });
    return;
  }
  own.addresses.assign(instruction.operands.size(), 0);
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (instruction.operands[i].kind == isa::Operand::Kind::Memory)
      own.addresses[i] = decoded.values[i] + base_[decoded.bases[i]];
  flow_.advance(base_);
}

// Why an instruction may not execute; the RTL must find the same. "" when it may.
std::string Trace::trapReason(const Entry &entry, bool isFault) const {
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(entry.decoded->instruction)];
  const int64_t *registers = registers_[static_cast<size_t>(entry.unit)].data();
  std::string reason =
      isa::trapReason(instruction, isa_, *entry.decoded, registers, entry.addresses.data());
  if (isFault != !reason.empty())
    throw std::logic_error(fmt::format("the RTL {} instruction {}: {}",
                                       isFault ? "traps at" : "lets pass", entry.record.pc,
                                       isFault ? "it is legal" : reason));
  if (!reason.empty() || instruction.accesses.empty())
    return reason;
  // The DRAM of a run ends where its program says, before the address space does: the RTL knows
  // nothing of that.
  const auto ranges =
      isa::operandRanges(instruction, isa_, *entry.decoded, registers, entry.addresses.data());
  for (const isa::Operand &operand : instruction.operands) {
    const isa::Range &range = ranges[static_cast<size_t>(operand.index)];
    if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram &&
        !range.empty() && range.end > dramBytes_)
      return fmt::format(
          "operand '{}' reaches byte 0x{:x} of DRAM, of which the program uses 0x{:x} bytes",
          operand.name, range.end - 1, dramBytes_);
  }
  return "";
}

void Trace::start(int64_t t, Entry &own, bool isFault) {
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(own.decoded->instruction)];
  const isa::Unit &unit = isa_.units()[static_cast<size_t>(own.unit)];
  own.record.start = t;
  own.started = true;
  for (size_t s = 0; s < semaphores_.size(); ++s)
    semaphores_[s] -= static_cast<int64_t>(own.decoded->wait >> s & 1);
  const std::string reason = trapReason(own, isFault);
  if (!reason.empty())
    fault(program_, own.record.pc, instruction.name + ": " + reason);
  auto &registers = registers_[static_cast<size_t>(own.unit)];
  for (const auto &[number, value] : instruction.sets) {
    const auto index = static_cast<size_t>(own.decoded->values[static_cast<size_t>(number)]);
    const isa::Type type = unit.registers[index].type;
    const uint64_t mask = type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << type.bits) - 1;
    uint64_t bits = static_cast<uint64_t>(own.decoded->values[static_cast<size_t>(value)]) & mask;
    if (type.isSigned && (bits >> (type.bits - 1)) != 0)
      bits |= ~mask;
    registers[index] = static_cast<int64_t>(bits);
  }
  if (unit.kind != isa::UnitTemplate::DmaLoad && unit.kind != isa::UnitTemplate::DmaStore)
    return;
  isa::ScalarContext context;
  context.immediates = own.decoded->values.data();
  context.state = registers.data();
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (instruction.operands[static_cast<size_t>(access.operand)].space != isa::Space::Dram)
      continue;
    int64_t bytes = access.elementBytes;
    for (const isa::Iterator &iterator : instruction.steps[0].iterators)
      bytes *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 0);
    (access.write ? own.record.dramWriteBytes : own.record.dramReadBytes) =
        static_cast<uint64_t>(bytes);
    (access.write ? record_.dramWriteBytes : record_.dramReadBytes) += static_cast<uint64_t>(bytes);
  }
}

void Trace::charge(int64_t t, const ModelPorts &ports) {
  for (int port = 0; port < 5; ++port) {
    UnitRecord &unit = record_.units[static_cast<size_t>(unitIndex(isa_, port))];
    switch (ports.activityKind[port]) {
    case Busy:
      ++unit.busy;
      break;
    case Idle:
      ++unit.idle;
      break;
    default:
      ++unit.stalls[ports.activityCause[port]];
      ++entry(ports.activityId[port]).record.stalls[ports.activityCause[port]];
      break;
    }
    if (sink_ == nullptr)
      continue;
    ActivityEvent event;
    event.cycle = t;
    event.unit = unitIndex(isa_, port);
    event.kind = ports.activityKind[port] == Busy   ? ActivityEvent::Kind::Busy
                 : ports.activityKind[port] == Idle ? ActivityEvent::Kind::Idle
                                                    : ActivityEvent::Kind::Stalled;
    if (event.kind == ActivityEvent::Kind::Stalled) {
      event.cause = static_cast<Stall>(ports.activityCause[port]);
      event.pc = entry(ports.activityId[port]).record.pc;
    }
    sink_->activity(event);
  }
}

void Trace::cycle(int64_t t, const ModelPorts &ports, bool memoryIdle) {
  if (sink_ != nullptr)
    reportConflicts(t, ports);
  if (ports.trap != 0)
    trap(ports);
  if (ports.activityKind[0] == Stalled)
    entry(ports.activityId[0]);
  if (ports.executed != 0)
    execute(t, ports);
  for (int i = 0; i < 4; ++i)
    if (ports.startValid[i] != 0) {
      start(t, entry(ports.startId[i]), ports.startFault[i] != 0);
      if (sink_ != nullptr)
        follow(ports.startId[i]);
    }
  if (sink_ != nullptr)
    reportAccesses(t, ports);
  for (int i = 0; i < 9; ++i)
    if (ports.endValid[i] != 0) {
      Entry &own = entry(ports.endId[i]);
      own.record.end = t;
      own.ended = true;
      tellWritten(ports.endId[i], own);
      own.addresses = {}; // a long trace holds its records, and little more
      for (size_t s = 0; s < semaphores_.size(); ++s)
        semaphores_[s] += static_cast<int64_t>(own.decoded->signal >> s & 1);
    }
  charge(t, ports);
  if (ports.arValid != 0 && ports.arId == 0)
    record_.fetchBytes += fetchBytes_;
  // Nothing changes in a cycle in which nothing can: the next ones are alike. But the matrix unit's
  // pipeline may still hold rows while its head waits: it has run empty after so many cycles.
  stuckCycles_ = memoryIdle && isStuck(ports) ? stuckCycles_ + 1 : 0;
  if (stuckCycles_ > matrixPipeline_ + 1)
    deadlock(ports);
  if (!keep_)
    while (!entries_.empty() && entries_.front().ended) {
      entries_.pop_front();
      ++firstId_;
    }
}

// An instruction that has begun: the accesses of its unit that come are its own.
void Trace::follow(uint32_t id) {
  const Entry &own = entry(id);
  const isa::Instruction &instruction =
      isa_.instructions()[static_cast<size_t>(own.decoded->instruction)];
  if (instruction.steps.empty())
    return;
  switch (isa_.units()[static_cast<size_t>(own.unit)].kind) {
  case isa::UnitTemplate::Matrix: {
    const auto write = std::find_if(instruction.accesses.begin(), instruction.accesses.end(),
                                    [](const isa::MemoryAccess &access) { return access.write; });
    if (write == instruction.accesses.end())
      return;
    isa::ScalarContext context;
    context.immediates = own.decoded->values.data();
    context.state = registers_[static_cast<size_t>(own.unit)].data();
    const std::vector<isa::Iterator> &iterators =
        instruction.steps[static_cast<size_t>(write->step)].iterators;
    int64_t rows = 1;
    for (size_t i = 0; i < iterators.size(); ++i) {
      const int64_t extent = isa::evaluate(*iterators[i].extent, context);
      rows *= i + 1 < iterators.size() ? extent : std::min<int64_t>(extent, 1);
    }
    if (rows > 0)
      rows_.push_back({id, rows});
    return;
  }
  case isa::UnitTemplate::Vector:
    vector_ = id;
    return;
  case isa::UnitTemplate::DmaLoad:
    newestLoad_ = id;
    return;
  case isa::UnitTemplate::DmaStore:
    stores_[nextStore_] = id;
    nextStore_ = (nextStore_ + 1) % stores_.size();
    return;
  case isa::UnitTemplate::Sequencer:
    return;
  }
}

void Trace::reportWrite(int64_t t, int port, uint32_t id, isa::Space space, uint64_t address,
                        const uint8_t *bytes, int64_t count) {
  AccessEvent event{t, unitIndex(isa_, port), noInstruction, space, true, address, count};
  if (id == none) {
    sink_->access(event);
    return;
  }
  Entry &own = entry(id);
  event.pc = own.record.pc;
  sink_->access(event);
  own.written.push_back({space, address, std::vector<uint8_t>(bytes, bytes + count)});
}

// All that an instruction wrote, in a row: another may write between its pieces.
void Trace::tellWritten(uint32_t id, Entry &entry) {
  for (const Written &piece : entry.written)
    sink_->written(entry.record, id, piece.space, piece.address, piece.bytes.data(),
                   static_cast<int64_t>(piece.bytes.size()));
  entry.written = {};
}

void Trace::reportAccesses(int64_t t, const ModelPorts &ports) {
  static constexpr struct {
    isa::Space space;
    int port;
  } writers[5] = {{isa::Space::Spad, 2},
                  {isa::Space::Spad, 3},
                  {isa::Space::Acc, 1},
                  {isa::Space::Acc, 2},
                  {isa::Space::Acc, 3}};
  for (int i = 0; i < 5; ++i) {
    if (ports.writeValid[i] == 0)
      continue;
    uint32_t id = none;
    if (writers[i].port == 1) {
      if (!rows_.empty()) {
        id = rows_.front().id;
        if (--rows_.front().left == 0)
          rows_.pop_front();
      }
    } else if (writers[i].port == 2) {
      id = vector_;
    } else {
      id = ports.activityId[3]; // the cycle of a unit that writes goes to what it writes
    }
    reportWrite(t, writers[i].port, id, writers[i].space, ports.writeAddress[i], ports.writeData[i],
                ports.writeBytes[i]);
  }
  const uint64_t bus = static_cast<uint64_t>(isa_.param("bus_bytes"));
  if (ports.arValid != 0) {
    const bool fetches = ports.arId == 0;
    AccessEvent event{
        t,
        unitIndex(isa_, fetches ? 0 : 3),
        noInstruction,
        isa::Space::Dram,
        false,
        ports.arAddress,
        static_cast<int64_t>((uint64_t(ports.arLen) + 1) * bus - ports.arAddress % bus)};
    if (!fetches && newestLoad_ != none)
      event.pc = entry(newestLoad_).record.pc;
    sink_->access(event);
  }
  if (ports.awValid != 0) {
    sender_ = ports.awId < stores_.size() ? stores_[ports.awId] : none;
    beatAddress_ = ports.awAddress / bus * bus;
  }
  if (ports.wValid != 0) {
    auto strobe = [&](uint64_t i) { return (ports.wStrobe[i / 8] >> (i % 8) & 1) != 0; };
    for (uint64_t first = 0; first < bus; ++first) {
      if (!strobe(first))
        continue;
      uint64_t end = first;
      while (end < bus && strobe(end))
        ++end;
      reportWrite(t, 4, sender_, isa::Space::Dram, beatAddress_ + first, ports.wData + first,
                  static_cast<int64_t>(end - first));
      first = end;
    }
    beatAddress_ += bus;
  }
}

// The counters of the core show in a cycle what those before it lost.
void Trace::reportConflicts(int64_t t, const ModelPorts &ports) {
  for (int i = 0; i < 16; ++i)
    if (ports.conflicts[i] != conflicts_[i]) {
      sink_->conflict({t - 1, unitIndex(isa_, 1 + i / 4), unitIndex(isa_, 1 + i % 4),
                       static_cast<int64_t>(ports.conflicts[i] - conflicts_[i])});
      conflicts_[i] = ports.conflicts[i];
    }
}

bool Trace::isStuck(const ModelPorts &ports) const {
  if (ports.executed != 0 || ports.arValid != 0 || ports.wValid != 0 ||
      ports.activityKind[0] != Stalled ||
      ports.activityCause[0] == static_cast<uint8_t>(Stall::Fetch))
    return false;
  for (int i = 0; i < 4; ++i)
    if (ports.startValid[i] != 0)
      return false;
  for (int i = 0; i < 9; ++i)
    if (ports.endValid[i] != 0)
      return false;
  for (int port = 1; port < 5; ++port)
    if (ports.activityKind[port] == Busy ||
        (ports.activityKind[port] == Stalled &&
         ports.activityCause[port] != static_cast<uint8_t>(Stall::Semaphore)))
      return false;
  return true;
}

// The sequencer cannot go on: the program says why.
void Trace::trap(const ModelPorts &ports) {
  flow_.checkPc();
  const isa::DecodedInstruction &decoded = decode(flow_.pc());
  flow_.execute(decoded, base_);
  throw std::logic_error(
      fmt::format("the RTL traps ({}) at instruction {}, which is legal", ports.trap, ports.pc));
}

void Trace::busError(const ErrorResponse &error) const {
  static constexpr int ports[] = {0, 3, 4}; // of the requesters
  const int unit = unitIndex(isa_, ports[error.requester]);
  throw UserError({program_.file, 0, 0, "the rtl engine"},
                  fmt::format("unit '{}', cycle {}: the memory answers {} to the {} of 0x{:x}",
                              isa_.units()[static_cast<size_t>(unit)].name, error.cycle,
                              error.response == 2 ? "SLVERR" : "DECERR",
                              error.requester == 2 ? "write" : "read", error.address),
                  "use addresses that the memory behind the AXI4 port has");
}

// Who waits for what, for every unit that waits.
void Trace::deadlock(const ModelPorts &ports) {
  std::string message = "deadlock:";
  uint64_t pc = flow_.pc();
  bool first = true;
  auto describe = [&](int unit, const Entry *waiting, bool takes, bool gives) {
    if (waiting == nullptr)
      return;
    std::string reasons;
    const isa::DecodedInstruction &decoded = decode(waiting->record.pc);
    for (size_t s = 0; s < semaphores_.size(); ++s) {
      const int64_t count = semaphores_[s];
      if (takes && (decoded.wait >> s & 1) != 0 && count < 1)
        reasons += fmt::format("{} waits for semaphore {} (count {})", reasons.empty() ? "" : ",",
                               s, count);
    }
    for (size_t s = 0; s < semaphores_.size(); ++s) {
      const int64_t count = semaphores_[s];
      if (gives && (decoded.signal >> s & 1) != 0 && count >= isa_.param("semaphore_max"))
        reasons += fmt::format("{} cannot signal semaphore {} (count {})",
                               reasons.empty() ? "" : ",", s, count);
    }
    if (reasons.empty())
      reasons = " waits for the units";
    message += fmt::format("{} {} at instruction {} `{}`{}", first ? "" : ";",
                           isa_.units()[static_cast<size_t>(unit)].name, waiting->record.pc,
                           isa::disassemble(isa_, decoded), reasons);
    if (first)
      pc = waiting->record.pc;
    first = false;
  };
  for (int port = 1; port < 5; ++port) {
    const int unit = unitIndex(isa_, port);
    const Entry *begun = nullptr, *head = nullptr;
    bool begunLoads = false;
    for (const Entry &own : entries_) {
      if (own.decoded == nullptr || own.unit != unit || own.ended)
        continue;
      // Of the matrix unit's, the first one that loads comes first.
      const bool loads = unitOrder[port] == isa::UnitTemplate::Matrix && own.started &&
                         !isa_.instructions()[static_cast<size_t>(own.decoded->instruction)]
                              .accesses.back()
                              .write &&
                         !isa_.instructions()[static_cast<size_t>(own.decoded->instruction)]
                              .accesses.front()
                              .write;
      if (own.started && (begun == nullptr || (loads && !begunLoads))) {
        begun = &own;
        begunLoads = loads;
      } else if (!own.started && head == nullptr)
        head = &own;
    }
    const bool isSet =
        head != nullptr &&
        isa_.instructions()[static_cast<size_t>(head->decoded->instruction)].steps.empty();
    if (begun != nullptr)
      describe(unit, begun, false, true);
    else
      describe(unit, head, true, isSet);
  }
  if (ports.activityKind[0] == Stalled) {
    const Entry &current = entry(ports.activityId[0]);
    const isa::DecodedInstruction &decoded =
        *withoutTrap(ports, [&] { return &decode(current.record.pc); });
    const bool isControl =
        isa_.instructions()[static_cast<size_t>(decoded.instruction)].control != isa::Control::None;
    describe(unitIndex(isa_, 0), &current, isControl, isControl);
  }
  fault(program_, pc, message, "signal the semaphore from the unit that makes what is waited for");
}

RunRecord Trace::finish(int64_t cycles, const ModelPorts &ports) {
  record_.cycles = cycles;
  record_.bankConflicts.assign(isa_.units().size(), std::vector<int64_t>(isa_.units().size(), 0));
  for (int loser = 0; loser < 4; ++loser)
    for (int winner = 0; winner < 4; ++winner)
      record_.bankConflicts[static_cast<size_t>(unitIndex(isa_, 1 + loser))]
                           [static_cast<size_t>(unitIndex(isa_, 1 + winner))] =
          ports.conflicts[4 * loser + winner];
  for (size_t i = 0; i < entries_.size(); ++i)
    tellWritten(firstId_ + static_cast<uint32_t>(i), entries_[i]);
  if (keep_)
    for (const Entry &own : entries_)
      record_.trace.push_back(own.record);
  return std::move(record_);
}

} // namespace tilewright::rtl

// The program's side of the accelerator: from start to end, and what ends it.
#include "parts.h"

#include "tilewright/simulator/engine/fault.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::platform {

namespace {

constexpr int64_t defaultQuantum = 1000; // cycles

// The causes of the register map, by name.
std::string causeOf(FaultCause cause) {
  switch (cause) {
  case FaultCause::PastEnd:
    return "past_end";
  case FaultCause::LoopPastEnd:
    return "loop_past_end";
  case FaultCause::LoopDepth:
    return "loop_depth";
  case FaultCause::Branch:
    return "branch";
  case FaultCause::Illegal:
  case FaultCause::Deadlock: // no trap
    break;
  }
  return "illegal";
}

// Whether the core has counted the instruction that traps: it finds only then that it cannot be
// executed.
bool isCounted(FaultCause cause) {
  return cause == FaultCause::LoopPastEnd || cause == FaultCause::LoopDepth ||
         cause == FaultCause::Branch;
}

// Advances the core; the fault that ends the program, if one does. (A thread must not wait while it
// handles an exception.)
std::optional<ProgramFault> advance(cycle::TlmCore &core, int64_t quantum, bool &ended) {
  try {
    ended = core.advance(quantum);
    return std::nullopt;
  } catch (const ProgramFault &fault) {
    return fault;
  }
}

} // namespace

sc_core::sc_time Accelerator::timeOf(int64_t cycle) const {
  return parts_->origin +
         sc_core::sc_time::from_value(static_cast<uint64_t>(cycle) * parts_->cycle.value());
}

// Of the program, by now.
int64_t Accelerator::cyclesOver() const {
  const sc_core::sc_time &now = sc_core::sc_time_stamp();
  return now < parts_->origin
             ? 0
             : static_cast<int64_t>((now - parts_->origin).value() / parts_->cycle.value());
}

int64_t Accelerator::quantum() const {
  const sc_core::sc_time global = tlm::tlm_global_quantum::instance().get();
  if (global == sc_core::SC_ZERO_TIME)
    return defaultQuantum;
  return std::max<int64_t>(static_cast<int64_t>(global.value() / parts_->cycle.value()), 1);
}

// False when a soft reset comes first.
bool Accelerator::waitUntil(const sc_core::sc_time &time) {
  while (parts_->state != State::Resetting && sc_core::sc_time_stamp() < time)
    wait(time - sc_core::sc_time_stamp(), parts_->reset);
  return parts_->state != State::Resetting;
}

void Accelerator::run() {
  for (;;) {
    wait(parts_->started);
    if (const std::optional<Ending> ending = runToEnd())
      finish(*ending);
    if (parts_->state == State::Resetting)
      awaitReset();
    parts_->core.reset();
    parts_->state = State::Idle;
    parts_->changed.notify(sc_core::SC_ZERO_TIME);
  }
}

// Nothing when a soft reset comes first.
std::optional<Accelerator::Ending> Accelerator::runToEnd() {
  if (!waitUntil(timeOf(0)))
    return std::nullopt;
  if (!findMemory() || !loadProgram()) {
    parts_->block.set(parts_->fields.busFetch, 1);
    return Ending{1, "bus", parts_->block.get(parts_->fields.entry)};
  }
  cycle::CoreOptions options;
  options.trace = false;
  cycle::TlmCore &core = parts_->core.emplace(
      parts_->machine, parts_->program, *memory.operator->(),
      parts_->block.get(parts_->fields.argumentBase) << parts_->fields.argumentBase.low, options);
  std::optional<ProgramFault> fault;
  for (bool ended = false; !ended && !fault;) {
    fault = advance(core, quantum(), ended);
    if (!waitUntil(timeOf(core.cycle())))
      return std::nullopt;
    count();
  }
  if (fault && fault->cause() == FaultCause::Deadlock) {
    SC_REPORT_WARNING(reportType, fault->what());
    while (parts_->state != State::Resetting)
      wait(parts_->reset);
    return std::nullopt;
  }
  const bool isTrap = fault || core.record().stopped;
  if (!isTrap)
    return Ending{core.cycle()};
  // The cycle in which it traps is one of the program.
  if (!waitUntil(timeOf(core.cycle() + 1)))
    return std::nullopt;
  return fault ? trap(*fault) : Ending{core.cycle() + 1, "bus", core.pc()};
}

Accelerator::Ending Accelerator::trap(const ProgramFault &fault) {
  SC_REPORT_WARNING(reportType, fault.what());
  const cycle::TlmCore &core = *parts_->core;
  if (isCounted(fault.cause())) {
    const RegisterBlock::Field &executed = parts_->fields.instructions;
    parts_->block.set(executed, parts_->block.get(executed) - 1);
  }
  if (!core.leftDram())
    return {core.cycle() + 1, causeOf(fault.cause()), fault.pc()};
  // What is beyond the DRAM is the memory's to refuse.
  const isa::Isa &isa = parts_->machine.isa;
  isa::DecodedInstruction decoded;
  std::string reason;
  isa.decode(reinterpret_cast<const uint8_t *>(parts_->program.code.data()) +
                 fault.pc() * static_cast<uint64_t>(isa.instructionBytes()),
             decoded, reason);
  const isa::Instruction &instruction =
      isa.instructions()[static_cast<size_t>(decoded.instruction)];
  const bool isStore =
      isa.units()[static_cast<size_t>(instruction.unit)].kind == isa::UnitTemplate::DmaStore;
  parts_->block.set(isStore ? parts_->fields.busStore : parts_->fields.busLoad, 1);
  return {core.cycle() + 1, "bus", core.pc()};
}

// Where the program's DRAM is; false when it cannot be reached.
bool Accelerator::findMemory() {
  const RegisterFields &fields = parts_->fields;
  const uint64_t base = parts_->block.get(fields.argumentBase) << fields.argumentBase.low;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(base);
  tlm::tlm_dmi access;
  MachineState &state = parts_->machine.state;
  state.dram = nullptr;
  state.dramBytes = 0;
  if (!memory->get_direct_mem_ptr(payload, access) || !access.is_read_write_allowed() ||
      base < access.get_start_address() || base > access.get_end_address()) {
    const std::string message =
        fmt::format("{}: the memory at address {:#x} grants no direct access (DMI) for reading and "
                    "writing, which the accelerator needs for values",
                    name(), base);
    SC_REPORT_ERROR(reportType, message.c_str());
    return false;
  }
  state.dram = access.get_dmi_ptr() + (base - access.get_start_address());
  state.dramBytes = std::min<uint64_t>(access.get_end_address() - base,
                                       parts_->machine.isa.memory(isa::Space::Dram).bytes - 1) +
                    1;
  return true;
}

// Reads the code; false when it is not in the memory.
bool Accelerator::loadProgram() {
  const RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  const MachineState &state = parts_->machine.state;
  const uint64_t address = block.get(fields.codeAddress);
  const uint64_t bytes =
      block.get(fields.codeCount) * static_cast<uint64_t>(parts_->machine.isa.instructionBytes());
  if (address > state.dramBytes || bytes > state.dramBytes - address)
    return false;
  Program &program = parts_->program;
  program.file = name();
  program.codeAddress = address;
  program.code.assign(reinterpret_cast<const char *>(state.dram) + address, bytes);
  program.entry = block.get(fields.entry);
  program.dramBytes = state.dramBytes;
  parts_->machine.restart();
  return true;
}

// Shows what the core has counted so far.
void Accelerator::count() {
  RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  const RunRecord record = parts_->core->record();
  const cycle::TlmCore::Beats &beats = parts_->core->beats();
  const cycle::TlmCore::Refusals &refusals = parts_->core->refusals();
  block.set(fields.cycles, static_cast<uint64_t>(record.cycles));
  block.set(fields.instructions, record.instructions);
  block.set(fields.fetchBeats, beats.fetch);
  block.set(fields.loadBeats, beats.load);
  block.set(fields.storeBeats, beats.store);
  block.set(fields.busFetch, refusals.fetch);
  block.set(fields.busLoad, refusals.load);
  block.set(fields.busStore, refusals.store);
  const std::vector<isa::Unit> &units = parts_->machine.isa.units();
  for (const RegisterFields::UnitFields &each : fields.units) {
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const isa::Unit &own) { return own.kind == each.kind; });
    const UnitRecord &own = record.units[static_cast<size_t>(unit->index)];
    int64_t stalled = 0;
    for (const int64_t cycles : own.stalls)
      stalled += cycles;
    block.set(each.busy, static_cast<uint64_t>(own.busy));
    block.set(each.stalled, static_cast<uint64_t>(stalled));
  }
}

// Waits until nothing is on the bus, which the machine sees in the next cycle, and tells the host
// in the one after it.
void Accelerator::finish(const Ending &ending) {
  RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  const bool isTrap = ending.cause != "none";
  parts_->state = State::Stopping;
  block.set(fields.cycles, static_cast<uint64_t>(ending.cycles));
  block.set(fields.cause, block.value("trap", "cause", ending.cause));
  block.set(fields.trapPc, ending.pc);
  const int64_t last = parts_->core ? parts_->core->lastResponse() : -1;
  if (!waitUntil(timeOf(std::max(ending.cycles, last + 1) + 1)))
    return;
  block.set(fields.done, 1);
  block.set(fields.trapped, isTrap);
  block.set(fields.ctrlDone, 1);
  block.set(fields.ready, 1);
  block.set(fields.eventDone, 1);
  if (isTrap)
    block.set(fields.eventTrap, 1);
}

// Until nothing is on the bus of what the core has sent.
void Accelerator::awaitReset() {
  const int64_t last = parts_->core ? parts_->core->lastResponse() : -1;
  const sc_core::sc_time end = timeOf(std::max(cyclesOver(), last) + 2);
  if (sc_core::sc_time_stamp() < end)
    wait(end - sc_core::sc_time_stamp());
}

void Accelerator::withdraw(sc_dt::uint64 begin, sc_dt::uint64 end) {
  const MachineState &state = parts_->machine.state;
  const uint64_t base = parts_->block.get(parts_->fields.argumentBase)
                        << parts_->fields.argumentBase.low;
  if (parts_->core && begin <= base + (state.dramBytes - 1) && end >= base) {
    const std::string message =
        fmt::format("{}: the memory takes back direct access (DMI) while a program runs", name());
    SC_REPORT_ERROR(reportType, message.c_str());
  }
}

} // namespace tilewright::platform

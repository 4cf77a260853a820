// The host's side of the accelerator: registers and interrupt.
#include "tilewright/simulator/platform/accelerator.h"

#include "parts.h"

#include <cstring>

namespace tilewright::platform {

namespace {

constexpr unsigned wordBytes = 4;

// The bits that byte enables let through.
uint32_t maskOf(const tlm::tlm_generic_payload &payload) {
  const unsigned char *enables = payload.get_byte_enable_ptr();
  if (enables == nullptr)
    return UINT32_MAX;
  uint32_t mask = 0;
  for (unsigned i = 0; i < wordBytes; ++i)
    if (enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED)
      mask |= uint32_t(0xff) << (8 * i);
  return mask;
}

} // namespace

Accelerator::Accelerator(const sc_core::sc_module_name &name, const isa::Isa &isa)
    : sc_module(name), memory("memory"), registers("registers"), interrupt("interrupt"),
      parts_(std::make_unique<Parts>(isa)) {
  parts_->block.set(parts_->fields.isaHash, std::stoull(isa.hash().substr(0, 16), nullptr, 16));
  registers.register_b_transport(this, &Accelerator::access);
  registers.register_transport_dbg(this, &Accelerator::debug);
  memory.register_invalidate_direct_mem_ptr(this, &Accelerator::withdraw);
  SC_METHOD(drive);
  sensitive << parts_->changed;
  SC_THREAD(run);
  set_stack_size(8 << 20); // kernels are compiled on it when they are first used
}

Accelerator::~Accelerator() = default;

// A write or a read takes effect in the cycle after its address was taken, and is done in the next
// one (docs/host.md, "The port").
void Accelerator::access(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
  if (payload.get_data_length() != wordBytes || payload.get_streaming_width() < wordBytes) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  wait(delay + parts_->cycle);
  delay = parts_->cycle;
  const uint64_t offset = payload.get_address();
  unsigned char *data = payload.get_data_ptr();
  if (payload.is_read()) {
    show();
    const uint32_t value = parts_->block.read(offset);
    std::memcpy(data, &value, wordBytes);
  } else if (payload.is_write()) {
    uint32_t value = 0;
    std::memcpy(&value, data, wordBytes);
    heed(offset, value, maskOf(payload));
  }
  payload.set_response_status(parts_->block.has(offset) ? tlm::TLM_OK_RESPONSE
                                                        : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned Accelerator::debug(tlm::tlm_generic_payload &payload) {
  if (!payload.is_read() || payload.get_data_length() != wordBytes ||
      !parts_->block.has(payload.get_address()))
    return 0;
  show();
  const uint32_t value = parts_->block.peek(payload.get_address());
  std::memcpy(payload.get_data_ptr(), &value, wordBytes);
  return wordBytes;
}

// A write, in the cycle in which it takes effect.
void Accelerator::heed(uint64_t offset, uint32_t value, uint32_t mask) {
  const bool isIdle = parts_->state == State::Idle;
  const RegisterBlock::Asked asked = parts_->block.write(offset, value, mask, isIdle);
  if (asked.has(parts_->fields.start) && isIdle)
    start();
  if (asked.has(parts_->fields.softReset))
    softReset();
  parts_->changed.notify(sc_core::SC_ZERO_TIME);
}

// The next cycle is cycle 0 of the program.
void Accelerator::start() {
  RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  for (const RegisterBlock::Field &field :
       {fields.done, fields.trapped, fields.cause, fields.trapPc, fields.busFetch, fields.busLoad,
        fields.busStore, fields.cycles, fields.instructions, fields.fetchBeats, fields.loadBeats,
        fields.storeBeats})
    block.set(field, 0);
  for (const RegisterFields::UnitFields &unit : fields.units) {
    block.set(unit.busy, 0);
    block.set(unit.stalled, 0);
  }
  parts_->state = State::Running;
  parts_->origin = sc_core::sc_time_stamp() + parts_->cycle;
  parts_->started.notify(sc_core::SC_ZERO_TIME);
}

void Accelerator::softReset() {
  const RegisterFields &fields = parts_->fields;
  for (const RegisterBlock::Field &field :
       {fields.done, fields.trapped, fields.cause, fields.trapPc, fields.busFetch, fields.busLoad,
        fields.busStore})
    parts_->block.set(field, 0);
  if (parts_->state == State::Running)
    parts_->block.set(fields.cycles, static_cast<uint64_t>(cyclesOver()));
  if (parts_->state == State::Idle || parts_->state == State::Resetting)
    return;
  parts_->state = State::Resetting;
  parts_->reset.notify(sc_core::SC_ZERO_TIME);
}

// What depends on the state and on the time, as a read finds it.
void Accelerator::show() {
  RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  const State state = parts_->state;
  block.set(fields.start, state == State::Running || state == State::Stopping);
  block.set(fields.ctrlIdle, state == State::Idle);
  block.set(fields.interrupt, isInterrupting());
  block.set(fields.idle, state == State::Idle);
  block.set(fields.running, state == State::Running);
  block.set(fields.stopping, state == State::Stopping);
  block.set(fields.resetting, state == State::Resetting);
  block.set(fields.softReset, state == State::Resetting);
  if (state == State::Running)
    block.set(fields.cycles, static_cast<uint64_t>(cyclesOver()));
}

bool Accelerator::isInterrupting() const {
  const RegisterBlock &block = parts_->block;
  const RegisterFields &fields = parts_->fields;
  return block.get(fields.enable) != 0 &&
         ((block.get(fields.eventDone) & block.get(fields.enableDone)) != 0 ||
          (block.get(fields.eventTrap) & block.get(fields.enableTrap)) != 0);
}

void Accelerator::drive() { interrupt.write(isInterrupting()); }

} // namespace tilewright::platform

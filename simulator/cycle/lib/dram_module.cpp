#include "tilewright/simulator/cycle/dram_module.h"

#include <cstring>

namespace tilewright::cycle {

DramModule::DramModule(const sc_core::sc_module_name &name, const DramConfig &config,
                       const sc_core::sc_time &cycle)
    : sc_module(name), socket("socket"), config_(config), model_(config), cycle_(cycle) {
  socket.register_b_transport(this, &DramModule::transport);
}

DramModule::DramModule(const sc_core::sc_module_name &name, const DramConfig &config,
                       const sc_core::sc_time &cycle, uint8_t *bytes, uint64_t size, uint64_t base)
    : DramModule(name, config, cycle) {
  bytes_ = bytes;
  size_ = size;
  base_ = base;
  socket.register_get_direct_mem_ptr(this, &DramModule::grant);
  socket.register_transport_dbg(this, &DramModule::debug);
}

void DramModule::restart() {
  model_ = DramModel(config_);
  origin_.reset();
}

void DramModule::transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
  const uint64_t address = payload.get_address();
  const int64_t bytes = payload.get_data_length();
  if (bytes_ != nullptr && debug(payload) != static_cast<unsigned>(bytes)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += cycle_;
    return;
  }
  const sc_core::sc_time arrival = sc_core::sc_time_stamp() + delay;
  if (!origin_)
    origin_ = arrival;
  const int64_t t = static_cast<int64_t>((arrival - *origin_).value() / cycle_.value());
  const int64_t done = payload.is_read() ? model_.read(t, address - base_, bytes)
                                         : model_.write(t, address - base_, bytes);
  delay += sc_core::sc_time::from_value(static_cast<uint64_t>(done - t) * cycle_.value());
  payload.set_dmi_allowed(bytes_ != nullptr);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool DramModule::grant(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &access) {
  if (!holds(payload.get_address(), 1))
    return false;
  access.set_dmi_ptr(bytes_);
  access.set_start_address(base_);
  access.set_end_address(base_ + size_ - 1);
  access.allow_read_write();
  return true;
}

// Moves the bytes; 0 when not all of them are here.
unsigned DramModule::debug(tlm::tlm_generic_payload &payload) {
  const unsigned bytes = payload.get_data_length();
  if (!holds(payload.get_address(), bytes))
    return 0;
  uint8_t *own = bytes_ + (payload.get_address() - base_);
  if (payload.is_read())
    std::memcpy(payload.get_data_ptr(), own, bytes);
  else if (payload.is_write())
    std::memcpy(own, payload.get_data_ptr(), bytes);
  return bytes;
}

} // namespace tilewright::cycle

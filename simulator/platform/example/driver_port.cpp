#include "driver_port.h"

namespace tilewright::platform {

DriverPort::DriverPort(const sc_core::sc_module_name &name)
    : sc_module(name), registers("registers") {
  device_.read = [](void *context, uint32_t offset) {
    return static_cast<DriverPort *>(context)->read(offset);
  };
  device_.write = [](void *context, uint32_t offset, uint32_t value) {
    static_cast<DriverPort *>(context)->write(offset, value);
  };
  device_.context = this;
}

uint32_t DriverPort::read(uint32_t offset) {
  uint32_t value = UINT32_MAX;
  access(tlm::TLM_READ_COMMAND, offset, value);
  return response_ == tlm::TLM_OK_RESPONSE ? value : UINT32_MAX;
}

void DriverPort::write(uint32_t offset, uint32_t value) {
  access(tlm::TLM_WRITE_COMMAND, offset, value);
}

void DriverPort::access(tlm::tlm_command command, uint32_t offset, uint32_t &value) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
  payload.set_data_length(sizeof value);
  payload.set_streaming_width(sizeof value);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  registers->b_transport(payload, delay);
  wait(delay);
  response_ = payload.get_response_status();
}

} // namespace tilewright::platform

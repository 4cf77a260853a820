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
  payload_.set_command(command);
  payload_.set_address(offset);
  payload_.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
  payload_.set_data_length(sizeof value);
  payload_.set_streaming_width(sizeof value);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  registers->b_transport(payload_, delay);
  wait(delay);
  response_ = payload_.get_response_status();
}

} // namespace tilewright::platform

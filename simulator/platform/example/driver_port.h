// How the C driver reaches an accelerator's registers over TLM-2.0.
#pragma once

#include "tilewright_driver.h"

#include <cstdint>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

namespace tilewright::platform {

class DriverPort : public sc_core::sc_module {
public:
  tlm_utils::simple_initiator_socket<DriverPort> registers;

  explicit DriverPort(const sc_core::sc_module_name &name);
  // For the functions of the driver, called in a SystemC thread: they take simulated time.
  const tilewright_device *device() const { return &device_; }
  // Words of 32 bits. What no register answers reads as all ones, as on many a bus.
  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);
  tlm::tlm_response_status response() const { return response_; } // to the last access

private:
  void access(tlm::tlm_command command, uint32_t offset, uint32_t &value);

  tilewright_device device_;
  tlm::tlm_generic_payload payload_;
  tlm::tlm_response_status response_ = tlm::TLM_INCOMPLETE_RESPONSE;
};

} // namespace tilewright::platform

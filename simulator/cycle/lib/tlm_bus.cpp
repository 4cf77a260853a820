#include "tlm_bus.h"

#include <cstring>

namespace tilewright::cycle {

TlmBus::TlmBus(const Machine &machine, const Program &program, tlm::tlm_fw_transport_if<> &memory,
               uint64_t base)
    : machine_(machine), program_(program), memory_(memory), base_(base),
      busBytes_(machine.isa.param("bus_bytes")),
      lineBytes_(machine.isa.timing().at("sequencer.fetch_bytes")), cycle_(cycleTime(machine.isa)) {
}

// The cycle in which the transaction that is sent in cycle t is done. A memory may annotate the
// time until then, or wait for it.
int64_t TlmBus::transport(int64_t t, tlm::tlm_command command, uint64_t address, int64_t bytes) {
  if (data_.size() < static_cast<size_t>(bytes))
    data_.resize(static_cast<size_t>(bytes));
  // What a store writes is in memory since it started: it is written once more.
  const MachineState &state = machine_.state;
  if (command == tlm::TLM_WRITE_COMMAND &&
      address + static_cast<uint64_t>(bytes) <= state.dramBytes)
    std::memcpy(data_.data(), state.dram + address, static_cast<size_t>(bytes));
  payload_.set_command(command);
  payload_.set_address(base_ + address);
  payload_.set_data_ptr(data_.data());
  payload_.set_data_length(static_cast<unsigned>(bytes));
  payload_.set_streaming_width(static_cast<unsigned>(bytes));
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const sc_core::sc_time due = timeOf(t), &now = sc_core::sc_time_stamp();
  sc_core::sc_time delay = due > now ? due - now : sc_core::SC_ZERO_TIME;
  memory_.b_transport(payload_, delay);
  const sc_core::sc_time::value_type done = (sc_core::sc_time_stamp() + delay - origin_).value();
  return static_cast<int64_t>((done + cycle_.value() - 1) / cycle_.value());
}

Bus::Beats TlmBus::read(int64_t t, uint64_t address, int64_t bytes) {
  const int64_t count = beats(address, bytes);
  // Beats come one a cycle, from the next cycle on at the earliest, whatever the memory says.
  const int64_t last = std::max(transport(t, tlm::TLM_READ_COMMAND, address, bytes), t + count);
  lastResponse_ = std::max(lastResponse_, last);
  const bool fetches = isFetch(address, bytes);
  (fetches ? beatsMoved_.fetch : beatsMoved_.load) += static_cast<uint64_t>(count);
  if (payload_.is_response_error())
    refuse(fetches ? refusals_.fetch : refusals_.load, last);
  return {last - count + 1, last};
}

int64_t TlmBus::write(int64_t t, uint64_t address, int64_t bytes) {
  const int64_t response = std::max(transport(t, tlm::TLM_WRITE_COMMAND, address, bytes), t + 1);
  lastResponse_ = std::max(lastResponse_, response);
  beatsMoved_.store += static_cast<uint64_t>(beats(address, bytes));
  if (payload_.is_response_error())
    refuse(refusals_.store, response);
  return response;
}

// A load of one line of the code, and of nothing else, passes for a fetch.
bool TlmBus::isFetch(uint64_t address, int64_t bytes) const {
  const auto line = static_cast<uint64_t>(lineBytes_);
  return bytes == lineBytes_ && address % line == 0 && address + line > program_.codeAddress &&
         address < program_.codeAddress + program_.code.size();
}

void TlmBus::refuse(bool &what, int64_t t) {
  what = true;
  core_->stopAt(t + 1);
}

} // namespace tilewright::cycle

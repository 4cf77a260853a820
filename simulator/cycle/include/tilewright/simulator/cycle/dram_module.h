// A DRAM as a TLM-2.0 target.
#pragma once

#include "tilewright/simulator/memory/dram_model.h"

#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

namespace tilewright::cycle {

// Times by a DramModel: a transaction arrives at the local time plus the annotated delay, and is
// answered with the delay until its last beat (reads) or its response (writes). Transactions come
// in order of their arrival: it has one initiator.
class DramModule : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<DramModule> socket;

  // Of time alone: no address is refused, no bytes move. `cycle` is that of the core's clock, in
  // which the configuration counts.
  DramModule(const sc_core::sc_module_name &name, const DramConfig &config,
             const sc_core::sc_time &cycle);
  // With contents, at bus addresses from `base` on: [bytes, bytes + size), which outlive it. They
  // may be reached directly (DMI); what lies outside of them is refused.
  DramModule(const sc_core::sc_module_name &name, const DramConfig &config,
             const sc_core::sc_time &cycle, uint8_t *bytes, uint64_t size, uint64_t base = 0);

  // As after power-up, at the next transaction: its refreshes count from there. A program's time is
  // its own after that.
  void restart();
  const DramModel &model() const { return model_; }

private:
  void transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
  bool grant(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &access);
  unsigned debug(tlm::tlm_generic_payload &payload);
  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= base_ && address - base_ <= size_ && bytes <= size_ - (address - base_);
  }

  DramConfig config_;
  DramModel model_;
  sc_core::sc_time cycle_;
  std::optional<sc_core::sc_time> origin_ = sc_core::SC_ZERO_TIME; // none: the next arrival
  uint8_t *bytes_ = nullptr;
  uint64_t size_ = 0, base_ = 0;
};

} // namespace tilewright::cycle

// The core's bus as transactions on a TLM-2.0 socket.
#pragma once

#include "core.h"

#include "tilewright/simulator/cycle/tlm_core.h"

#include <algorithm>
#include <vector>

namespace tilewright::cycle {

class TlmBus : public Bus {
public:
  TlmBus(const Machine &machine, const Program &program, tlm::tlm_fw_transport_if<> &memory,
         uint64_t base);
  // Whom to stop when the memory refuses something.
  void stops(Core &core) { core_ = &core; }

  Beats read(int64_t t, uint64_t address, int64_t bytes) override;
  int64_t write(int64_t t, uint64_t address, int64_t bytes) override;
  int64_t beats(uint64_t address, int64_t bytes) const override {
    const auto bus = static_cast<uint64_t>(busBytes_);
    return static_cast<int64_t>((address + static_cast<uint64_t>(bytes) - 1) / bus - address / bus +
                                1);
  }

  sc_core::sc_time timeOf(int64_t cycle) const {
    return origin_ + sc_core::sc_time::from_value(static_cast<uint64_t>(cycle) * cycle_.value());
  }
  const TlmCore::Refusals &refusals() const { return refusals_; }
  int64_t lastResponse() const { return lastResponse_; }
  const TlmCore::Beats &beatsMoved() const { return beatsMoved_; }

private:
  int64_t transport(int64_t t, tlm::tlm_command command, uint64_t address, int64_t bytes);
  bool isFetch(uint64_t address, int64_t bytes) const;
  void refuse(bool &what, int64_t t);

  const Machine &machine_;
  const Program &program_;
  tlm::tlm_fw_transport_if<> &memory_;
  uint64_t base_;
  int64_t busBytes_, lineBytes_;
  sc_core::sc_time cycle_, origin_ = sc_core::sc_time_stamp();
  Core *core_ = nullptr;
  tlm::tlm_generic_payload payload_;
  std::vector<unsigned char> data_;
  TlmCore::Refusals refusals_;
  TlmCore::Beats beatsMoved_;
  int64_t lastResponse_ = -1;
};

} // namespace tilewright::cycle

// The memory behind a model's AXI4 port. Data are those of the DramImage, whose first byte is at
// the bus address `base`; times are DramModel's. Whatever breaks a rule of the bus is our mistake:
// std::logic_error.
#pragma once

#include "trace.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/memory/dram_model.h"

#include <deque>
#include <optional>
#include <random>

namespace tilewright::rtl {

class BusMemory {
public:
  BusMemory(const DramConfig &config, int64_t burstBytes, uint64_t base, DramImage &image,
            const BusFaults &faults);

  // A program starts: its cycles count from 0, and the DRAM is as after power-up, but for its data.
  void restart();
  // What is on the read data and write response channels in cycle t.
  void drive(int64_t t, ModelPorts &ports);
  // Refuses at random what the core may send; a beat is not taken before its address.
  void refuse(std::mt19937_64 &random, ModelPorts &ports) const;
  // Takes what the core sends in cycle t.
  void accept(int64_t t, const ModelPorts &ports);
  // From now on, a write beyond the program's DRAM is lost: what a program does that has trapped or
  // does not end is not checked.
  void ignoreBeyond() { ignoresBeyond_ = true; }

  // No read, no write and no response is open.
  bool isIdle() const { return reads_.empty() && responses_.empty() && beatsLeft_ == 0; }
  // The first error response so far.
  const std::optional<ErrorResponse> &error() const { return error_; }
  const DramModel &model() const { return model_; }
  // Beats since the last restart.
  uint64_t fetchBeats() const { return fetchBeats_; }
  uint64_t loadBeats() const { return loadBeats_; }
  uint64_t storeBeats() const { return storeBeats_; }

private:
  struct Read {
    int64_t first, last; // cycles of the beats that are left
    uint64_t address;    // of the next
    uint8_t id;
  };
  struct Response {
    int64_t cycle;
    uint8_t id;
    uint64_t address, bytes; // of the burst
  };

  uint64_t imageAddress(uint64_t busAddress) const;
  void checkBurst(const char *kind, uint64_t address, uint64_t bytes) const;
  bool lacks(uint64_t address, uint64_t bytes) const {
    return address < faults_.errorEnd && address + bytes > faults_.errorBegin;
  }
  uint8_t deny(int64_t t, int requester, uint64_t address);
  void load(uint64_t address, uint8_t *beat) const;
  void store(const ModelPorts &ports);

  DramConfig config_;
  DramModel model_;
  uint64_t bus_, burst_, base_;
  DramImage &image_;
  std::deque<Read> reads_;
  std::deque<Response> responses_;
  int beatsLeft_ = 0;
  uint8_t writeId_ = 0;
  uint64_t writeAddress_ = 0, beatAddress_ = 0, writeBytes_ = 0;
  uint64_t fetchBeats_ = 0, loadBeats_ = 0, storeBeats_ = 0;
  BusFaults faults_;
  std::optional<ErrorResponse> error_;
  bool ignoresBeyond_ = false;
};

} // namespace tilewright::rtl

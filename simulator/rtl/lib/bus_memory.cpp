#include "bus_memory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

static constexpr uint8_t okay = 0;

BusMemory::BusMemory(const DramConfig &config, int64_t burstBytes, uint64_t base, DramImage &image,
                     const BusFaults &faults)
    : config_(config), model_(config), bus_(static_cast<uint64_t>(config.busBytes)),
      burst_(static_cast<uint64_t>(burstBytes)), base_(base), image_(image), faults_(faults) {}

void BusMemory::restart() {
  reads_.clear();
  responses_.clear();
  beatsLeft_ = 0;
  model_ = DramModel(config_);
  fetchBeats_ = loadBeats_ = storeBeats_ = 0;
  error_.reset();
}

void BusMemory::drive(int64_t t, ModelPorts &ports) {
  ports.rValid = ports.rLast = ports.bValid = 0;
  ports.rResponse = ports.bResponse = okay;
  if (!reads_.empty() && reads_.front().first <= t) {
    Read &read = reads_.front();
    ports.rValid = 1;
    ports.rId = read.id;
    ports.rLast = t == read.last;
    load(read.address, ports.rData);
    if (lacks(read.address, bus_))
      ports.rResponse = deny(t, read.id, read.address);
    ++(read.id == 0 ? fetchBeats_ : loadBeats_);
    read.address += bus_;
    ++read.first;
    if (ports.rLast != 0)
      reads_.pop_front();
  }
  if (!responses_.empty() && responses_.front().cycle == t) {
    const Response &response = responses_.front();
    ports.bValid = 1;
    ports.bId = response.id;
    if (lacks(response.address, response.bytes))
      ports.bResponse = deny(t, 2, response.address);
    responses_.pop_front();
  }
}

void BusMemory::refuse(std::mt19937_64 &random, ModelPorts &ports) const {
  ports.arReady = random() % 4 == 0;
  ports.awReady = random() % 4 == 0;
  ports.wReady = random() % 3 == 0 && (beatsLeft_ != 0 || ports.awReady != 0);
}

void BusMemory::accept(int64_t t, const ModelPorts &ports) {
  if (ports.arValid != 0 && ports.arReady != 0) {
    const uint64_t address = imageAddress(ports.arAddress);
    const uint64_t bytes = (uint64_t(ports.arLen) + 1) * bus_ - address % bus_;
    checkBurst("read", address, bytes);
    const int64_t last = model_.read(t, address, static_cast<int64_t>(bytes));
    reads_.push_back({last - ports.arLen, last, address / bus_ * bus_, ports.arId});
  }
  if (ports.awValid != 0 && ports.awReady != 0) {
    if (beatsLeft_ != 0)
      throw std::logic_error("a write address comes before the last beat of the burst before it");
    beatsLeft_ = ports.awLen + 1;
    writeId_ = ports.awId;
    writeAddress_ = imageAddress(ports.awAddress);
    beatAddress_ = writeAddress_ / bus_ * bus_;
    writeBytes_ = (uint64_t(ports.awLen) + 1) * bus_ - writeAddress_ % bus_;
    checkBurst("write", writeAddress_, writeBytes_);
  }
  if (ports.wValid == 0 || ports.wReady == 0)
    return;
  if (beatsLeft_ == 0)
    throw std::logic_error("a write beat comes without an address");
  store(ports);
  ++storeBeats_;
  beatAddress_ += bus_;
  if ((--beatsLeft_ == 0) != (ports.wLast != 0))
    throw std::logic_error("the last beat of a write burst is not where its length says");
  if (ports.wLast != 0)
    responses_.push_back({model_.write(t, writeAddress_, static_cast<int64_t>(writeBytes_)),
                          writeId_, writeAddress_, writeBytes_});
}

// Wraps as the bus's 48 bits do: an address below `base` is far beyond the image.
uint64_t BusMemory::imageAddress(uint64_t busAddress) const {
  return (busAddress - base_) & ((uint64_t(1) << 48) - 1);
}

void BusMemory::checkBurst(const char *kind, uint64_t address, uint64_t bytes) const {
  if (address / burst_ != (address + bytes - 1) / burst_)
    throw std::logic_error(
        fmt::format("a {} burst at 0x{:x} of {} bytes crosses its boundary", kind, address, bytes));
}

uint8_t BusMemory::deny(int64_t t, int requester, uint64_t address) {
  if (!error_)
    error_ = {t, requester, address, faults_.response};
  return faults_.response;
}

void BusMemory::load(uint64_t address, uint8_t *beat) const {
  std::memset(beat, 0, bus_);
  if (address < image_.size())
    std::memcpy(beat, image_.data() + address, std::min(bus_, image_.size() - address));
}

void BusMemory::store(const ModelPorts &ports) {
  for (uint64_t i = 0; i < bus_; ++i)
    if ((ports.wStrobe[i / 8] >> (i % 8) & 1) != 0) {
      if (beatAddress_ + i >= image_.size()) {
        if (ignoresBeyond_)
          continue;
        throw std::logic_error("a write beat lies beyond the program's DRAM");
      }
      if (!lacks(writeAddress_, writeBytes_))
        image_.data()[beatAddress_ + i] = ports.wData[i];
    }
}

} // namespace tilewright::rtl

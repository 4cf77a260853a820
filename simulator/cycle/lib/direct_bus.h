// The bus of a core that has the DRAM to itself, without SystemC in between.
#pragma once

#include "unit.h"

#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright::cycle {

class DirectBus : public Bus {
public:
  explicit DirectBus(const DramConfig &config) : dram(config) {}
  Beats read(int64_t t, uint64_t address, int64_t bytes) override {
    const int64_t last = dram.read(t, address, bytes);
    return {last - beats(address, bytes) + 1, last};
  }
  int64_t write(int64_t t, uint64_t address, int64_t bytes) override {
    return dram.write(t, address, bytes);
  }
  int64_t beats(uint64_t address, int64_t bytes) const override {
    return dram.beats(address, bytes);
  }
  DramModel dram;
};

} // namespace tilewright::cycle

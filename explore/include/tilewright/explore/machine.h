// The figures of a machine that costs are made of.
#pragma once

#include "tilewright/isa/isa.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace tilewright::explore {

struct Machine {
  int64_t rows = 0, cols = 0, lanes = 0, channels = 0;
  int64_t spadBytes = 0, spadBanks = 0, accBytes = 0, accBanks = 0;
  int64_t busBytes = 0, burstBytes = 0, loadBuffers = 0, storeBuffers = 0, semaphores = 0;
  int64_t clockHz = 0;
  std::string dram; // preset
  std::string hash; // of the resolved description, timing included
};

Machine machineOf(const isa::Isa &isa);
// Gives the figure that a param is the name of another value; other names change nothing.
void setFigure(Machine &machine, const std::string &param, const std::string &value);

nlohmann::ordered_json toJson(const Machine &machine);
Machine machineFrom(const nlohmann::ordered_json &json);

} // namespace tilewright::explore

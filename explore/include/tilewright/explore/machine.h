// The figures of a machine that costs are made of.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/isa/streaming_rate.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace tilewright::explore {

// Of a DRAM preset: what streams, and what commands take. Energies are of a command of one channel.
struct DramFigures {
  int64_t bytesPerSecond = 0; // of all channels; 0: no limit but the port's
  int64_t channels = 1, rowBytes = 1, accessBytes = 1, refreshPs = 0;
  int64_t activatePj = 0, readPj = 0, writePj = 0, refreshPj = 0, backgroundUw = 0;
};
DramFigures dramFigures(const isa::DramParameters &parameters);

struct Machine {
  int64_t rows = 0, cols = 0, lanes = 0, channels = 0;
  int64_t spadBytes = 0, spadBanks = 0, accBytes = 0, accBanks = 0;
  int64_t spadPort = 0, accPort = 0; // bytes that a port moves a cycle; elements of 32 bits
  // A load that unpacks writes so many bits to the scratchpad for `loadedBits` of DRAM, at least.
  static constexpr int64_t storedBits = 64;
  int64_t loadedBits = storedBits;
  int64_t busBytes = 0, burstBytes = 0, loadBuffers = 0, storeBuffers = 0, semaphores = 0;
  // Of one lane, as its instructions make it (tilewright/rtl/lane_structure.h).
  int64_t laneLogic = 0, laneFlipFlops = 0; // NAND2, flip-flops among them
  int64_t lanePath = 0;                     // between two registers, in thousandths of an FO4
  int64_t fo4Femtoseconds = 0;
  int64_t elementLogic = 0; // NAND2 that a product and an addition of 32 bits switch in a lane
  int64_t clockHz = 0;
  DramFigures dramFigures;
  std::string dram; // preset
  std::string hash; // of the resolved description, timing included
};

Machine machineOf(const isa::Isa &isa);
using DramPresets = std::map<std::string, DramFigures>; // by name
DramPresets dramPresets(const std::map<std::string, isa::DramParameters> &shipped);
// Gives the figure that a param is the name of another value, and DRAM its preset's figures; other
// names change nothing.
void setFigure(Machine &machine, const std::string &param, const std::string &value,
               const DramPresets &presets);

nlohmann::ordered_json toJson(const Machine &machine);
Machine machineFrom(const nlohmann::ordered_json &json);

} // namespace tilewright::explore

// What work costs: area and energy of a machine, from a technology file whose figures name their
// sources.
#pragma once

#include "tilewright/explore/machine.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::explore {

struct Technology {
  std::string name, summary;
  double macFj = 0, gateFj = 0, sramFj = 0, sramBankBytes = 1, leakageUw = 0;
  double multiplier8Um2 = 0, multiplier32Um2 = 0, adder32Um2 = 0, flipFlopUm2 = 0, sramBitUm2 = 0;
  std::map<std::string, std::string> sources; // by figure: "energy.mac_fj"
};

// Throws UserError. An empty path: the shipped technology, 45 nm.
Technology readTechnology(const std::string &path);

struct Area {
  int64_t flipFlops = 0, sramBits = 0;
  double mm2 = 0;
};
// Flip-flops by a formula that agrees with what Yosys counts (docs/area.md); multipliers, adders
// and memories by their number. Multiplexers and wires are left out.
Area areaOf(const Machine &machine, const Technology &technology);

// What a run did, by either tier.
struct Work {
  double macs = 0;
  double logic = 0; // switched by the vector unit: NAND2 equivalents (isa/switched_logic.h)
  double spadBytes = 0, accBytes = 0, seconds = 0;
  double dramReads = 0, dramWrites = 0;  // bytes
  double activations = 0, refreshes = 0; // of DRAM's rows, in all channels
};
struct Energy {
  double macs = 0, vector = 0, spad = 0, acc = 0, dram = 0, leakage = 0; // joules
  double joules() const { return macs + vector + spad + acc + dram + leakage; }
  // By name, as reports give them.
  std::vector<std::pair<std::string, double>> parts() const;
};
Energy energyOf(const Work &work, const Machine &machine, const Technology &technology);

} // namespace tilewright::explore

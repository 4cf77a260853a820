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
  double nand2Um2 = 0, sramBitUm2 = 0, sramColumnUm2 = 0;
  std::map<std::string, std::string> sources; // by figure: "energy.mac_fj"
};

// Throws UserError. An empty path: the shipped technology, 45 nm.
Technology readTechnology(const std::string &path);

struct Area {
  int64_t nand2 = 0, flipFlops = 0, sramBits = 0; // flip-flops are among the NAND2
  double mm2 = 0;
};
// Of a machine's logic and its RAM macros (logic.h). Wires between cells are left out.
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

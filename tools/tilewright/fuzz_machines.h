// The machines that random programs run on: each target with each DRAM preset that suits it.
#pragma once

#include "engine_list.h"
#include "tilewright/isa/isa.h"
#include "tilewright/lockstep/fuzz.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright {

// A machine, and its engines once they are asked for.
class FuzzMachine {
public:
  // `dramOverlay`: the text of the overlay, among those of `load`, that changes the target's DRAM;
  // empty: none does.
  FuzzMachine(const isa::LoadOptions &load, const std::string &dramOverlay,
              const EngineMaker &make);
  const isa::Isa &isa() const { return isa_; }
  const std::string &dramOverlay() const { return dramOverlay_; }
  // Makes the engines when first called.
  const lockstep::Fuzzer &fuzzer(const std::vector<std::string> &engines);

private:
  std::string dramOverlay_;
  EngineMaker make_;
  isa::Isa isa_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::unique_ptr<lockstep::Fuzzer> fuzzer_;
};

class FuzzMachines {
public:
  // Throws UserError for a target or an overlay that cannot be read.
  FuzzMachines(const std::vector<std::string> &targets, const std::vector<std::string> &overlays,
               const EngineMaker &make);
  // Program `index` of a run: a target in turn, the DRAM as the seed has it.
  FuzzMachine &at(uint64_t index, uint64_t seed);
  const std::string &target(uint64_t index) const { return targets_[index % targets_.size()]; }

private:
  std::vector<std::string> targets_;
  std::vector<std::vector<std::unique_ptr<FuzzMachine>>> machines_; // by target, by DRAM
};

} // namespace tilewright

#include "fuzz_machines.h"

#include "tilewright/isa/documents.h"
#include "tilewright/support/error.h"
#include "tilewright/support/scratch_file.h"

#include <fmt/format.h>

namespace tilewright {

FuzzMachine::FuzzMachine(const isa::LoadOptions &load, const std::string &dramOverlay,
                         const EngineMaker &make)
    : dramOverlay_(dramOverlay), make_(make), isa_(isa::load(load)) {}

const lockstep::Fuzzer &FuzzMachine::fuzzer(const std::vector<std::string> &engines) {
  if (fuzzer_)
    return *fuzzer_;
  std::vector<Engine *> compared;
  Engine *reference = nullptr;
  for (const std::string &name : engines) {
    engines_.push_back(make_(name, isa_));
    compared.push_back(engines_.back().get());
    if (name == "functional")
      reference = compared.back();
  }
  if (reference == nullptr) {
    engines_.push_back(makeFunctionalEngine(isa_));
    reference = engines_.back().get();
  }
  fuzzer_ = std::make_unique<lockstep::Fuzzer>(isa_, *reference, compared);
  return *fuzzer_;
}

FuzzMachines::FuzzMachines(const std::vector<std::string> &targets,
                           const std::vector<std::string> &overlays, const EngineMaker &make)
    : targets_(targets) {
  for (const std::string &target : targets) {
    isa::LoadOptions load;
    load.target = target;
    load.overlays = overlays;
    std::vector<std::unique_ptr<FuzzMachine>> own;
    own.push_back(std::make_unique<FuzzMachine>(load, "", make));
    for (const std::string &dram : isa::shippedDrams(load)) {
      if (dram == own[0]->isa().dram())
        continue;
      const std::string overlay =
          fmt::format("schema: \"tilewright/overlay/1\"\nname: \"{0}\"\nsummary: \"DRAM preset {0} "
                      "instead of the target's.\"\ntarget: {{ dram: \"{0}\" }}\n",
                      dram);
      const ScratchFile file(overlay);
      isa::LoadOptions changed = load;
      changed.overlays.push_back(file.path());
      try {
        own.push_back(std::make_unique<FuzzMachine>(changed, overlay, make));
      } catch (const UserError &) {
        // A preset that does not fit the target's bursts.
      }
    }
    machines_.push_back(std::move(own));
  }
}

FuzzMachine &FuzzMachines::at(uint64_t index, uint64_t seed) {
  auto &own = machines_[index % machines_.size()];
  // Every other program has the target's own.
  const uint64_t draw = (seed * 0x9e3779b97f4a7c15) >> 32;
  return draw % 2 == 0 ? *own[0] : *own[draw / 2 % own.size()];
}

} // namespace tilewright

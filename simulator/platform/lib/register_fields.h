// The fields that a machine shows and heeds, found in the register map by their names.
#pragma once

#include "register_block.h"

#include "tilewright/isa/isa.h"

#include <array>
#include <vector>

namespace tilewright::platform {

struct RegisterFields {
  explicit RegisterFields(const RegisterBlock &block) : block_(block) {}
  const std::vector<RegisterBlock::Field> &all() const { return all_; }

private:
  using Field = RegisterBlock::Field;
  const RegisterBlock &block_;
  std::vector<Field> all_;
  Field of(const char *owner, const char *name = "value") {
    return all_.emplace_back(block_.field(owner, name));
  }

public:
  const Field start = of("ctrl", "ap_start"), ctrlDone = of("ctrl", "ap_done"),
              ctrlIdle = of("ctrl", "ap_idle"), ready = of("ctrl", "ap_ready"),
              interrupt = of("ctrl", "interrupt");
  const Field enable = of("gie", "enable");
  const Field enableDone = of("ier", "done"), enableTrap = of("ier", "trap");
  const Field eventDone = of("isr", "done"), eventTrap = of("isr", "trap");
  const Field idle = of("status", "idle"), running = of("status", "running"),
              stopping = of("status", "stopping"), resetting = of("status", "resetting"),
              done = of("status", "done"), trapped = of("status", "trapped");
  const Field softReset = of("reset", "soft_reset");
  const Field cause = of("trap", "cause"), busFetch = of("trap", "bus_fetch"),
              busLoad = of("trap", "bus_load"), busStore = of("trap", "bus_store");
  const Field trapPc = of("trap_pc");
  const Field codeAddress = of("code_address"), codeCount = of("code_count"), entry = of("entry"),
              argumentBase = of("argument_base");
  const Field isaHash = of("isa_hash");
  const Field cycles = of("cycles"), instructions = of("instructions"),
              fetchBeats = of("fetch_beats"), loadBeats = of("load_beats"),
              storeBeats = of("store_beats");

  // The counters of the machine's first unit of a template.
  struct UnitFields {
    isa::UnitTemplate kind;
    Field busy, stalled;
  };
  const std::array<UnitFields, 5> units = {
      {{isa::UnitTemplate::Sequencer, of("sequencer_busy"), of("sequencer_stalled")},
       {isa::UnitTemplate::Matrix, of("matrix_busy"), of("matrix_stalled")},
       {isa::UnitTemplate::Vector, of("vector_busy"), of("vector_stalled")},
       {isa::UnitTemplate::DmaLoad, of("load_busy"), of("load_stalled")},
       {isa::UnitTemplate::DmaStore, of("store_busy"), of("store_stalled")}}};
};

} // namespace tilewright::platform

// What an accelerator is made of.
#pragma once

#include "register_block.h"
#include "register_fields.h"

#include "tilewright/simulator/platform/accelerator.h"

#include "tilewright/program/program.h"
#include "tilewright/simulator/cycle/tlm_core.h"

#include <optional>

namespace tilewright::platform {

constexpr const char *reportType = "/tilewright/accelerator";

// As docs/host.md has them.
enum class State { Idle, Running, Stopping, Resetting };

struct Accelerator::Ending {
  int64_t cycles = 0;
  std::string cause = "none"; // by its name in the register map
  uint64_t pc = 0;            // of the trap
};

struct Accelerator::Parts {
  explicit Parts(const isa::Isa &isa)
      : machine(isa), block(isa.registers()), fields(block), cycle(cycle::cycleTime(isa)) {}

  cycle::Machine machine;
  RegisterBlock block;
  RegisterFields fields;
  State state = State::Idle;
  sc_core::sc_time cycle;  // of the clock
  sc_core::sc_time origin; // at which cycle 0 of the last program begins
  sc_core::sc_event started, reset, changed;

  // Of the program that runs.
  Program program;
  std::optional<cycle::TlmCore> core;
};

} // namespace tilewright::platform

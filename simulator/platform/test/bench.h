// A platform for tests: one accelerator with a DRAM, and a host that does what the test says.
#pragma once

#include "driver_port.h"

#include "tilewright/simulator/cycle/dram_module.h"
#include "tilewright/simulator/cycle/simulation_context.h"
#include "tilewright/simulator/cycle/tlm_core.h"
#include "tilewright/simulator/platform/accelerator.h"
#include "tilewright/testing/harness.h"

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::platform {

using cycle::target;

// Loads and stores that move data about, each after the one before; `rounds` of them.
inline Program moves(const isa::Isa &isa, int rounds = 6) {
  std::string text = "load.set r0=d_s0, v0=1, r1=s_s1, v1=333\nload.set r0=d_s1, v0=200, r1=n2, "
                     "v1=1\nstore.set r0=d_s1, v0=177, r1=s_s1, v1=150\n"
                     "load s=0, d=0, n1=1, n0=1200\nfence\n";
  for (int i = 0; i < rounds; ++i)
    text += fmt::format("load s={}, d={}, n1=3, n0={} {} !signal=1\n"
                        "store s={}, d={}, n1=3, n0={} !wait=1 !signal=2\n",
                        i * 317 % 4000, i * 91 % 400, 20 + i * 37 % 150, i != 0 ? "!wait=2" : "",
                        i * 53 % 400, 0x4000 + i * 211 % 2000, 10 + i * 29 % 150);
  Program program = cycle::assemble(isa, text + "fence\nhalt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 0x2000; ++i)
    data.bytes.push_back(static_cast<char>(i * 7 + i / 251));
  program.data.push_back(data);
  return program;
}

inline Program programOf(const isa::Isa &isa, const std::string &text) {
  Program program = cycle::assemble(isa, text);
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  return program;
}

inline tilewright_program inMemory(const isa::Isa &isa, const Program &program, uint64_t base = 0) {
  tilewright_program made;
  made.code_address = program.codeAddress;
  made.code_count =
      static_cast<uint32_t>(program.code.size() / static_cast<size_t>(isa.instructionBytes()));
  made.entry = static_cast<uint32_t>(program.entry);
  made.argument_base = base;
  return made;
}

// The time now, to keep: sc_time_stamp's goes on.
inline sc_core::sc_time now() { return sc_core::sc_time_stamp(); }

// What the cycle engine says of the program, and the DRAM after it.
struct Expected {
  Expected(const isa::Isa &isa, const Program &program) : dram(program) {
    record = makeCycleEngine(isa)->run(program, dram, {});
  }
  DramImage dram;
  RunRecord record;
};

class Script : public sc_core::sc_module {
public:
  DriverPort port{"port"};
  std::function<void()> script;

  explicit Script(const sc_core::sc_module_name &name) : sc_module(name) { SC_THREAD(run); }
  SC_HAS_PROCESS(Script);

private:
  void run() { script(); }
};

struct Bench {
  explicit Bench(const isa::Isa &isa, const Program &program, uint64_t base = 0)
      : isa(isa), base(base), contents(program.dramBytes), period(cycle::cycleTime(isa)),
        dram("dram", DramConfig::of(isa), period, contents.data(), contents.size(), base),
        accelerator("accelerator", isa), task(inMemory(isa, program, base)) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    load(program);
    accelerator.memory.bind(dram.socket);
    accelerator.interrupt.bind(interrupt);
    host.port.registers.bind(accelerator.registers);
  }
  ~Bench() { sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DISPLAY); }

  // What the program finds in DRAM, and a DRAM whose time begins with it.
  void load(const Program &program) {
    const DramImage image(program);
    std::memcpy(contents.data(), image.data(), image.size());
    task = inMemory(isa, program, base);
    dram.restart();
  }
  const tilewright_device *device() const { return host.port.device(); }
  // In a script: starts what was loaded, sleeps until the interrupt, and answers it.
  uint32_t runProgram() {
    EXPECT_EQ(tilewright_start(device(), &task), TILEWRIGHT_OK);
    started = sc_core::sc_time_stamp();
    if (!interrupt.read())
      sc_core::wait(interrupt.posedge_event());
    interrupted = sc_core::sc_time_stamp();
    const uint32_t events = tilewright_acknowledge_interrupts(device());
    EXPECT_FALSE(interrupt.read());
    return events;
  }
  void enableAll() {
    tilewright_enable_interrupts(device(), TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  }
  void waitCycles(int64_t cycles) {
    sc_core::wait(sc_core::sc_time::from_value(static_cast<uint64_t>(cycles) * period.value()));
  }
  // Runs the script to its end.
  void run(const std::function<void()> &script) {
    bool ended = false;
    host.script = [&] {
      script();
      ended = true;
    };
    context.run();
    EXPECT_TRUE(ended) << "the script waits for ever";
  }
  void expectAs(const Expected &expected) const {
    const RunRecord &record = expected.record;
    EXPECT_EQ(std::memcmp(contents.data(), expected.dram.data(), expected.dram.size()), 0);
    const tilewright_counters counters = tilewright_read_counters(device());
    EXPECT_EQ(counters.cycles, static_cast<uint64_t>(record.cycles));
    EXPECT_EQ(counters.instructions, record.instructions);
    const std::pair<const char *, int> units[] = {{"sequencer", TILEWRIGHT_SEQUENCER},
                                                  {"matrix", TILEWRIGHT_MATRIX},
                                                  {"vector", TILEWRIGHT_VECTOR},
                                                  {"load", TILEWRIGHT_LOAD},
                                                  {"store", TILEWRIGHT_STORE}};
    for (const auto &[name, unit] : units) {
      const UnitRecord &own = record.units[static_cast<size_t>(isa.findUnit(name)->index)];
      EXPECT_EQ(counters.busy[unit], static_cast<uint64_t>(own.busy)) << name;
      EXPECT_EQ(counters.busy[unit] + counters.stalled[unit],
                static_cast<uint64_t>(record.cycles - own.idle))
          << name;
    }
  }

  const isa::Isa &isa;
  uint64_t base;
  std::vector<uint8_t> contents;
  cycle::SimulationContext context;
  sc_core::sc_time period;
  cycle::DramModule dram;
  Accelerator accelerator;
  sc_core::sc_signal<bool> interrupt;
  Script host{"host"};
  tilewright_program task;
  sc_core::sc_time started, interrupted; // of the last program
};

} // namespace tilewright::platform

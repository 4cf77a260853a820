// rtl-array-test --gtest_filter='PlatformModule.*': the SystemC module of simulator/platform and
// the verilated machine do the same behind the same registers: the interrupt in the same cycle, the
// same counters, the same trap.
#include "bench.h"
#include "board.h"

#include <gtest/gtest.h>

namespace tilewright::platform {
namespace {

// What the host sees of a program.
struct Seen {
  uint32_t events = 0;
  int64_t interruptCycle = 0; // counted as the program's
  tilewright_trap trap = {};
  tilewright_counters counters = {};
};

Seen onRtl(const isa::Isa &isa, const Program &program) {
  DramImage image(program);
  rtl::Board board(isa, rtl::loadModel(isa), DramConfig::of(isa), image);
  const tilewright_device device = board.device();
  const tilewright_program task = inMemory(isa, program);
  Seen seen;
  board.observe([&](int64_t t, const rtl::ModelPorts &) { seen.interruptCycle = t + 1; });
  tilewright_enable_interrupts(&device, TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(tilewright_start(&device, &task), TILEWRIGHT_OK);
  while (board.ports().interrupt == 0)
    board.step();
  EXPECT_EQ(board.cycle(), -1);
  seen.events = tilewright_acknowledge_interrupts(&device);
  seen.trap = tilewright_read_trap(&device);
  seen.counters = tilewright_read_counters(&device);
  board.rethrow();
  return seen;
}

Seen onPlatform(const isa::Isa &isa, const Program &program) {
  Seen seen;
  Bench bench(isa, program);
  bench.run([&] {
    bench.enableAll();
    seen.events = bench.runProgram();
    const sc_core::sc_time took = bench.interrupted - bench.started;
    seen.interruptCycle = static_cast<int64_t>(took.value() / bench.period.value());
    seen.trap = tilewright_read_trap(bench.device());
    seen.counters = tilewright_read_counters(bench.device());
  });
  return seen;
}

class PlatformModule : public testing::Test {
protected:
  const isa::Isa &isa = target("tiny4");
  Seen rtl, platform;

  void compare(const Program &program) {
    rtl = onRtl(isa, program);
    platform = onPlatform(isa, program);
    EXPECT_EQ(platform.events, rtl.events);
    EXPECT_EQ(platform.interruptCycle, rtl.interruptCycle);
    EXPECT_EQ(platform.trap.cause, rtl.trap.cause);
    EXPECT_EQ(platform.trap.pc, rtl.trap.pc);
    EXPECT_EQ(platform.counters.cycles, rtl.counters.cycles);
    EXPECT_EQ(platform.counters.instructions, rtl.counters.instructions);
    EXPECT_EQ(platform.counters.fetch_beats, rtl.counters.fetch_beats);
    EXPECT_EQ(platform.counters.load_beats, rtl.counters.load_beats);
    EXPECT_EQ(platform.counters.store_beats, rtl.counters.store_beats);
  }
};

TEST_F(PlatformModule, EndsInTheSameCycle) {
  compare(moves(isa));
  EXPECT_EQ(rtl.events, TILEWRIGHT_ISR_DONE_MASK);
  for (int unit = 0; unit < TILEWRIGHT_UNITS; ++unit) {
    EXPECT_EQ(platform.counters.busy[unit], rtl.counters.busy[unit]) << unit;
    EXPECT_EQ(platform.counters.stalled[unit], rtl.counters.stalled[unit]) << unit;
  }
}

// The halt does not wait for what is fetched beyond it.
TEST_F(PlatformModule, WaitsForTheBus) {
  std::string text = "fence\nhalt\n";
  for (int i = 0; i < 100; ++i)
    text += "fence\n";
  compare(programOf(isa, text));
  EXPECT_GT(rtl.interruptCycle, static_cast<int64_t>(rtl.counters.cycles) + 1);
}

TEST_F(PlatformModule, TrapsInTheSameCycle) {
  for (const char *text : {"fence\nfence\n", "fence\nbranch rs=x0, negate=0, offset=100\nhalt\n",
                           "loop count=2, length=9\nhalt\n"}) {
    SCOPED_TRACE(text);
    compare(programOf(isa, text));
    EXPECT_NE(rtl.trap.cause, TILEWRIGHT_TRAP_CAUSE_NONE);
  }
  Program program = programOf(isa, "fence\nhalt\n");
  program.code.replace(0, static_cast<size_t>(isa.instructionBytes()),
                       static_cast<size_t>(isa.instructionBytes()), '\xff');
  compare(program);
  EXPECT_EQ(rtl.trap.cause, TILEWRIGHT_TRAP_CAUSE_ILLEGAL);
}

} // namespace
} // namespace tilewright::platform

// platform-test --gtest_filter='Run.*': an accelerator in a simulation runs programs as the cycle
// engine does, and ends them as docs/host.md says.
#include "bench.h"

#include <algorithm>

namespace tilewright::platform {
namespace {

TEST(Run, EndsWithAnInterruptAndTheCountersOfTheCycleEngine) {
  for (const char *name : {"tiny4", "edge16"}) {
    const isa::Isa &isa = target(name);
    const Program program = moves(isa);
    const Expected expected(isa, program);
    Bench bench(isa, program);
    bench.run([&] {
      bench.enableAll();
      EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
      EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_OK);
      EXPECT_EQ(tilewright_read_trap(bench.device()).cause, TILEWRIGHT_TRAP_CAUSE_NONE);
      bench.expectAs(expected);
    });
  }
}

// Of a machine whose fetches have all come: cycle 0 is the one in which the write that starts it is
// answered, the interrupt is there when one cycle more than the program's are over.
TEST(Run, InterruptsAtItsTime) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  Bench bench(isa, program);
  bench.run([&] {
    bench.enableAll();
    bench.runProgram();
    const sc_core::sc_time took = bench.interrupted - bench.started;
    EXPECT_EQ(static_cast<int64_t>(took.value() / bench.period.value()),
              expected.record.cycles + 1);
  });
}

TEST(Run, TakesTheSameTimeWithAnyQuantum) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  std::vector<sc_core::sc_time> times;
  for (const int64_t cycles : {1, 13, 100000}) {
    Bench bench(isa, program);
    tlm::tlm_global_quantum::instance().set(
        sc_core::sc_time::from_value(static_cast<uint64_t>(cycles) * bench.period.value()));
    bench.run([&] {
      bench.enableAll();
      bench.runProgram();
      times.push_back(bench.interrupted - bench.started);
      bench.expectAs(expected);
    });
  }
  tlm::tlm_global_quantum::instance().set(sc_core::SC_ZERO_TIME);
  EXPECT_EQ(times[0], times[1]);
  EXPECT_EQ(times[0], times[2]);
}

TEST(Run, RunsAProgramAnywhereInMemory) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  Bench bench(isa, program, uint64_t(0x7654321) << 12);
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    bench.expectAs(expected);
  });
}

TEST(Run, RunsOneProgramAfterTheOther) {
  const isa::Isa &isa = target("tiny4");
  const Program first = moves(isa), second = moves(isa, 3);
  const Expected expectedOfFirst(isa, first), expectedOfSecond(isa, second);
  Bench bench(isa, first);
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    bench.expectAs(expectedOfFirst);
    bench.load(second);
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    bench.expectAs(expectedOfSecond);
    bench.load(first);
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    bench.expectAs(expectedOfFirst);
  });
}

TEST(Run, MemoriesOnChipKeepTheirContents) {
  const isa::Isa &isa = target("tiny4");
  Bench bench(isa, moves(isa));
  bench.run([&] {
    bench.enableAll();
    Program loads = programOf(isa, "load s=0, d=0x40, n1=1, n0=16\nfence\nhalt\n");
    loads.data.push_back({0, "sixteen letters."});
    bench.load(loads);
    bench.runProgram();
    bench.load(programOf(isa, "store s=0x40, d=0x100, n1=1, n0=16\nfence\nhalt\n"));
    bench.runProgram();
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(&bench.contents[0x100]), 16),
              "sixteen letters.");
  });
}

TEST(Run, ShowsItsCyclesWhileItRuns) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa, 40);
  const Expected expected(isa, program);
  ASSERT_GT(expected.record.cycles, 3000);
  Bench bench(isa, program);
  bench.run([&] {
    const tilewright_device *device = bench.device();
    EXPECT_EQ(tilewright_start(device, &bench.task), TILEWRIGHT_OK);
    const sc_core::sc_time start = now();
    uint64_t instructions = 0;
    for (int i = 0; i < 3; ++i) {
      bench.waitCycles(700);
      EXPECT_EQ(tilewright_poll(device), TILEWRIGHT_BUSY);
      const uint32_t cycles = bench.host.port.read(TILEWRIGHT_CYCLES_LOW_OFFSET);
      // Its value of one cycle before the answer.
      EXPECT_EQ(cycles + 1, (sc_core::sc_time_stamp() - start).value() / bench.period.value());
      instructions = tilewright_read_counters(device).instructions;
    }
    EXPECT_GT(instructions, 0u);
    EXPECT_LT(instructions, expected.record.instructions);
    EXPECT_EQ(tilewright_wait(
                  device,
                  [](void *context) {
                    static_cast<Bench *>(context)->waitCycles(10);
                    return true;
                  },
                  &bench),
              TILEWRIGHT_OK);
    EXPECT_FALSE(bench.interrupt.read());
    bench.expectAs(expected);
  });
}

TEST(Run, IsStartedOnceAtATime) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  Bench bench(isa, program);
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(tilewright_start(bench.device(), &bench.task), TILEWRIGHT_OK);
    bench.waitCycles(100);
    EXPECT_EQ(tilewright_start(bench.device(), &bench.task), TILEWRIGHT_BUSY);
    bench.host.port.write(TILEWRIGHT_CTRL_OFFSET, TILEWRIGHT_CTRL_AP_START_MASK);
    bench.host.port.write(TILEWRIGHT_ENTRY_OFFSET, 1);
    EXPECT_EQ(bench.host.port.read(TILEWRIGHT_ENTRY_OFFSET), 0u);
    sc_core::wait(bench.interrupt.posedge_event());
    bench.expectAs(expected);
    bench.waitCycles(1000);
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_OK);
  });
}

// All through a program: whatever it is at, it is idle soon after, no program has ended, and the
// next one is as ever.
TEST(Run, SoftResetStopsIt) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  Bench bench(isa, program);
  int64_t resets = 0;
  bench.run([&] {
    bench.enableAll();
    for (int64_t at = 0; at < expected.record.cycles - 10; at += 97, ++resets) {
      bench.load(program);
      EXPECT_EQ(tilewright_start(bench.device(), &bench.task), TILEWRIGHT_OK);
      bench.waitCycles(at);
      EXPECT_EQ(tilewright_soft_reset(bench.device(), nullptr, nullptr), TILEWRIGHT_OK);
      EXPECT_EQ(bench.host.port.read(TILEWRIGHT_STATUS_OFFSET), TILEWRIGHT_STATUS_IDLE_MASK);
      EXPECT_FALSE(bench.interrupt.read());
      EXPECT_LE(tilewright_read_counters(bench.device()).cycles, static_cast<uint64_t>(at) + 3);
      bench.load(program);
      EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
      bench.expectAs(expected);
    }
  });
  EXPECT_GT(resets, 10);
}

TEST(Run, SoftResetOfAnIdleMachineForgetsTheTrap) {
  const isa::Isa &isa = target("tiny4");
  Bench bench(isa, programOf(isa, "fence\n"));
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_TRAPPED);
    EXPECT_EQ(tilewright_soft_reset(bench.device(), nullptr, nullptr), TILEWRIGHT_OK);
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_OK);
    EXPECT_EQ(tilewright_read_trap(bench.device()).cause, TILEWRIGHT_TRAP_CAUSE_NONE);
  });
}

TEST(Run, SoftResetEndsADeadlock) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  const Expected expected(isa, program);
  Bench bench(isa, programOf(isa, "load s=0, d=0, n1=1, n0=4 !wait=1\nfence\nhalt\n"));
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(tilewright_start(bench.device(), &bench.task), TILEWRIGHT_OK);
    bench.waitCycles(100000);
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_BUSY);
    EXPECT_GE(tilewright_read_counters(bench.device()).cycles, 100000u);
    EXPECT_EQ(tilewright_soft_reset(bench.device(), nullptr, nullptr), TILEWRIGHT_OK);
    bench.load(program);
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    bench.expectAs(expected);
  });
}

} // namespace
} // namespace tilewright::platform

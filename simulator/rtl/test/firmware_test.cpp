// rtl-array-test --gtest_filter='Firmware.*': the C driver runs programs on the verilated machine
// as firmware does, through the registers and the interrupt alone. With
// TILEWRIGHT_FIRMWARE_PROGRAM=P.elf the program is that one, for its own target.
#include "board.h"

#include "tilewright/testing/harness.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace tilewright::cycle {
namespace {

constexpr uint64_t illegal = ~uint64_t(0); // the bits of an instruction that is none

// A program and the machine it is for.
struct Example {
  isa::Isa isa;
  Program program;
};

// Loads, stores and loops that move data about; each waits for the one before.
Example moves() {
  Example example{target("tiny4"), {}};
  std::string text =
      "load.set r0=d_s0, v0=1, r1=s_s1, v1=333\nload.set r0=d_s1, v0=200, r1=n2, v1=1\n"
      "store.set r0=d_s1, v0=177, r1=s_s1, v1=150\n";
  std::mt19937_64 random(1);
  for (int i = 0; i < 12; ++i)
    text +=
        fmt::format("load s={}, d={}, n1=3, n0={} {} !signal=1\n"
                    "store s={}, d={}, n1=3, n0={} !wait=1 !signal=2\n",
                    random() % 4000, random() % 400, 1 + random() % 150, i != 0 ? "!wait=2" : "",
                    random() % 400, 0x4000 + random() % 2000, 1 + random() % 150);
  example.program =
      assemble(example.isa, "load s=0, d=0, n1=1, n0=1200\nfence\n" + text + "fence\nhalt\n");
  example.program.codeAddress = 0x8000;
  example.program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 0x2000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  example.program.data.push_back(data);
  return example;
}

Example given(const char *path) {
  const std::string bytes = readFile(path);
  const ProgramTarget wanted = readProgramTarget(path, bytes);
  Example example{isa::load({wanted.target, wanted.overlays, ""}), {}};
  example.program = readProgram(path, bytes, example.isa);
  return example;
}

const Example &example() {
  static const char *const path = std::getenv("TILEWRIGHT_FIRMWARE_PROGRAM");
  static const Example made = path ? given(path) : moves();
  return made;
}

class Firmware : public testing::Test {
protected:
  void SetUp() override { powerUp(); }
  void TearDown() override {
    if (board)
      board->rethrow();
  }

  void powerUp(const rtl::BusFaults &faults = {}, uint64_t base = 0) {
    const Example &own = example();
    image.emplace(own.program);
    board.emplace(own.isa, rtl::loadModel(own.isa), DramConfig::of(own.isa), *image, faults, base);
    device = board->device();
    program.code_address = own.program.codeAddress;
    program.code_count = static_cast<uint32_t>(own.program.code.size() /
                                               static_cast<size_t>(own.isa.instructionBytes()));
    program.entry = static_cast<uint32_t>(own.program.entry);
    program.argument_base = base;
    ASSERT_EQ(tilewright_probe(&device, std::stoull(own.isa.hash().substr(0, 16), nullptr, 16)),
              TILEWRIGHT_OK);
    tilewright_enable_interrupts(&device, TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  }

  // The host loads the program anew.
  void load() {
    const DramImage fresh(example().program);
    std::memcpy(image->data(), fresh.data(), fresh.size());
  }

  // Starts, sleeps until the interrupt, and answers it: which events.
  uint32_t run() {
    EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
    while (board->ports().interrupt == 0) {
      board->step();
      board->rethrow();
    }
    return tilewright_acknowledge_interrupts(&device);
  }

  struct Result {
    std::string dram;
    uint64_t cycles, instructions, loadBeats, storeBeats;
    bool operator==(const Result &o) const {
      return dram == o.dram && std::tie(cycles, instructions, loadBeats, storeBeats) ==
                                   std::tie(o.cycles, o.instructions, o.loadBeats, o.storeBeats);
    }
  };
  Result result() {
    const tilewright_counters counters = tilewright_read_counters(&device);
    return {std::string(reinterpret_cast<const char *>(image->data()), image->size()),
            counters.cycles, counters.instructions, counters.load_beats, counters.store_beats};
  }
  // Of a run on a machine that has done nothing before.
  Result expected() {
    static const Result first = [this] {
      powerUp();
      EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
      const Result own = result();
      powerUp();
      return own;
    }();
    return first;
  }
  void expectRunsAsEver() {
    const Result wanted = expected();
    load();
    EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
    EXPECT_TRUE(result() == wanted) << result().cycles << " cycles, not " << wanted.cycles;
  }

  std::optional<DramImage> image;
  std::optional<rtl::Board> board;
  tilewright_device device;
  tilewright_program program;
};

TEST_F(Firmware, RunsAProgramToItsInterrupt) {
  EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
  EXPECT_EQ(board->ports().interrupt, 0);
  EXPECT_EQ(tilewright_poll(&device), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_read_trap(&device).cause, TILEWRIGHT_TRAP_CAUSE_NONE);
  DramImage values(example().program);
  const RunRecord record =
      makeCycleEngine(example().isa)->run(example().program, values, RunOptions());
  const Result own = result();
  EXPECT_EQ(own.cycles, static_cast<uint64_t>(record.cycles));
  EXPECT_EQ(own.instructions, record.instructions);
  EXPECT_EQ(std::memcmp(own.dram.data(), values.data(), values.size()), 0);
}

TEST_F(Firmware, RunsAgainWithTheSameResultAndCycles) {
  const Result wanted = expected();
  for (int i = 0; i < 3; ++i) {
    load();
    EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
    EXPECT_TRUE(result() == wanted) << "run " << i;
  }
}

TEST_F(Firmware, RunsAProgramAnywhereInMemory) {
  const Result wanted = expected();
  powerUp({}, uint64_t(0x7654321) << 12);
  EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
  EXPECT_TRUE(result() == wanted);
}

TEST_F(Firmware, PollsWithoutInterrupts) {
  tilewright_enable_interrupts(&device, 0);
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_poll(&device), TILEWRIGHT_BUSY);
  EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_BUSY);
  EXPECT_EQ(tilewright_wait(&device, nullptr, nullptr), TILEWRIGHT_OK);
  EXPECT_EQ(board->ports().interrupt, 0);
  EXPECT_EQ(result().cycles, expected().cycles);
}

TEST_F(Firmware, SurvivesATrap) {
  expected();
  const uint32_t last = program.code_count - 1;
  std::memset(image->data() + program.code_address +
                  last * static_cast<uint64_t>(example().isa.instructionBytes()),
              static_cast<int>(illegal), static_cast<size_t>(example().isa.instructionBytes()));
  EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(tilewright_poll(&device), TILEWRIGHT_TRAPPED);
  EXPECT_EQ(tilewright_read_trap(&device).cause, TILEWRIGHT_TRAP_CAUSE_ILLEGAL);
  EXPECT_EQ(tilewright_read_trap(&device).pc, last);
  EXPECT_TRUE(board->memory().isIdle());
  expectRunsAsEver();
  EXPECT_EQ(tilewright_read_trap(&device).cause, TILEWRIGHT_TRAP_CAUSE_NONE);
}

TEST_F(Firmware, SurvivesAProgramWithoutAnEnd) {
  expected();
  program.code_count -= 1; // without its halt
  EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(tilewright_read_trap(&device).cause, TILEWRIGHT_TRAP_CAUSE_PAST_END);
  EXPECT_EQ(tilewright_read_trap(&device).pc, program.code_count);
  program.code_count += 1;
  expectRunsAsEver();
}

TEST_F(Firmware, SaysWhatTheMemoryRefused) {
  rtl::BusFaults faults;
  faults.errorBegin = program.code_address;
  faults.errorEnd = program.code_address + 1;
  powerUp(faults);
  EXPECT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  const tilewright_trap trap = tilewright_read_trap(&device);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_TRUE(trap.fetch_refused);
  EXPECT_FALSE(trap.load_refused || trap.store_refused);
  EXPECT_TRUE(board->memory().isIdle());
}

// In steps through the whole program, on a bus that takes all at once and on one that makes it
// wait: no transfer is lost or left, the AXI4 checker is silent, and the next run is as ever.
TEST_F(Firmware, SoftResetInMidTransferLeavesTheBusClean) {
  const Result wanted = expected();
  // Of a long program a few, so that the test ends.
  const uint64_t resets = std::clamp<uint64_t>(2000000 / wanted.cycles, 4, 60);
  const uint64_t step = wanted.cycles / resets + 1;
  int open = 0;
  for (uint64_t refusals : {0, 1}) {
    for (uint64_t at = 1; at < wanted.cycles; at += step) {
      rtl::BusFaults faults;
      faults.refusals = refusals * at;
      powerUp(faults);
      ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
      while (static_cast<uint64_t>(board->cycle()) < at)
        board->step();
      open += board->memory().isIdle() ? 0 : 1;
      ASSERT_EQ(tilewright_soft_reset(&device, nullptr, nullptr), TILEWRIGHT_OK);
      board->rethrow();
      ASSERT_TRUE(board->memory().isIdle()) << at;
      ASSERT_EQ(board->ports().interrupt, 0);
      ASSERT_EQ(tilewright_poll(&device), TILEWRIGHT_OK);
      ASSERT_EQ(board->read(TILEWRIGHT_STATUS_OFFSET), TILEWRIGHT_STATUS_IDLE_MASK);
      load();
      ASSERT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
      if (refusals == 0)
        ASSERT_TRUE(result() == wanted) << "after a reset in cycle " << at;
      else
        ASSERT_TRUE(result().dram == wanted.dram) << "after a reset in cycle " << at;
    }
  }
  EXPECT_GT(open, 2); // resets that had something to wait for
}

// A soft reset that takes effect as the program ends, in the cycles before and after: the program
// has ended, or was reset, and never both.
TEST_F(Firmware, AProgramThatIsResetHasNotEnded) {
  int64_t last = -1;
  const auto watch = [&] { board->observe([&](int64_t t, const rtl::ModelPorts &) { last = t; }); };
  watch();
  ASSERT_EQ(run(), TILEWRIGHT_ISR_DONE_MASK);
  const int64_t end = last;
  int ended = 0, reset = 0;
  for (int64_t at = end - 12; at <= end; ++at) {
    powerUp();
    watch();
    ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
    while (board->cycle() < at)
      board->step();
    board->write(TILEWRIGHT_RESET_OFFSET, TILEWRIGHT_RESET_SOFT_RESET_MASK);
    while (board->cycle() >= 0)
      board->step();
    const bool isDone = (board->read(TILEWRIGHT_ISR_OFFSET) & TILEWRIGHT_ISR_DONE_MASK) != 0;
    ++(isDone ? ended : reset);
    if (isDone)
      EXPECT_EQ(last, end) << "written in cycle " << at;
  }
  EXPECT_GT(ended, 0);
  EXPECT_GT(reset, 0);
}

TEST_F(Firmware, SoftResetEndsADeadlock) {
  expected();
  const isa::Isa &isa = example().isa;
  const Program stuck = assemble(isa, "load s=0, d=0, n1=1, n0=4 !wait=1\nfence\nhalt\n");
  std::memcpy(image->data() + program.code_address, stuck.code.data(), stuck.code.size());
  tilewright_program own = program;
  own.entry = 0;
  ASSERT_EQ(tilewright_start(&device, &own), TILEWRIGHT_OK);
  int left = 1000;
  EXPECT_EQ(tilewright_wait(
                &device, [](void *context) { return --*static_cast<int *>(context) > 0; }, &left),
            TILEWRIGHT_TIMED_OUT);
  EXPECT_EQ(tilewright_soft_reset(&device, nullptr, nullptr), TILEWRIGHT_OK);
  expectRunsAsEver();
}

} // namespace
} // namespace tilewright::cycle

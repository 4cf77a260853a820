// device-driver-test: the driver against registers that are a model in memory, and against plain
// memory.
#include "tilewright_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

// Registers that do what the map says, of a machine that ends when it is told to.
class Registers {
public:
  Registers() {
    words_[TILEWRIGHT_ID_OFFSET] = TILEWRIGHT_ID_VALUE;
    words_[TILEWRIGHT_VERSION_OFFSET] =
        TILEWRIGHT_VERSION_MAJOR_VALUE << TILEWRIGHT_VERSION_MAJOR_SHIFT | 7;
    words_[TILEWRIGHT_ISA_HASH_LOW_OFFSET] = 0x89abcdef;
    words_[TILEWRIGHT_ISA_HASH_HIGH_OFFSET] = 0x01234567;
    words_[TILEWRIGHT_STATUS_OFFSET] = TILEWRIGHT_STATUS_IDLE_MASK;
  }

  tilewright_device device() {
    tilewright_device device;
    device.read = [](void *context, uint32_t offset) {
      return static_cast<Registers *>(context)->read(offset);
    };
    device.write = [](void *context, uint32_t offset, uint32_t value) {
      static_cast<Registers *>(context)->write(offset, value);
    };
    device.context = this;
    return device;
  }

  uint32_t &operator[](uint32_t offset) { return words_[offset]; }
  bool isRunning() const { return (words_.at(TILEWRIGHT_STATUS_OFFSET) & 1) == 0; }
  void end(uint32_t cause, uint32_t pc) {
    const bool traps = cause != TILEWRIGHT_TRAP_CAUSE_NONE;
    words_[TILEWRIGHT_STATUS_OFFSET] = TILEWRIGHT_STATUS_IDLE_MASK | TILEWRIGHT_STATUS_DONE_MASK |
                                       (traps ? TILEWRIGHT_STATUS_TRAPPED_MASK : 0);
    words_[TILEWRIGHT_CTRL_OFFSET] = TILEWRIGHT_CTRL_AP_DONE_MASK;
    words_[TILEWRIGHT_ISR_OFFSET] |=
        TILEWRIGHT_ISR_DONE_MASK | (traps ? TILEWRIGHT_ISR_TRAP_MASK : 0);
    words_[TILEWRIGHT_TRAP_OFFSET] = cause;
    words_[TILEWRIGHT_TRAP_PC_OFFSET] = pc;
  }
  std::vector<std::pair<uint32_t, uint32_t>> writes; // offset, value
  int readsUntilReset = 0;                           // reads of `reset` that see it under way
  uint32_t carriesAt = UINT32_MAX; // the counter whose low word is at this offset carries once

private:
  uint32_t read(uint32_t offset) {
    const uint32_t value = words_[offset];
    if (offset == TILEWRIGHT_CTRL_OFFSET)
      words_[offset] = 0;
    if (offset == TILEWRIGHT_RESET_OFFSET && readsUntilReset-- <= 0)
      return words_[offset] = 0;
    if (offset == carriesAt + 4) {
      words_[carriesAt] = 3;
      ++words_[offset];
      carriesAt = UINT32_MAX - 4;
    }
    return value;
  }
  void write(uint32_t offset, uint32_t value) {
    writes.emplace_back(offset, value);
    if (offset == TILEWRIGHT_ISR_OFFSET)
      words_[offset] &= ~value;
    else
      words_[offset] = value;
    if (offset == TILEWRIGHT_CTRL_OFFSET && (value & TILEWRIGHT_CTRL_AP_START_MASK) != 0)
      words_[TILEWRIGHT_STATUS_OFFSET] = TILEWRIGHT_STATUS_RUNNING_MASK;
    if (offset == TILEWRIGHT_RESET_OFFSET)
      words_[TILEWRIGHT_STATUS_OFFSET] = TILEWRIGHT_STATUS_IDLE_MASK;
  }

  std::map<uint32_t, uint32_t> words_;
};

class Driver : public testing::Test {
protected:
  Registers registers;
  tilewright_device device = registers.device();
  tilewright_program program = {0x123456789000, 77, 5, 0x80000000};
};

constexpr uint64_t hash = 0x0123456789abcdef;

TEST_F(Driver, ProbeKnowsItsMachine) {
  EXPECT_EQ(tilewright_probe(&device, hash), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_isa_hash(&device), hash);
}
TEST_F(Driver, ProbeFindsNoDevice) {
  registers[TILEWRIGHT_ID_OFFSET] = 0xffffffff;
  EXPECT_EQ(tilewright_probe(&device, hash), TILEWRIGHT_NO_DEVICE);
}
TEST_F(Driver, ProbeRefusesAnotherMap) {
  registers[TILEWRIGHT_VERSION_OFFSET] += 1u << TILEWRIGHT_VERSION_MAJOR_SHIFT;
  EXPECT_EQ(tilewright_probe(&device, hash), TILEWRIGHT_OTHER_MAP);
}
TEST_F(Driver, ProbeRefusesAnotherIsa) {
  EXPECT_EQ(tilewright_probe(&device, hash + (uint64_t(1) << 32)), TILEWRIGHT_OTHER_ISA);
}

TEST_F(Driver, StartWritesTheProgramBeforeItStarts) {
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  EXPECT_EQ(registers[TILEWRIGHT_CODE_ADDRESS_LOW_OFFSET], 0x56789000u);
  EXPECT_EQ(registers[TILEWRIGHT_CODE_ADDRESS_HIGH_OFFSET], 0x1234u);
  EXPECT_EQ(registers[TILEWRIGHT_CODE_COUNT_OFFSET], 77u);
  EXPECT_EQ(registers[TILEWRIGHT_ENTRY_OFFSET], 5u);
  EXPECT_EQ(registers[TILEWRIGHT_ARGUMENT_BASE_LOW_OFFSET], 0x80000000u);
  const std::pair<uint32_t, uint32_t> start = {TILEWRIGHT_CTRL_OFFSET, 1};
  EXPECT_EQ(registers.writes.back(), start);
}
TEST_F(Driver, StartForgetsWhatTheLastProgramLeft) {
  registers.end(TILEWRIGHT_TRAP_CAUSE_ILLEGAL, 3);
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  EXPECT_EQ(registers[TILEWRIGHT_ISR_OFFSET], 0u);
}
TEST_F(Driver, StartIsRefusedWhileAProgramRuns) {
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  registers.writes.clear();
  EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_BUSY);
  EXPECT_TRUE(registers.writes.empty());
}
TEST_F(Driver, StartRefusesAddressesThatTheMachineHasNot) {
  program.argument_base += 8;
  EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_BAD_ARGUMENT);
  program.argument_base = uint64_t(1) << 48;
  EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_BAD_ARGUMENT);
  program.argument_base = 0;
  program.code_address = uint64_t(1) << 48;
  EXPECT_EQ(tilewright_start(&device, &program), TILEWRIGHT_BAD_ARGUMENT);
  EXPECT_FALSE(registers.isRunning());
}

TEST_F(Driver, WaitEndsWithTheProgram) {
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  int pauses = 0;
  struct Context {
    Registers *registers;
    int *pauses;
  } context = {&registers, &pauses};
  const tilewright_pause pause = [](void *opaque) {
    const Context *own = static_cast<Context *>(opaque);
    if (++*own->pauses == 3)
      own->registers->end(TILEWRIGHT_TRAP_CAUSE_NONE, 0);
    return true;
  };
  EXPECT_EQ(tilewright_wait(&device, pause, &context), TILEWRIGHT_OK);
  EXPECT_EQ(pauses, 3);
}
TEST_F(Driver, WaitGivesUpWhenToldTo) {
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_wait(&device, [](void *) { return false; }, nullptr), TILEWRIGHT_TIMED_OUT);
}
TEST_F(Driver, ATrapIsToldWithCauseAndInstruction) {
  ASSERT_EQ(tilewright_start(&device, &program), TILEWRIGHT_OK);
  registers.end(TILEWRIGHT_TRAP_CAUSE_BUS | TILEWRIGHT_TRAP_BUS_LOAD_MASK, 41);
  EXPECT_EQ(tilewright_wait(&device, nullptr, nullptr), TILEWRIGHT_TRAPPED);
  const tilewright_trap trap = tilewright_read_trap(&device);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_EQ(trap.pc, 41u);
  EXPECT_FALSE(trap.fetch_refused);
  EXPECT_TRUE(trap.load_refused);
  EXPECT_FALSE(trap.store_refused);
}

TEST_F(Driver, InterruptsAreEnabledOneByOne) {
  tilewright_enable_interrupts(&device, TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(registers[TILEWRIGHT_IER_OFFSET], TILEWRIGHT_IER_TRAP_MASK);
  EXPECT_EQ(registers[TILEWRIGHT_GIE_OFFSET], TILEWRIGHT_GIE_ENABLE_MASK);
  tilewright_enable_interrupts(&device, 0);
  EXPECT_EQ(registers[TILEWRIGHT_GIE_OFFSET], 0u);
}
TEST_F(Driver, AcknowledgeClearsWhatItReturns) {
  registers.end(TILEWRIGHT_TRAP_CAUSE_BRANCH, 3);
  EXPECT_EQ(tilewright_acknowledge_interrupts(&device),
            TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK);
  EXPECT_EQ(tilewright_acknowledge_interrupts(&device), 0u);
}

TEST_F(Driver, CountersAreReadFromTheirOwnRegisters) {
  for (uint32_t i = 0; i < 15; ++i) {
    registers[TILEWRIGHT_CYCLES_LOW_OFFSET + 8 * i] = 100 + i;
    registers[TILEWRIGHT_CYCLES_HIGH_OFFSET + 8 * i] = i;
  }
  const tilewright_counters counters = tilewright_read_counters(&device);
  const auto expected = [](uint64_t i) { return i << 32 | (100 + i); };
  EXPECT_EQ(counters.cycles, expected(0));
  EXPECT_EQ(counters.instructions, expected(1));
  EXPECT_EQ(counters.fetch_beats, expected(2));
  EXPECT_EQ(counters.load_beats, expected(3));
  EXPECT_EQ(counters.store_beats, expected(4));
  for (uint64_t unit = 0; unit < TILEWRIGHT_UNITS; ++unit) {
    EXPECT_EQ(counters.busy[unit], expected(5 + unit));
    EXPECT_EQ(counters.stalled[unit], expected(10 + unit));
  }
}
TEST_F(Driver, ACounterThatCarriesIsReadAgain) {
  registers[TILEWRIGHT_CYCLES_LOW_OFFSET] = 0xffffffff;
  registers[TILEWRIGHT_CYCLES_HIGH_OFFSET] = 8;
  registers.carriesAt = TILEWRIGHT_CYCLES_LOW_OFFSET;
  EXPECT_EQ(tilewright_read_counters(&device).cycles, uint64_t(9) << 32 | 3);
}

TEST_F(Driver, SoftResetWaitsAndForgetsEvents) {
  registers.end(TILEWRIGHT_TRAP_CAUSE_BRANCH, 3);
  registers.readsUntilReset = 4;
  int pauses = 0;
  EXPECT_EQ(
      tilewright_soft_reset(
          &device, [](void *context) { return ++*static_cast<int *>(context) < 100; }, &pauses),
      TILEWRIGHT_OK);
  EXPECT_EQ(pauses, 4);
  EXPECT_EQ(registers[TILEWRIGHT_ISR_OFFSET], 0u);
  EXPECT_EQ(tilewright_poll(&device), TILEWRIGHT_OK);
}
TEST_F(Driver, SoftResetGivesUpWhenToldTo) {
  registers.readsUntilReset = 4;
  EXPECT_EQ(
      tilewright_soft_reset(&device, [](void *) { return false; }, nullptr), TILEWRIGHT_TIMED_OUT);
}

TEST(MappedDriver, ReachesRegistersInMemory) {
  uint32_t memory[64] = {};
  memory[TILEWRIGHT_ID_OFFSET / 4] = TILEWRIGHT_ID_VALUE;
  const tilewright_device device = tilewright_map(memory);
  EXPECT_EQ(tilewright_probe(&device, 0), TILEWRIGHT_OTHER_MAP);
  tilewright_enable_interrupts(&device, TILEWRIGHT_ISR_DONE_MASK);
  EXPECT_EQ(memory[TILEWRIGHT_IER_OFFSET / 4], TILEWRIGHT_IER_DONE_MASK);
}

} // namespace
